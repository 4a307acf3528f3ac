package types

import "github.com/cockroachdb/apd/v3"

// BatchSize is the number of rows that operators aim to pass at once.
const BatchSize = 1024

// Vec is a column of values of one type. Only the slice of the type's storage class is in use, and
// it has at least Len entries. Nulls has as many; where it is true the value is NULL, and the entry
// of the slice is unspecified. HasNull false promises that Nulls is nowhere true, so that loops
// need not test it.
type Vec struct {
	Type    *Type
	Len     int
	HasNull bool
	Nulls   []bool
	I       []int64
	F       []float64
	S       []string
	Dec     []*apd.Decimal
	Iv      []IntervalValue
	Arr     []*ArrayValue

	// shared: the memory is that of another vector ([Vec.Slice]) and must not be changed here.
	shared bool
}

// NewVec returns an empty vector with room for n values.
func NewVec(t *Type, n int) *Vec {
	v := &Vec{Type: t}
	v.Resize(n)
	v.Len = 0
	return v
}

// Reset makes the vector empty and of type t, keeping its memory if that is its own.
func (v *Vec) Reset(t *Type) {
	if v.shared {
		*v = Vec{}
	}
	v.Type, v.Len, v.HasNull = t, 0, false
}

// SetNull makes entry i NULL.
func (v *Vec) SetNull(i int) { v.Nulls[i], v.HasNull = true, true }

// Append adds a value at the end.
func (v *Vec) Append(d Datum) {
	v.Resize(v.Len + 1)
	v.Set(v.Len-1, d)
}

// Batch is a group of rows held column by column. Sel, if not nil, lists the rows that belong to
// the batch, in order; operators must use only those. Len is the number of rows in the vectors.
type Batch struct {
	Cols []*Vec
	Len  int
	Sel  []int32
}

// NewBatch returns an empty batch for the given types.
func NewBatch(ts []*Type) *Batch {
	b := &Batch{Cols: make([]*Vec, len(ts))}
	for i, t := range ts {
		b.Cols[i] = NewVec(t, BatchSize)
	}
	return b
}

// NewBatchCap is NewBatch with room for n rows only: vectors grow as they are filled, so that a
// query of one row does not pay for a thousand.
func NewBatchCap(ts []*Type, n int) *Batch {
	b := &Batch{Cols: make([]*Vec, len(ts))}
	vecs := make([]Vec, len(ts))
	for i, t := range ts {
		vecs[i].Type = t
		if n > 0 {
			vecs[i].Resize(n)
			vecs[i].Len = 0
		}
		b.Cols[i] = &vecs[i]
	}
	return b
}

// Rows is the number of rows that count.
func (b *Batch) Rows() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.Len
}

// Row maps the i-th counting row to its index in the vectors.
func (b *Batch) Row(i int) int {
	if b.Sel != nil {
		return int(b.Sel[i])
	}
	return i
}

// Reset makes the batch empty, keeping types and memory.
func (b *Batch) Reset() {
	b.Len, b.Sel = 0, nil
	for _, c := range b.Cols {
		c.Reset(c.Type)
	}
}

// AppendRow adds one row of datums.
func (b *Batch) AppendRow(row []Datum) {
	for i, c := range b.Cols {
		c.Append(row[i])
	}
	b.Len++
}
