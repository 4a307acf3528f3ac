package bind

import (
	"fmt"

	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// subscript binds a[i][j], a[low:high], and j['key'] of a jsonb or an hstore.
func (b *binder) subscript(sc *scope, e *ast.Subscript) expr.Expr {
	base, chain := e.Chain()
	operand := b.expr(sc, base)
	t := operand.Type().Base()
	if len(chain) > arrayDimsMax {
		panic(failure.At(0, sqlerr.ProgramLimitExceeded,
			"number of array dimensions (%d) exceeds the maximum allowed (%d)", len(chain),
			arrayDimsMax))
	}
	if t.OID == types.OIDJSONB {
		return b.jsonSubscript(sc, operand, chain)
	}
	if t.OID == types.OIDHStore {
		return b.hstoreSubscript(sc, operand, chain)
	}
	if t.OID == types.OIDName {
		return b.fixedSubscript(sc, operand, chain, types.TChar, nameByteFunc)
	}
	if part, _ := t.Parts(); part != nil {
		return b.fixedSubscript(sc, operand, chain, part, partFunc)
	}
	if t.Elem == nil {
		panic(failure.At(exprPos(base), sqlerr.DatatypeMismatch,
			"cannot subscript type %s because it does not support subscripting", typeName(t)))
	}
	slices.Reverse(chain)
	if slices.ContainsFunc(chain, func(s *ast.Subscript) bool { return s.Slice }) {
		return b.slice(sc, operand, chain)
	}
	args := []expr.Expr{operand}
	for i := range chain {
		args = append(args, b.subscriptIndex(sc, chain[i].Index))
	}
	return &expr.Call{T: t.Elem, Func: elementFunc, Args: args, Pos: int(e.Pos)}
}

func (b *binder) subscriptIndex(sc *scope, e ast.Expr) expr.Expr {
	arg := b.expr(sc, e)
	if !canCast(arg.Type(), types.TInt4, assignment) {
		panic(failure.At(exprPos(e), sqlerr.DatatypeMismatch,
			"array subscript must have type integer"))
	}
	return b.coerce(arg, types.TInt4, assignment, exprPos(e))
}

// fixedSubscript binds v[i] of a value that PostgreSQL has as an array of a fixed number of
// elements from 0 on.
func (b *binder) fixedSubscript(sc *scope, operand expr.Expr, chain []*ast.Subscript,
	elem *types.Type, fn *expr.Func) expr.Expr {
	args := []expr.Expr{operand}
	for _, s := range slices.Backward(chain) {
		if s.Slice {
			panic(failure.At(s.Pos, sqlerr.FeatureNotSupported,
				"slices of fixed-length arrays not implemented"))
		}
		args = append(args, b.subscriptIndex(sc, s.Index))
	}
	return &expr.Call{T: elem, Func: fn, Args: args, Pos: int(chain[0].Pos)}
}

// partFunc is v[i] of a point, a line, a segment or a box, which is NULL beyond its parts.
var partFunc = &expr.Func{
	Name: "[]", Variadic: true,
	Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		_, n := rt.ArgTypes[0].Parts()
		if i := a[1].I; len(a) == 2 && i >= 0 && i < int64(n) {
			return types.PartAt(rt.ArgTypes[0], a[0], int(i)), nil
		}
		return types.Null, nil
	},
}

// nameByteFunc is name[i], which PostgreSQL has as an array of 64 bytes. It is NULL beyond
// these.
var nameByteFunc = &expr.Func{
	Name: "[]", Variadic: true,
	Scalar: func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		i, s := a[1].I, a[0].S
		switch {
		case len(a) > 2 || i < 0 || i >= int64(types.TName.Len):
			return types.Null, nil
		case i >= int64(len(s)):
			return types.NewString(""), nil
		}
		return types.NewString(s[i : i+1]), nil
	},
}

// jsonSubscript binds j[a][b] as j #> array[a, b]: as in a path, a subscript is a text, which is an
// index where the value is an array.
func (b *binder) jsonSubscript(sc *scope, operand expr.Expr, chain []*ast.Subscript) expr.Expr {
	path := &expr.ArrayExpr{T: types.ArrayOf(types.TText)}
	for _, s := range slices.Backward(chain) {
		if s.Slice {
			bound := s.High
			if bound == nil {
				bound = s.Low
			}
			panic(failure.At(exprPos(bound), sqlerr.DatatypeMismatch,
				"jsonb subscript does not support slices"))
		}
		key, _ := b.jsonKey(sc, s.Index)
		path.Elems = append(path.Elems, key)
	}
	return b.binary("#>", operand, path, int(chain[len(chain)-1].Pos))
}

// jsonKey binds one subscript of a jsonb, an integer or a text, as a text.
func (b *binder) jsonKey(sc *scope, e ast.Expr) (key expr.Expr, isInt bool) {
	key = b.expr(sc, e)
	if t := key.Type(); t.OID != types.OIDUnknown && canCast(t, types.TInt4, implicit) {
		isInt = true
		key = b.coerce(key, types.TInt4, implicit, exprPos(e))
	} else if t.OID != types.OIDUnknown && !canCast(t, types.TText, implicit) {
		panic(failure.Of(sqlerr.New(sqlerr.DatatypeMismatch, "subscript type %s is not supported",
			typeName(t)).At(exprPos(e)).
			WithHint("jsonb subscript must be coercible to either integer or text.")))
	}
	return b.coerce(key, types.TText, assignment, exprPos(e)), isInt
}

// slice binds a chain of subscripts of which at least one is a slice. The others then mean slices
// too: [i] is [1:i].
func (b *binder) slice(sc *scope, operand expr.Expr, chain []*ast.Subscript) expr.Expr {
	args := []expr.Expr{operand}
	bounds := make([]bounds, len(chain))
	for i, s := range chain {
		low, high := s.Low, s.High
		if !s.Slice {
			low, high = &ast.Literal{Pos: s.Pos, Kind: ast.LiteralInt, Text: "1"}, s.Index
		}
		bounds[i].low, bounds[i].high = low != nil, high != nil
		for _, bound := range []ast.Expr{low, high} {
			if bound == nil {
				continue
			}
			args = append(args, b.subscriptIndex(sc, bound))
		}
	}
	fn := &expr.Func{Name: "[:]", Scalar: sliceOf(bounds), Same: fmt.Sprint(bounds)}
	t := operand.Type().Base()
	if !t.Nests() { // a vector of pg_catalog
		t = types.ArrayOf(t.Elem)
	}
	return &expr.Call{T: t, Func: fn, Args: args, Pos: int(chain[0].Pos)}
}

// arrayDimsMax is PostgreSQL's MAXDIM.
const arrayDimsMax = 6

// elementFunc is array[i][j]…: NULL outside of the bounds or with a different number of dimensions.
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

// bounds reports which bounds of one dimension of a slice are written.
type bounds struct{ low, high bool }

// sliceOf returns the function of a slice: its arguments are the array and the written bounds, none
// of which is NULL. A dimension without a subscript is taken whole.
func sliceOf(written []bounds) func(*expr.Runtime, []types.Datum) (types.Datum, error) {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		arr, args := a[0].Arr, a[1:]
		if len(arr.Dims) < len(written) {
			return types.NewArray(nil), nil
		}
		// [from, to), counted from 0
		from, to := make([]int64, len(arr.Dims)), make([]int64, len(arr.Dims))
		out := &types.ArrayValue{}
		for d, n := range arr.Dims {
			to[d] = int64(n)
			if d < len(written) && written[d].low {
				from[d] = max(0, args[0].I-int64(arr.Lower[d]))
				args = args[1:]
			}
			if d < len(written) && written[d].high {
				to[d] = min(to[d], args[0].I-int64(arr.Lower[d])+1)
				args = args[1:]
			}
			if from[d] >= to[d] {
				return types.NewArray(nil), nil
			}
			out.Dims, out.Lower = append(out.Dims, int(to[d]-from[d])), append(out.Lower, 1)
		}
		out.Elems = section(nil, arr.Elems, arr.Dims, from, to)
		return types.Datum{Arr: out}, nil
	}
}

// section appends the elements of an array with dimensions dims that are within [from, to) in each
// dimension.
func section(out, elems []types.Datum, dims []int, from, to []int64) []types.Datum {
	if len(dims) == 1 {
		return append(out, elems[from[0]:to[0]]...)
	}
	stride := int64(len(elems) / dims[0])
	for i := from[0]; i < to[0]; i++ {
		out = section(out, elems[i*stride:(i+1)*stride], dims[1:], from[1:], to[1:])
	}
	return out
}
