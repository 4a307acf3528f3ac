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
// Equivalent because WHERE keeps a row exactly if the condition is true, which for EXISTS and IN
// means that a match exists. Must not fire: below LIMIT or aggregation, where a correlated
// condition decides what is counted (`x IN (SELECT max(y) FROM u WHERE u.k = t.k)`); on NOT IN
// where a NULL on either side can make it unknown, unless the join is NULL-aware; on a subquery
// that is not a condition by itself (`WHERE EXISTS (…) OR a = 1`), whose value is needed.
func decorrelate(c *Context, n logical.Node) logical.Node { return decorrelateIn(c, n, false) }

// decorrelateIn is decorrelate for a tree that is within a subquery or not.
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

// joinConds replaces conditions on child by semi and anti joins. It returns the joined tree and the
// conditions that it could not replace.
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

// toJoin replaces one condition by a join. It returns nil when the condition is not of a kind that
// it can replace.
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
		// A condition on the columns of a query further out must be able to leave this subquery
		// when that becomes a join itself. It can leave a semi join, but not an anti join.
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

// existsJoin makes a semi join of EXISTS, and an anti join of NOT EXISTS. A subquery that does not
// depend on the outer row runs only once, so it is left alone.
func existsJoin(c *Context, child logical.Node, q *logical.Query, negated bool,
	p pulling) logical.Node {
	if !logical.FreeCols(q.Node).Intersects(logical.SetOf(child.Columns())) ||
		!p.possible(q.Node, true) {
		return nil
	}
	right, on := p.pull(q.Node, true)
	if negated {
		return joined(c, opt.Anti, child, right, on)
	}
	return semiJoin(c, child, right, on)
}

// semiJoin keeps the left rows that have a match. Conditions that read left columns only are
// evaluated on the left side first.
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

// anyJoin makes a semi join of x IN (…). NOT IN becomes a NULL-aware anti join (opt.NullAnti), or a
// plain anti join where neither side can be NULL.
func anyJoin(c *Context, child logical.Node, sq *expr.Subquery, q *logical.Query, negated bool,
	p pulling) logical.Node {
	correlated := logical.FreeCols(q.Node).Intersects(p.outer)
	if correlated && !p.possible(q.Node, false) {
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
		case correlated || len(sq.Left) != 1 || sq.Ops[0].Comparison() != "=":
			return nil
		}
	}
	right, on := q.Node, []expr.Expr(nil)
	if correlated {
		right, on = p.pull(q.Node, false)
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

// neverNull reports whether an expression over a node's rows cannot be NULL.
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

// neverNullColumn reports whether the node that makes a column declares it NOT NULL and no outer
// join between that node and n pads it with NULLs.
func neverNullColumn(m *logical.Meta, n logical.Node, id logical.ColID) bool {
	switch n := n.(type) {
	case *logical.Scan:
		return n.OwnsColumn(id) && m.Cols[id].NotNull
	case *logical.Filter, *logical.Barrier, *logical.Sort, *logical.Limit, *logical.Distinct:
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
