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
// The same because a condition that is not true for NULL drops every padded row: `a LEFT JOIN b ON
// … WHERE b.x > 1`. Must not fire for conditions that NULL can satisfy: `b.x IS NULL`, `b.x IS NOT
// DISTINCT FROM a.y`, `coalesce(b.x, 0) = 0`, or an OR with one side that does not speak of b.
func simplifyOuterJoins(c *Context, n logical.Node) logical.Node {
	return simplifyOuter(c, n, nil)
}

// simplifyOuter goes down with the conditions that rows must fulfil above.
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
	if n.Kind == opt.Left || n.Kind == opt.Right || n.Kind == opt.Full {
		dropsLeft := anyRejects(conds, logical.SetOf(n.Left.Columns()))
		dropsRight := anyRejects(conds, logical.SetOf(n.Right.Columns()))
		kind := n.Kind
		switch {
		case kind == opt.Left && dropsRight, kind == opt.Right && dropsLeft,
			kind == opt.Full && dropsLeft && dropsRight:
			kind = opt.Inner
		case kind == opt.Full && dropsLeft:
			kind = opt.Left
		case kind == opt.Full && dropsRight:
			kind = opt.Right
		}
		if kind != n.Kind {
			c.fired("SimplifyOuterJoins")
			n.Kind = kind
		}
	}
	left, right := conds, conds
	switch n.Kind {
	case opt.Inner, opt.Semi:
		left = append(slices.Clip(conds), n.On...)
		right = left
	case opt.Left, opt.Anti:
		// A row of the right side matters only where ON holds.
		right = n.On
	case opt.Right:
		left = n.On
	default:
		left, right = nil, nil
	}
	n.Left = simplifyOuter(c, n.Left, left)
	n.Right = simplifyOuter(c, n.Right, right)
	return n
}

func anyRejects(conds []expr.Expr, side logical.ColSet) bool {
	for _, cond := range conds {
		if rejects(cond, side) {
			return true
		}
	}
	return false
}

// rejects says whether a condition is not true for a row in which all columns of a side are NULL.
func rejects(cond expr.Expr, side logical.ColSet) bool {
	switch e := cond.(type) {
	case *expr.And:
		return anyRejects(e.Args, side)
	case *expr.Or:
		for _, a := range e.Args {
			if !rejects(a, side) {
				return false
			}
		}
		return true
	case *expr.IsNull:
		return e.Not && nullWith(e.Arg, side)
	case *expr.IsBool:
		return !e.Not && nullWith(e.Arg, side)
	case *expr.Quantified:
		// NULL = ANY (…) is not true, but it is false rather than NULL when the array is empty:
		// that is why it is not among the cases of nullWith, whose answer also serves below NOT.
		return !e.All && !e.Op.NotStrict && nullWith(e.Left, side)
	}
	return nullWith(cond, side)
}

// nullWith says whether an expression is NULL where all columns of a side are.
func nullWith(e expr.Expr, side logical.ColSet) bool {
	switch e := e.(type) {
	case *expr.Col:
		return side.Has(e.Index)
	case *expr.Call:
		if e.Func.NotStrict {
			return false
		}
		for _, a := range e.Args {
			if nullWith(a, side) {
				return true
			}
		}
	case *expr.Cast:
		return nullWith(e.Arg, side)
	case *expr.InList:
		return nullWith(e.Arg, side)
	case *expr.Not:
		return nullWith(e.Arg, side)
	case *expr.And:
		return allNull(e.Args, side)
	case *expr.Or:
		return allNull(e.Args, side)
	}
	return false
}

// allNull: AND and OR are NULL for certain where all their arguments are.
func allNull(args []expr.Expr, side logical.ColSet) bool {
	for _, a := range args {
		if !nullWith(a, side) {
			return false
		}
	}
	return true
}
