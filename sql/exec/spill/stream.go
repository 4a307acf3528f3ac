package spill

import (
	"encoding/binary"

	"github.com/minidb/minidb/table/types"
)

// Stream is a sequence of rows of one File. Rows are added at its end; after Flush they can be
// read.
type Stream struct {
	file    *File
	types   []*types.Type
	extents []extent
	rows    int64 // all
	first   int64 // number of the first row in buf
	buf     []byte
	bytes   int64 // on disk
	counted int64 // of memory
}

// extentBytes is the size of an extent in a stream's index.
const extentBytes = 24

// NewStream returns an empty stream for rows of these types.
func (f *File) NewStream(ts []*types.Type) *Stream { return &Stream{file: f, types: ts} }

// Types are the types of the rows.
func (s *Stream) Types() []*types.Type { return s.types }

// Rows is the number of rows that were added.
func (s *Stream) Rows() int64 { return s.rows }

// Bytes is the size of the stream on disk.
func (s *Stream) Bytes() int64 { return s.bytes }

// Add appends rows sel of cols. After an error the stream can only be freed.
func (s *Stream) Add(cols []*types.Vec, sel []int32) error {
	for len(sel) > types.BatchSize {
		if err := s.Add(cols, sel[:types.BatchSize]); err != nil {
			return err
		}
		sel = sel[types.BatchSize:]
	}
	if len(sel) == 0 {
		return nil
	}
	size := 64 * int64(len(cols))
	for _, c := range cols {
		size += c.ExtraSize(sel) + c.Type.Family.Storage().EntryWidth()*int64(len(sel))
	}
	if half := len(sel) / 2; half > 0 && size > 2*int64(s.file.block) {
		if err := s.Add(cols, sel[:half]); err != nil {
			return err
		}
		return s.Add(cols, sel[half:])
	}
	if err := s.reserve(size); err != nil {
		return err
	}
	s.buf = s.file.appendFrame(s.buf, cols, sel)
	s.rows += int64(len(sel))
	if len(s.buf) < s.file.block {
		return nil
	}
	return s.flush()
}

// reserve makes room for about n more bytes in the buffer. An extent begins with its checksum.
func (s *Stream) reserve(n int64) error {
	if len(s.buf) == 0 {
		n += 4
	}
	if need := int64(len(s.buf)) + n; need > int64(cap(s.buf)) {
		room := max(need, min(2*int64(cap(s.buf)), int64(2*s.file.block)))
		if err := s.count(room); err != nil {
			return err
		}
		s.buf = append(make([]byte, 0, room), s.buf...)
		s.uncount(s.counted - room - extentBytes*int64(len(s.extents)))
	}
	if len(s.buf) == 0 {
		s.buf = append(s.buf, 0, 0, 0, 0)
		s.first = s.rows
	}
	return nil
}

func (s *Stream) count(n int64) error {
	s.counted += n
	return s.file.mem.Grow(n)
}

func (s *Stream) uncount(n int64) {
	s.counted -= n
	s.file.mem.Shrink(n)
}

// flush writes the buffer as an extent.
func (s *Stream) flush() error {
	e, err := s.file.write(s.buf)
	if err != nil {
		return err
	}
	s.extents = append(s.extents, extent{e, s.first})
	s.bytes += int64(e.Bytes())
	s.buf = s.buf[:0]
	return s.count(extentBytes)
}

// Flush writes what is left and gives the buffer back.
func (s *Stream) Flush() error {
	if len(s.buf) > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.buf = nil
	s.uncount(s.counted - extentBytes*int64(len(s.extents)))
	return nil
}

// Free forgets the rows: others may use their room in the file.
func (s *Stream) Free() {
	for _, e := range s.extents {
		s.file.disk.Release(e.Extent)
	}
	s.extents, s.buf, s.rows, s.bytes = nil, nil, 0, 0
	s.uncount(s.counted)
}

// appendFrame appends a frame of rows sel of cols, one at least.
func (f *File) appendFrame(dst []byte, cols []*types.Vec, sel []int32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(sel)))
	for _, c := range cols {
		dst = f.types.AppendColumn(dst, c, sel)
	}
	return dst
}
