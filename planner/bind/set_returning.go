package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// setCall is a bound function of FROM: set-returning (fn, args) or scalar.
type setCall struct {
	fn     *expr.Func
	args   []expr.Expr
	scalar expr.Expr
	t      *types.Type // the type of a row
}

// columnType returns the type of one of the function's columns.
func (c *setCall) columnType(col expr.SetColumn) *types.Type {
	switch {
	case col.Type == nil && c.fn.Name != "unnest":
		return c.t
	case col.Type == nil, col.Type == builtin.AnyElement:
		t := c.args[0].Type()
		if t.Family == types.MultiRange {
			return t.Sub
		}
		return t.Elem
	}
	return col.Type
}

// fields returns the function's columns.
func (c *setCall) fields() []types.Attribute {
	out := make([]types.Attribute, len(c.fn.Columns))
	for i, col := range c.fn.Columns {
		out[i] = types.Attribute{Name: col.Name, Type: c.columnType(col)}
	}
	return out
}

// tableFunction binds a function of FROM.
func (b *binder) tableFunction(sc *scope, call *ast.FuncCall) *setCall {
	call = b.withoutOutParams(call)
	if b.isSetReturning(call.Name) {
		fn, args, t := b.resolveCall(sc, call)
		if fn.Set != nil {
			b.noteEffects(fn)
			return &setCall{fn: fn, args: args, t: t}
		}
	}
	e := b.expr(sc, call)
	e = b.resolveUnknown(e)
	return &setCall{scalar: e, t: e.Type()}
}

// setReturning takes a set-returning call out of a select list.
func (b *binder) setReturning(sc *scope, call *ast.FuncCall, fn *expr.Func, args []expr.Expr,
	t *types.Type) expr.Expr {
	b.noteEffects(fn)
	sel := sc.sel
	sel.allowsSets(call)
	var row *types.Type
	switch c := (&setCall{fn: fn, args: args, t: t}); len(fn.Columns) {
	case 0:
	case 1:
		t = c.columnType(fn.Columns[0])
	default:
		row = types.RowOf(c.fields())
		t = row
	}
	for _, have := range sel.sets {
		if have.Func == fn && logical.EqualAll(have.Args, args) && fn.Volatility != expr.Volatile {
			return b.ref(have.ID, call.Pos)
		}
	}
	id := b.newColumn(call.Name.Name, t, sel.level)
	b.computedFrom(id, args...)
	sel.made.Add(id)
	sel.sets = append(sel.sets, logical.SetItem{ID: id, Func: fn, Args: args, Row: row})
	return b.ref(id, call.Pos)
}

// allowsSets returns an error where a set-returning call is not allowed.
func (sel *selectState) allowsSets(call *ast.FuncCall) {
	refused := func(hint, format string, args ...any) {
		e := sqlerr.New(sqlerr.FeatureNotSupported, format, args...).At(int(call.Pos))
		panic(failure.Of(e.WithHint("%s", hint)))
	}
	const lateral = "You might be able to move the set-returning function into a LATERAL FROM item."
	switch {
	case sel.inWindow:
		refused(lateral, "window function calls cannot contain set-returning function calls")
		return
	case sel.inAggregate:
		refused(lateral, "aggregate function calls cannot contain set-returning function calls")
		return
	case sel.noSets != "":
		refused(lateral, "set-returning functions are not allowed in %s", sel.noSets)
		return
	case sel.clause == clauseFrom:
		refused("", "set-returning functions must appear at top level of FROM")
		return
	}
	switch sel.clause {
	case clauseTarget, clauseOrderBy, clauseDistinctOn, clauseGroupBy, clauseWindow:
		return
	}
	refused("", "set-returning functions are not allowed in %s", sel.clause)
}

// buildSets adds a ProjectSet for the set-returning calls of the select list. A call over the
// result of another call gets a ProjectSet above that.
func (s *selecting) buildSets() {
	left := s.sc.sel.sets
	for len(left) > 0 {
		var pending logical.ColSet
		for _, it := range left {
			pending.Add(it.ID)
		}
		var now, later []logical.SetItem
		for _, it := range left {
			var cols logical.ColSet
			for _, a := range it.Args {
				logical.ExprCols(a, &cols)
			}
			if cols.Intersects(pending) {
				later = append(later, it)
			} else {
				now = append(now, it)
			}
		}
		s.node = &logical.ProjectSet{Child: s.node, Items: now}
		left = later
	}
}
