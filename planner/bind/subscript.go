package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// subscript binds a[i][j], a[low:high], and j['key'] of a jsonb.
func (b *binder) subscript(sc *scope, e *ast.Subscript) (expr.Expr, error) {
	var chain []*ast.Subscript
	var base ast.Expr = e
	for {
		s, ok := base.(*ast.Subscript)
		if !ok {
			break
		}
		chain = append(chain, s)
		base = s.Operand
	}
	operand, err := b.expr(sc, base)
	if err != nil {
		return nil, err
	}
	t := operand.Type()
	if t.OID == types.OIDJSONB {
		return b.jsonSubscript(sc, operand, chain)
	}
	if t.Elem == nil {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "cannot subscript type %s because it does not support subscripting", typeName(t)).At(exprPos(base))
	}
	slice := false
	for _, s := range chain {
		slice = slice || s.Slice
	}
	if slice {
		if len(chain) > 1 {
			return nil, sqlerr.Unsupported(int(e.Pos), "a slice of several dimensions")
		}
		return b.slice(sc, operand, chain[0])
	}
	args := []expr.Expr{operand}
	for i := len(chain) - 1; i >= 0; i-- {
		arg, err := b.subscriptIndex(sc, chain[i].Index)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return &expr.Call{T: t.Elem, Func: elementFunc, Args: args, Pos: int(e.Pos)}, nil
}

func (b *binder) subscriptIndex(sc *scope, e ast.Expr) (expr.Expr, error) {
	arg, err := b.expr(sc, e)
	if err != nil {
		return nil, err
	}
	if !canCast(arg.Type(), types.TInt4, assignment) {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "array subscript must have type integer").At(exprPos(e))
	}
	return b.coerce(arg, types.TInt4, assignment, exprPos(e))
}

func (b *binder) jsonSubscript(sc *scope, operand expr.Expr, chain []*ast.Subscript) (expr.Expr, error) {
	for i := len(chain) - 1; i >= 0; i-- {
		s := chain[i]
		if s.Slice {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "jsonb subscript does not support slices").At(int(s.Pos))
		}
		key, err := b.expr(sc, s.Index)
		if err != nil {
			return nil, err
		}
		if operand, err = b.binary("->", operand, key, int(s.Pos)); err != nil {
			return nil, err
		}
	}
	return operand, nil
}

func (b *binder) slice(sc *scope, operand expr.Expr, s *ast.Subscript) (expr.Expr, error) {
	args := []expr.Expr{operand}
	for _, bound := range []ast.Expr{s.Low, s.High} {
		var arg expr.Expr = &expr.Const{T: types.TInt4, Value: types.Null}
		if bound != nil {
			var err error
			if arg, err = b.subscriptIndex(sc, bound); err != nil {
				return nil, err
			}
		}
		args = append(args, arg)
	}
	fn := sliceFuncs[sliceKey{s.Low != nil, s.High != nil}]
	return &expr.Call{T: operand.Type(), Func: fn, Args: args, Pos: int(s.Pos)}, nil
}

// elementFunc is array[i][j]…: NULL outside of the bounds or with another number of dimensions.
var elementFunc = &expr.Func{
	Name: "[]", Variadic: true,
	Scalar: func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		arr := a[0].Arr
		if len(arr.Dims) != len(a)-1 {
			return types.Null, nil
		}
		at := 0
		for i, d := range a[1:] {
			k := int(d.I) - arr.Lower[i]
			if k < 0 || k >= arr.Dims[i] {
				return types.Null, nil
			}
			at = at*arr.Dims[i] + k
		}
		return arr.Elems[at], nil
	},
}

type sliceKey struct{ low, high bool }

// sliceFuncs are array[low:high] by which of the bounds are written.
var sliceFuncs = func() map[sliceKey]*expr.Func {
	m := map[sliceKey]*expr.Func{}
	for _, low := range []bool{false, true} {
		for _, high := range []bool{false, true} {
			m[sliceKey{low, high}] = &expr.Func{Name: "[:]", NotStrict: true, Scalar: sliceOf(low, high)}
		}
	}
	return m
}()

func sliceOf(hasLow, hasHigh bool) func(*expr.Runtime, []types.Datum) (types.Datum, error) {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if a[0].Null || hasLow && a[1].Null || hasHigh && a[2].Null {
			return types.Null, nil
		}
		arr := a[0].Arr
		if len(arr.Dims) != 1 {
			return types.NewArray(nil), nil
		}
		from, to := 0, arr.Dims[0]
		if hasLow {
			from = max(from, int(a[1].I)-arr.Lower[0])
		}
		if hasHigh {
			to = min(to, int(a[2].I)-arr.Lower[0]+1)
		}
		if from >= to {
			return types.NewArray(nil), nil
		}
		return types.NewArray(arr.Elems[from:to]), nil
	}
}
