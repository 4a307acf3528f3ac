package logical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// EachInput calls fn with a pointer to each child node; fn may replace the node.
func EachInput(n Node, fn func(*Node)) {
	switch n := n.(type) {
	case *Recursion:
		fn(&n.CTE.Query.Node)
		fn(&n.CTE.Recursive.Node)
	case *Filter:
		fn(&n.Child)
	case *Barrier:
		fn(&n.Child)
	case *Project:
		fn(&n.Child)
	case *ProjectSet:
		fn(&n.Child)
	case *Join:
		fn(&n.Left)
		fn(&n.Right)
	case *Aggregate:
		fn(&n.Child)
	case *Distinct:
		fn(&n.Child)
	case *Sort:
		fn(&n.Child)
	case *Limit:
		fn(&n.Child)
	case *Append:
		for i := range n.Inputs {
			fn(&n.Inputs[i])
		}
	case *SetOp:
		fn(&n.Left)
		fn(&n.Right)
	case *Window:
		fn(&n.Child)
	case *Insert:
		fn(&n.Child)
	case *Update:
		fn(&n.Child)
	case *Delete:
		fn(&n.Child)
	case *Merge:
		fn(&n.Child)
	case *LockRows:
		fn(&n.Child)
	}
}

// EachExpr calls fn with a pointer to each expression of the node itself; fn may replace the
// expression.
func EachExpr(n Node, fn func(*expr.Expr)) {
	switch n := n.(type) {
	case *Values:
		for _, row := range n.Rows {
			each(row, fn)
		}
	case *FuncScan:
		for i := range n.Funcs {
			each(n.Funcs[i].Args, fn)
			if n.Funcs[i].Scalar != nil {
				fn(&n.Funcs[i].Scalar)
			}
		}
	case *Filter:
		each(n.Conds, fn)
	case *Project:
		eachItem(n.Items, fn)
	case *ProjectSet:
		for i := range n.Items {
			each(n.Items[i].Args, fn)
		}
	case *Join:
		each(n.On, fn)
	case *Aggregate:
		eachItem(n.Keys, fn)
		for i := range n.Aggs {
			eachAgg(&n.Aggs[i].Agg, fn)
		}
	case *Distinct:
		each(n.On, fn)
	case *Sort:
		eachKey(n.Keys, fn)
	case *Limit:
		if n.Count != nil {
			fn(&n.Count)
		}
		if n.Offset != nil {
			fn(&n.Offset)
		}
		eachKey(n.Ties, fn)
	case *Window:
		eachWindow(n, fn)
	case *Insert, *Update, *Delete, *Merge:
		eachModify(n, fn)
	}
}

func eachModify(n Node, fn func(*expr.Expr)) {
	assigns := func(set []opt.Assign) {
		for i := range set {
			fn(&set[i].Expr)
		}
	}
	checks := func(cs []opt.Check) {
		for i := range cs {
			fn(&cs[i].Cond)
		}
	}
	switch n := n.(type) {
	case *Insert:
		checks(n.Checks)
		checks(n.ViewChecks)
		eachItem(n.Returning, fn)
		if oc := n.OnConflict; oc != nil {
			assigns(oc.Set)
			assigns(oc.Generated)
			if oc.Where != nil {
				fn(&oc.Where)
			}
			checks(oc.Targets)
			checks(oc.Checks)
		}
	case *Update:
		assigns(n.Set)
		assigns(n.Generated)
		checks(n.Checks)
		checks(n.ViewChecks)
		eachItem(n.Returning, fn)
	case *Delete:
		eachItem(n.Returning, fn)
	case *Merge:
		for i := range n.Actions {
			n.Actions[i].EachExpr(fn)
		}
		checks(n.Checks)
	}
}

func eachWindow(n *Window, fn func(*expr.Expr)) {
	each(n.PartitionBy, fn)
	eachKey(n.OrderBy, fn)
	for i := range n.Calls {
		c := &n.Calls[i]
		each(c.Args, fn)
		if c.Frame.Start != nil {
			fn(&c.Frame.Start)
		}
		if c.Frame.End != nil {
			fn(&c.Frame.End)
		}
	}
}

func eachAgg(a *opt.Agg, fn func(*expr.Expr)) {
	each(a.Args, fn)
	each(a.Direct, fn)
	eachKey(a.OrderBy, fn)
	if a.Filter != nil {
		fn(&a.Filter)
	}
}

func each(es []expr.Expr, fn func(*expr.Expr)) {
	for i := range es {
		fn(&es[i])
	}
}

func eachItem(items []Item, fn func(*expr.Expr)) {
	for i := range items {
		fn(&items[i].Expr)
	}
}

func eachKey(keys []opt.SortKey, fn func(*expr.Expr)) {
	for i := range keys {
		fn(&keys[i].Expr)
	}
}

// EachSubquery calls fn for every subquery within an expression, outermost first.
func EachSubquery(e expr.Expr, fn func(*expr.Subquery)) {
	expr.Walk(e, func(x expr.Expr) bool {
		if sq, ok := x.(*expr.Subquery); ok {
			fn(sq)
		}
		return true
	})
}

// ExprCols adds the columns that an expression refers to, including the outer columns of its
// subqueries.
func ExprCols(e expr.Expr, into *ColSet) {
	expr.Walk(e, func(x expr.Expr) bool {
		switch x := x.(type) {
		case *expr.Col:
			into.Add(x.Index)
		case *expr.Subquery:
			if q, ok := x.Plan.(*Query); ok {
				into.UnionWith(FreeCols(q.Node))
			}
		}
		return true
	})
}

// ColsOf returns the set of columns that an expression refers to.
func ColsOf(e expr.Expr) ColSet {
	var s ColSet
	ExprCols(e, &s)
	return s
}

// MadeCols returns the set of a node's Columns. It makes no lists for the joins below.
func MadeCols(n Node) ColSet {
	var s ColSet
	addMade(n, &s)
	return s
}

func addMade(n Node, into *ColSet) {
	for {
		switch j := n.(type) {
		case *Filter:
			n = j.Child
			continue
		case *Join:
			if j.onlyLeft() {
				n = j.Left
				continue
			}
			if !j.frozen {
				addMade(j.Right, into)
				n = j.Left
				continue
			}
		}
		into.AddAll(n.Columns())
		return
	}
}

// FreeCols returns the set of columns that a tree refers to and does not make: those of outer
// queries.
func FreeCols(n Node) ColSet {
	var refs, defs ColSet
	collect(n, &refs, &defs)
	refs.DifferenceWith(defs)
	return refs
}

func collect(n Node, refs, defs *ColSet) {
	switch n := n.(type) {
	case *Filter, *Join: // they pass on the columns of their inputs
	default:
		defs.AddAll(n.Columns())
	}
	switch n := n.(type) {
	case *Append:
		for _, c := range n.InCols {
			refs.AddAll(c)
		}
	case *Recursion:
		refs.AddAll(n.CTE.Query.IDs())
		refs.AddAll(n.CTE.Recursive.IDs())
	case *Insert:
		defineRow(defs, n.Desc, n.Row)
		if oc := n.OnConflict; oc != nil && oc.Update {
			defineRow(defs, n.Desc, oc.Existing)
			defineRow(defs, n.Desc, oc.Excluded)
			defineRow(defs, n.Desc, oc.Row)
		}
	case *Update:
		defineRow(defs, n.Desc, n.Row)
	case *Merge:
		defineRow(defs, n.Desc, n.Row)
	}
	EachExpr(n, func(e *expr.Expr) { ExprCols(*e, refs) })
	EachInput(n, func(c *Node) { collect(*c, refs, defs) })
}

// IsVolatile reports whether an expression, including its subqueries, calls a volatile function.
func IsVolatile(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		switch x := x.(type) {
		case *expr.Call:
			found = found || x.Func.Volatility == expr.Volatile
		case *expr.Subquery:
			if q, ok := x.Plan.(*Query); ok {
				found = found || NodeVolatile(q.Node)
			}
		}
		return !found
	})
	return found
}

// Movable reports whether an expression may be evaluated at another place, or twice: it calls no
// volatile function and has no subquery.
func Movable(e expr.Expr) bool { return !IsVolatile(e) && !expr.HasSubquery(e) }

// NodeVolatile reports whether a tree calls a volatile function or modifies rows.
func NodeVolatile(n Node) bool {
	found := false
	switch n := n.(type) {
	case *Insert, *Update, *Delete, *Merge, *LockRows:
		return true
	case *FuncScan:
		found = opt.AnyVolatile(n.Funcs)
	case *ProjectSet:
		for _, it := range n.Items {
			found = found || it.Func.Volatility == expr.Volatile
		}
	}
	EachExpr(n, func(e *expr.Expr) { found = found || IsVolatile(*e) })
	EachInput(n, func(c *Node) { found = found || NodeVolatile(*c) })
	return found
}

func defineRow(defs *ColSet, d *table.Desc, first ColID) {
	for i := range d.Columns {
		defs.Add(first + i)
	}
}
