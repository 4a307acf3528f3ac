package table

import (
	"errors"
	"runtime"

	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/table/colfmt"
	"github.com/minidb/minidb/table/types"
)

// Columns for which memory has no room are kept in a file (txn.Options.SectionFile), each column of
// a section as one extent: its batches one behind the other, as colfmt writes them. Reading them is
// a copy out of the system's page cache and a tenth of what decoding rows costs. The file is as
// much a hint as memory is: what cannot be written is not kept, what cannot be read is read from
// the rows.

// diskColumn is a column of a section in a file. Its room there is free when nothing refers to it:
// what kept it, or a scan that reads it.
type diskColumn struct {
	file   *scratch.File
	extent scratch.Extent
}

const (
	// diskMost bounds the columns of a section that are on disk, in bytes.
	diskMost = 2 << 20
	// sectionBytes and columnBytes are what memory takes for a section on disk.
	sectionBytes, columnBytes = 512, 96
)

// diskBuffer is where a goroutine encodes columns and reads them into.
type diskBuffer struct {
	write []byte
	read  [][]byte // by column of the batch
}

// toDisk keeps the section's columns in the file, beside those that are there.
func (k *keeper) toDisk(disk map[int]*diskColumn, room *diskBuffer) {
	file := k.of.File()
	if file == nil || k.p.refused.Load() {
		return
	}
	if disk == nil {
		disk = map[int]*diskColumn{}
	}
	left := diskMost
	for _, c := range disk {
		left -= c.extent.Bytes()
	}
	for o, vecs := range k.k.cols {
		if disk[o] != nil {
			continue
		}
		c, err := k.write(file, vecs, &left, room)
		k.p.refused.CompareAndSwap(false, err != nil)
		if errors.Is(err, scratch.ErrLimit) {
			k.of.ForgetIdle()
		}
		if c == nil || err != nil {
			return
		}
		disk[o] = c
	}
	k.of.Keep(&keptColumns{version: k.k.version, rows: k.k.rows, disk: disk},
		sectionBytes+columnBytes*int64(len(disk)), true)
}

// write writes a column and takes its bytes off what is left; nil: it is larger, or of arrays or
// records, which are not kept on disk.
func (k *keeper) write(file *scratch.File, vecs []*types.Vec, left *int,
	room *diskBuffer) (*diskColumn, error) {
	var none colfmt.Types // only records need it
	b := append(room.write[:0], 0, 0, 0, 0)
	for i, v := range vecs {
		if v.Type.Family.Storage() == types.Arr {
			return nil, nil
		}
		b = none.AppendColumn(b, v, k.all[:k.k.rows[i]])
	}
	room.write = b
	if *left -= len(b); *left < 0 {
		return nil, nil
	}
	e, err := file.Write(b)
	if err != nil {
		return nil, err
	}
	c := &diskColumn{file: file, extent: e}
	runtime.AddCleanup(c, file.Release, e)
	return c, nil
}

// onDisk is how many pieces are read from the file.
func (p *parallelScan) onDisk() (n int) {
	for _, i := range p.read {
		if p.pieces[i].kept != nil {
			n++
		}
	}
	return n
}

// readKept gives the batches of a piece whose columns are on disk; false: they cannot be read, and
// nothing was given.
func (p *parallelScan) readKept(from *piece, room *diskBuffer) (read bool, err error) {
	k := from.kept
	columns := make([]colfmt.Decoder, len(p.out))
	if room.read == nil {
		room.read = make([][]byte, len(p.out))
	}
	for i, o := range p.out {
		c := k.disk[o]
		if n := c.extent.Bytes(); cap(room.read[i]) < n {
			room.read[i] = make([]byte, n)
		}
		columns[i].Data, err = c.file.Read(c.extent, room.read[i][:cap(room.read[i])])
		if err != nil {
			return false, nil
		}
	}
	for _, rows := range k.rows {
		b := p.batch()
		b.Len = rows
		for i := range p.out {
			if columns[i].Column(b.Cols[i], rows); columns[i].Failed {
				panic("table: a column on disk is not as it was written")
			}
		}
		if err := p.hand(from, b); err != nil {
			return true, err
		}
	}
	return true, nil
}
