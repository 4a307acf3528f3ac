package choose

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

func (c *chooser) modify(n logical.Node) subplan {
	switch n := n.(type) {
	case *logical.Insert:
		return c.insert(n)
	case *logical.Update:
		return c.update(n)
	case *logical.Delete:
		return c.delete(n)
	case *logical.Merge:
		return c.merge(n)
	case *logical.LockRows:
		return c.lockRows(n)
	}
	c.fail("no physical form of %T", n)
	return subplan{}
}

// rowIDs returns the IDs of a relation's columns, of which first is the first.
func rowIDs(d *table.Desc, first logical.ColID) []logical.ColID {
	ids := make([]logical.ColID, len(d.Columns))
	for i := range ids {
		ids[i] = first + i
	}
	return ids
}

func (c *chooser) returning(items []logical.Item, has bool, cols []logical.ColID) []expr.Expr {
	if !has {
		return nil
	}
	out := make([]expr.Expr, len(items))
	for i, it := range items {
		out[i] = c.expr(it.Expr, cols)
	}
	return out
}

func (c *chooser) checks(in []opt.Check, cols []logical.ColID) []opt.Check {
	var out []opt.Check
	for _, ch := range in {
		out = append(out, opt.Check{Kind: ch.Kind, Name: ch.Name, Cond: c.expr(ch.Cond, cols)})
	}
	return out
}

func (c *chooser) assigns(in []opt.Assign, cols []logical.ColID) []opt.Assign {
	out := make([]opt.Assign, len(in))
	for i, a := range in {
		out[i] = opt.Assign{Column: a.Column, Expr: c.expr(a.Expr, cols)}
	}
	return out
}

func (c *chooser) insert(n *logical.Insert) subplan {
	sub := c.build(n.Child, required{})
	if c.err != nil {
		return sub
	}
	sub = c.projectExactly(sub, n.ChildCols)
	row := rowIDs(n.Desc, n.Row)
	c.checksLater = c.checksLater || n.Desc.ChecksLater()
	out := &physical.Insert{Table: n.Desc, Alias: n.Alias, Child: sub.node,
		Checks: c.checks(n.Checks, row), ViewChecks: c.checks(n.ViewChecks, row)}
	if oc := n.OnConflict; oc != nil {
		out.OnConflict = &physical.OnConflict{Arbiters: oc.Arbiters, Update: oc.Update}
		if oc.Update {
			both := append(rowIDs(n.Desc, oc.Existing), rowIDs(n.Desc, oc.Excluded)...)
			out.OnConflict.Set = c.assigns(oc.Set, both)
			if oc.Where != nil {
				out.OnConflict.Where = c.expr(oc.Where, both)
			}
			out.OnConflict.Targets = c.checks(oc.Targets, rowIDs(n.Desc, oc.Existing))
			written := rowIDs(n.Desc, oc.Row)
			out.OnConflict.Generated = c.assigns(oc.Generated, written)
			out.OnConflict.Checks = c.checks(oc.Checks, written)
		}
	}
	out.Returning = c.returning(n.Returning, n.HasRows, row)
	cols := n.Columns()
	est := sub.node.Est()
	out.Base = c.base(cols, est.Rows, opt.EachRow(est))
	return subplan{node: out, cols: cols}
}

// changedRows plans the rows to change: all columns of the table, followed by the child's other
// columns.
func (c *chooser) changedRows(child logical.Node, d *table.Desc, old logical.ColID) subplan {
	sub := c.build(child, required{})
	if c.err != nil {
		return sub
	}
	want := rowIDs(d, old)
	for _, id := range sub.cols {
		if id < old || id >= old+len(d.Columns) {
			want = append(want, id)
		}
	}
	return c.projectExactly(sub, want)
}

func (c *chooser) update(n *logical.Update) subplan {
	sub := c.changedRows(n.Child, n.Desc, n.Old)
	if c.err != nil {
		return sub
	}
	row := rowIDs(n.Desc, n.Row)
	c.checksLater = c.checksLater || n.Desc.ChecksLater()
	out := &physical.Update{Table: n.Desc, Alias: n.Alias, Child: sub.node,
		Set: c.assigns(n.Set, sub.cols), Generated: c.assigns(n.Generated, row),
		Checks: c.checks(n.Checks, row), ViewChecks: c.checks(n.ViewChecks, row)}
	seen := append(append([]logical.ColID(nil), row...), sub.cols[len(row):]...)
	out.Returning = c.returning(n.Returning, n.HasRows, seen)
	cols := n.Columns()
	est := sub.node.Est()
	out.Base = c.base(cols, est.Rows, opt.EachRow(est))
	return subplan{node: out, cols: cols}
}

func (c *chooser) delete(n *logical.Delete) subplan {
	sub := c.changedRows(n.Child, n.Desc, n.Old)
	if c.err != nil {
		return sub
	}
	c.checksLater = c.checksLater || n.Desc.ChecksLater()
	out := &physical.Delete{Table: n.Desc, Alias: n.Alias, Child: sub.node}
	out.Returning = c.returning(n.Returning, n.HasRows, sub.cols)
	cols := n.Columns()
	est := sub.node.Est()
	out.Base = c.base(cols, est.Rows, opt.EachRow(est))
	return subplan{node: out, cols: cols}
}

func (c *chooser) merge(n *logical.Merge) subplan {
	sub := c.changedRows(n.Child, n.Desc, n.Old)
	if c.err != nil {
		return sub
	}
	row := rowIDs(n.Desc, n.Row)
	c.checksLater = c.checksLater || n.Desc.ChecksLater()
	out := &physical.Merge{Table: n.Desc, Alias: n.Alias, Child: sub.node,
		Checks: c.checks(n.Checks, row)}
	for _, a := range n.Actions {
		act := opt.MergeAction{Matched: a.Matched, Do: a.Do, Set: c.assigns(a.Set, sub.cols),
			Generated: c.assigns(a.Generated, row), Targets: c.checks(a.Targets, sub.cols),
			Checks: c.checks(a.Checks, row)}
		if a.Cond != nil {
			act.Cond = c.expr(a.Cond, sub.cols)
		}
		out.Actions = append(out.Actions, act)
	}
	est := sub.node.Est()
	out.Base = c.base(nil, est.Rows, opt.EachRow(est))
	return subplan{node: out}
}
