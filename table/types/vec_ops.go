package types

import (
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// The operations that move values from vector to vector are written once for all storage classes:
// a method of values, for which Vec.values finds the slice in use. The switch on the class is
// outside of the loop over the rows.

// values is the slice of a vector that holds the values of its storage class. Requires of both
// arguments and receiver: they are of one class.
type values interface {
	// resize sets the length to n. A new slice has the given room, or NextCap's if that is 0.
	resize(n, room int)
	// gather copies rows of src to the entries from to on; row -1 is left out.
	gather(to int, src values, rows []int32)
	// interleave sets entry i to row rows[i] of srcs[which[i]].
	interleave(srcs []values, which, rows []int32)
	// copyRows copies rows sel of src, which ascends, to the same rows.
	copyRows(src values, sel []int32)
	// repeat copies the first of the rows sel to the others.
	repeat(sel []int32)
	// share makes the receiver the entries [from, to) of src, in the same memory.
	share(src values, from, to int)
}

func (v *Vec) values() values {
	switch v.Type.Family.Storage() {
	case I64:
		return (*valuesOf[int64])(&v.I)
	case F64:
		return (*valuesOf[float64])(&v.F)
	case Str:
		return (*valuesOf[string])(&v.S)
	case Dec:
		return (*valuesOf[*apd.Decimal])(&v.Dec)
	case Iv:
		return (*valuesOf[IntervalValue])(&v.Iv)
	case Arr:
		return (*valuesOf[*ArrayValue])(&v.Arr)
	}
	return noValues{}
}

// Resize sets the length to n, keeping the values below the old length. New entries are not NULL
// and otherwise unspecified.
func (v *Vec) Resize(n int) {
	v.grow(n, 0)
	for i := v.Len; i < n; i++ {
		v.Nulls[i] = false
	}
	v.Len = n
}

// Reserve makes room for n values in all, and for no more: Resize to that length then allocates
// nothing.
func (v *Vec) Reserve(n int) { v.grow(v.Len, n) }

func (v *Vec) grow(n, room int) {
	if v.shared && max(n, room) > v.Len { // what lies behind is another's
		v.Slice(v, 0, v.Len)
		v.shared = false
	}
	(*valuesOf[bool])(&v.Nulls).resize(n, room)
	v.values().resize(n, room)
}

// NextCap is the room that a vector with room for so many values gets when it needs room for n:
// twice as much, four times from 64 values to a batch, and half as much again once that is a lot.
func NextCap(room, n int) int {
	c := max(n, 2*room)
	switch {
	case c > 64 && c < BatchSize: // no longer a small result
		return min(BatchSize, max(n, 4*room))
	case room >= 64*BatchSize:
		return max(n, room+room/2)
	}
	return c
}

// Get returns entry i.
func (v *Vec) Get(i int) Datum {
	if v.HasNull && v.Nulls[i] {
		return Null
	}
	switch v.Type.Family.Storage() {
	case I64:
		return Datum{I: v.I[i]}
	case F64:
		return Datum{F: v.F[i]}
	case Str:
		return Datum{S: v.S[i]}
	case Dec:
		return Datum{Dec: v.Dec[i]}
	case Iv:
		return Datum{Iv: v.Iv[i]}
	case Arr:
		return Datum{Arr: v.Arr[i]}
	}
	return Datum{} // void
}

// Set writes entry i, which must exist. Requires: d is of the vector's family.
func (v *Vec) Set(i int, d Datum) {
	v.Nulls[i] = d.Null
	if d.Null {
		v.HasNull = true
		return
	}
	switch v.Type.Family.Storage() {
	case I64:
		v.I[i] = d.I
	case F64:
		v.F[i] = d.F
	case Str:
		v.S[i] = d.S
	case Dec:
		v.Dec[i] = d.Dec
	case Iv:
		v.Iv[i] = d.Iv
	case Arr:
		v.Arr[i] = d.Arr
	}
}

// AppendRows adds the rows sel of src at the end.
func (v *Vec) AppendRows(src *Vec, sel []int32) {
	n := v.Len
	v.Resize(n + len(sel))
	v.gatherAt(n, src, sel)
}

// Gather makes v the rows of src in the order given.
func (v *Vec) Gather(src *Vec, rows []int32) {
	v.Reset(src.Type)
	v.Resize(len(rows))
	v.gatherAt(0, src, rows)
}

// Interleave makes v rows of several vectors of its type: entry i is row rows[i] of
// srcs[which[i]].
func (v *Vec) Interleave(srcs []*Vec, which, rows []int32) {
	v.Reset(v.Type)
	v.Resize(len(rows))
	from := make([]values, len(srcs))
	hasNull := false
	for i, s := range srcs {
		from[i] = s.values()
		hasNull = hasNull || s.HasNull
	}
	v.values().interleave(from, which, rows)
	if !hasNull {
		return
	}
	for i, r := range rows {
		if s := srcs[which[i]]; s.HasNull && s.Nulls[r] {
			v.SetNull(i)
		}
	}
}

// GatherOuter is Gather where row -1 is a NULL.
func (v *Vec) GatherOuter(src *Vec, rows []int32) {
	v.Reset(src.Type)
	v.Resize(len(rows))
	v.values().gather(0, src.values(), rows)
	for i, r := range rows {
		if r < 0 || src.HasNull && src.Nulls[r] {
			v.SetNull(i)
		}
	}
}

// gatherAt copies rows sel of src to the entries from to on, which exist and are not NULL yet.
func (v *Vec) gatherAt(to int, src *Vec, sel []int32) {
	v.values().gather(to, src.values(), sel)
	if !src.HasNull {
		return
	}
	for i, r := range sel {
		if src.Nulls[r] {
			v.SetNull(to + i)
		}
	}
}

// CopyRows copies rows sel of src to the same rows of v, which exist and are not NULL yet.
// Requires: sel ascends.
func (v *Vec) CopyRows(src *Vec, sel []int32) {
	v.values().copyRows(src.values(), sel)
	if !src.HasNull {
		return
	}
	for _, i := range sel {
		if src.Nulls[i] {
			v.SetNull(int(i))
		}
	}
}

// Fill sets rows sel, which exist and are not NULL yet, to one value.
func (v *Vec) Fill(d Datum, sel []int32) {
	if d.Null {
		for _, i := range sel {
			v.SetNull(int(i))
		}
		return
	}
	if len(sel) > 0 {
		v.Set(int(sel[0]), d)
		v.values().repeat(sel)
	}
}

// Slice makes v the entries [from, to) of src, whose memory it shares. They must not be changed;
// what is added to v, or comes after a Reset, goes into memory of its own.
func (v *Vec) Slice(src *Vec, from, to int) {
	part := Vec{Type: src.Type, Len: to - from, HasNull: src.HasNull, shared: true,
		Nulls: src.Nulls[from:to:to]}
	part.values().share(src.values(), from, to)
	*v = part
}

// sharedMax is the size up to which strings may lie with others in one block of memory.
const sharedMax = 4 << 10

// OwnStrings copies the strings from entry from on. Those of one batch lie in blocks together, so
// that a few of them would keep all alive.
func (v *Vec) OwnStrings(from int) {
	if v.Type.Family.Storage() != Str {
		return
	}
	for i, s := range v.S[from:v.Len] {
		if len(s) <= sharedMax && !(v.HasNull && v.Nulls[from+i]) {
			v.S[from+i] = strings.Clone(s)
		}
	}
}
