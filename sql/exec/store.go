package exec

import (
	"github.com/minidb/minidb/table/types"
)

// rowStore keeps rows column by column and counts them against the budget.
type rowStore struct {
	cols  []*types.Vec
	len   int
	mem   *budget
	bytes int64
}

func newRowStore(mem *budget, ts []*types.Type) *rowStore {
	return &rowStore{cols: types.NewBatchCap(ts, 0).Cols, mem: mem}
}

// add appends rows sel of cols.
func (s *rowStore) add(cols []*types.Vec, sel []int32) error {
	n := entriesSize(cols, sel)
	s.bytes += n
	if err := s.mem.grow(n); err != nil {
		return err
	}
	for i, c := range s.cols {
		appendRows(c, cols[i], sel)
	}
	s.len += len(sel)
	return nil
}

// addBatch appends the rows of a batch.
func (s *rowStore) addBatch(b *types.Batch) error { return s.add(b.Cols, selection(b)) }

// addRow appends one row of datums.
func (s *rowStore) addRow(row []types.Datum) error {
	n := int64(0)
	for i, c := range s.cols {
		c.Append(row[i])
		n += entryWidth(c.Type.Family) + datumExtra(row[i])
	}
	s.len++
	s.bytes += n
	return s.mem.grow(n)
}

// reset forgets the rows and keeps the memory for those to come.
func (s *rowStore) reset() {
	s.mem.shrink(s.bytes)
	s.bytes, s.len = 0, 0
	for _, c := range s.cols {
		c.Reset(c.Type)
	}
}

// free gives the memory up.
func (s *rowStore) free() {
	s.reset()
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
		sliceVec(b.Cols[i], c, from, from+n)
	}
	b.Len, b.Sel = n, nil
	return true
}

// sliceVec makes dst the entries [from, to) of src, sharing its memory.
func sliceVec(dst, src *types.Vec, from, to int) {
	*dst = types.Vec{Type: src.Type, Len: to - from, HasNull: src.HasNull, Nulls: src.Nulls[from:to:to]}
	switch src.Type.Family {
	case types.Bool, types.Int, types.Date, types.Time, types.Timestamp:
		dst.I = src.I[from:to:to]
	case types.Float:
		dst.F = src.F[from:to:to]
	case types.String, types.Bytes, types.UUID, types.JSON:
		dst.S = src.S[from:to:to]
	case types.Decimal:
		dst.Dec = src.Dec[from:to:to]
	case types.Interval:
		dst.Iv = src.Iv[from:to:to]
	case types.Array, types.Record:
		dst.Arr = src.Arr[from:to:to]
	}
}
