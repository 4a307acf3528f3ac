package exec

import (
	"github.com/minidb/minidb/table/types"
)

// ascending is 0, 1, 2, …: the selection of all rows of a batch of usual size.
var ascending = func() []int32 {
	s := make([]int32, types.BatchSize)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}()

// selection returns the row numbers of b that count; never nil.
func selection(b *types.Batch) []int32 {
	if b.Sel != nil {
		return b.Sel
	}
	return firstRows(b.Len)
}

// firstRows returns 0 … n-1, which must not be changed.
func firstRows(n int) []int32 {
	if n <= len(ascending) {
		return ascending[:n:n]
	}
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

// appendRows adds rows sel of src at the end of dst.
func appendRows(dst, src *types.Vec, sel []int32) {
	at := dst.Len
	dst.Resize(at + len(sel))
	gatherAt(dst, at, src, sel)
}

// gather makes dst the rows idx of src; -1 gives NULL.
func gather(dst, src *types.Vec, idx []int32, outer bool) {
	dst.Reset(src.Type)
	dst.Resize(len(idx))
	if !outer {
		gatherAt(dst, 0, src, idx)
		return
	}
	for i, r := range idx {
		if r < 0 {
			dst.SetNull(i)
		} else {
			copyEntry(dst, i, src, int(r))
		}
	}
}

// gatherAt copies rows sel of src to dst[at:]; these entries exist and are not NULL yet.
func gatherAt(dst *types.Vec, at int, src *types.Vec, sel []int32) {
	switch dst.Type.Family {
	case types.Bool, types.Int, types.Date, types.Time, types.Timestamp:
		gatherSlice(dst.I[at:], src.I, sel)
	case types.Float:
		gatherSlice(dst.F[at:], src.F, sel)
	case types.String, types.Bytes, types.UUID, types.JSON:
		gatherSlice(dst.S[at:], src.S, sel)
	case types.Decimal:
		gatherSlice(dst.Dec[at:], src.Dec, sel)
	case types.Interval:
		gatherSlice(dst.Iv[at:], src.Iv, sel)
	case types.Array, types.Record:
		gatherSlice(dst.Arr[at:], src.Arr, sel)
	}
	if !src.HasNull {
		return
	}
	for i, r := range sel {
		if src.Nulls[r] {
			dst.SetNull(at + i)
		}
	}
}

func gatherSlice[T any](dst, src []T, sel []int32) {
	n := len(sel)
	if n > 1 && int(sel[n-1])-int(sel[0]) == n-1 && consecutive(sel) {
		copy(dst, src[sel[0]:int(sel[0])+n])
		return
	}
	for i, r := range sel {
		dst[i] = src[r]
	}
}

// consecutive says whether sel counts up by one. Selections ascend, but row numbers of joins and
// sorts need not.
func consecutive(sel []int32) bool {
	for i := 1; i < len(sel); i++ {
		if sel[i] != sel[i-1]+1 {
			return false
		}
	}
	return true
}

// copyEntry copies entry j of src to entry i of dst, which exists.
func copyEntry(dst *types.Vec, i int, src *types.Vec, j int) {
	if src.HasNull && src.Nulls[j] {
		dst.SetNull(i)
		return
	}
	switch dst.Type.Family {
	case types.Bool, types.Int, types.Date, types.Time, types.Timestamp:
		dst.I[i] = src.I[j]
	case types.Float:
		dst.F[i] = src.F[j]
	case types.String, types.Bytes, types.UUID, types.JSON:
		dst.S[i] = src.S[j]
	case types.Decimal:
		dst.Dec[i] = src.Dec[j]
	case types.Interval:
		dst.Iv[i] = src.Iv[j]
	case types.Array, types.Record:
		dst.Arr[i] = src.Arr[j]
	}
}

// readRow puts row r of the columns into dst.
func readRow(cols []*types.Vec, r int, dst []types.Datum) {
	for i, c := range cols {
		dst[i] = c.Get(r)
	}
}
