package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// aggregate binds a call of an aggregate. It belongs to the innermost query that one of the columns
// in its arguments belongs to, or to this one if there are none.
func (b *binder) aggregate(sc *scope, call *ast.FuncCall) expr.Expr {
	pos := int(call.Pos)
	agg, t := b.aggregateArgs(sc, call)
	owner := sc.state(b.aggregateLevel(sc, agg))
	if inner := aggregateWithin(owner, agg); inner >= 0 {
		panic(failure.At(inner, sqlerr.GroupingError, "aggregate function calls cannot be nested"))
	}
	switch {
	case owner.inAggregate:
		panic(failure.At(pos, sqlerr.GroupingError, "aggregate function calls cannot be nested"))
	case owner.clause != clauseTarget && owner.clause != clauseHaving &&
		owner.clause != clauseOrderBy && owner.clause != clauseDistinctOn &&
		owner.clause != clauseWindow:
		panic(failure.At(pos, sqlerr.GroupingError, "aggregate functions are not allowed in %s",
			owner.clause))
	}
	for i := range owner.aggs {
		if equalAgg(&owner.aggs[i].Agg, agg) {
			return b.ref(owner.aggs[i].ID, call.Pos)
		}
	}
	id := b.newColumn(call.Name.Name, t, owner.level)
	b.computedFrom(id, agg.Args...)
	owner.made.Add(id)
	owner.aggs = append(owner.aggs, aggCall{AggItem: logical.AggItem{ID: id, Agg: *agg}, pos: pos})
	return b.ref(id, call.Pos)
}

// aggregateArgs binds the arguments, order and filter of the call and chooses its overload.
func (b *binder) aggregateArgs(sc *scope, call *ast.FuncCall) (*opt.Agg, *types.Type) {
	name := call.Name.Name
	saved := sc.sel.inAggregate
	sc.sel.inAggregate = true
	defer func() { sc.sel.inAggregate = saved }()
	if call.Star && name != "count" {
		panic(failure.Of(undefinedFunction(call, name+"()")))
	}
	args := b.exprs(sc, call.Args)
	var order []expr.Expr
	for _, it := range call.OrderBy {
		order = append(order, b.expr(sc, it.Expr))
	}
	direct := len(args)
	if call.WithinGroup {
		args = append(args, order...)
	}
	fn, targets := b.resolveAggregate(call, args)
	if fn.WithinGroup != call.WithinGroup {
		panic(failure.Of(withinGroupError(call, fn)))
	}
	b.coerceArgs(call, args, targets)
	agg := &opt.Agg{Func: fn, Args: args, Distinct: call.Distinct}
	if call.WithinGroup {
		agg.Direct, agg.Args = args[:direct], args[direct:]
		order = agg.Args
	}
	b.aggregateOrder(agg, call, order)
	b.checkDistinct(agg, call)
	if call.Filter != nil {
		agg.Filter = b.filter(sc, call)
	}
	return agg, builtin.AggregateType(fn, targets)
}

// aggregateOrder sets the aggregate's order to the bound items of the call's ORDER BY.
func (b *binder) aggregateOrder(agg *opt.Agg, call *ast.FuncCall, order []expr.Expr) {
	for i, it := range call.OrderBy {
		order[i] = b.resolveUnknown(order[i])
		order[i] = asArgument(order[i], agg.Args)
		agg.OrderBy = append(agg.OrderBy, sortKey(order[i], it))
	}
}

// filter binds FILTER (WHERE …), in which aggregates and window calls of its own query are not
// allowed.
func (b *binder) filter(sc *scope, call *ast.FuncCall) expr.Expr {
	sel := sc.sel
	clause, inAggregate, inWindow := sel.clause, sel.inAggregate, sel.inWindow
	sel.clause, sel.inAggregate, sel.inWindow = clauseFilter, false, false
	defer func() { sel.clause, sel.inAggregate, sel.inWindow = clause, inAggregate, inWindow }()
	return b.condition(sc, call.Filter, "FILTER")
}

// asArgument returns the argument that an item of ORDER BY equals, with the implicit casts that the
// function added to it. As in PostgreSQL, the item then sorts by that value.
func asArgument(e expr.Expr, args []expr.Expr) expr.Expr {
	for _, arg := range args {
		bare := arg
		for {
			cast, ok := bare.(*expr.Cast)
			if !ok || cast.Explicit || logical.Equal(e, bare) {
				break
			}
			bare = cast.Arg
		}
		if logical.Equal(e, bare) {
			return arg
		}
	}
	return e
}

// aggregateWithin returns the position of an aggregate of the same query in the arguments, to which
// a subquery moved it, or -1.
func aggregateWithin(owner *selectState, agg *opt.Agg) int {
	cols := aggregateCols(agg)
	for i := range owner.aggs {
		if cols.Has(owner.aggs[i].ID) {
			return owner.aggs[i].pos
		}
	}
	return -1
}

// checkDistinct refuses an ORDER BY of a DISTINCT aggregate by anything but its arguments.
func (b *binder) checkDistinct(agg *opt.Agg, call *ast.FuncCall) {
	if !call.Distinct {
		return
	}
	if len(agg.Args) == 0 {
		panic(failure.At(call.Pos, sqlerr.SyntaxError,
			"DISTINCT specified, but %s has no arguments", call.Name.Name))
	}
	for i, a := range agg.Args[:min(len(agg.Args), len(call.Args))] {
		requireEquality(a.Type(), exprPos(call.Args[i]))
	}
	for i, k := range agg.OrderBy {
		found := false
		for _, a := range agg.Args {
			found = found || logical.Equal(a, k.Expr)
		}
		if !found {
			panic(failure.At(exprPos(call.OrderBy[i].Expr), sqlerr.InvalidColumnReference,
				"in an aggregate with DISTINCT, ORDER BY expressions must appear in "+
					"argument list"))
		}
	}
}

func withinGroupError(call *ast.FuncCall, fn *expr.Aggregate) error {
	if fn.WithinGroup {
		return sqlerr.New(sqlerr.WrongObjectType, "WITHIN GROUP is required for ordered-set "+
			"aggregate %s", call.Name.Name).At(int(call.Pos))
	}
	return sqlerr.New(sqlerr.WrongObjectType, "%s is not an ordered-set aggregate, so it cannot "+
		"have WITHIN GROUP", call.Name.Name).At(int(call.Pos))
}

// aggregateLevel returns the level of the query that an aggregate belongs to.
func (b *binder) aggregateLevel(sc *scope, agg *opt.Agg) int {
	cols := aggregateCols(agg)
	level := -1
	cols.Each(func(id logical.ColID) { level = max(level, b.meta.Cols[id].Level) })
	if level < 0 || level > sc.level() {
		return sc.level()
	}
	return level
}

// aggregateCols returns the columns that an aggregate's arguments, order and filter refer to.
func aggregateCols(agg *opt.Agg) logical.ColSet {
	var cols logical.ColSet
	for _, a := range agg.Args {
		logical.ExprCols(a, &cols)
	}
	for _, k := range agg.OrderBy {
		logical.ExprCols(k.Expr, &cols)
	}
	if agg.Filter != nil {
		logical.ExprCols(agg.Filter, &cols)
	}
	return cols
}

func equalAgg(a, b *opt.Agg) bool {
	if a.Func != b.Func || a.Distinct != b.Distinct || !logical.EqualAll(a.Args, b.Args) ||
		!logical.EqualAll(a.Direct, b.Direct) || len(a.OrderBy) != len(b.OrderBy) {
		return false
	}
	for i := range a.OrderBy {
		k, o := a.OrderBy[i], b.OrderBy[i]
		if k.Desc != o.Desc || k.NullsFirst != o.NullsFirst || !logical.Equal(k.Expr, o.Expr) {
			return false
		}
	}
	if slices.ContainsFunc(a.Args, logical.IsVolatile) {
		return false
	}
	return a.Filter == nil && b.Filter == nil || a.Filter != nil && b.Filter != nil &&
		logical.Equal(a.Filter, b.Filter)
}

// grouping binds GROUPING(a, b).
func (b *binder) grouping(sc *scope, call *ast.FuncCall) expr.Expr {
	args := b.exprs(sc, call.Args)
	id := b.newColumn("grouping", types.TInt4, sc.level())
	sc.sel.made.Add(id)
	sc.sel.groupings = append(sc.sel.groupings,
		groupingCall{id: id, args: args, pos: argPos(call, 0)})
	return b.ref(id, call.Pos)
}
