package eval

import (
	"github.com/minidb/minidb/table/types"
)

// copyRows copies rows sel of src to dst, which has no NULL there yet.
func copyRows(dst, src *types.Vec, sel []int32) {
	switch dst.Type.Family {
	case types.Bool, types.Int, types.Date, types.Time, types.Timestamp:
		copySlice(dst.I, src.I, sel)
	case types.Float:
		copySlice(dst.F, src.F, sel)
	case types.String, types.Bytes, types.UUID, types.JSON:
		copySlice(dst.S, src.S, sel)
	case types.Decimal:
		copySlice(dst.Dec, src.Dec, sel)
	case types.Interval:
		copySlice(dst.Iv, src.Iv, sel)
	case types.Array, types.Record:
		copySlice(dst.Arr, src.Arr, sel)
	}
	if !src.HasNull {
		return
	}
	for _, i := range sel {
		if src.Nulls[i] {
			dst.SetNull(int(i))
		}
	}
}

func copySlice[T any](dst, src []T, sel []int32) {
	if n := len(sel); n > 0 && int(sel[n-1]) == int(sel[0])+n-1 { // no gaps
		lo, hi := sel[0], sel[n-1]+1
		copy(dst[lo:hi], src[lo:hi])
		return
	}
	for _, i := range sel {
		dst[i] = src[i]
	}
}

// fill sets rows sel of dst to one value.
func fill(dst *types.Vec, d types.Datum, sel []int32) {
	if d.Null {
		for _, i := range sel {
			dst.SetNull(int(i))
		}
		return
	}
	switch dst.Type.Family {
	case types.Bool, types.Int, types.Date, types.Time, types.Timestamp:
		for _, i := range sel {
			dst.I[i] = d.I
		}
	case types.String, types.Bytes, types.UUID, types.JSON:
		for _, i := range sel {
			dst.S[i] = d.S
		}
	default:
		for _, i := range sel {
			dst.Set(int(i), d)
		}
	}
}

// trueRows appends to dst the rows of sel that are TRUE in v. dst may share memory with sel.
func trueRows(v *types.Vec, sel, dst []int32) []int32 {
	if !v.HasNull {
		for _, i := range sel {
			if v.I[i] != 0 {
				dst = append(dst, i)
			}
		}
		return dst
	}
	for _, i := range sel {
		if v.I[i] != 0 && !v.Nulls[i] {
			dst = append(dst, i)
		}
	}
	return dst
}

// filter appends to dst the rows of sel for which a boolean is TRUE. dst may share memory with sel.
func filter(a *arg, st *state, b *types.Batch, sel, dst []int32) ([]int32, error) {
	if n, ok := a.n.(*logicNode); ok && !n.or {
		for i := range n.args {
			var err error
			if dst, err = filter(&n.args[i], st, b, sel, dst[:0]); err != nil || len(dst) == 0 {
				return dst, err
			}
			sel = dst
		}
		return dst, nil
	}
	v, err := a.vec(st, b, sel)
	if err != nil {
		return dst, err
	}
	return trueRows(v, sel, dst), nil
}
