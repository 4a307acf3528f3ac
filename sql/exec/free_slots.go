package exec

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// slotSet is a set of variables of the statement.
type slotSet map[int]bool

// freeSlots adds to free the variables that n reads and does not set itself. The result of n stays
// the same as long as they keep their values.
func (r *run) freeSlots(n physical.Node, free slotSet) {
	physical.EachExpr(n, func(e expr.Expr) { r.freeInExpr(e, free) })
	switch t := n.(type) {
	case *physical.Apply:
		r.freeSlots(t.Left, free)
		inner := slotSet{}
		r.freeSlots(t.Right, inner)
		free.addExcept(inner, t.Slots)
		return
	case *physical.CTEScan:
		if !t.WorkTable {
			r.freeInCTE(t.ID, free)
		}
		return
	}
	for _, c := range n.Children() {
		r.freeSlots(c, free)
	}
}

func (r *run) freeInExpr(e expr.Expr, free slotSet) {
	expr.Walk(e, func(e expr.Expr) bool {
		switch e := e.(type) {
		case *expr.Var:
			free[e.Slot] = true
		case *expr.Subquery:
			if plan, ok := e.Plan.(physical.Node); ok {
				inner := slotSet{}
				r.freeSlots(plan, inner)
				free.addExcept(inner, e.Slots)
			}
		}
		return true
	})
}

func (r *run) freeInCTE(id int, free slotSet) {
	for i := range r.plan.CTEs {
		if def := &r.plan.CTEs[i]; def.ID == id {
			r.freeSlots(def.Plan, free)
			if def.Recursive != nil {
				r.freeSlots(def.Recursive, free)
			}
		}
	}
}

func (s slotSet) addExcept(o slotSet, except []int) {
	for slot := range o {
		s[slot] = true
	}
	for _, slot := range except {
		if o[slot] {
			delete(s, slot)
		}
	}
}

// watch registers forget to be called whenever one of the variables gets a new value.
func (r *run) watch(slots slotSet, forget func()) {
	for slot := range slots {
		if r.watchers == nil {
			r.watchers = make([][]func(), len(r.ev.Vars))
		}
		r.watchers[slot] = append(r.watchers[slot], forget)
	}
}

// setVar sets a variable of the statement and calls the functions that forget results made with its
// old value.
func (r *run) setVar(slot int, d types.Datum) {
	r.ev.Vars[slot] = d
	if r.watchers != nil {
		for _, forget := range r.watchers[slot] {
			forget()
		}
	}
}

// repeatable reports whether n gives the same rows each time it is run within the statement, so
// that an operator that is opened again may keep what it made of them.
func (r *run) repeatable(n physical.Node) bool {
	free := slotSet{}
	r.freeSlots(n, free)
	return len(free) == 0 && !changes(n)
}

// changes reports whether n may give different rows each time even if no variable changes: because
// it calls a volatile function, reads the work table of a recursion, or writes.
func changes(n physical.Node) bool {
	return physical.Contains(n, func(n physical.Node) bool {
		switch n := n.(type) {
		case *physical.CTEScan:
			return n.WorkTable
		case *physical.FuncScan:
			if opt.AnyVolatile(n.Funcs) {
				return true
			}
		case *physical.ProjectSet:
			if slices.ContainsFunc(n.Items, func(it physical.SetItem) bool {
				return it.Func != nil && it.Func.Volatility == expr.Volatile
			}) {
				return true
			}
		case *physical.Insert, *physical.Update, *physical.Delete, *physical.Merge:
			return true
		}
		return physical.HasExpr(n,
			func(e expr.Expr) bool { return expr.VolatilityOf(e) == expr.Volatile })
	})
}

// reopened is kept by an operator that may be opened again. It decides whether the rows read from
// an input at the last Open are still its rows. It inspects the plan only at the second Open: most
// operators are opened once.
type reopened struct {
	opened bool
	asked  bool
	same   bool
}

// keepsRows counts an Open, and reports whether the rows that were read from n at the previous one
// may be kept.
func (o *reopened) keepsRows(r *run, n physical.Node) bool {
	if !o.opened {
		o.opened = true
		return false
	}
	if !o.asked {
		o.asked, o.same = true, r.repeatable(n)
	}
	return o.same
}
