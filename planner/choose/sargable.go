package choose

import (
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// interval is a section of one key column: equal to eq, NULL, or between low and high.
type interval struct {
	eq                expr.Expr
	isNull            bool
	low, high         expr.Expr
	lowIncl, highIncl bool
}

// isPoint reports whether the interval holds one value only.
func (iv *interval) isPoint() bool { return iv.eq != nil || iv.isNull }

// restriction is a condition on one column: its value lies in one of the intervals. exact is set
// when the intervals express the condition entirely.
type restriction struct {
	col       logical.ColID
	intervals []interval
	exact     bool
	cond      int // index of the condition
}

// maxIntervals is the largest number of intervals that IN and OR are expanded to.
const maxIntervals = 10000

// restrictions returns the restrictions among the conditions of a scan.
func (c *chooser) restrictions(s *logical.Scan, conds []expr.Expr) []restriction {
	var rs []restriction
	for i, cond := range conds {
		if r, ok := c.restrict(s, s.ByIndex(cond)); ok {
			r.cond = i
			rs = append(rs, r)
		}
	}
	return rs
}

// restrict returns the restriction that a condition puts on a column of the scan, if it has the
// form of one. The values of a restriction are the same for all rows of the scan.
func (c *chooser) restrict(s *logical.Scan, cond expr.Expr) (restriction, bool) {
	switch e := cond.(type) {
	case *expr.Call:
		return c.restrictCall(s, e)
	case *expr.InList:
		return c.restrictIn(s, e)
	case *expr.Or:
		return c.restrictOr(s, e)
	case *expr.IsNull:
		if col, ok := scanColumn(s, e.Arg); ok && !e.Not {
			return restriction{col: col, intervals: []interval{{isNull: true}}, exact: true}, true
		}
	case *expr.Col:
		return restrictBool(s, e, true)
	case *expr.Not:
		return restrictBool(s, e.Arg, false)
	case *expr.IsBool:
		if !e.Not {
			return restrictBool(s, e.Arg, e.Want)
		}
	case *expr.Quantified:
		return c.restrictAny(s, e)
	case *expr.And:
		return c.restrictAnd(s, e)
	}
	return restriction{}, false
}

// restrictAnd recognises `a >= 1 AND a < 5` within an OR as one interval of one column.
func (c *chooser) restrictAnd(s *logical.Scan, e *expr.And) (restriction, bool) {
	var out restriction
	for i, arg := range e.Args {
		r, ok := c.restrict(s, arg)
		if !ok {
			return restriction{}, false
		}
		if i == 0 {
			out = r
			continue
		}
		if r.col != out.col || !intersect(&out, &r) {
			return restriction{}, false
		}
		out.exact = out.exact && r.exact
	}
	return out, true
}

// intersect restricts a to its intersection with b, where a has one bound and b has the other. It
// returns false for any other intervals.
func intersect(a, b *restriction) bool {
	if len(a.intervals) != 1 || len(b.intervals) != 1 {
		return false
	}
	x, y := &a.intervals[0], &b.intervals[0]
	if x.isPoint() || y.isPoint() {
		return false
	}
	switch {
	case x.low == nil && y.high == nil:
		a.intervals = []interval{{low: y.low, lowIncl: y.lowIncl, high: x.high,
			highIncl: x.highIncl}}
	case x.high == nil && y.low == nil:
		a.intervals = []interval{{low: x.low, lowIncl: x.lowIncl, high: y.high,
			highIncl: y.highIncl}}
	default:
		return false
	}
	return true
}

func scanColumn(s *logical.Scan, e expr.Expr) (logical.ColID, bool) {
	col, ok := e.(*expr.Col)
	if !ok || !s.OwnsPart(col.Index) {
		return 0, false
	}
	return col.Index, true
}

func restrictBool(s *logical.Scan, e expr.Expr, want bool) (restriction, bool) {
	col, ok := scanColumn(s, e)
	if !ok || s.PartType(col).OID != types.OIDBool {
		return restriction{}, false
	}
	v := &expr.Const{T: types.TBool, Value: types.NewBool(want)}
	return restriction{col: col, intervals: []interval{{eq: v}}, exact: true}, true
}

// commutator maps a comparison to the one with exchanged operands.
var commutator = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// restrictCall recognises `column op value`, `value op column` and LIKE.
func (c *chooser) restrictCall(s *logical.Scan, e *expr.Call) (restriction, bool) {
	if len(e.Args) != 2 {
		return restriction{}, false
	}
	op := e.Func.Comparison()
	if op == "~~" {
		return restrictLike(s, e)
	}
	if commutator[op] == "" {
		return restriction{}, false
	}
	left, right := e.Args[0], e.Args[1]
	if _, ok := keyColumn(s, left, right.Type()); !ok {
		left, right, op = right, left, commutator[op]
	}
	col, ok := keyColumn(s, left, right.Type())
	if !ok || !c.constantDuring(s, right) {
		return restriction{}, false
	}
	iv, exact, ok := keyInterval(s.PartType(col), op, right)
	return restriction{col: col, intervals: []interval{iv}, exact: exact}, ok
}

// constantDuring reports whether a value is the same for all rows of the scan: it reads no column
// of the scan and calls no volatile function. Columns of outer queries are in slots already.
func (c *chooser) constantDuring(s *logical.Scan, e expr.Expr) bool {
	switch e.(type) {
	case *expr.Const, *expr.Param:
		return true
	}
	ok := true
	expr.Walk(e, func(x expr.Expr) bool {
		switch x := x.(type) {
		case *expr.Col:
			ok = ok && c.variable(x.Index) != nil
		case *expr.Subquery:
			q, isQuery := x.Plan.(*logical.Query)
			ok = ok && isQuery && logical.FreeCols(q.Node).Empty() && len(x.Left) == 0
		case *expr.Call:
			ok = ok && x.Func.Volatility != expr.Volatile
		case *expr.CaseOperand:
			ok = false
		}
		return ok
	})
	return ok
}

func (c *chooser) restrictIn(s *logical.Scan, e *expr.InList) (restriction, bool) {
	if e.Not || len(e.List) == 0 || len(e.List) > maxIntervals {
		return restriction{}, false
	}
	col, ok := keyColumn(s, e.Arg, e.List[0].Type())
	if !ok {
		return restriction{}, false
	}
	r := restriction{col: col, exact: true}
	for _, v := range e.List {
		if !c.constantDuring(s, v) {
			return restriction{}, false
		}
		if k, isConst := v.(*expr.Const); isConst && k.Value.Null {
			continue // never true
		}
		iv, exact, ok := keyInterval(s.PartType(col), "=", v)
		if !ok {
			return restriction{}, false
		}
		r.intervals, r.exact = append(r.intervals, iv), r.exact && exact
	}
	return r, len(r.intervals) > 0
}

// restrictAny recognises `column = ANY (constant array)`.
func (c *chooser) restrictAny(s *logical.Scan, e *expr.Quantified) (restriction, bool) {
	if e.All || e.Op.Comparison() != "=" {
		return restriction{}, false
	}
	list := &expr.InList{Arg: e.Left}
	switch a := e.Array.(type) {
	case *expr.Const:
		if a.Value.Null || len(a.Value.Arr.Elems) == 0 {
			return restriction{}, false
		}
		for _, v := range a.Value.Arr.Elems {
			list.List = append(list.List, &expr.Const{T: a.T.Elem, Value: v})
		}
	case *expr.ArrayExpr:
		if len(a.Elems) > 0 && a.Elems[0].Type().Elem != nil {
			return restriction{}, false
		}
		list.List = a.Elems
	default:
		return restriction{}, false
	}
	return c.restrictIn(s, list)
}

// restrictOr recognises an OR of which every side restricts the same column, whatever else the
// sides contain: a > 1 OR (a = 1 AND b > 2), which a comparison of rows becomes,
// restricts a.
func (c *chooser) restrictOr(s *logical.Scan, e *expr.Or) (restriction, bool) {
	for _, first := range c.sideRestrictions(s, e.Args[0]) {
		out := first
		out.intervals = append([]interval(nil), first.intervals...)
		all := true
		for _, arg := range e.Args[1:] {
			found := false
			for _, r := range c.sideRestrictions(s, arg) {
				if r.col == out.col {
					out.exact = out.exact && r.exact
					out.intervals = append(out.intervals, r.intervals...)
					found = true
					break
				}
			}
			if all = found; !all {
				break
			}
		}
		if all && len(out.intervals) <= maxIntervals {
			return out, true
		}
	}
	return restriction{}, false
}

// sideRestrictions returns the restrictions in one side of an OR: that of the side itself, or those
// of its conjuncts, which are then not exact.
func (c *chooser) sideRestrictions(s *logical.Scan, e expr.Expr) []restriction {
	if r, ok := c.restrict(s, e); ok {
		return []restriction{r}
	}
	and, ok := e.(*expr.And)
	if !ok {
		return nil
	}
	var out []restriction
	for _, arg := range and.Args {
		if r, ok := c.restrict(s, arg); ok {
			r.exact = false
			out = append(out, r)
		}
	}
	return out
}

// restrictLike recognises a pattern that begins with constant text, and restricts the column to
// texts with that prefix. Texts are ordered by their bytes, so the range holds no other texts.
func restrictLike(s *logical.Scan, e *expr.Call) (restriction, bool) {
	col, ok := keyColumn(s, e.Args[0], types.TText)
	if !ok {
		return restriction{}, false
	}
	t := s.PartType(col)
	k, ok := e.Args[1].(*expr.Const)
	if !ok || k.Value.Null || t.OID != types.OIDText && t.OID != types.OIDVarchar {
		return restriction{}, false
	}
	prefix, whole := builtin.LikePrefix(k.Value.S)
	text := func(s string) expr.Expr {
		return &expr.Const{T: t.WithMod(types.NoMod),
			Value: types.NewString(s)}
	}
	if whole {
		return restriction{col: col, intervals: []interval{{eq: text(prefix)}}}, true
	}
	if prefix == "" {
		return restriction{}, false
	}
	iv := interval{low: text(prefix), lowIncl: true}
	if next := builtin.AfterPrefix(prefix); next != "" {
		iv.high = text(next)
	}
	return restriction{col: col, intervals: []interval{iv}}, true
}

// nullMarker is the value of a key column in a range whose IsNull is set.
var nullMarker = &expr.Const{T: types.TUnknown, Value: types.Null}
