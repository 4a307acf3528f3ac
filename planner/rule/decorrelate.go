package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// decorrelate turns EXISTS, IN, NOT EXISTS and NOT IN among the conditions of WHERE into semi and
// anti joins, pulling the conditions that tie the subquery to the outer row up into the join. It
// begins with the innermost ones, so that a tree of them becomes a tree of joins.
//
// The same because WHERE keeps a row exactly where the condition is true: for EXISTS and IN where a
// match exists. Must not fire: below LIMIT or aggregation, where a correlated condition decides
// what is counted (`x IN (SELECT max(y) FROM u WHERE u.k = t.k)`); on NOT IN where NULLs on either
// side can make it unknown, unless the join minds them; on a subquery that is not a condition by
// itself (`WHERE EXISTS (…) OR a = 1`), whose value is needed.
func decorrelate(c *Context, n logical.Node) logical.Node { return decorrelateIn(c, n, false) }

// decorrelateIn is decorrelate, within a subquery or not.
func decorrelateIn(c *Context, n logical.Node, within bool) logical.Node {
	return bottomUp(c, n, func(n logical.Node) logical.Node {
		f, ok := n.(*logical.Filter)
		if !ok {
			return n
		}
		child, stay := joinConds(c, f.Child, f.Conds, within)
		return filtered(child, stay)
	})
}

// joinConds makes joins of the conditions that it can, and returns the others.
func joinConds(c *Context, child logical.Node, conds []expr.Expr, within bool) (joined logical.Node,
	stay []expr.Expr) {
	for _, cond := range conds {
		if j := toJoin(c, child, cond, within); j != nil {
			c.fired("Decorrelate")
			child = j
		} else {
			stay = append(stay, cond)
		}
	}
	return child, stay
}

// toJoin makes a join of one condition; nil when it is not of the kind.
func toJoin(c *Context, child logical.Node, cond expr.Expr, within bool) logical.Node {
	negated := false
	if not, ok := cond.(*expr.Not); ok {
		negated, cond = true, not.Arg
	}
	sq, ok := cond.(*expr.Subquery)
	if !ok {
		return nil
	}
	q, ok := sq.Plan.(*logical.Query)
	if !ok || logical.NodeVolatile(q.Node) {
		return nil
	}
	for _, l := range sq.Left {
		if !logical.Movable(l) {
			return nil
		}
	}
	if sq.Kind == expr.Exists || sq.Kind == expr.Any {
		q.Node = decorrelateIn(c, q.Node, true)
	}
	p := pulling{meta: c.Meta, outer: logical.SetOf(child.Columns())}
	if free := logical.FreeCols(q.Node); within && !free.SubsetOf(p.outer) {
		// What refers to a query further out has to leave the subquery at hand when that is made a
		// join, which it can from a semi join.
		if negated {
			return nil
		}
		p.outer = free
	}
	switch sq.Kind {
	case expr.Exists:
		return existsJoin(c, child, q, negated, p)
	case expr.Any:
		return anyJoin(c, child, sq, q, negated, p)
	}
	return nil
}

// existsJoin is EXISTS as a semi join, NOT EXISTS as an anti join. One that does not depend on the
// row is left alone: it runs once.
func existsJoin(c *Context, child logical.Node, q *logical.Query, negated bool,
	p pulling) logical.Node {
	if !logical.FreeCols(q.Node).Intersects(logical.SetOf(child.Columns())) ||
		!p.can(q.Node, true) {
		return nil
	}
	right, on := p.from(q.Node, true)
	if negated {
		return joined(c, opt.Anti, child, right, on)
	}
	return semiJoin(c, child, right, on)
}

// semiJoin keeps the left rows that have a partner. Conditions of the left row alone select it
// before.
func semiJoin(c *Context, left, right logical.Node, on []expr.Expr) logical.Node {
	cols := logical.SetOf(right.Columns())
	var own, both []expr.Expr
	for _, cond := range on {
		if expr.HasSubquery(cond) && !logical.ColsOf(cond).Intersects(cols) {
			own = append(own, cond)
		} else {
			both = append(both, cond)
		}
	}
	left, stay := joinConds(c, left, own, false)
	return joined(c, opt.Semi, filtered(left, stay), right, both)
}

// anyJoin is x IN (…) as a semi join; NOT IN as an anti join that minds NULLs, or a plain one where
// there can be none.
func anyJoin(c *Context, child logical.Node, sq *expr.Subquery, q *logical.Query, negated bool,
	p pulling) logical.Node {
	correlated := logical.FreeCols(q.Node).Intersects(p.outer)
	if correlated && !p.can(q.Node, false) {
		return nil
	}
	kind := opt.Semi
	if negated {
		kind = opt.NullAnti
		noNulls := true
		for i, l := range sq.Left {
			noNulls = noNulls && neverNull(c.Meta, child, l) &&
				neverNullColumn(c.Meta, q.Node, q.Cols[i].ID)
		}
		switch {
		case noNulls:
			kind = opt.Anti
		case correlated || len(sq.Left) != 1 || sq.Ops[0].Name != "=":
			return nil
		}
	}
	right, on := q.Node, []expr.Expr(nil)
	if correlated {
		right, on = p.from(q.Node, false)
	}
	for i, l := range sq.Left {
		on = append(on, &expr.Call{T: types.TBool, Func: sq.Ops[i],
			Args: []expr.Expr{l, c.Meta.Col(q.Cols[i].ID)}, Pos: sq.Pos})
	}
	if kind == opt.Semi {
		return semiJoin(c, child, right, on)
	}
	return joined(c, kind, child, right, on)
}

func joined(c *Context, kind opt.JoinKind, left, right logical.Node, on []expr.Expr) logical.Node {
	c.Meta.Joins++
	return &logical.Join{Kind: kind, Left: left, Right: right, On: on}
}

// neverNull says whether an expression over a node's rows cannot be NULL.
func neverNull(m *logical.Meta, n logical.Node, e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Const:
		return !e.Value.Null
	case *expr.Col:
		return neverNullColumn(m, n, e.Index)
	case *expr.Cast:
		return neverNull(m, n, e.Arg)
	}
	return false
}

// neverNullColumn says whether a column is NOT NULL where it is made and no outer join pads it on
// the way.
func neverNullColumn(m *logical.Meta, n logical.Node, id logical.ColID) bool {
	switch n := n.(type) {
	case *logical.Scan:
		return n.OwnsColumn(id) && m.Cols[id].NotNull
	case *logical.Filter, *logical.Sort, *logical.Limit, *logical.Distinct:
		var child logical.Node
		logical.EachInput(n, func(in *logical.Node) { child = *in })
		return neverNullColumn(m, child, id)
	case *logical.Project:
		for _, it := range n.Items {
			if it.ID == id {
				return neverNull(m, n.Child, it.Expr)
			}
		}
	case *logical.Join:
		if n.Kind != opt.Right && n.Kind != opt.Full && neverNullColumn(m, n.Left, id) {
			return true
		}
		return (n.Kind == opt.Inner || n.Kind == opt.Right) && neverNullColumn(m, n.Right, id)
	}
	return false
}
