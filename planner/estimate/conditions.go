package estimate

import (
	"cmp"
	"math"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

// minShare is the smallest share of rows that conditions are estimated to keep.
const minShare = 1e-6

// Conds returns the share of rows for which all conditions are true.
func (e *Estimator) Conds(conds []expr.Expr) float64 {
	s := 1.0
	var ranges []bounded
	for _, cond := range conds {
		if e != nil && e.addBound(&ranges, cond) {
			continue
		}
		s *= e.Cond(cond)
	}
	for i := range ranges {
		s *= ranges[i].share()
	}
	if e != nil {
		return max(s, minShare*minShare) // tables may have many rows
	}
	return max(s, minShare)
}

// bounded is a column with the bounds that conditions give it.
type bounded struct {
	id                logical.ColID
	c                 *stats.Column
	low, high         *types.Datum
	lowIncl, highIncl bool
}

func (b *bounded) share() float64 { return b.c.Between(b.low, b.high, b.lowIncl, b.highIncl) }

// addBound adds the bound of a comparison such as `column < constant` to those of its column. It
// returns false for any other condition.
func (e *Estimator) addBound(ranges *[]bounded, cond expr.Expr) bool {
	call, ok := cond.(*expr.Call)
	if !ok {
		return false
	}
	id, op, other, ok := e.comparison(call)
	if !ok || op == "=" || op == "<>" {
		return false
	}
	c, _ := e.column(id)
	if c == nil {
		return false
	}
	v, known := e.value(c, other)
	if !known {
		return false
	}
	var b *bounded
	for i := range *ranges {
		if (*ranges)[i].id == id {
			b = &(*ranges)[i]
		}
	}
	if b == nil {
		*ranges = append(*ranges, bounded{id: id, c: c})
		b = &(*ranges)[len(*ranges)-1]
	}
	switch op {
	case "<", "<=":
		if b.high == nil || types.Compare(c.Type, v, *b.high) < 0 {
			b.high, b.highIncl = &v, op == "<="
		}
	default:
		if b.low == nil || types.Compare(c.Type, v, *b.low) > 0 {
			b.low, b.lowIncl = &v, op == ">="
		}
	}
	return true
}

// commutator maps a comparison to the one with exchanged operands.
var commutator = map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// comparison recognises `column op value` and `value op column`, for a column with statistics. In
// the second form op is the commutator of the operator.
func (e *Estimator) comparison(call *expr.Call) (id logical.ColID, op string, other expr.Expr,
	ok bool) {
	if len(call.Args) != 2 || commutator[call.Func.Comparison()] == "" {
		return 0, "", nil, false
	}
	for i, arg := range call.Args {
		id := e.idOf(arg)
		if id == 0 {
			continue
		}
		if c, _ := e.column(id); c == nil {
			continue
		}
		op = call.Func.Name
		if i == 1 {
			op = commutator[op]
		}
		return id, op, call.Args[1-i], true
	}
	return 0, "", nil, false
}

// value returns the value that a column is compared with, converted to the column's type; known is
// false where it cannot be computed yet.
func (e *Estimator) value(c *stats.Column, x expr.Expr) (v types.Datum, known bool) {
	if call, ok := x.(*expr.Call); ok && call.Func.Bound {
		x = call.Args[0] // the value before it is made a bound
	}
	k, ok := x.(*expr.Const)
	if !ok {
		k = e.presentValue(x)
	}
	switch {
	case k == nil:
		return types.Null, false
	case k.Value.Null:
		return types.Null, true
	}
	return e.convert(k, c.Type.Base())
}

// convert returns a constant as a value of a column's type. A fraction is rounded down to an
// integer.
func (e *Estimator) convert(k *expr.Const, to *types.Type) (v types.Datum, ok bool) {
	from := k.T
	switch {
	case from.OID == to.OID, from.Family == to.Family &&
		(from.Family == types.Int || from.Family == types.String || from.Family == types.Float):
		return k.Value, true
	case to.Family == types.Int && from.Family == types.Decimal:
		if f, err := types.NumericToFloat(k.Value.Dec); err == nil && math.Abs(f) < 1<<62 {
			return types.NewInt(int64(math.Floor(f))), true
		}
	case to.Family == types.Int && from.Family == types.Float:
		if f := k.Value.F; math.Abs(f) < 1<<62 {
			return types.NewInt(int64(math.Floor(f))), true
		}
	}
	if e.rt == nil {
		return types.Null, false
	}
	v, err := types.Cast(k.Value, from, to, false, &e.rt.Format)
	return v, err == nil
}

// presentValue returns the value that a stable expression such as now() has while the statement is
// planned. It returns nil if the value depends on more than the session, or its evaluation fails.
func (e *Estimator) presentValue(x expr.Expr) *expr.Const {
	if e.rt == nil || e.rt.Session == nil || e.rt.TxnTime.IsZero() {
		return nil
	}
	steady := true
	expr.Walk(x, func(x expr.Expr) bool {
		switch x := x.(type) {
		case *expr.Call:
			steady = steady && x.Func.Volatility != expr.Volatile && x.Func.Set == nil
		case *expr.Const, *expr.Cast:
		default:
			steady = false
		}
		return steady
	})
	if !steady {
		return nil
	}
	program, err := eval.Compile(x)
	if err != nil {
		return nil
	}
	v, err := program.EvalRow(&eval.Context{Runtime: e.rt}, nil)
	if err != nil {
		return nil
	}
	return &expr.Const{T: x.Type(), Value: v}
}

// Cond returns the share of rows for which a condition is true.
func (e *Estimator) Cond(cond expr.Expr) float64 {
	switch x := cond.(type) {
	case *expr.Call:
		return e.call(x)
	case *expr.InList:
		return e.inList(x)
	case *expr.Quantified:
		return e.quantified(x)
	case *expr.IsNull:
		return e.isNull(x)
	case *expr.And:
		return e.Conds(x.Args)
	case *expr.Or:
		return e.or(x)
	case *expr.Not:
		if share, ok := e.boolean(x.Arg, false); ok {
			return share
		}
		return max(0, 1-e.Cond(x.Arg))
	case *expr.Col:
		if share, ok := e.boolean(x, true); ok {
			return share
		}
	case *expr.IsBool:
		if share, ok := e.boolean(x.Arg, x.Want); ok {
			return negated(share, x.Not)
		}
	case *expr.Const:
		if x.Value.Bool() {
			return 1
		}
		return 0
	}
	return otherSelective
}

// boolean returns the share of rows in which a boolean column with statistics has the value want;
// ok is false for any other expression.
func (e *Estimator) boolean(x expr.Expr, want bool) (share float64, ok bool) {
	col, ok := x.(*expr.Col)
	if !ok {
		return 0, false
	}
	c, _ := e.column(col.Index)
	if c == nil {
		return 0, false
	}
	return c.Equal(types.NewBool(want)), true
}

// negated returns the share s of rows, or with not that of the other rows.
func negated(s float64, not bool) float64 {
	if not {
		return max(0, 1-s)
	}
	return s
}

func (e *Estimator) call(x *expr.Call) float64 {
	if e != nil {
		if s, ok := e.knownCall(x); ok {
			return s
		}
	}
	switch x.Func.Name {
	case "=":
		return equalSelective
	case "<>":
		return 1 - equalSelective
	case "<", "<=", ">", ">=":
		return rangeSelective
	}
	return otherSelective
}

// knownCall estimates a call over a column with statistics.
func (e *Estimator) knownCall(x *expr.Call) (float64, bool) {
	if s, ok := e.columns(x); ok {
		return s, true
	}
	id, op, other, ok := e.comparison(x)
	if !ok {
		if s, ok := e.pattern(x); ok {
			return s, true
		}
		return e.keyed(x)
	}
	c, _ := e.column(id)
	v, known := e.value(c, other)
	if known && v.Null {
		return 0, true
	}
	there := 1 - c.NullFraction
	switch op {
	case "=", "<>":
		s := c.EqualAny()
		if known {
			s = c.Equal(v)
		}
		if op == "<>" {
			s = max(0, there-s)
		}
		return s, true
	}
	if !known {
		return rangeSelective * there, true
	}
	b := bounded{c: c}
	if op == "<" || op == "<=" {
		b.high, b.highIncl = &v, op == "<="
	} else {
		b.low, b.lowIncl = &v, op == ">="
	}
	return b.share(), true
}

// columns estimates the comparison of two columns, at least one of which has statistics.
func (e *Estimator) columns(x *expr.Call) (float64, bool) {
	if len(x.Args) != 2 || x.Func.Name != "=" && x.Func.Name != "<>" {
		return 0, false
	}
	l, lok := e.distinct(x.Args[0])
	r, rok := e.distinct(x.Args[1])
	if !lok || !rok || logical.ColsOf(x.Args[0]).Empty() || logical.ColsOf(x.Args[1]).Empty() {
		return 0, false
	}
	s := e.notNullShare(x.Args[0]) * e.notNullShare(x.Args[1])
	return s * negated(1/max(l, r, 1), x.Func.Name == "<>"), true
}

// notNullShare returns the share of rows in which an expression is not NULL.
func (e *Estimator) notNullShare(x expr.Expr) float64 {
	if c, _ := e.columnOf(x); c != nil {
		return 1 - c.NullFraction
	}
	return 1
}

// matchers are the operators whose share is measured by applying them to the values in the
// statistics.
var matchers = map[string]bool{"~~": true, "!~~": true, "~~*": true, "!~~*": true, "~": true,
	"!~": true, "~*": true, "!~*": true,
	"starts_with": true, "^@": true}

// pattern estimates `column LIKE constant` and other matches.
func (e *Estimator) pattern(x *expr.Call) (float64, bool) {
	if !matchers[x.Func.Name] || len(x.Args) != 2 || x.Func.Scalar == nil {
		return 0, false
	}
	c, _ := e.columnOf(x.Args[0])
	k, ok := x.Args[1].(*expr.Const)
	if c == nil || !ok || c.Type.Family != types.String {
		return 0, false
	}
	if k.Value.Null {
		return 0, true
	}
	if x.Func.Name == "~~" {
		prefix, whole := builtin.LikePrefix(k.Value.S)
		if whole {
			return c.Equal(types.NewString(prefix)), true
		}
		if prefix != "" && len(k.Value.S) == len(prefix)+1 && k.Value.S[len(prefix)] == '%' {
			return prefixShare(c, prefix), true
		}
	}
	rt := cmp.Or(e.rt, &expr.Runtime{})
	rt.ArgTypes = []*types.Type{x.Args[0].Type(), x.Args[1].Type()}
	return c.Matching(func(v types.Datum) bool {
		d, err := x.Func.Scalar(rt, []types.Datum{v, k.Value})
		return err == nil && d.Bool()
	}), true
}

func prefixShare(c *stats.Column, prefix string) float64 {
	low := types.NewString(prefix)
	next := builtin.AfterPrefix(prefix)
	if next == "" {
		return c.Between(&low, nil, true, false)
	}
	high := types.NewString(next)
	return c.Between(&low, &high, true, false)
}

func (e *Estimator) inList(x *expr.InList) float64 {
	c, _ := e.columnOf(x.Arg)
	if c == nil {
		return negated(min(1, equalSelective*float64(len(x.List))), x.Not)
	}
	s := e.anyOf(c, x.List)
	if x.Not {
		return max(0, 1-c.NullFraction-s)
	}
	return s
}

// anyOf returns the share of rows whose column equals one of several values.
func (e *Estimator) anyOf(c *stats.Column, list []expr.Expr) float64 {
	s := 0.0
	for _, x := range list {
		if v, known := e.value(c, x); known {
			s += c.Equal(v)
		} else {
			s += c.EqualAny()
		}
	}
	return min(s, 1-c.NullFraction)
}

func (e *Estimator) quantified(x *expr.Quantified) float64 {
	if x.Op.Name != "=" || x.All {
		return otherSelective
	}
	c, _ := e.columnOf(x.Left)
	if c == nil {
		if e != nil {
			if s, ok := e.keyed(x); ok {
				return s
			}
		}
		return otherSelective
	}
	switch a := x.Array.(type) {
	case *expr.ArrayExpr:
		return e.anyOf(c, a.Elems)
	case *expr.Const:
		if a.Value.Null || a.T.Elem == nil {
			return 0
		}
		list := make([]expr.Expr, len(a.Value.Arr.Elems))
		for i, v := range a.Value.Arr.Elems {
			list[i] = &expr.Const{T: a.T.Elem, Value: v}
		}
		return e.anyOf(c, list)
	}
	return min(ArrayElements*c.EqualAny(), 1-c.NullFraction)
}

func (e *Estimator) isNull(x *expr.IsNull) float64 {
	if c, _ := e.columnOf(x.Arg); c != nil {
		return negated(c.NullFraction, x.Not)
	}
	return negated(equalSelective, x.Not)
}

// or adds up the shares of the sides of an OR. Unless the sides are disjoint, the rows in several
// of them are counted once, as for independent sides.
func (e *Estimator) or(x *expr.Or) float64 {
	s := 0.0
	exclusive := e == nil || e.disjoint(x)
	for _, a := range x.Args {
		share := e.Cond(a)
		if exclusive {
			s += share
		} else {
			s += share - s*share
		}
	}
	for _, tested := range x.Implied {
		s /= max(e.Cond(tested), minShare)
	}
	return min(s, 1)
}

// disjoint reports whether no row satisfies two sides of an OR: they equate one column with values,
// or are one range of it below and one above, which do not overlap, as NOT BETWEEN has them.
func (e *Estimator) disjoint(x *expr.Or) bool {
	var column logical.ColID
	var b bounded
	equalities := 0
	for _, a := range x.Args {
		call, ok := a.(*expr.Call)
		if !ok {
			return false
		}
		id, op, other, ok := e.comparison(call)
		if !ok || column != 0 && id != column {
			return false
		}
		column = id
		b.c, _ = e.column(id)
		if op == "=" {
			equalities++
			continue
		}
		v, known := e.value(b.c, other)
		if !known || v.Null || !b.addSingle(op, v) {
			return false
		}
	}
	if b.high == nil && b.low == nil {
		return true
	}
	return equalities == 0 && b.high != nil && b.low != nil &&
		types.Compare(b.c.Type, *b.high, *b.low) <= 0
}

// addSingle adds the bound of a comparison, and returns false if there is a bound on that side
// already.
func (b *bounded) addSingle(op string, v types.Datum) bool {
	switch {
	case (op == "<" || op == "<=") && b.high == nil:
		b.high = &v
	case (op == ">" || op == ">=") && b.low == nil:
		b.low = &v
	default:
		return false
	}
	return true
}
