package physical

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
)

// EachExpr calls fn with each expression of the node itself. It does not enter the plans of
// subqueries within them.
func EachExpr(n Node, fn func(expr.Expr)) {
	switch n := n.(type) {
	case *Scan:
		for i := range n.Ranges {
			r := &n.Ranges[i]
			each(fn, r.Eq...)
			each(fn, r.Low, r.High)
		}
		n.Keys.Each(func(k *KeyCond) { each(fn, k.Arg) })
		each(fn, n.Filter, n.Recheck)
	case *VirtualScan:
		each(fn, n.Filter)
	case *DeltaScan:
		each(fn, n.Filter)
	case *Values:
		for _, row := range n.Rows {
			each(fn, row...)
		}
	case *FuncScan:
		for i := range n.Funcs {
			each(fn, n.Funcs[i].Args...)
			each(fn, n.Funcs[i].Scalar)
		}
	case *Filter:
		each(fn, n.Cond)
	case *Project:
		each(fn, n.Exprs...)
	case *ProjectSet:
		for i := range n.Items {
			each(fn, n.Items[i].Expr)
			each(fn, n.Items[i].Args...)
		}
	case *Limit:
		each(fn, n.Count, n.Offset)
		each(fn, n.Ties...)
	case *Distinct:
		each(fn, n.On...)
	case *Sort:
		eachKey(fn, n.Keys)
		each(fn, n.Top)
	case *HashJoin, *NestLoop, *IndexJoin, *Apply:
		eachOfJoin(fn, n)
	case *Aggregate, *Window:
		eachOfCalls(fn, n)
	case *Insert, *Update, *Delete, *Merge:
		eachOfModify(fn, n)
	}
}

func eachOfJoin(fn func(expr.Expr), n Node) {
	switch n := n.(type) {
	case *HashJoin:
		each(fn, n.LeftKeys...)
		each(fn, n.RightKeys...)
		each(fn, n.Cond)
	case *NestLoop:
		each(fn, n.Cond)
	case *IndexJoin:
		each(fn, n.Keys...)
		each(fn, n.Cond)
	case *Apply:
		each(fn, n.Args...)
		each(fn, n.Cond)
	}
}

func eachOfCalls(fn func(expr.Expr), n Node) {
	switch n := n.(type) {
	case *Aggregate:
		each(fn, n.GroupBy...)
		for i := range n.Aggs {
			a := &n.Aggs[i]
			each(fn, a.Args...)
			each(fn, a.Direct...)
			each(fn, a.Filter)
			eachKey(fn, a.OrderBy)
		}
	case *Window:
		each(fn, n.PartitionBy...)
		eachKey(fn, n.OrderBy)
		for i := range n.Calls {
			c := &n.Calls[i]
			each(fn, c.Args...)
			each(fn, c.Frame.Start, c.Frame.End)
		}
	}
}

func eachOfModify(fn func(expr.Expr), n Node) {
	switch n := n.(type) {
	case *Insert:
		eachCheck(fn, n.Checks)
		eachCheck(fn, n.ViewChecks)
		if oc := n.OnConflict; oc != nil {
			eachAssign(fn, oc.Set)
			eachAssign(fn, oc.Generated)
			each(fn, oc.Where)
			eachCheck(fn, oc.Targets)
			eachCheck(fn, oc.Checks)
		}
		each(fn, n.Returning...)
	case *Update:
		eachAssign(fn, n.Set)
		eachAssign(fn, n.Generated)
		eachCheck(fn, n.Checks)
		eachCheck(fn, n.ViewChecks)
		each(fn, n.Returning...)
	case *Delete:
		each(fn, n.Returning...)
	case *Merge:
		for i := range n.Actions {
			n.Actions[i].EachExpr(func(e *expr.Expr) { fn(*e) })
		}
		eachCheck(fn, n.Checks)
	}
}

func each(fn func(expr.Expr), es ...expr.Expr) {
	for _, e := range es {
		if e != nil {
			fn(e)
		}
	}
}

func eachKey(fn func(expr.Expr), keys []opt.SortKey) {
	for i := range keys {
		fn(keys[i].Expr)
	}
}

func eachAssign(fn func(expr.Expr), set []opt.Assign) {
	for i := range set {
		fn(set[i].Expr)
	}
}

func eachCheck(fn func(expr.Expr), checks []opt.Check) {
	for i := range checks {
		fn(checks[i].Cond)
	}
}

// Contains reports whether fn holds for n, a node below it, or a node of a subquery in the
// expressions of these.
func Contains(n Node, fn func(Node) bool) bool {
	within := func(n Node) bool { return Contains(n, fn) }
	return fn(n) || slices.ContainsFunc(n.Children(), within) ||
		HasExpr(n, func(e expr.Expr) bool {
			found := false
			EachSubplan(e, func(plan Node) { found = found || within(plan) })
			return found
		})
}

// EachSubplan calls fn with the plan of each subquery in an expression.
func EachSubplan(e expr.Expr, fn func(Node)) {
	expr.Walk(e, func(e expr.Expr) bool {
		if sq, ok := e.(*expr.Subquery); ok {
			fn(sq.Plan.(Node))
		}
		return true
	})
}

// HasExpr reports whether fn holds for an expression of the node itself.
func HasExpr(n Node, fn func(expr.Expr) bool) bool {
	found := false
	EachExpr(n, func(e expr.Expr) { found = found || fn(e) })
	return found
}

// TreeHasExpr reports whether fn holds for an expression of n or of a node below it.
func TreeHasExpr(n Node, fn func(expr.Expr) bool) bool {
	return HasExpr(n, fn) || slices.ContainsFunc(n.Children(),
		func(c Node) bool { return TreeHasExpr(c, fn) })
}
