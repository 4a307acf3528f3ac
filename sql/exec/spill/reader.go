package spill

import (
	"encoding/binary"
	"sort"

	"github.com/minidb/minidb/table/colfmt"
	"github.com/minidb/minidb/table/types"
)

// Reader reads a stream from any of its rows on. What is added to the stream meanwhile it reads
// too, once that was flushed.
type Reader struct {
	s       *Stream
	next    int // extent to read next
	buf     []byte
	left    []byte // frames of the extent that were not read
	row     int64  // number of the first row in left
	batch   *types.Batch
	first   int64 // number of the first row in batch
	skip    int   // rows at the beginning of the next batch that are not wanted
	sel     []int32
	counted int64
}

// Reader returns a reader at the first row.
func (s *Stream) Reader() *Reader { return &Reader{s: s} }

// Next returns the next rows, up to types.BatchSize; nil at the end. The batch is valid until the
// next call.
func (r *Reader) Next() (*types.Batch, error) {
	b, err := r.frames(types.BatchSize)
	if b == nil || err != nil || r.skip == 0 {
		return b, err
	}
	r.sel = r.sel[:0]
	for i := r.skip; i < b.Len; i++ {
		r.sel = append(r.sel, int32(i))
	}
	r.skip, b.Sel = 0, r.sel
	return b, nil
}

// More reports whether there are rows after those that were read.
func (r *Reader) More() bool { return len(r.left) > 0 || r.next < len(r.s.extents) }

// MoveTo makes row the next one, which was flushed.
func (r *Reader) MoveTo(row int64) error {
	if row >= r.s.rows {
		r.next, r.left, r.row, r.skip = len(r.s.extents), nil, r.s.rows, 0
		return nil
	}
	es := r.s.extents
	r.next = sort.Search(len(es), func(i int) bool { return es[i].first > row }) - 1
	if err := r.load(); err != nil {
		return err
	}
	for {
		n, size := binary.Uvarint(r.left)
		if size <= 0 || n == 0 {
			return damaged("a frame has no rows")
		}
		if row < r.row+int64(n) {
			r.skip = int(row - r.row)
			return nil
		}
		if _, err := r.frame(r.emptied()); err != nil {
			return err
		}
	}
}

// Page returns the batch that holds a row, which was flushed, and the number of the batch's first
// row. It is for readers that go to and fro; the batch is valid until the next call.
func (r *Reader) Page(row int64) (b *types.Batch, first int64, err error) {
	if r.batch != nil && row >= r.first && row < r.first+int64(r.batch.Len) {
		return r.batch, r.first, nil
	}
	if r.batch == nil || row != r.first+int64(r.batch.Len) {
		if err := r.MoveTo(row); err != nil {
			return nil, 0, err
		}
		r.skip = 0
	}
	if b, err = r.frames(1); err == nil && b == nil {
		err = damaged("a row is missing")
	}
	return b, r.first, err
}

// Close gives the memory back. The reader is then at the first row.
func (r *Reader) Close() {
	r.s.file.mem.Shrink(r.counted)
	*r = Reader{s: r.s}
}

// frames decodes frames up to about so many rows, one frame at least.
func (r *Reader) frames(rows int) (*types.Batch, error) {
	b := r.emptied()
	for b.Len < rows {
		if len(r.left) == 0 {
			if b.Len > 0 || r.next >= len(r.s.extents) {
				break
			}
			if err := r.load(); err != nil {
				return nil, err
			}
		}
		if n, _ := binary.Uvarint(r.left); b.Len > 0 && b.Len+int(n) > rows {
			break
		}
		if _, err := r.frame(b); err != nil {
			return nil, err
		}
	}
	if b.Len == 0 {
		return nil, nil
	}
	r.first = r.row - int64(b.Len)
	return b, nil
}

func (r *Reader) emptied() *types.Batch {
	if r.batch == nil {
		r.batch = types.NewBatchCap(r.s.types, 0)
	}
	r.batch.Reset()
	return r.batch
}

// load reads the next extent. What is decoded of it takes about as much memory as it does.
func (r *Reader) load() error {
	e := r.s.extents[r.next]
	if e.Bytes() > cap(r.buf) {
		n := int64(e.Bytes())
		r.counted += 3 * n
		if err := r.s.file.mem.Grow(3 * n); err != nil {
			return err
		}
		r.buf = make([]byte, n)
		r.s.file.mem.Shrink(r.counted - 3*n)
		r.counted = 3 * n
	}
	frames, err := r.s.file.read(e, r.buf[:cap(r.buf)])
	if err != nil {
		return err
	}
	r.next, r.left, r.row = r.next+1, frames, e.first
	return nil
}

// frame decodes the next frame to the end of b and returns its number of rows.
func (r *Reader) frame(b *types.Batch) (int, error) {
	n, size := binary.Uvarint(r.left)
	if size <= 0 || n == 0 || n > types.BatchSize {
		return 0, damaged("the number of rows of a frame")
	}
	d := colfmt.Decoder{Types: &r.s.file.types, Data: r.left[size:]}
	for _, c := range b.Cols {
		d.Column(c, int(n))
	}
	if d.Failed {
		return 0, damaged("a column of a frame")
	}
	r.left = d.Data
	b.Len += int(n)
	r.row += int64(n)
	return int(n), nil
}
