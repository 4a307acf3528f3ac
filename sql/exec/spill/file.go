package spill

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"syscall"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// Account counts the memory of buffers, in bytes. Grow counts them even when it returns an error.
type Account interface {
	Grow(n int64) error
	Shrink(n int64)
}

// File holds the streams of one statement. It belongs to one goroutine at a time.
type File struct {
	dir    *Dir
	mem    Account
	owner  uint32
	counts *Counts // of the owner; nil: nothing was written yet
	limit  int64   // bytes; 0: no limit
	block  int     // bytes after which an extent is written
	h      Handle  // nil: nothing was written yet
	size   int64
	live   int64             // bytes of extents in use
	free   map[int64][]int64 // offsets of extents by size
	// records number the types of the fields of records, which frames refer to.
	records map[*types.Type]uint64
	types   []*types.Type
}

// The sizes of extents, in bytes. What is on disk begins at multiples of page.
const (
	page       = 4 << 10
	blockMost  = 64 << 10
	blockShare = 64 // streams of an operator that fit its share of memory
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// NewFile returns a File of an owner, whose buffers mem counts. limit bounds its size in bytes; 0:
// no bound. share is what an operator may hold in memory: the buffers of its streams take a part
// of it.
func (d *Dir) NewFile(owner uint32, mem Account, limit, share int64) *File {
	return &File{dir: d, owner: owner, mem: mem, limit: limit, free: map[int64][]int64{},
		block: int(min(max(share/blockShare, page), blockMost))}
}

// Close gives the file up with all its streams.
func (f *File) Close() error {
	if f.h == nil {
		return nil
	}
	err := f.h.Close()
	f.h = nil
	f.dir.open.Add(-1)
	return err
}

// extent is a part of a stream on disk.
type extent struct {
	offset int64
	bytes  int   // checksum included
	first  int64 // number of its first row in the stream
}

// onDisk is the size of the extent in the file.
func (e extent) onDisk() int64 { return (int64(e.bytes) + page - 1) / page * page }

// write writes an extent, whose first four bytes it sets to the checksum of the others.
func (f *File) write(b []byte) (extent, error) {
	if f.h == nil {
		h, err := f.dir.create()
		if err != nil {
			return extent{}, fileError(err, "could not create temporary file")
		}
		f.h = h
		f.counts = f.dir.counts(f.owner)
		f.counts.files.Add(1)
		f.dir.open.Add(1)
	}
	e := extent{bytes: len(b)}
	if err := f.place(&e); err != nil {
		return e, err
	}
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[4:], castagnoli))
	if _, err := f.h.WriteAt(b, e.offset); err != nil {
		return e, fileError(err, "could not write to temporary file")
	}
	f.counts.bytes.Add(int64(len(b)))
	return e, nil
}

// place finds room for an extent.
func (f *File) place(e *extent) error {
	n := e.onDisk()
	if at := f.free[n]; len(at) > 0 {
		e.offset = at[len(at)-1]
		f.free[n] = at[:len(at)-1]
	} else {
		if f.limit > 0 && f.size+n > f.limit {
			return sqlerr.New(sqlerr.ConfigurationLimitExceeded,
				"temporary file size exceeds temp_file_limit (%dkB)", f.limit/1024)
		}
		if f.dir.opts.Room != nil {
			if err := f.dir.opts.Room(); err != nil {
				return err
			}
		}
		e.offset = f.size
		f.size += n
	}
	f.live += n
	return nil
}

// release lets others use the room of an extent.
func (f *File) release(e extent) {
	n := e.onDisk()
	f.free[n] = append(f.free[n], e.offset)
	f.live -= n
}

// read fills b with an extent and returns its frames.
func (f *File) read(e extent, b []byte) ([]byte, error) {
	b = b[:e.bytes]
	if _, err := f.h.ReadAt(b, e.offset); err != nil {
		return nil, fileError(err, "could not read from temporary file")
	}
	if binary.LittleEndian.Uint32(b) != crc32.Checksum(b[4:], castagnoli) {
		return nil, damaged("the checksum is wrong")
	}
	return b[4:], nil
}

func damaged(what string) error {
	return sqlerr.New(sqlerr.DataCorrupted, "a temporary file is damaged").WithDetail("%s", what)
}

// fileError is an error of the operating system, with PostgreSQL's SQLSTATE for it.
func fileError(err error, what string) error {
	code := sqlerr.IOError
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		code = sqlerr.DiskFull
	}
	return sqlerr.New(code, "%s: %v", what, err)
}

// number returns the number of a type.
func (f *File) number(t *types.Type) uint64 {
	n, ok := f.records[t]
	if !ok {
		if f.records == nil {
			f.records = map[*types.Type]uint64{}
		}
		n = uint64(len(f.types))
		f.records[t] = n
		f.types = append(f.types, t)
	}
	return n
}
