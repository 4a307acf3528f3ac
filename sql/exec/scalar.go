package exec

import (
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// scalarExpr is an expression that sees no columns. Most are constants, parameters and variables,
// or bounds made of these, which are read without being compiled.
type scalarExpr struct {
	e expr.Expr
	p *eval.Program
}

func (s *scalarExpr) value(r *run) (types.Datum, error) {
	if d, ok := r.plain(s.e); ok {
		return d, nil
	}
	if call, ok := s.e.(*expr.Call); ok && call.Func.Bound {
		if d, ok := r.plain(call.Args[0]); ok {
			return r.bound(call, d)
		}
	}
	if call, ok := s.e.(*expr.Call); ok && isSmallCall(call) {
		return r.smallCall(call)
	}
	if s.p == nil {
		p, err := eval.Compile(s.e)
		if err != nil {
			return types.Null, err
		}
		s.p = p
	}
	return r.scalar(s.p)
}

// isSmallCall reports whether an expression is a call whose arguments and result are numbers of
// fixed size, the arguments constants, parameters or variables: $1 + 100. Most bounds of ranges are
// no more than that, and the program would take longer to make than to run.
func isSmallCall(call *expr.Call) bool {
	f := call.Func
	if f.Scalar == nil || f.NotStrict || len(call.Args) > len(run{}.smallArgs) ||
		!fixedSize(f.Returns) {
		return false
	}
	for _, a := range call.Args {
		switch a.(type) {
		case *expr.Const, *expr.Param, *expr.Var:
			if !fixedSize(a.Type()) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func fixedSize(t *types.Type) bool {
	return t != nil && (t.Family.Storage() == types.I64 || t.Family.Storage() == types.F64)
}

// smallCall computes a small call. A NULL among the arguments makes it NULL.
func (r *run) smallCall(call *expr.Call) (types.Datum, error) {
	n := len(call.Args)
	for i, a := range call.Args {
		d, _ := r.plain(a)
		if d.Null {
			return types.Null, nil
		}
		r.smallArgs[i], r.smallTypes[i] = d, a.Type()
	}
	r.ev.Runtime.ArgTypes = r.smallTypes[:n]
	return call.Func.Scalar(r.ev.Runtime, r.smallArgs[:n])
}

// plain reads a constant, parameter or variable.
func (r *run) plain(e expr.Expr) (types.Datum, bool) {
	switch e := e.(type) {
	case *expr.Const:
		return e.Value, true
	case *expr.Param:
		return r.ev.Params[e.N-1], true
	case *expr.Var:
		return r.ev.Vars[e.Slot], true
	}
	return types.Null, false
}

// bound computes the bound that a value is for the keys of an index.
func (r *run) bound(e *expr.Call, d types.Datum) (types.Datum, error) {
	if d.Null {
		return types.Null, nil
	}
	r.boundArg[0] = d
	return e.Func.Scalar(r.ev.Runtime, r.boundArg[:])
}

func scalarExprs(es []expr.Expr) []scalarExpr {
	out := make([]scalarExpr, len(es))
	for i, e := range es {
		out[i].e = e
	}
	return out
}
