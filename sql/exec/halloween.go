package exec

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// singleScan returns the scan at the bottom of n if n passes on the rows of just that scan, each at
// most once; otherwise nil.
func singleScan(n physical.Node) *physical.Scan {
	for {
		switch t := n.(type) {
		case *physical.Scan:
			return t
		case *physical.Filter, *physical.Project, *physical.Limit, *physical.Sort,
			*physical.LockRows:
			n = n.Children()[0]
		default:
			return nil
		}
	}
}

// streams reports whether rows may be written while n is still being read: everything below it is
// read by one iterator, which does not see what is written after it was opened, and no expression
// reads a table.
func streams(n physical.Node, exprs []expr.Expr) bool {
	s := singleScan(n)
	if s == nil || len(s.Ranges) > 1 || s.Keys != nil {
		return false
	}
	return !slices.ContainsFunc(exprs, expr.HasSubquery) &&
		!physical.TreeHasExpr(n, expr.HasSubquery)
}

// ReadsOnce reports whether a plan that has returned its first rows cannot see what is written from
// then on.
func ReadsOnce(p *physical.Plan) bool { return len(p.CTEs) == 0 && streams(p.Root, nil) }

// insertsElsewhere reports whether a statement only inserts, and not into a table that it reads.
func insertsElsewhere(n physical.Node) bool {
	in, ok := n.(*physical.Insert)
	return ok && in.OnConflict == nil && !readsTable(in.Child, in.Table.ID)
}

// changesRows reports whether a statement is an UPDATE or a DELETE, and no WITH query modifies. Its
// scans need not see what it writes: they show what was there when it began.
func (r *run) changesRows() bool {
	switch r.plan.Root.(type) {
	case *physical.Update, *physical.Delete:
		return !r.modifies()
	}
	return false
}

// readsItself reports whether a statement evaluates subqueries after it has written its first row:
// in RETURNING, in checks of views, in what ON CONFLICT does, and in the actions of MERGE. They
// must not see what the statement writes.
func readsItself(n physical.Node) bool {
	switch t := n.(type) {
	case *physical.Insert:
		oc := t.OnConflict
		return slices.ContainsFunc(t.Returning, expr.HasSubquery) ||
			checksRead(t.ViewChecks) || oc != nil && (expr.HasSubquery(oc.Where) ||
			slices.ContainsFunc(oc.Set, func(a opt.Assign) bool {
				return expr.HasSubquery(a.Expr)
			}))
	case *physical.Update:
		return slices.ContainsFunc(t.Returning, expr.HasSubquery) || checksRead(t.ViewChecks)
	case *physical.Delete:
		return slices.ContainsFunc(t.Returning, expr.HasSubquery)
	case *physical.Merge:
		return physical.HasExpr(t, expr.HasSubquery)
	}
	return false
}

// checksRead reports whether a check evaluates a subquery.
func checksRead(checks []opt.Check) bool {
	return slices.ContainsFunc(checks,
		func(c opt.Check) bool { return expr.HasSubquery(c.Cond) })
}

// readsTable reports whether running n, or the subqueries in its expressions, may read a table. It
// does not look into materialised WITH queries: they are read as far as their readers ask.
func readsTable(n physical.Node, id table.ID) bool {
	return physical.Contains(n, func(n physical.Node) bool {
		switch n := n.(type) {
		case *physical.Scan:
			return n.Table.ID == id
		case *physical.CTEScan:
			return true
		}
		return false
	})
}

// UsesIndex reports whether a plan reads a table by an index.
func UsesIndex(p *physical.Plan, id table.ID, index table.IndexID) bool {
	uses := func(n physical.Node) bool {
		s, ok := n.(*physical.Scan)
		if !ok || s.Table.ID != id {
			return false
		}
		found := s.Index != nil && s.Index.ID == index
		s.Keys.Each(func(k *physical.KeyCond) { found = found || k.Index.ID == index })
		return found
	}
	for _, cte := range p.CTEs {
		if physical.Contains(cte.Plan, uses) || cte.Recursive != nil &&
			physical.Contains(cte.Recursive, uses) {
			return true
		}
	}
	return physical.Contains(p.Root, uses)
}
