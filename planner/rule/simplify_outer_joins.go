package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/physical"
)

// simplifyOuterJoins turns an outer join whose NULL-padded rows a condition above drops into an
// inner one (or a full join into a left or right one).
//
// The same because a condition that is not true for NULL drops every padded row: `a LEFT JOIN b ON …
// WHERE b.x > 1`. Must not fire for conditions that NULL can satisfy: `b.x IS NULL`, `b.x IS NOT
// DISTINCT FROM a.y`, `coalesce(b.x, 0) = 0`, or an OR with one side that does not speak of b.
func simplifyOuterJoins(c *Context, n logical.Node) logical.Node {
	return simplifyOuter(c, n, logical.ColSet{})
}

// simplifyOuter goes down with the columns whose NULLs are dropped above.
func simplifyOuter(c *Context, n logical.Node, rejected logical.ColSet) logical.Node {
	switch n := n.(type) {
	case *logical.Filter:
		rejected = rejected.Copy()
		for _, cond := range n.Conds {
			rejects(cond, &rejected)
		}
		n.Child = simplifyOuter(c, n.Child, rejected)
		return n
	case *logical.Sort:
		n.Child = simplifyOuter(c, n.Child, rejected)
		return n
	case *logical.Join:
		return simplifyJoin(c, n, rejected)
	}
	logical.EachInput(n, func(in *logical.Node) { *in = simplifyOuter(c, *in, logical.ColSet{}) })
	return n
}

func simplifyJoin(c *Context, n *logical.Join, rejected logical.ColSet) logical.Node {
	if n.Kind == physical.Left || n.Kind == physical.Right || n.Kind == physical.Full {
		dropsLeft := rejected.Intersects(logical.SetOf(n.Left.Columns()))
		dropsRight := rejected.Intersects(logical.SetOf(n.Right.Columns()))
		kind := n.Kind
		switch {
		case kind == physical.Left && dropsRight, kind == physical.Right && dropsLeft,
			kind == physical.Full && dropsLeft && dropsRight:
			kind = physical.Inner
		case kind == physical.Full && dropsLeft:
			kind = physical.Left
		case kind == physical.Full && dropsRight:
			kind = physical.Right
		}
		if kind != n.Kind {
			c.fired("SimplifyOuterJoins")
			n.Kind = kind
		}
	}
	var on logical.ColSet
	for _, cond := range n.On {
		rejects(cond, &on)
	}
	left, right := rejected, rejected
	switch n.Kind {
	case physical.Inner, physical.Semi:
		left = rejected.Copy()
		left.UnionWith(on)
		right = left
	case physical.Left:
		// A row of the right side matters only where ON holds.
		right = on
	case physical.Right:
		left = on
	case physical.Anti:
		right = on
	default:
		left, right = logical.ColSet{}, logical.ColSet{}
	}
	n.Left = simplifyOuter(c, n.Left, left)
	n.Right = simplifyOuter(c, n.Right, right)
	return n
}

// rejects adds the columns that must not be NULL for a condition to be true.
func rejects(cond expr.Expr, into *logical.ColSet) {
	switch e := cond.(type) {
	case *expr.And:
		for _, a := range e.Args {
			rejects(a, into)
		}
	case *expr.Or:
		rejectsAll(e.Args, into)
	case *expr.Not:
		// NOT x is true only where x is false, hence not NULL.
		strictCols(e.Arg, into)
	case *expr.IsNull:
		if e.Not {
			strictCols(e.Arg, into)
		}
	case *expr.IsBool:
		if !e.Not {
			strictCols(e.Arg, into)
		}
	case *expr.Quantified:
		// NULL = ANY of nothing is FALSE: not true, but not NULL either.
		if !e.All && !e.Op.NotStrict {
			strictCols(e.Left, into)
		}
	default:
		strictCols(cond, into)
	}
}

// rejectsAll: a disjunction rejects what all its sides reject.
func rejectsAll(args []expr.Expr, into *logical.ColSet) {
	var common logical.ColSet
	for i, a := range args {
		var one logical.ColSet
		rejects(a, &one)
		if i == 0 {
			common = one
			continue
		}
		var both logical.ColSet
		common.Each(func(id logical.ColID) {
			if one.Has(id) {
				both.Add(id)
			}
		})
		common = both
	}
	into.UnionWith(common)
}

// strictCols adds the columns whose NULL makes an expression NULL.
func strictCols(e expr.Expr, into *logical.ColSet) {
	switch e := e.(type) {
	case *expr.Col:
		into.Add(e.Index)
	case *expr.Call:
		if !e.Func.NotStrict {
			for _, a := range e.Args {
				strictCols(a, into)
			}
		}
	case *expr.Cast:
		strictCols(e.Arg, into)
	case *expr.InList:
		strictCols(e.Arg, into)
	case *expr.Not:
		strictCols(e.Arg, into)
	}
}
