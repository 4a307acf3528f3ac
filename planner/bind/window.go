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

// windowFunctions are the functions that are not aggregates: the numbers of arguments that they
// take, and their type (nil: that of the first argument).
var windowFunctions = map[string]struct {
	least, most int
	result      *types.Type
}{
	"row_number":   {0, 0, types.TInt8},
	"rank":         {0, 0, types.TInt8},
	"dense_rank":   {0, 0, types.TInt8},
	"percent_rank": {0, 0, types.TFloat8},
	"cume_dist":    {0, 0, types.TFloat8},
	"ntile":        {1, 1, types.TInt4},
	"lag":          {1, 3, nil},
	"lead":         {1, 3, nil},
	"first_value":  {1, 1, nil},
	"last_value":   {1, 1, nil},
	"nth_value":    {2, 2, nil},
}

// window binds f(…) OVER (…).
func (b *binder) window(sc *scope, call *ast.FuncCall) expr.Expr {
	pos := int(call.Pos)
	sel := sc.sel
	switch {
	case sel.inWindow:
		panic(failure.At(pos, sqlerr.WindowingError, "window function calls cannot be nested"))
	case sel.inAggregate:
		panic(failure.At(pos, sqlerr.GroupingError,
			"aggregate function calls cannot contain window function calls"))
	case sel.clause != clauseTarget && sel.clause != clauseOrderBy &&
		sel.clause != clauseDistinctOn:
		panic(failure.At(pos, sqlerr.WindowingError, "window functions are not allowed in %s",
			sel.clause))
	case call.Distinct:
		panic(failure.At(pos, sqlerr.FeatureNotSupported,
			"DISTINCT is not implemented for window functions"))
	case call.WithinGroup:
		panic(failure.At(pos, sqlerr.FeatureNotSupported,
			"OVER is not supported for ordered-set aggregate %s", call.Name.Name))
	case len(call.OrderBy) > 0:
		panic(failure.At(pos, sqlerr.FeatureNotSupported,
			"aggregate ORDER BY is not implemented for window functions"))
	}
	sel.inWindow = true
	defer func() { sel.inWindow = false }()
	w := windowCall{pos: pos}
	t := b.windowArgs(sc, call, &w)
	def := sel.windowDef(call.Over)
	saved := sel.clause
	sel.clause, sel.inWindow = clauseWindow, false
	b.windowSpec(sc, def, &w)
	sel.clause = saved
	for i := range sel.wins {
		if sameCall(&sel.wins[i], &w) {
			return b.ref(sel.wins[i].ID, call.Pos)
		}
	}
	w.ID = b.newColumn(call.Name.Name, t, sel.level)
	b.computedFrom(w.ID, w.Args...)
	sel.made.Add(w.ID)
	sel.wins = append(sel.wins, w)
	return b.ref(w.ID, call.Pos)
}

// windowArgs binds the arguments of an aggregate or a window function.
func (b *binder) windowArgs(sc *scope, call *ast.FuncCall, w *windowCall) *types.Type {
	pos := int(call.Pos)
	name := call.Name.Name
	args := b.exprs(sc, call.Args)
	if _, ok := windowFunctions[name]; ok {
		return b.windowFunction(call, w, args)
	}
	if len(b.function(call.Name).Aggregates()) == 0 {
		_, _, err := b.function(call.Name).ResolveFunction(typesOf(args))
		failure.Check(at(err, pos))
		panic(failure.At(pos, sqlerr.WrongObjectType,
			"OVER specified, but %s is not a window function nor an aggregate function", name))
	}
	fn, targets := b.resolveAggregate(call, args)
	if fn.WithinGroup {
		panic(failure.At(pos, sqlerr.FeatureNotSupported,
			"OVER is not supported for ordered-set aggregate %s", name))
	}
	b.coerceArgs(call, args, targets)
	if call.Filter != nil {
		fn, args = b.windowFilter(sc, call, fn, args)
	}
	w.Agg, w.Args, w.Name = fn, args, name
	return builtin.AggregateType(fn, targets)
}

// windowFunction binds a call of a function in windowFunctions and returns its type.
func (b *binder) windowFunction(call *ast.FuncCall, w *windowCall, args []expr.Expr) *types.Type {
	if call.Filter != nil {
		panic(failure.At(call.Pos, sqlerr.FeatureNotSupported,
			"FILTER is not implemented for non-aggregate window functions"))
	}
	w.Name = call.Name.Name
	w.Args = b.windowFunctionArgs(call, args)
	if t := windowFunctions[w.Name].result; t != nil {
		return t
	}
	return w.Args[0].Type()
}

// windowFilter binds FILTER (WHERE c) of an aggregate that ignores NULLs: its argument becomes CASE
// WHEN c THEN arg END, and count(*) a count of such a CASE.
func (b *binder) windowFilter(sc *scope, call *ast.FuncCall, fn *expr.Aggregate,
	args []expr.Expr) (*expr.Aggregate, []expr.Expr) {
	cond := b.filter(sc, call)
	if len(args) == 0 {
		one := &expr.Const{T: types.TInt4, Value: types.NewInt(1)}
		counted, _, err := builtin.ResolveAggregate("count", []*types.Type{types.TInt4})
		failure.Check(err)
		fn, args = counted, []expr.Expr{one}
	} else if !fn.Strict {
		panic(failure.Unsupported(call.Pos, "FILTER with "+call.Name.Name+" OVER"))
	}
	args[0] = &expr.Case{T: args[0].Type(), Whens: []expr.When{{Cond: cond, Result: args[0]}}}
	return fn, args
}

func (b *binder) windowFunctionArgs(call *ast.FuncCall, args []expr.Expr) []expr.Expr {
	name := call.Name.Name
	def := windowFunctions[name]
	if len(args) < def.least || len(args) > def.most || call.Star {
		panic(failure.Of(undefinedWindowFunction(call, args)))
	}
	for i := range args {
		switch {
		case name == "ntile" || i == 1:
			if !canCast(args[i].Type(), types.TInt4, implicit) {
				panic(failure.Of(undefinedWindowFunction(call, args)))
			}
			args[i] = b.coerce(args[i], types.TInt4, implicit, argPos(call, i))
		case i == 0 && len(args) < 3 && args[i].Type().OID == types.OIDUnknown:
			panic(failure.At(0, sqlerr.DatatypeMismatch,
				"could not determine polymorphic type because input has type unknown"))
		}
	}
	if len(args) == 3 {
		b.unifyDefault(call, args)
	}
	return args
}

// unifyDefault converts the first argument of lag or lead and its default, the third, to one type.
func (b *binder) unifyDefault(call *ast.FuncCall, args []expr.Expr) {
	both := []expr.Expr{args[0], args[2]}
	t, _, err := builtin.CommonTypeFor("", typesOf(both))
	if err != nil {
		panic(failure.Of(undefinedWindowFunction(call, args)))
	}
	for k, i := range []int{0, 2} {
		args[i] = b.coerce(both[k], t, implicit, argPos(call, i))
	}
}

func undefinedWindowFunction(call *ast.FuncCall, args []expr.Expr) error {
	return undefinedFunction(call, builtin.Signature(call.Name.Name, typesOf(args)))
}

// checkDefs checks the windows of a WINDOW clause, including those that no call refers to.
func (b *binder) checkDefs(sc *scope) {
	sel := sc.sel
	sel.clause = clauseWindow
	for i := range sel.defs {
		w := &sel.defs[i]
		if slices.ContainsFunc(sel.defs[:i],
			func(before ast.Window) bool { return before.Name == w.Name }) {
			panic(failure.At(w.Pos, sqlerr.WindowingError, "window \"%s\" is already defined",
				w.Name))
		}
		b.windowSpec(sc, sel.windowDef(w), &windowCall{})
	}
}

// windowDef resolves references to named windows: OVER w is the window w, OVER (w …) adds to it.
func (sel *selectState) windowDef(w *ast.Window) *ast.Window {
	if w.Ref == "" {
		return w
	}
	var base *ast.Window
	for i := range sel.defs {
		if &sel.defs[i] == w {
			break // a definition refers to earlier ones only
		}
		if sel.defs[i].Name == w.Ref {
			base = &sel.defs[i]
		}
	}
	if base == nil {
		panic(failure.At(w.Pos, sqlerr.UndefinedObject, "window \"%s\" does not exist", w.Ref))
	}
	base = sel.windowDef(base)
	checkOverride(w, base)
	out := *base
	if len(w.OrderBy) > 0 {
		out.OrderBy = w.OrderBy
	}
	if w.Frame != nil {
		out.Frame = w.Frame
	}
	return &out
}

// checkOverride refuses a window that overrides what the window which it refers to has.
func checkOverride(w, base *ast.Window) {
	switch {
	case len(w.PartitionBy) > 0:
		panic(failure.At(w.Pos, sqlerr.WindowingError,
			"cannot override PARTITION BY clause of window \"%s\"", w.Ref))
	case len(w.OrderBy) > 0 && len(base.OrderBy) > 0:
		panic(failure.At(w.Pos, sqlerr.WindowingError,
			"cannot override ORDER BY clause of window \"%s\"", w.Ref))
	case base.Frame != nil && w.Copies:
		e := sqlerr.New(sqlerr.WindowingError, "cannot copy window \"%s\" because it has a "+
			"frame clause", w.Ref).At(int(w.Pos))
		if w.Name == "" && len(w.OrderBy) == 0 && w.Frame == nil {
			e = e.WithHint("Omit the parentheses in this OVER clause.")
		}
		panic(failure.Of(e))
	}
}

// windowSpec binds PARTITION BY, ORDER BY and the frame.
func (b *binder) windowSpec(sc *scope, def *ast.Window, w *windowCall) {
	for _, e := range def.PartitionBy {
		key := b.windowExpr(sc, e)
		requireEquality(key.Type(), exprPos(e))
		w.partition = append(w.partition, key)
	}
	for _, it := range def.OrderBy {
		w.order = append(w.order, sortKey(b.windowExpr(sc, it.Expr), it))
	}
	w.Frame = opt.Frame{Mode: "range", StartKind: "unbounded preceding", EndKind: "current row"}
	if def.Frame != nil {
		b.frame(sc, def, w)
	}
}

func (b *binder) windowExpr(sc *scope, e ast.Expr) expr.Expr {
	return b.resolveUnknown(b.expr(sc, e))
}

func (b *binder) frame(sc *scope, def *ast.Window, w *windowCall) {
	f := def.Frame
	w.Frame = opt.Frame{Mode: f.Mode, StartKind: f.StartKind, EndKind: f.EndKind,
		Exclude: f.Exclude}
	if f.Exclude == "no others" {
		w.Frame.Exclude = ""
	}
	offset := f.Start != nil || f.End != nil
	if f.Mode == "range" && offset && len(w.order) != 1 {
		panic(failure.At(def.Pos, sqlerr.WindowingError,
			"RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column"))
	}
	if f.Mode == "groups" && len(w.order) == 0 {
		panic(failure.At(def.Pos, sqlerr.WindowingError, "GROUPS mode requires an ORDER BY clause"))
	}
	for _, bound := range []struct {
		src ast.Expr
		dst *expr.Expr
	}{{f.Start, &w.Frame.Start}, {f.End, &w.Frame.End}} {
		if bound.src != nil {
			*bound.dst = b.frameOffset(sc, f, w, bound.src)
		}
	}
}

// frameOffset binds n PRECEDING or FOLLOWING: a number of rows or groups, or with RANGE a distance
// between order keys.
func (b *binder) frameOffset(sc *scope, f *ast.Frame, w *windowCall, src ast.Expr) expr.Expr {
	e := b.expr(sc, src)
	if !logical.ColsOf(e).Empty() {
		panic(failure.At(exprPos(src), sqlerr.InvalidColumnReference,
			"argument of %s must not contain variables", frameName(f.Mode)))
	}
	t := types.TInt8
	if f.Mode == "range" {
		t = distanceType(w.order[0].Expr.Type(), e.Type(), src)
	}
	return b.coerceSpecific(e, t, frameName(f.Mode), src)
}

// distances are the types of offsets that RANGE takes from a key of a type, as PostgreSQL's
// in_range functions have them.
func distances(key *types.Type) []*types.Type {
	switch key.Family {
	case types.Int:
		if key.OID == types.OIDInt8 {
			return []*types.Type{types.TInt8}
		}
		return []*types.Type{types.TInt8, types.TInt4, types.TInt2}
	case types.Float:
		return []*types.Type{types.TFloat8}
	case types.Decimal:
		return []*types.Type{types.TNumeric}
	case types.Date, types.Timestamp, types.Time, types.TimeTZ, types.Interval:
		return []*types.Type{types.TInterval}
	}
	return nil
}

// distanceType returns the type of the offset of RANGE from a key: its own if there is such a
// distance, else the one to which it can be converted.
func distanceType(key, offset *types.Type, src ast.Expr) *types.Type {
	shown := key
	if key.Family == types.String && key.OID == types.OIDVarchar {
		shown = types.TText // whose operator class orders it
	}
	all := distances(key)
	if all == nil {
		panic(failure.At(exprPos(src), sqlerr.FeatureNotSupported,
			"RANGE with offset PRECEDING/FOLLOWING is not supported for column type %s",
			typeName(shown)))
	}
	preferred, matches := offset, []*types.Type(nil)
	if offset.OID == types.OIDUnknown {
		preferred = key
	}
	for _, t := range all {
		switch {
		case t.OID == preferred.OID:
			return t
		case canCast(offset, t, implicit):
			matches = append(matches, t)
		}
	}
	pair := func(what string) *sqlerr.Error {
		return sqlerr.New(sqlerr.FeatureNotSupported,
			"RANGE with offset PRECEDING/FOLLOWING %s for column type %s and offset type %s", what,
			typeName(shown), typeName(offset)).At(exprPos(src))
	}
	switch len(matches) {
	case 0:
		panic(failure.Of(pair("is not supported").
			WithHint("Cast the offset value to an appropriate type.")))
	case 1:
		return matches[0]
	}
	panic(failure.Of(pair("has multiple interpretations").
		WithHint("Cast the offset value to the exact intended type.")))
}

func frameName(mode string) string {
	switch mode {
	case "rows":
		return "ROWS"
	case "groups":
		return "GROUPS"
	}
	return "RANGE"
}

// windowsReadSets reports whether a window call reads the values of a set-returning call.
func (s *selecting) windowsReadSets() bool {
	var cols logical.ColSet
	for i := range s.sc.sel.wins {
		s.sc.sel.wins[i].each(func(e *expr.Expr) { logical.ExprCols(*e, &cols) })
	}
	for _, it := range s.sc.sel.sets {
		if cols.Has(it.ID) {
			return true
		}
	}
	return false
}

// buildWindows adds a Window for each different window of the calls.
func (s *selecting) buildWindows() {
	wins := s.sc.sel.wins
	done := make([]bool, len(wins))
	for i := range wins {
		if done[i] {
			continue
		}
		n := &logical.Window{Child: s.node, PartitionBy: wins[i].partition, OrderBy: wins[i].order}
		for k := i; k < len(wins); k++ {
			if !done[k] && sameWindow(&wins[i], &wins[k]) {
				done[k] = true
				n.Calls = append(n.Calls, wins[k].WindowItem)
			}
		}
		s.node = n
	}
}

// sameCall reports whether two calls over one window are the same computation.
func sameCall(a, b *windowCall) bool {
	f, o := a.Frame, b.Frame
	same := a.Name == b.Name && a.Agg == b.Agg && logical.EqualAll(a.Args, b.Args) &&
		sameWindow(a, b) &&
		f.Mode == o.Mode && f.StartKind == o.StartKind && f.EndKind == o.EndKind &&
		f.Exclude == o.Exclude &&
		logical.Equal(f.Start, o.Start) && logical.Equal(f.End, o.End)
	a.each(func(e *expr.Expr) { same = same && !logical.IsVolatile(*e) })
	return same
}

func sameWindow(a, b *windowCall) bool {
	if !logical.EqualAll(a.partition, b.partition) || len(a.order) != len(b.order) {
		return false
	}
	for i := range a.order {
		k, o := a.order[i], b.order[i]
		if k.Desc != o.Desc || k.NullsFirst != o.NullsFirst || !logical.Equal(k.Expr, o.Expr) {
			return false
		}
	}
	return true
}
