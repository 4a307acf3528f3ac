package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// Subscript is a[i] or a[i][j]… with n subscripts over arrays of type t: the arguments are the array
// and n int4. A subscript out of bounds gives NULL. Over jsonb there is one subscript, int4 or text.
func Subscript(t *types.Type, n int) (*expr.Func, error) {
	if t.Elem == nil {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch,
			"cannot subscript type %s because it does not support subscripting", displayName(t))
	}
	args := []*types.Type{t}
	for range n {
		args = append(args, types.TInt4)
	}
	return &expr.Func{Name: "array_subscript", Args: args, Returns: t.Elem, Scalar: subscript,
		Same: madeFor{"array_subscript", t.OID}}, nil
}

func subscript(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	arr := a[0].Arr
	if len(arr.Dims) != len(a)-1 {
		return types.Null, nil
	}
	at := 0
	for k, d := range a[1:] {
		i := d.I - int64(arr.Lower[k])
		if i < 0 || i >= int64(arr.Dims[k]) {
			return types.Null, nil
		}
		at = at*arr.Dims[k] + int(i)
	}
	return arr.Elems[at], nil
}

// Slice is a[l:u] over one-dimensional arrays: the arguments are the array, the lower and the upper
// bound as int4. hasLower and hasUpper say which bounds are written; an argument for one that is not
// is passed over.
func Slice(t *types.Type, hasLower, hasUpper bool) (*expr.Func, error) {
	if t.Elem == nil {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch,
			"cannot subscript type %s because it does not support subscripting", displayName(t))
	}
	return &expr.Func{
		Name: "array_slice", Args: []*types.Type{t, types.TInt4, types.TInt4}, Returns: t, NotStrict: true,
		Scalar: func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			if a[0].Null || hasLower && a[1].Null || hasUpper && a[2].Null {
				return types.Null, nil
			}
			arr := a[0].Arr
			if len(arr.Dims) > 1 {
				return types.Null, sqlerr.Unsupported(0, "slice of a multidimensional array")
			}
			first := int64(lowerBound(arr))
			lo, hi := first, first+int64(len(arr.Elems))-1
			if hasLower {
				lo = max(lo, a[1].I)
			}
			if hasUpper {
				hi = min(hi, a[2].I)
			}
			if lo > hi {
				return types.Datum{Arr: &types.ArrayValue{}}, nil
			}
			return oneDimensional(arr.Elems[lo-first:hi-first+1], 1), nil
		},
	}, nil
}
