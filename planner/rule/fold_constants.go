package rule

import (
	"slices"

	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// foldConstants evaluates expressions that do not depend on a row, replaces NOT over an operator by
// its opposite, splits conditions at their ANDs again and drops those that are true.
//
// Equivalent because an immutable function of constants has one value. Must not fire on an
// expression that raises an error (`CASE WHEN a = 0 THEN 1/0 END`), which must be raised only if a
// row reaches it; nor on stable and volatile functions (now(), random()).
func foldConstants(c *Context, n logical.Node) logical.Node {
	logical.EachInput(n, func(in *logical.Node) { *in = foldConstants(c, *in) })
	if v, ok := n.(*logical.Values); ok && len(v.Rows) > 4 {
		return n // the rows of a bulk insert are constants already
	}
	if s, ok := n.(*logical.Scan); ok {
		foldIndexes(s)
	}
	logical.EachExpr(n, func(e *expr.Expr) {
		if !foldable(*e) {
			return
		}
		if folded := fold(*e); folded != *e {
			c.fired("FoldConstants")
			*e = folded
		}
	})
	switch n := n.(type) {
	case *logical.Filter:
		if conds := simplify(n.Conds); len(conds) != len(n.Conds) {
			c.fired("FoldConstants")
			n.Conds = conds
		}
		if len(n.Conds) == 0 {
			return n.Child
		}
	case *logical.Join:
		n.On = simplify(n.On)
	}
	return n
}

// foldIndexes folds the expressions and predicates of a scan's indexes as conditions are folded, so
// that the two remain equal.
func foldIndexes(s *logical.Scan) {
	for i, e := range s.Exprs {
		if e != nil {
			s.Exprs[i] = fold(e)
		}
	}
	for id, pred := range s.Partial {
		for i, e := range pred {
			pred[i] = fold(e)
		}
		s.Partial[id] = simplify(pred)
	}
}

// fold evaluates constants until nothing changes, since a NULL that it finds may make a larger
// expression NULL. It leaves expressions alone that depend on the session's settings, so that the
// plan may be cached.
func fold(e expr.Expr) expr.Expr {
	for range 4 {
		next := foldNulls(pushNots(eval.Fold(e, nil)))
		if next == e {
			return e
		}
		e = next
	}
	return e
}

// Fold evaluates the constants of an expression that belongs to no plan. An error that one raises
// is the statement's, though no row may reach it, but for the branches that constants rule out.
func Fold(e expr.Expr) (expr.Expr, error) {
	e = fold(e)
	return e, eval.Raised(e)
}

// foldNulls replaces a call of a strict function with a constant NULL argument by NULL, even if
// another argument would raise an error for some row, as PostgreSQL does: but not if it raises one
// for every row. It also substitutes a constant operand of CASE into its conditions. Requires:
// constants are folded.
func foldNulls(e expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		switch x := x.(type) {
		case *expr.Call:
			if !x.Func.NotStrict && x.Func.Set == nil && hasNull(x.Args) &&
				!slices.ContainsFunc(x.Args, eval.Raises) {
				return &expr.Const{T: x.T, Value: types.Null}
			}
		case *expr.Cast:
			// a domain may refuse NULL
			if k, ok := x.Arg.(*expr.Const); ok && k.Value.Null && !x.T.Constrained() {
				return &expr.Const{T: x.T, Value: types.Null}
			}
		case *expr.InList:
			if k, ok := x.Arg.(*expr.Const); ok && k.Value.Null {
				return &expr.Const{T: types.TBool, Value: types.Null}
			}
		case *expr.Case:
			return constantOperand(x)
		}
		return x
	})
}

func hasNull(es []expr.Expr) bool {
	for _, e := range es {
		if k, ok := e.(*expr.Const); ok && k.Value.Null {
			return true
		}
	}
	return false
}

// constantOperand turns CASE 1 WHEN a THEN … into CASE WHEN 1 = a THEN ….
func constantOperand(e *expr.Case) expr.Expr {
	k, ok := e.Operand.(*expr.Const)
	if !ok {
		return e
	}
	out := &expr.Case{T: e.T, Else: e.Else}
	for _, w := range e.Whens {
		out.Whens = append(out.Whens, expr.When{Cond: replaceOperand(w.Cond, k), Result: w.Result})
	}
	return out
}

// replaceOperand replaces the operand in the conditions of one simple CASE. Inner simple CASEs have
// operands of their own and are left alone.
func replaceOperand(e expr.Expr, by expr.Expr) expr.Expr {
	switch x := e.(type) {
	case *expr.CaseOperand:
		return by
	case *expr.Case:
		if x.Operand != nil {
			c := *x
			c.Operand = replaceOperand(x.Operand, by)
			return &c
		}
	}
	return expr.Children(e, func(x expr.Expr) expr.Expr { return replaceOperand(x, by) })
}

// foldable reports whether fold could change an expression. Most expressions are a column, or
// compare a column with a constant, and cannot be folded.
func foldable(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Const, *expr.Col, *expr.Param:
		return false
	case *expr.Call:
		for _, a := range e.Args {
			if _, ok := a.(*expr.Col); ok {
				continue
			}
			if foldable(a) || isConst(a) && isBool(a) { // a comparison with true or false
				return true
			}
		}
		return hasNull(e.Args) || allConst(e.Args)
	case *expr.And:
		for _, a := range e.Args {
			if isConst(a) || foldable(a) {
				return true
			}
		}
		return false
	}
	return true
}

func allConst(es []expr.Expr) bool {
	return !slices.ContainsFunc(es, func(e expr.Expr) bool { return !isConst(e) })
}

func isConst(e expr.Expr) bool {
	_, ok := e.(*expr.Const)
	return ok
}

// simplify splits conjunctions into their conditions and drops the constant TRUE.
func simplify(conds []expr.Expr) []expr.Expr {
	clean := true
	for _, cond := range conds {
		switch e := cond.(type) {
		case *expr.And:
			clean = false
		case *expr.Const:
			clean = clean && !e.Value.Bool()
		}
	}
	if clean {
		return conds
	}
	var out []expr.Expr
	for _, cond := range conds {
		switch e := cond.(type) {
		case *expr.And:
			out = append(out, simplify(e.Args)...)
		case *expr.Const:
			if !e.Value.Bool() {
				out = append(out, e)
			}
		default:
			out = append(out, cond)
		}
	}
	return out
}
