package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// restrictByOr derives conditions on one relation from an OR over several: (n1 = 'A' AND n2 = 'B')
// OR (n1 = 'B' AND n2 = 'A') implies n1 = 'A' OR n1 = 'B', which is tested before the join. The OR
// itself stays.
//
// Equivalent because a row for which the derived condition is false fails every side of the OR.
// Must not fire: where one side has no condition on the relation; for a condition that drops few
// rows; for volatile conditions and subqueries, which would be called twice; on the side of an
// outer join whose rows are kept without a match.
func restrictByOr(c *Context, n logical.Node) logical.Node {
	return bottomUp(c, n, func(n logical.Node) logical.Node {
		switch n := n.(type) {
		case *logical.Filter:
			if j, ok := n.Child.(*logical.Join); ok {
				for _, or := range disjunctions(n.Conds) {
					c.restrictSides(j, or, passesToLeft(j.Kind), passesToRight(j.Kind))
				}
			}
		case *logical.Join:
			for _, or := range disjunctions(n.On) {
				c.restrictSides(n, or, onFiltersLeft(n.Kind), onFiltersRight(n.Kind))
			}
		}
		return n
	})
}

func disjunctions(conds []expr.Expr) []*expr.Or {
	var out []*expr.Or
	for _, cond := range conds {
		if or, ok := cond.(*expr.Or); ok {
			out = append(out, or)
		}
	}
	return out
}

func (c *Context) restrictSides(n *logical.Join, or *expr.Or, left, right bool) {
	if n.Lateral {
		right = false
	}
	if left {
		n.Left = c.restrictTo(n.Left, or)
	}
	if right {
		n.Right = c.restrictTo(n.Right, or)
	}
}

// restrictTo adds the conditions that an OR implies to the relations below n.
func (c *Context) restrictTo(n logical.Node, or *expr.Or) logical.Node {
	switch t := n.(type) {
	case *logical.Join:
		c.restrictSides(t, or, passesToLeft(t.Kind), passesToRight(t.Kind))
	case *logical.Filter:
		if _, ok := t.Child.(*logical.Join); ok {
			t.Child = c.restrictTo(t.Child, or)
			return t
		}
		return c.restrictLeaf(n, or)
	case *logical.Scan:
		return c.restrictLeaf(n, or)
	}
	return n
}

// leastDropped is the smallest share of rows that a derived condition must drop, as in PostgreSQL.
const leastDropped = 0.1

func (c *Context) restrictLeaf(n logical.Node, or *expr.Or) logical.Node {
	own := logical.SetOf(n.Columns())
	demand := &expr.Or{}
	for _, side := range or.Args {
		var conds []expr.Expr
		for _, cond := range conjuncts(side) {
			cols := logical.ColsOf(cond)
			if !cols.Empty() && cols.SubsetOf(own) && logical.Movable(cond) {
				conds = append(conds, cond)
			}
		}
		switch len(conds) {
		case 0:
			return n
		case 1:
			demand.Args = append(demand.Args, conds[0])
		default:
			demand.Args = append(demand.Args, &expr.And{Args: conds})
		}
	}
	if f, ok := n.(*logical.Filter); ok && contains(f.Conds, demand) ||
		c.Estimator.Cond(demand) > 1-leastDropped {
		return n
	}
	c.fired("RestrictByOr")
	or.Implied = append(or.Implied, demand)
	return filtered(n, []expr.Expr{demand})
}

func conjuncts(e expr.Expr) []expr.Expr {
	if and, ok := e.(*expr.And); ok {
		return and.Args
	}
	return []expr.Expr{e}
}
