package bind

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// toDomain converts an expression to a domain. A literal is read as a value of the type below all
// domains; the cast around it, which evaluates the constraints, stays for run time. A parameter of
// unknown type gets the domain as its type: the value is checked when it is bound.
func (b *binder) toDomain(e expr.Expr, to *types.Type, how coercion, pos int) expr.Expr {
	base := to.Base()
	switch x := e.(type) {
	case *expr.Param:
		if x.T.OID == types.OIDUnknown {
			return b.inferParam(x, to)
		}
	case *expr.Const:
		if x.T.OID == types.OIDUnknown {
			e = b.parseLiteral(x, base)
		}
	}
	if e.Type().OID == types.OIDRecord && base.IsComposite() {
		e = b.coerceRow(e, base, how, pos)
	}
	return &expr.Cast{T: to, Arg: e, Explicit: how == explicit, Pos: pos}
}

// below returns a value of a domain as one of the type below all domains, which holds it in the
// same form. A column stays a column, so that the planner finds its indexes and statistics.
func below(e expr.Expr) expr.Expr {
	base := e.Type().Base()
	switch x := e.(type) {
	case *expr.Col:
		c := *x
		c.T = base
		return &c
	case *expr.Param:
		c := *x
		c.T = base
		return &c
	case *expr.Var:
		c := *x
		c.T = base
		return &c
	}
	return &expr.Cast{T: base, Arg: e}
}
