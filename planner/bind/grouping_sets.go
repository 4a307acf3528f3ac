package bind

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// computeOnce moves volatile expressions below the grouping. Each grouping set computes keys and
// arguments for itself, but nextval() in them is to be called once for a row.
func (g *grouper) computeOnce() {
	var computed []logical.Item
	own := 0 // where the expressions of the key or aggregate begin
	move := func(e *expr.Expr) {
		if *e == nil || !logical.IsVolatile(*e) {
			return
		}
		for _, it := range computed[own:] { // an argument by which ORDER BY sorts is one value
			if logical.Equal(it.Expr, *e) {
				*e = g.s.b.ref(it.ID, 0)
				return
			}
		}
		id := g.s.b.newColumn("computed", (*e).Type(), g.level)
		computed = append(computed, logical.Item{ID: id, Expr: *e})
		*e = g.s.b.ref(id, 0)
	}
	for i := range g.node.Keys {
		own = len(computed)
		move(&g.node.Keys[i].Expr)
	}
	for i := range g.node.Aggs {
		a := &g.node.Aggs[i].Agg
		own = len(computed)
		move(&a.Filter)
		for j := range a.Args {
			move(&a.Args[j])
		}
		for j := range a.OrderBy {
			move(&a.OrderBy[j].Expr)
		}
	}
	if len(computed) == 0 {
		return
	}
	p := &logical.Project{Child: g.node.Child}
	for _, id := range g.node.Child.Columns() {
		p.Items = append(p.Items, logical.Item{ID: id, Expr: g.s.b.ref(id, 0)})
	}
	p.Items = append(p.Items, computed...)
	g.node.Child = p
}
