package exec

import (
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// scalarExpr is an expression that sees no columns. Most are constants, parameters and variables,
// which are read without being compiled.
type scalarExpr struct {
	e expr.Expr
	p *eval.Program
}

func (s *scalarExpr) value(r *run) (types.Datum, error) {
	switch e := s.e.(type) {
	case *expr.Const:
		return e.Value, nil
	case *expr.Param:
		return r.ev.Params[e.N-1], nil
	case *expr.Var:
		return r.ev.Vars[e.Slot], nil
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

func scalarExprs(es []expr.Expr) []scalarExpr {
	out := make([]scalarExpr, len(es))
	for i, e := range es {
		out[i].e = e
	}
	return out
}
