package exec

import (
	"github.com/minidb/minidb/table/types"
)

// rowStore keeps rows column by column and counts them against the budget.
type rowStore struct {
	cols  []*types.Vec
	len   int
	mem   *budget
	bytes int64 // counted
	room  int   // rows for which the columns have memory, which is counted
	width int64 // of a row in it, beside what lies elsewhere
}

func newRowStore(mem *budget, ts []*types.Type) *rowStore {
	s := &rowStore{cols: types.NewBatchCap(ts, 0).Cols, mem: mem}
	for _, t := range ts {
		s.width += t.Family.Storage().EntryWidth()
	}
	return s
}

// types are the types of the columns.
func (s *rowStore) types() []*types.Type {
	ts := make([]*types.Type, len(s.cols))
	for i, c := range s.cols {
		ts[i] = c.Type
	}
	return ts
}

// charge counts n bytes that stay as long as the rows.
func (s *rowStore) charge(n int64) error {
	s.bytes += n
	return s.mem.grow(n)
}

// reserve makes room for n more rows. The old columns live until they are copied, so for that time
// both count.
func (s *rowStore) reserve(n int) error {
	if s.len+n <= s.room {
		return nil
	}
	room := types.NextCap(s.room, s.len+n)
	old := s.width * int64(s.room)
	if err := s.charge(s.width * int64(room)); err != nil {
		return err
	}
	for _, c := range s.cols {
		c.Reserve(room)
	}
	s.room = room
	s.bytes -= old
	s.mem.shrink(old)
	return nil
}

// need is how many more bytes count at most while add appends rows sel of cols.
func (s *rowStore) need(cols []*types.Vec, sel []int32) int64 {
	n := int64(0)
	for _, c := range cols {
		n += c.ExtraSize(sel)
	}
	if s.len+len(sel) > s.room {
		n += s.width * int64(types.NextCap(s.room, s.len+len(sel)))
	}
	return n
}

// sparse is how many rows there are at least for each that is kept where only few of a batch are.
const sparse = 4

// add appends rows sel of cols.
func (s *rowStore) add(cols []*types.Vec, sel []int32) error {
	if err := s.reserve(len(sel)); err != nil {
		return err
	}
	size := int64(0)
	for _, c := range cols {
		size += c.ExtraSize(sel)
	}
	if err := s.charge(size); err != nil {
		return err
	}
	for i, c := range s.cols {
		c.AppendRows(cols[i], sel)
		if sparse*len(sel) < cols[i].Len {
			c.OwnStrings(s.len)
		}
	}
	s.len += len(sel)
	return nil
}

// addBatch appends the rows of a batch.
func (s *rowStore) addBatch(b *types.Batch) error { return s.add(b.Cols, selection(b)) }

// addRow appends one row of datums.
func (s *rowStore) addRow(row []types.Datum) error {
	if err := s.reserve(1); err != nil {
		return err
	}
	n := int64(0)
	for i, c := range s.cols {
		c.Append(row[i])
		n += row[i].ExtraSize()
	}
	s.len++
	return s.charge(n)
}

// reset forgets the rows and keeps the memory for those to come.
func (s *rowStore) reset() {
	room := s.width * int64(s.room)
	s.mem.shrink(s.bytes - room)
	s.bytes, s.len = room, 0
	for _, c := range s.cols {
		c.Reset(c.Type)
	}
}

// free gives the memory up.
func (s *rowStore) free() {
	s.mem.shrink(s.bytes)
	s.bytes, s.len, s.room = 0, 0, 0
	for _, c := range s.cols {
		*c = types.Vec{Type: c.Type}
	}
}

// view makes b show up to types.BatchSize rows from row from on, without copying; false at the end.
func (s *rowStore) view(b *types.Batch, from int) bool {
	n := min(s.len-from, types.BatchSize)
	if n <= 0 {
		return false
	}
	if b.Cols == nil {
		b.Cols = make([]*types.Vec, len(s.cols))
		vecs := make([]types.Vec, len(s.cols))
		for i := range vecs {
			b.Cols[i] = &vecs[i]
		}
	}
	for i, c := range s.cols {
		b.Cols[i].Slice(c, from, from+n)
	}
	b.Len, b.Sel = n, nil
	return true
}
