package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// pulling pulls the correlated conditions, which refer to outer columns, out of a subquery that
// becomes the right side of a join.
type pulling struct {
	meta  *logical.Meta
	outer logical.ColSet
	// counted is set when the number and the order of the subquery's rows matter: they do to an
	// aggregate, but not to EXISTS or IN.
	counted bool
}

// possible reports whether every correlated condition of a subquery can be pulled out of it. exists
// is set when only the presence of rows matters: nothing above n in the subquery reads their
// columns.
func (p pulling) possible(n logical.Node, exists bool) bool {
	if !logical.FreeCols(n).Intersects(p.outer) {
		return true
	}
	switch n := n.(type) {
	case *logical.Filter:
		return p.allowedInJoin(n.Conds) && p.possible(n.Child, exists && len(n.Conds) == 0)
	case *logical.Project:
		for _, it := range n.Items {
			if logical.ColsOf(it.Expr).Intersects(p.outer) && !exists {
				return false
			}
		}
		return p.possible(n.Child, exists)
	case *logical.Sort:
		return !p.counted && p.possible(n.Child, exists) // array_agg needs the order
	case *logical.Distinct:
		return n.On == nil && !p.counted && p.possible(n.Child, exists)
	case *logical.Limit:
		k, ok := n.Count.(*expr.Const)
		return exists && n.Offset == nil && ok && !k.Value.Null && k.Value.I > 0 &&
			p.possible(n.Child, exists)
	case *logical.Join:
		return p.possibleInJoin(n)
	}
	return false
}

func (p pulling) possibleInJoin(n *logical.Join) bool {
	if n.Lateral {
		return false
	}
	fromLeft := p.possible(n.Left, false)
	switch n.Kind {
	case opt.Inner:
		return fromLeft && p.allowedInJoin(n.On) && p.possible(n.Right, false)
	case opt.Semi:
		if !p.counted {
			return fromLeft && p.allowedInJoin(n.On) && p.possible(n.Right, false)
		}
	case opt.Left, opt.Anti, opt.NullAnti:
	default:
		return false
	}
	return fromLeft && !refersTo(n.On, p.outer) && !logical.FreeCols(n.Right).Intersects(p.outer)
}

// allowedInJoin reports whether conditions may become conditions of the join. One with a subquery
// may not where the number of rows matters, because then only equalities can be pulled.
func (p pulling) allowedInJoin(conds []expr.Expr) bool {
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

// pull takes the correlated conditions out of a subquery for which possible is true. Projections on
// the way pass on the columns that the conditions read. Sorts, DISTINCT and the LIMIT of an EXISTS
// are removed, as they have no effect below a semi join.
func (p pulling) pull(n logical.Node, exists bool) (logical.Node, []expr.Expr) {
	if !logical.FreeCols(n).Intersects(p.outer) {
		return n, nil
	}
	switch n := n.(type) {
	case *logical.Filter:
		child, on := p.pull(n.Child, exists && len(n.Conds) == 0)
		out, stay := p.split(n.Conds)
		return filtered(child, stay), append(on, out...)
	case *logical.Project:
		child, on := p.pull(n.Child, exists)
		if exists {
			return child, on // EXISTS does not read the columns
		}
		return p.passOn(n, child, on), on
	case *logical.Sort:
		return p.pull(n.Child, exists)
	case *logical.Distinct:
		return p.pull(n.Child, exists)
	case *logical.Limit:
		return p.pull(n.Child, exists)
	case *logical.Join:
		return p.pullJoin(n)
	}
	return n, nil
}

// pullJoin pulls conditions out of a join. A semi join becomes an inner join if the conditions read
// its right side. A left row may then appear several times, which has no effect below a semi join.
func (p pulling) pullJoin(n *logical.Join) (logical.Node, []expr.Expr) {
	var on []expr.Expr
	if n.Kind == opt.Semi && (refersTo(n.On, p.outer) ||
		logical.FreeCols(n.Right).Intersects(p.outer)) {
		n.Kind = opt.Inner
	}
	n.Left, on = p.pull(n.Left, false)
	if n.Kind == opt.Inner {
		var more, out []expr.Expr
		n.Right, more = p.pull(n.Right, false)
		out, n.On = p.split(n.On)
		on = append(append(on, more...), out...)
	}
	return n, on
}

// split separates the conditions that refer to outer columns from the others.
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

// passOn adds the columns that pulled conditions read to a projection.
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
