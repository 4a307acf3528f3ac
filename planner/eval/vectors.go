package eval

import (
	"github.com/minidb/minidb/table/types"
)

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
