package estimate

import (
	"math"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

// least is the smallest share that conditions are believed to keep.
const least = 1e-6

// Conds is the share of rows that conditions keep together.
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
		return max(s, least*least) // tables may have many rows
	}
	return max(s, least)
}

// bounded is a column with the bounds that conditions give it.
type bounded struct {
	id                logical.ColID
	c                 *stats.Column
	low, high         *types.Datum
	lowIncl, highIncl bool
}

func (b *bounded) share() float64 { return b.c.Between(b.low, b.high, b.lowIncl, b.highIncl) }

// addBound takes `column < constant` and its like into the column's bounds.
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

var mirrored = map[string]string{"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// comparison reads `column op value`, either way round.
func (e *Estimator) comparison(call *expr.Call) (id logical.ColID, op string, other expr.Expr,
	ok bool) {
	if len(call.Args) != 2 || mirrored[call.Func.Name] == "" {
		return 0, "", nil, false
	}
	for i, arg := range call.Args {
		col, isCol := bare(arg).(*expr.Col)
		if !isCol {
			continue
		}
		if c, _ := e.column(col.Index); c == nil {
			continue
		}
		op = call.Func.Name
		if i == 1 {
			op = mirrored[op]
		}
		return col.Index, op, call.Args[1-i], true
	}
	return 0, "", nil, false
}

// value is what a column is compared with, as a value of its type, if that is known.
func (e *Estimator) value(c *stats.Column, x expr.Expr) (types.Datum, bool) {
	if call, ok := x.(*expr.Call); ok && call.Func.Bound {
		x = call.Args[0] // what the column is compared with
	}
	k, ok := x.(*expr.Const)
	if !ok {
		if k = e.presently(x); k == nil {
			return types.Null, false
		}
	}
	if k.Value.Null {
		return types.Null, true
	}
	from, to := k.T, c.Type
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

// presently is the value that a stable expression such as now() has while the statement is planned;
// nil if it depends on more than the session, or fails.
func (e *Estimator) presently(x expr.Expr) *expr.Const {
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

// Cond is the share of rows for which a condition is true.
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
		if col, ok := x.Arg.(*expr.Col); ok {
			if c, _ := e.column(col.Index); c != nil {
				return c.Equal(types.NewBool(false))
			}
		}
		return max(0, 1-e.Cond(x.Arg))
	case *expr.Col:
		if c, _ := e.column(x.Index); c != nil {
			return c.Equal(types.NewBool(true))
		}
	case *expr.IsBool:
		if col, ok := x.Arg.(*expr.Col); ok {
			if c, _ := e.column(col.Index); c != nil {
				return negated(c.Equal(types.NewBool(x.Want)), x.Not)
			}
		}
	case *expr.Const:
		if x.Value.Bool() {
			return 1
		}
		return 0
	}
	return otherSelective
}

func negated(s float64, not bool) float64 {
	if not {
		return max(0, 1-s)
	}
	return s
}

func (e *Estimator) call(x *expr.Call) float64 {
	if e != nil {
		if s, ok := e.known(x); ok {
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

// known estimates a call over a column of which something is known.
func (e *Estimator) known(x *expr.Call) (float64, bool) {
	if s, ok := e.columns(x); ok {
		return s, true
	}
	id, op, other, ok := e.comparison(x)
	if !ok {
		return e.pattern(x)
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

// columns estimates the comparison of two columns, of which at least one is known.
func (e *Estimator) columns(x *expr.Call) (float64, bool) {
	if len(x.Args) != 2 || x.Func.Name != "=" && x.Func.Name != "<>" {
		return 0, false
	}
	l, lok := e.distinct(x.Args[0])
	r, rok := e.distinct(x.Args[1])
	if !lok || !rok || logical.ColsOf(x.Args[0]).Empty() || logical.ColsOf(x.Args[1]).Empty() {
		return 0, false
	}
	s := e.present(x.Args[0]) * e.present(x.Args[1])
	return s * negated(1/max(l, r, 1), x.Func.Name == "<>"), true
}

// present is the share of rows in which an expression is not NULL.
func (e *Estimator) present(x expr.Expr) float64 {
	if c, _ := e.columnOf(x); c != nil {
		return 1 - c.NullFraction
	}
	return 1
}

// matchers are operators whose share is measured by running them over the values that are known.
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
	return c.Matching(func(v types.Datum) bool {
		d, err := x.Func.Scalar(e.rt, []types.Datum{v, k.Value})
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

// anyOf is the share of rows whose column is one of several values.
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

// or adds shares up; where they are known, what several sides keep counts once.
func (e *Estimator) or(x *expr.Or) float64 {
	s := 0.0
	exclusive := e == nil || e.apart(x)
	for _, a := range x.Args {
		share := e.Cond(a)
		if exclusive {
			s += share
		} else {
			s += share - s*share
		}
	}
	for _, tested := range x.Implied {
		s /= max(e.Cond(tested), least)
	}
	return min(s, 1)
}

// apart says whether no row fulfils two sides: equalities of one column with constants, or ranges
// of it that do not meet, as NOT BETWEEN has them.
func (e *Estimator) apart(x *expr.Or) bool {
	var high, low *types.Datum
	first, equal := 0, 0
	for _, a := range x.Args {
		call, ok := a.(*expr.Call)
		if !ok {
			return false
		}
		id, op, other, ok := e.comparison(call)
		if !ok || first != 0 && id != first {
			return false
		}
		first = id
		c, _ := e.column(id)
		v, known := e.value(c, other)
		switch {
		case op == "=":
			equal++
		case !known || v.Null || op == "<>":
			return false
		case (op == "<" || op == "<=") && high == nil:
			high = &v
		case (op == ">" || op == ">=") && low == nil:
			low = &v
		default:
			return false
		}
	}
	if high == nil && low == nil {
		return true
	}
	if equal > 0 || high == nil || low == nil {
		return false
	}
	c, _ := e.column(first)
	return types.Compare(c.Type, *high, *low) <= 0
}
