package types

import "strings"

// The operations of this file are written once for each storage class: the switch is outside the
// loop over the rows, and the loops are generic.

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
	v.Nulls = grow(v.Nulls, n, room)
	switch v.Type.Family.Storage() {
	case I64:
		v.I = grow(v.I, n, room)
	case F64:
		v.F = grow(v.F, n, room)
	case Str:
		v.S = grow(v.S, n, room)
	case Dec:
		v.Dec = grow(v.Dec, n, room)
	case Iv:
		v.Iv = grow(v.Iv, n, room)
	case Arr:
		v.Arr = grow(v.Arr, n, room)
	}
}

// grow sets the length of s to n. A new slice has the given room, or NextCap's if that is 0.
func grow[T any](s []T, n, room int) []T {
	if cap(s) >= max(n, room) {
		return s[:n]
	}
	if room == 0 {
		room = NextCap(cap(s), n)
	}
	g := make([]T, n, room)
	copy(g, s)
	return g
}

// NextCap is the room that a vector with room for so many values gets when it needs room for n:
// twice as much, and half as much again once that is a lot.
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

// copyEntry copies entry j of src to entry i, which exists and is not NULL yet. Requires: both are
// of one storage class, here and below.
func (v *Vec) copyEntry(i int, src *Vec, j int) {
	if src.HasNull && src.Nulls[j] {
		v.SetNull(i)
		return
	}
	switch v.Type.Family.Storage() {
	case I64:
		v.I[i] = src.I[j]
	case F64:
		v.F[i] = src.F[j]
	case Str:
		v.S[i] = src.S[j]
	case Dec:
		v.Dec[i] = src.Dec[j]
	case Iv:
		v.Iv[i] = src.Iv[j]
	case Arr:
		v.Arr[i] = src.Arr[j]
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

// GatherOuter is Gather where row -1 is a NULL.
func (v *Vec) GatherOuter(src *Vec, rows []int32) {
	v.Reset(src.Type)
	v.Resize(len(rows))
	for i, r := range rows {
		if r < 0 {
			v.SetNull(i)
		} else {
			v.copyEntry(i, src, int(r))
		}
	}
}

// gatherAt copies rows sel of src to the entries from to on, which exist and are not NULL yet.
func (v *Vec) gatherAt(to int, src *Vec, sel []int32) {
	switch v.Type.Family.Storage() {
	case I64:
		gather(v.I[to:], src.I, sel)
	case F64:
		gather(v.F[to:], src.F, sel)
	case Str:
		gather(v.S[to:], src.S, sel)
	case Dec:
		gather(v.Dec[to:], src.Dec, sel)
	case Iv:
		gather(v.Iv[to:], src.Iv, sel)
	case Arr:
		gather(v.Arr[to:], src.Arr, sel)
	}
	if !src.HasNull {
		return
	}
	for i, r := range sel {
		if src.Nulls[r] {
			v.SetNull(to + i)
		}
	}
}

func gather[T any](dst, src []T, sel []int32) {
	n := len(sel)
	if n > 1 && int(sel[n-1])-int(sel[0]) == n-1 && consecutive(sel) {
		copy(dst, src[sel[0]:int(sel[0])+n])
		return
	}
	for i, r := range sel {
		dst[i] = src[r]
	}
}

// consecutive reports whether sel counts up by one. Selections ascend, but row numbers of joins and
// sorts need not.
func consecutive(sel []int32) bool {
	for i := 1; i < len(sel); i++ {
		if sel[i] != sel[i-1]+1 {
			return false
		}
	}
	return true
}

// CopyRows copies rows sel of src to the same rows of v, which exist and are not NULL yet.
// Requires: sel ascends.
func (v *Vec) CopyRows(src *Vec, sel []int32) {
	switch v.Type.Family.Storage() {
	case I64:
		copyRows(v.I, src.I, sel)
	case F64:
		copyRows(v.F, src.F, sel)
	case Str:
		copyRows(v.S, src.S, sel)
	case Dec:
		copyRows(v.Dec, src.Dec, sel)
	case Iv:
		copyRows(v.Iv, src.Iv, sel)
	case Arr:
		copyRows(v.Arr, src.Arr, sel)
	}
	if !src.HasNull {
		return
	}
	for _, i := range sel {
		if src.Nulls[i] {
			v.SetNull(int(i))
		}
	}
}

func copyRows[T any](dst, src []T, sel []int32) {
	if n := len(sel); n > 0 && int(sel[n-1]) == int(sel[0])+n-1 { // no gaps
		lo, hi := sel[0], sel[n-1]+1
		copy(dst[lo:hi], src[lo:hi])
		return
	}
	for _, i := range sel {
		dst[i] = src[i]
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
	switch v.Type.Family.Storage() {
	case I64:
		fill(v.I, d.I, sel)
	case F64:
		fill(v.F, d.F, sel)
	case Str:
		fill(v.S, d.S, sel)
	case Dec:
		fill(v.Dec, d.Dec, sel)
	case Iv:
		fill(v.Iv, d.Iv, sel)
	case Arr:
		fill(v.Arr, d.Arr, sel)
	}
}

func fill[T any](dst []T, x T, sel []int32) {
	for _, i := range sel {
		dst[i] = x
	}
}

// Slice makes v the entries [from, to) of src, whose memory it shares.
func (v *Vec) Slice(src *Vec, from, to int) {
	*v = Vec{Type: src.Type, Len: to - from, HasNull: src.HasNull, Nulls: src.Nulls[from:to:to]}
	switch src.Type.Family.Storage() {
	case I64:
		v.I = src.I[from:to:to]
	case F64:
		v.F = src.F[from:to:to]
	case Str:
		v.S = src.S[from:to:to]
	case Dec:
		v.Dec = src.Dec[from:to:to]
	case Iv:
		v.Iv = src.Iv[from:to:to]
	case Arr:
		v.Arr = src.Arr[from:to:to]
	}
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
