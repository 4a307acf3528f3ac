package bind

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// postpone decides what is computed after sorting.
func (s *selecting) postpone() {
	if len(s.order) == 0 || s.core.Distinct && len(s.on) == 0 {
		return
	}
	sorted := map[int]bool{}
	for _, o := range s.order {
		sorted[o.target] = true
	}
	for _, t := range s.on {
		sorted[t] = true
	}
	var made logical.ColSet
	for _, it := range s.sc.sel.sets {
		made.Add(it.ID)
	}
	sets := !made.Empty() && !s.windowsReadSets()
	for i := range s.targets {
		sets = sets && !(sorted[i] && logical.ColsOf(s.targets[i].e).Intersects(made))
	}
	any := sets
	targets := map[int]bool{}
	for i := range s.targets {
		if !sorted[i] {
			targets[i] = true
			any = any || logical.IsVolatile(s.targets[i].e)
		}
	}
	if any {
		s.later = postponed{targets: targets, sets: sets}
	}
}

// inputsOf adds the columns that postponed expressions read to those that are sorted.
func (s *selecting) inputsOf(items []logical.Item, seen logical.ColSet) []logical.Item {
	var read logical.ColSet
	for i := range s.later.targets {
		logical.ExprCols(s.targets[i].e, &read)
	}
	if s.later.sets {
		for _, it := range s.sc.sel.sets {
			for _, a := range it.Args {
				logical.ExprCols(a, &read)
			}
		}
	}
	have := logical.SetOf(s.node.Columns())
	read.Each(func(id logical.ColID) {
		if have.Has(id) && !seen.Has(id) {
			items = append(items, logical.Item{ID: id, Expr: s.b.ref(id, 0)})
		}
	})
	return items
}

// projectLater adds a projection of what was postponed above the sorted rows.
func (s *selecting) projectLater() {
	if len(s.later.targets) == 0 {
		return
	}
	if s.later.sets {
		s.buildSets()
	}
	have := logical.SetOf(s.node.Columns())
	var items []logical.Item
	var seen logical.ColSet
	for i := range s.targets {
		t := &s.targets[i]
		var e expr.Expr
		switch col, isCol := t.e.(*expr.Col); {
		case !s.later.targets[i]:
			e = s.b.ref(t.id, 0)
		case isCol && have.Has(col.Index) && !t.collated():
			t.id, e = col.Index, col
		default:
			t.id, e = s.b.newTarget(t, s.sc.level()), t.e
		}
		if !seen.Has(t.id) {
			seen.Add(t.id)
			items = append(items, logical.Item{ID: t.id, Expr: e})
		}
	}
	s.node = &logical.Project{Child: s.node, Items: append(items, s.lockItems(seen)...)}
}
