package rule

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// simplifyOuterJoins turns an outer join whose NULL-padded rows a condition above drops into an
// inner one (or a full join into a left or right one).
//
// Equivalent because a condition that is not true for NULL drops every padded row: `a LEFT JOIN b
// ON … WHERE b.x > 1`. Must not fire for conditions that NULL can satisfy: `b.x IS NULL`, `b.x IS
// NOT DISTINCT FROM a.y`, `coalesce(b.x, 0) = 0`, or an OR with one side that does not refer to b.
func simplifyOuterJoins(c *Context, n logical.Node) logical.Node {
	return simplifyOuter(c, n, nil)
}

// simplifyOuter descends with the conditions that rows must satisfy above n.
func simplifyOuter(c *Context, n logical.Node, conds []expr.Expr) logical.Node {
	switch n := n.(type) {
	case *logical.Filter:
		n.Child = simplifyOuter(c, n.Child, append(slices.Clip(conds), n.Conds...))
		return n
	case *logical.Sort:
		n.Child = simplifyOuter(c, n.Child, conds)
		return n
	case *logical.Join:
		return simplifyJoin(c, n, conds)
	}
	logical.EachInput(n, func(in *logical.Node) { *in = simplifyOuter(c, *in, nil) })
	return n
}

func simplifyJoin(c *Context, n *logical.Join, conds []expr.Expr) logical.Node {
	if kind := simplerKind(n, conds); kind != n.Kind {
		c.fired("SimplifyOuterJoins")
		n.Kind = kind
	}
	left, right := conds, conds
	switch n.Kind {
	case opt.Inner, opt.Semi:
		left = append(slices.Clip(conds), n.On...)
		right = left
	case opt.Left, opt.Anti:
		right = n.On // right rows for which ON is not true have no effect
	case opt.Right:
		left = n.On
	default:
		left, right = nil, nil
	}
	n.Left = simplifyOuter(c, n.Left, left)
	n.Right = simplifyOuter(c, n.Right, right)
	return n
}

// simplerKind returns the kind of join that gives the same rows after the conditions above it: it
// need not make rows that these drop.
func simplerKind(n *logical.Join, conds []expr.Expr) opt.JoinKind {
	if n.Kind != opt.Left && n.Kind != opt.Right && n.Kind != opt.Full {
		return n.Kind
	}
	dropsLeft := anyRejectsNulls(conds, logical.SetOf(n.Left.Columns()))
	dropsRight := anyRejectsNulls(conds, logical.SetOf(n.Right.Columns()))
	switch {
	case n.Kind == opt.Left && dropsRight, n.Kind == opt.Right && dropsLeft,
		n.Kind == opt.Full && dropsLeft && dropsRight:
		return opt.Inner
	case n.Kind == opt.Full && dropsLeft:
		return opt.Left
	case n.Kind == opt.Full && dropsRight:
		return opt.Right
	}
	return n.Kind
}

func anyRejectsNulls(conds []expr.Expr, side logical.ColSet) bool {
	for _, cond := range conds {
		if rejectsNulls(cond, side) {
			return true
		}
	}
	return false
}

// rejectsNulls reports whether a condition is not true for a row in which all columns of a side are
// NULL.
func rejectsNulls(cond expr.Expr, side logical.ColSet) bool {
	switch e := cond.(type) {
	case *expr.And:
		return anyRejectsNulls(e.Args, side)
	case *expr.Or:
		for _, a := range e.Args {
			if !rejectsNulls(a, side) {
				return false
			}
		}
		return true
	case *expr.IsNull:
		return e.Not && isNullOn(e.Arg, side)
	case *expr.IsBool:
		return !e.Not && isNullOn(e.Arg, side)
	case *expr.Quantified:
		// NULL = ANY (…) is not true, but if the array is empty it is false rather than NULL. It is
		// therefore not a case of isNullOn, whose result must hold below NOT too.
		return !e.All && !e.Op.NotStrict && isNullOn(e.Left, side)
	}
	return isNullOn(cond, side)
}

// isNullOn reports whether an expression is NULL for a row in which all columns of a side are NULL.
func isNullOn(e expr.Expr, side logical.ColSet) bool {
	switch e := e.(type) {
	case *expr.Col:
		return side.Has(e.Index)
	case *expr.Call:
		if e.Func.NotStrict {
			return false
		}
		for _, a := range e.Args {
			if isNullOn(a, side) {
				return true
			}
		}
	case *expr.Cast:
		return isNullOn(e.Arg, side)
	case *expr.InList:
		return isNullOn(e.Arg, side)
	case *expr.Not:
		return isNullOn(e.Arg, side)
	case *expr.And:
		return allNull(e.Args, side)
	case *expr.Or:
		return allNull(e.Args, side)
	}
	return false
}

// allNull reports whether AND or OR of the arguments is certainly NULL: all of them must be.
func allNull(args []expr.Expr, side logical.ColSet) bool {
	for _, a := range args {
		if !isNullOn(a, side) {
			return false
		}
	}
	return true
}
