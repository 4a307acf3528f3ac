package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// pulling takes the conditions that refer to outer columns out of a subquery that becomes one side
// of a join.
type pulling struct {
	meta  *logical.Meta
	outer logical.ColSet
	// counted: how often the subquery gives a row matters, and in which order, as it does to an
	// aggregate and not to EXISTS or IN.
	counted bool
}

// can reports whether every condition of a subquery that refers to outer columns can be pulled out
// of it. exists says that only the presence of rows matters, that is, that nothing above n in the
// subquery looks at which rows they are.
func (p pulling) can(n logical.Node, exists bool) bool {
	if !logical.FreeCols(n).Intersects(p.outer) {
		return true
	}
	switch n := n.(type) {
	case *logical.Filter:
		return p.canLeave(n.Conds) && p.can(n.Child, exists && len(n.Conds) == 0)
	case *logical.Project:
		for _, it := range n.Items {
			if logical.ColsOf(it.Expr).Intersects(p.outer) && !exists {
				return false
			}
		}
		return p.can(n.Child, exists)
	case *logical.Sort:
		return !p.counted && p.can(n.Child, exists) // array_agg takes rows in their order
	case *logical.Distinct:
		return n.On == nil && !p.counted && p.can(n.Child, exists)
	case *logical.Limit:
		k, ok := n.Count.(*expr.Const)
		return exists && n.Offset == nil && ok && !k.Value.Null && k.Value.I > 0 &&
			p.can(n.Child, exists)
	case *logical.Join:
		return p.canJoin(n)
	}
	return false
}

func (p pulling) canJoin(n *logical.Join) bool {
	if n.Lateral {
		return false
	}
	fromLeft := p.can(n.Left, false)
	switch n.Kind {
	case opt.Inner:
		return fromLeft && p.canLeave(n.On) && p.can(n.Right, false)
	case opt.Semi:
		if !p.counted {
			return fromLeft && p.canLeave(n.On) && p.can(n.Right, false)
		}
	case opt.Left, opt.Anti, opt.NullAnti:
	default:
		return false
	}
	return fromLeft && !refersTo(n.On, p.outer) && !logical.FreeCols(n.Right).Intersects(p.outer)
}

// canLeave reports whether conditions may stand in the join. A subquery may, as a condition of two
// rows; not where a count depends on it, for which only equalities serve.
func (p pulling) canLeave(conds []expr.Expr) bool {
	for _, cond := range conds {
		if p.counted && logical.ColsOf(cond).Intersects(p.outer) && expr.HasSubquery(cond) {
			return false
		}
	}
	return true
}

func refersTo(conds []expr.Expr, cols logical.ColSet) bool {
	for _, cond := range conds {
		if logical.ColsOf(cond).Intersects(cols) {
			return true
		}
	}
	return false
}

// from takes the correlated conditions out of a subquery of which can is true. Projections on the
// way pass on the columns that these need; order, DISTINCT and a LIMIT of EXISTS do not matter to a
// semi join and go.
func (p pulling) from(n logical.Node, exists bool) (logical.Node, []expr.Expr) {
	if !logical.FreeCols(n).Intersects(p.outer) {
		return n, nil
	}
	switch n := n.(type) {
	case *logical.Filter:
		child, on := p.from(n.Child, exists && len(n.Conds) == 0)
		out, stay := p.split(n.Conds)
		return filtered(child, stay), append(on, out...)
	case *logical.Project:
		child, on := p.from(n.Child, exists)
		if exists {
			return child, on // nobody looks at the columns
		}
		return p.passOn(n, child, on), on
	case *logical.Sort:
		return p.from(n.Child, exists)
	case *logical.Distinct:
		return p.from(n.Child, exists)
	case *logical.Limit:
		return p.from(n.Child, exists)
	case *logical.Join:
		return p.fromJoin(n)
	}
	return n, nil
}

// fromJoin pulls conditions out of a join. A semi join whose partners these conditions choose
// becomes an inner join: a row may have several partners, which does not matter.
func (p pulling) fromJoin(n *logical.Join) (logical.Node, []expr.Expr) {
	var on []expr.Expr
	if n.Kind == opt.Semi && (refersTo(n.On, p.outer) ||
		logical.FreeCols(n.Right).Intersects(p.outer)) {
		n.Kind = opt.Inner
	}
	n.Left, on = p.from(n.Left, false)
	if n.Kind == opt.Inner {
		var more, out []expr.Expr
		n.Right, more = p.from(n.Right, false)
		out, n.On = p.split(n.On)
		on = append(append(on, more...), out...)
	}
	return n, on
}

// split tells the conditions that refer to outer columns from the others.
func (p pulling) split(conds []expr.Expr) (out, stay []expr.Expr) {
	for _, cond := range conds {
		if logical.ColsOf(cond).Intersects(p.outer) {
			out = append(out, cond)
		} else {
			stay = append(stay, cond)
		}
	}
	return out, stay
}

// passOn lets a projection give the columns that pulled conditions read.
func (p pulling) passOn(n *logical.Project, child logical.Node, on []expr.Expr) logical.Node {
	have := logical.SetOf(child.Columns())
	items := n.Items
	made := logical.SetOf(n.Columns())
	for _, cond := range on {
		logical.ColsOf(cond).Each(func(id logical.ColID) {
			if have.Has(id) && !made.Has(id) {
				made.Add(id)
				items = append(items, logical.Item{ID: id, Expr: p.meta.Col(id)})
			}
		})
	}
	n.Child = child
	n.SetItems(items)
	return n
}
