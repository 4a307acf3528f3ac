package exec

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// singleScan returns the scan at the bottom of a node that passes rows of one scan on, each at most
// once, or nil.
func singleScan(n physical.Node) *physical.Scan {
	for {
		switch t := n.(type) {
		case *physical.Scan:
			return t
		case *physical.Filter:
			n = t.Child
		case *physical.Project:
			n = t.Child
		case *physical.Limit:
			n = t.Child
		case *physical.Sort:
			n = t.Child
		case *physical.LockRows:
			n = t.Child
		default:
			return nil
		}
	}
}

// streams says whether rows may be written while n is still being read: everything below it is read
// by one iterator, which does not see what is written after it was opened, and no expression reads a
// table.
func streams(n physical.Node, exprs []expr.Expr) bool {
	s := singleScan(n)
	if s == nil || len(s.Ranges) > 1 {
		return false
	}
	for _, e := range exprs {
		if hasSubquery(e) {
			return false
		}
	}
	return !anyExpr(n, hasSubquery)
}

// ReadsOnce reports whether a plan, once it has given its first rows, sees nothing that is written from
// then on.
func ReadsOnce(p *physical.Plan) bool { return len(p.CTEs) == 0 && streams(p.Root, nil) }

// readsItself reports whether a statement evaluates subqueries after it has written its first row: in
// RETURNING, and in what ON CONFLICT does. They must not see what the statement writes.
func readsItself(n physical.Node) bool {
	switch t := n.(type) {
	case *physical.Insert:
		oc := t.OnConflict
		return slices.ContainsFunc(t.Returning, hasSubquery) ||
			oc != nil && (oc.Where != nil && hasSubquery(oc.Where) || assigned(oc.Set, hasSubquery))
	case *physical.Update:
		return slices.ContainsFunc(t.Returning, hasSubquery)
	case *physical.Delete:
		return slices.ContainsFunc(t.Returning, hasSubquery)
	}
	return false
}

func hasSubquery(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		_, sub := e.(*expr.Subquery)
		found = found || sub
		return !found
	})
	return found
}

// readsTable says whether running n, or the subqueries in its expressions, may read a table.
func readsTable(n physical.Node, id table.ID) bool {
	switch t := n.(type) {
	case *physical.Scan:
		if t.Table.ID == id {
			return true
		}
	case *physical.CTEScan:
		return true // read as far as asked for: what it reads is not looked into
	case *physical.IndexJoin:
		if t.Inner.Table.ID == id {
			return true
		}
	}
	for _, c := range n.Children() {
		if readsTable(c, id) {
			return true
		}
	}
	return nodeExprs(n, func(e expr.Expr) bool {
		return inSubquery(e, func(plan physical.Node) bool { return readsTable(plan, id) })
	})
}

// inSubquery says whether fn holds for the plan of some subquery in e.
func inSubquery(e expr.Expr, fn func(physical.Node) bool) bool {
	found := false
	expr.Walk(e, func(e expr.Expr) bool {
		if sq, ok := e.(*expr.Subquery); ok && !found {
			plan, _ := sq.Plan.(physical.Node)
			found = plan == nil || fn(plan)
		}
		return !found
	})
	return found
}

// UsesIndex says whether a plan reads a table by an index.
func UsesIndex(p *physical.Plan, id table.ID, index table.IndexID) bool {
	for _, cte := range p.CTEs {
		if usesIndex(cte.Plan, id, index) || cte.Recursive != nil && usesIndex(cte.Recursive, id, index) {
			return true
		}
	}
	return usesIndex(p.Root, id, index)
}

func usesIndex(n physical.Node, id table.ID, index table.IndexID) bool {
	if s, ok := n.(*physical.Scan); ok && s.Table.ID == id && s.Index != nil && s.Index.ID == index {
		return true
	}
	uses := func(c physical.Node) bool { return usesIndex(c, id, index) }
	return slices.ContainsFunc(n.Children(), uses) || nodeExprs(n, func(e expr.Expr) bool { return inSubquery(e, uses) })
}

// anyExpr says whether fn holds for some expression of n or a node below it.
func anyExpr(n physical.Node, fn func(expr.Expr) bool) bool {
	if nodeExprs(n, fn) {
		return true
	}
	for _, c := range n.Children() {
		if anyExpr(c, fn) {
			return true
		}
	}
	return false
}

// nodeExprs says whether fn holds for some expression of n itself.
func nodeExprs(n physical.Node, fn func(expr.Expr) bool) bool {
	any := func(es ...expr.Expr) bool {
		for _, e := range es {
			if e != nil && fn(e) {
				return true
			}
		}
		return false
	}
	keys := func(ks []physical.SortKey) bool {
		for _, k := range ks {
			if any(k.Expr) {
				return true
			}
		}
		return false
	}
	switch t := n.(type) {
	case *physical.Scan:
		for _, r := range t.Ranges {
			if any(r.Eq...) || any(r.Low, r.High) {
				return true
			}
		}
		return any(t.Filter)
	case *physical.VirtualScan:
		return any(t.Filter)
	case *physical.Values:
		for _, row := range t.Rows {
			if any(row...) {
				return true
			}
		}
	case *physical.FuncScan:
		return any(t.Args...) || any(t.Scalar)
	case *physical.Filter:
		return any(t.Cond)
	case *physical.Project:
		return any(t.Exprs...)
	case *physical.ProjectSet:
		for _, it := range t.Items {
			if any(it.Expr) || any(it.Args...) {
				return true
			}
		}
	case *physical.HashJoin:
		return any(t.LeftKeys...) || any(t.RightKeys...) || any(t.Cond)
	case *physical.NestLoop:
		return any(t.Cond)
	case *physical.IndexJoin:
		return any(t.Keys...) || any(t.Cond)
	case *physical.Apply:
		return any(t.Args...) || any(t.Cond)
	case *physical.Sort:
		return keys(t.Keys) || any(t.Top)
	case *physical.Limit:
		return any(t.Count, t.Offset)
	case *physical.Distinct:
		return any(t.On...)
	case *physical.Aggregate:
		for _, a := range t.Aggs {
			if any(a.Args...) || any(a.Direct...) || any(a.Filter) || keys(a.OrderBy) {
				return true
			}
		}
		return any(t.GroupBy...)
	case *physical.Window:
		for _, c := range t.Calls {
			if any(c.Args...) || any(c.Frame.Start, c.Frame.End) {
				return true
			}
		}
		return any(t.PartitionBy...) || keys(t.OrderBy)
	case *physical.Insert:
		if oc := t.OnConflict; oc != nil && (any(oc.Where) || assigned(oc.Set, fn)) {
			return true
		}
		return checked(t.Checks, fn) || any(t.Returning...)
	case *physical.Update:
		return assigned(t.Set, fn) || checked(t.Checks, fn) || any(t.Returning...)
	case *physical.Delete:
		return any(t.Returning...)
	}
	return false
}

func assigned(as []physical.Assign, fn func(expr.Expr) bool) bool {
	for _, a := range as {
		if fn(a.Expr) {
			return true
		}
	}
	return false
}

func checked(cs []physical.Check, fn func(expr.Expr) bool) bool {
	for _, c := range cs {
		if fn(c.Cond) {
			return true
		}
	}
	return false
}
