package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// decorrelate turns EXISTS, IN, NOT EXISTS and NOT IN among the conditions of WHERE into semi and
// anti joins, pulling the conditions that tie the subquery to the outer row up into the join.
//
// The same because WHERE keeps a row exactly where the condition is true: for EXISTS and IN where a
// match exists. Must not fire: below LIMIT or aggregation, where a correlated condition decides what
// is counted (`x IN (SELECT max(y) FROM u WHERE u.k = t.k)`); on NOT IN where NULLs on either side
// can make it unknown, unless the join minds them; on a subquery that is not a condition by itself
// (`WHERE EXISTS (…) OR a = 1`), whose value is needed.
func decorrelate(c *Context, n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		f, ok := n.(*logical.Filter)
		if !ok {
			return n
		}
		var stay []expr.Expr
		child := f.Child
		for _, cond := range f.Conds {
			if j := toJoin(c, child, cond); j != nil {
				c.fired("Decorrelate")
				child = j
			} else {
				stay = append(stay, cond)
			}
		}
		return filtered(child, stay)
	})
}

// toJoin makes a join of one condition; nil when it is not of the kind.
func toJoin(c *Context, child logical.Node, cond expr.Expr) logical.Node {
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
		if logical.HasSubquery(l) || logical.IsVolatile(l) {
			return nil
		}
	}
	switch sq.Kind {
	case expr.Exists:
		return existsJoin(c, child, q, negated)
	case expr.Any:
		return anyJoin(c, child, sq, q, negated)
	}
	return nil
}

// existsJoin is EXISTS as a semi join, NOT EXISTS as an anti join. One that does not depend on the
// row is left alone: it runs once.
func existsJoin(c *Context, child logical.Node, q *logical.Query, negated bool) logical.Node {
	outer := logical.SetOf(child.Columns())
	if !logical.FreeCols(q.Node).Intersects(outer) {
		return nil
	}
	if !pullable(q.Node, outer, true) {
		return nil
	}
	right, on := pull(q.Node, outer, true)
	kind := physical.Semi
	if negated {
		kind = physical.Anti
	}
	return joined(c, kind, child, right, on)
}

// anyJoin is x IN (…) as a semi join; NOT IN as an anti join that minds NULLs, or a plain one where
// there can be none.
func anyJoin(c *Context, child logical.Node, sq *expr.Subquery, q *logical.Query, negated bool) logical.Node {
	outer := logical.SetOf(child.Columns())
	correlated := logical.FreeCols(q.Node).Intersects(outer)
	if correlated && !pullable(q.Node, outer, false) {
		return nil
	}
	kind := physical.Semi
	if negated {
		kind = physical.NullAnti
		noNulls := true
		for i, l := range sq.Left {
			noNulls = noNulls && neverNull(c.Meta, child, l) && neverNullColumn(c.Meta, q.Node, q.Cols[i].ID)
		}
		switch {
		case noNulls:
			kind = physical.Anti
		case correlated || len(sq.Left) != 1 || sq.Ops[0].Name != "=":
			return nil
		}
	}
	right, on := q.Node, []expr.Expr(nil)
	if correlated {
		right, on = pull(q.Node, outer, false)
	}
	for i, l := range sq.Left {
		on = append(on, &expr.Call{T: types.TBool, Func: sq.Ops[i], Args: []expr.Expr{l, c.Meta.Col(q.Cols[i].ID)}, Pos: sq.Pos})
	}
	return joined(c, kind, child, right, on)
}

func joined(c *Context, kind physical.JoinKind, left, right logical.Node, on []expr.Expr) logical.Node {
	c.Meta.Joins++
	return &logical.Join{Kind: kind, Left: left, Right: right, On: on}
}

// pullable says whether every condition of a subquery that refers to outer columns can be pulled out
// of it. exists says that only the presence of rows matters, that is, that nothing above n in the
// subquery looks at which rows they are.
func pullable(n logical.Node, outer logical.ColSet, exists bool) bool {
	if !logical.FreeCols(n).Intersects(outer) {
		return true
	}
	switch n := n.(type) {
	case *logical.Filter:
		for _, cond := range n.Conds {
			if logical.ColsOf(cond).Intersects(outer) && logical.HasSubquery(cond) {
				return false
			}
		}
		return pullable(n.Child, outer, exists && len(n.Conds) == 0)
	case *logical.Project:
		for _, it := range n.Items {
			if logical.ColsOf(it.Expr).Intersects(outer) && !exists {
				return false
			}
		}
		return pullable(n.Child, outer, exists)
	case *logical.Sort:
		return pullable(n.Child, outer, exists)
	case *logical.Distinct:
		return n.On == nil && pullable(n.Child, outer, exists)
	case *logical.Limit:
		k, ok := n.Count.(*expr.Const)
		return exists && n.Offset == nil && ok && !k.Value.Null && k.Value.I > 0 && pullable(n.Child, outer, exists)
	case *logical.Join:
		if n.Kind != physical.Inner || n.Lateral {
			return n.Kind == physical.Left && !n.Lateral && !refersTo(n.On, outer) &&
				!logical.FreeCols(n.Right).Intersects(outer) && pullable(n.Left, outer, false)
		}
		for _, cond := range n.On {
			if logical.ColsOf(cond).Intersects(outer) && logical.HasSubquery(cond) {
				return false
			}
		}
		return pullable(n.Left, outer, false) && pullable(n.Right, outer, false)
	}
	return false
}

func refersTo(conds []expr.Expr, cols logical.ColSet) bool {
	for _, cond := range conds {
		if logical.ColsOf(cond).Intersects(cols) {
			return true
		}
	}
	return false
}

// pull takes the correlated conditions out of a subquery. Projections on the way pass on the columns
// that these need; order, DISTINCT and a LIMIT of EXISTS do not matter to a semi join and go.
func pull(n logical.Node, outer logical.ColSet, exists bool) (logical.Node, []expr.Expr) {
	if !logical.FreeCols(n).Intersects(outer) {
		return n, nil
	}
	switch n := n.(type) {
	case *logical.Filter:
		child, on := pull(n.Child, outer, exists && len(n.Conds) == 0)
		var stay []expr.Expr
		for _, cond := range n.Conds {
			if logical.ColsOf(cond).Intersects(outer) {
				on = append(on, cond)
			} else {
				stay = append(stay, cond)
			}
		}
		return filtered(child, stay), on
	case *logical.Project:
		child, on := pull(n.Child, outer, exists)
		if exists {
			return child, on // nobody looks at the columns
		}
		return passOn(n, child, on), on
	case *logical.Sort:
		return pull(n.Child, outer, exists)
	case *logical.Distinct:
		return pull(n.Child, outer, exists)
	case *logical.Limit:
		return pull(n.Child, outer, exists)
	case *logical.Join:
		var on []expr.Expr
		var more []expr.Expr
		n.Left, on = pull(n.Left, outer, false)
		if n.Kind == physical.Inner {
			n.Right, more = pull(n.Right, outer, false)
			on = append(on, more...)
			var stay []expr.Expr
			for _, cond := range n.On {
				if logical.ColsOf(cond).Intersects(outer) {
					on = append(on, cond)
				} else {
					stay = append(stay, cond)
				}
			}
			n.On = stay
		}
		return n, on
	}
	return n, nil
}

// passOn lets a projection give the columns that pulled conditions read.
func passOn(n *logical.Project, child logical.Node, on []expr.Expr) logical.Node {
	have := logical.SetOf(child.Columns())
	items := n.Items
	made := logical.SetOf(n.Columns())
	for _, cond := range on {
		expr.Walk(cond, func(x expr.Expr) bool {
			if col, ok := x.(*expr.Col); ok && have.Has(col.Index) && !made.Has(col.Index) {
				made.Add(col.Index)
				items = append(items, logical.Item{ID: col.Index, Expr: col})
			}
			return true
		})
	}
	n.Child = child
	n.SetItems(items)
	return n
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
		if n.Kind != physical.Right && n.Kind != physical.Full && neverNullColumn(m, n.Left, id) {
			return true
		}
		return (n.Kind == physical.Inner || n.Kind == physical.Right) && neverNullColumn(m, n.Right, id)
	}
	return false
}
