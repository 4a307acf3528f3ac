package types

import "github.com/cockroachdb/apd/v3"

// BatchSize is the number of rows that operators aim to pass at once.
const BatchSize = 1024

// Vec is a column of values of one type. Only the slice of the type's family is in use, and it has
// at least Len entries; Nulls has as many (entry true: NULL, its value is then unspecified). HasNull
// false promises that no entry is true, so that loops can skip the look.
type Vec struct {
	Type    *Type
	Len     int
	HasNull bool
	Nulls   []bool
	I       []int64 // Bool, Int, Date, Time, Timestamp
	F       []float64
	S       []string // String, Bytes, UUID, JSON
	Dec     []*apd.Decimal
	Iv      []IntervalValue
	Arr     []*ArrayValue // Array, Record
}

// NewVec returns an empty vector with room for n values.
func NewVec(t *Type, n int) *Vec {
	v := &Vec{Type: t}
	v.Resize(n)
	v.Len = 0
	return v
}

// Resize sets the length to n, keeping the values below the old length. New entries are not NULL
// and otherwise unspecified.
func (v *Vec) Resize(n int) {
	v.Nulls = grow(v.Nulls, n)
	switch v.Type.Family {
	case Bool, Int, Date, Time, Timestamp:
		v.I = grow(v.I, n)
	case Float:
		v.F = grow(v.F, n)
	case String, Bytes, UUID, JSON:
		v.S = grow(v.S, n)
	case Decimal:
		v.Dec = grow(v.Dec, n)
	case Interval:
		v.Iv = grow(v.Iv, n)
	case Array, Record:
		v.Arr = grow(v.Arr, n)
	}
	for i := v.Len; i < n; i++ {
		v.Nulls[i] = false
	}
	v.Len = n
}

func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	g := make([]T, n, NextCap(cap(s), n))
	copy(g, s)
	return g
}

// NextCap is the room that a vector with room for so many values gets when it needs room for n: twice as much, and
// half as much again once that is a lot.
func NextCap(room, n int) int {
	c := max(n, 2*room)
	switch {
	case c > 64 && c < BatchSize: // no longer a small result: get there at once
		return BatchSize
	case room >= 64*BatchSize:
		return max(n, room+room/2)
	}
	return c
}

// Reserve makes room for n values in all, and for no more: what follows Resize to that length allocates nothing.
func (v *Vec) Reserve(n int) {
	v.Nulls = reserve(v.Nulls, n)
	switch v.Type.Family {
	case Bool, Int, Date, Time, Timestamp:
		v.I = reserve(v.I, n)
	case Float:
		v.F = reserve(v.F, n)
	case String, Bytes, UUID, JSON:
		v.S = reserve(v.S, n)
	case Decimal:
		v.Dec = reserve(v.Dec, n)
	case Interval:
		v.Iv = reserve(v.Iv, n)
	case Array, Record:
		v.Arr = reserve(v.Arr, n)
	}
}

func reserve[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s
	}
	g := make([]T, len(s), n)
	copy(g, s)
	return g
}

// Reset makes the vector empty and of type t, keeping its memory.
func (v *Vec) Reset(t *Type) {
	v.Type, v.Len, v.HasNull = t, 0, false
}

// Get returns entry i.
func (v *Vec) Get(i int) Datum {
	if v.HasNull && v.Nulls[i] {
		return Null
	}
	switch v.Type.Family {
	case Bool, Int, Date, Time, Timestamp:
		return Datum{I: v.I[i]}
	case Float:
		return Datum{F: v.F[i]}
	case String, Bytes, UUID, JSON:
		return Datum{S: v.S[i]}
	case Decimal:
		return Datum{Dec: v.Dec[i]}
	case Interval:
		return Datum{Iv: v.Iv[i]}
	case Void:
		return Datum{}
	case Array, Record:
		return Datum{Arr: v.Arr[i]}
	}
	return Null
}

// Set writes entry i, which must exist. Requires: d is of the vector's family.
func (v *Vec) Set(i int, d Datum) {
	v.Nulls[i] = d.Null
	if d.Null {
		v.HasNull = true
		return
	}
	switch v.Type.Family {
	case Bool, Int, Date, Time, Timestamp:
		v.I[i] = d.I
	case Float:
		v.F[i] = d.F
	case String, Bytes, UUID, JSON:
		v.S[i] = d.S
	case Decimal:
		v.Dec[i] = d.Dec
	case Interval:
		v.Iv[i] = d.Iv
	case Array, Record:
		v.Arr[i] = d.Arr
	}
}

// SetNull makes entry i NULL.
func (v *Vec) SetNull(i int) { v.Nulls[i], v.HasNull = true, true }

// Append adds a value at the end.
func (v *Vec) Append(d Datum) {
	v.Resize(v.Len + 1)
	v.Set(v.Len-1, d)
}

// Batch is a group of rows held column by column. Sel, when not nil, lists the rows that count, in
// order; operators downstream must look only at those. Len is the number of rows in the vectors.
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
