package builtin

import (
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// operand returns the ranges of an argument, in order, none of them empty, and their type: those of
// a multirange, or one range.
func operand(t *types.Type, d types.Datum) ([]types.RangeValue, *types.Type) {
	if t.Family == types.MultiRange {
		return types.RangesFrom(d), t.Sub
	}
	r := types.RangeFrom(d)
	if r.Empty {
		return nil, t
	}
	return []types.RangeValue{r}, t
}

// rangesTest makes an operator on ranges and multiranges in any combination. What is empty has no
// place, so that the operator is false for it unless empty is set.
func rangesTest(empty bool, holds func(t *types.Type, a, b []types.RangeValue) bool) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		x, t := operand(rt.ArgTypes[0], a[0])
		y, _ := operand(rt.ArgTypes[1], a[1])
		if !empty && (len(x) == 0 || len(y) == 0) {
			return types.NewBool(false), nil
		}
		return types.NewBool(holds(t, x, y)), nil
	}
}

func last(r []types.RangeValue) types.RangeValue { return r[len(r)-1] }

func containsRanges(t *types.Type, a, b []types.RangeValue) bool {
	for _, r := range b {
		if !slices.ContainsFunc(a, func(in types.RangeValue) bool { return in.Contains(t, r) }) {
			return false
		}
	}
	return true
}

func adjacentRanges(t *types.Type, a, b []types.RangeValue) bool {
	between := func(x, y types.RangeValue) bool {
		return types.BoundsAdjacent(t, x.Upper, y.Lower)
	}
	return between(last(a), b[0]) || between(last(b), a[0])
}

func rangeOperators() (out []def) {
	tests := map[string]scalar{
		"@>": rangesTest(true, containsRanges),
		"&&": rangesTest(false, func(t *types.Type, a, b []types.RangeValue) bool {
			return len(types.IntersectRanges(t, a, b)) > 0
		}),
		"<<": rangesTest(false, func(t *types.Type, a, b []types.RangeValue) bool {
			return last(a).Before(t, b[0])
		}),
		">>": rangesTest(false, func(t *types.Type, a, b []types.RangeValue) bool {
			return last(b).Before(t, a[0])
		}),
		"&<": rangesTest(false, func(t *types.Type, a, b []types.RangeValue) bool {
			return last(a).NoFurtherRight(t, last(b))
		}),
		"&>": rangesTest(false, func(t *types.Type, a, b []types.RangeValue) bool {
			return a[0].NoFurtherLeft(t, b[0])
		}),
		"-|-": rangesTest(false, adjacentRanges),
		"<@": rangesTest(true, func(t *types.Type, a, b []types.RangeValue) bool {
			return containsRanges(t, b, a)
		}),
	}
	for _, op := range []string{"@>", "<@", "&&", "<<", ">>", "&<", "&>", "-|-"} {
		out = append(out, f(op+"(anyrange|anymultirange,anyrange|anymultirange) bool", tests[op]))
	}
	return append(out,
		f("@>(anyrange|anymultirange,anyelement) bool", hasValue(0, 1)),
		f("<@(anyelement,anyrange|anymultirange) bool", hasValue(1, 0)),
		f("+(anyrange,anyrange) anyrange", ofRanges(types.RangeValue.Union)),
		f("-(anyrange,anyrange) anyrange", ofRanges(types.RangeValue.Minus)),
		f("*(anyrange,anyrange) anyrange", ofRanges(intersectRange)),
		f("+(anymultirange,anymultirange) anymultirange", ofMultiRanges(unionRanges)),
		f("-(anymultirange,anymultirange) anymultirange", ofMultiRanges(types.MinusRanges)),
		f("*(anymultirange,anymultirange) anymultirange", ofMultiRanges(intersectRanges)))
}

// hasValue reports whether the range in one argument has the value in the other.
func hasValue(ranges, value int) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		in, t := operand(rt.ArgTypes[ranges], a[ranges])
		return types.NewBool(slices.ContainsFunc(in, func(r types.RangeValue) bool {
			return r.ContainsValue(t, a[value])
		})), nil
	}
}

func ofRanges(op func(r types.RangeValue, t *types.Type, s types.RangeValue) (types.RangeValue,
	error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(types.RangeFrom(a[0]), rt.ArgTypes[0], types.RangeFrom(a[1]))
		return r.Datum(), err
	}
}

func intersectRange(r types.RangeValue, t *types.Type,
	s types.RangeValue) (types.RangeValue, error) {
	return r.Intersect(t, s), nil
}

func ofMultiRanges(op func(t *types.Type, a, b []types.RangeValue) ([]types.RangeValue,
	error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, err := op(rt.ArgTypes[0].Sub, types.RangesFrom(a[0]), types.RangesFrom(a[1]))
		return types.MultiRangeDatum(r), err
	}
}

func unionRanges(t *types.Type, a, b []types.RangeValue) ([]types.RangeValue, error) {
	return types.MakeMultiRange(t, slices.Concat(a, b)), nil
}

func intersectRanges(t *types.Type, a, b []types.RangeValue) ([]types.RangeValue, error) {
	return types.IntersectRanges(t, a, b), nil
}

func rangeFunctions() []def {
	inclusive := func(b types.Bound) bool { return b.Inclusive }
	infinite := func(b types.Bound) bool { return b.Infinite }
	out := []def{
		f("lower(anyrange|anymultirange) anyelement", endOf(lowerEnd)),
		f("upper(anyrange|anymultirange) anyelement", endOf(upperEnd)),
		f("isempty(anyrange|anymultirange) bool",
			func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
				r, _ := operand(rt.ArgTypes[0], a[0])
				return types.NewBool(len(r) == 0), nil
			}),
		f("lower_inc(anyrange|anymultirange) bool", endTest(lowerEnd, inclusive)),
		f("upper_inc(anyrange|anymultirange) bool", endTest(upperEnd, inclusive)),
		f("lower_inf(anyrange|anymultirange) bool", endTest(lowerEnd, infinite)),
		f("upper_inf(anyrange|anymultirange) bool", endTest(upperEnd, infinite)),
		f("range_merge(anyrange,anyrange) anyrange", ofRanges(
			func(r types.RangeValue, t *types.Type, s types.RangeValue) (types.RangeValue, error) {
				return r.Span(t, s), nil
			})),
		f("range_merge(anymultirange) anyrange", mergeRanges),
		f("multirange(anyrange) anymultirange", oneRange),
		s("unnest(anymultirange) anyrange", "", unnest),
	}
	for _, t := range types.All() {
		switch t.Family {
		case types.Range:
			sub := t.Sub.Name
			out = append(out, n(t.Name+"("+sub+","+sub+",text?) "+t.Name, newRange(t)))
		case types.MultiRange:
			out = append(out, f(t.Name+"() "+t.Name, newMultiRange(t)),
				n(t.Name+"("+t.Sub.Name+"*) "+t.Name, newMultiRange(t)))
		}
	}
	return out
}

func lowerEnd(r []types.RangeValue) types.Bound { return r[0].Lower }
func upperEnd(r []types.RangeValue) types.Bound { return last(r).Upper }

func endOf(end func([]types.RangeValue) types.Bound) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, _ := operand(rt.ArgTypes[0], a[0])
		if len(r) == 0 || end(r).Infinite {
			return types.Null, nil
		}
		return end(r).Value, nil
	}
}

func endTest(end func([]types.RangeValue) types.Bound, holds func(types.Bound) bool) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		r, _ := operand(rt.ArgTypes[0], a[0])
		return types.NewBool(len(r) > 0 && holds(end(r))), nil
	}
}

func mergeRanges(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	r, t := operand(rt.ArgTypes[0], a[0])
	if len(r) == 0 {
		return types.EmptyRange().Datum(), nil
	}
	return r[0].Span(t, last(r)).Datum(), nil
}

func oneRange(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	r, _ := operand(rt.ArgTypes[0], a[0])
	return types.MultiRangeDatum(r), nil
}

// newRange makes the constructor of a range type: NULL is an infinite bound.
func newRange(t *types.Type) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		flags := "[)"
		if len(a) > 2 {
			if flags = a[2].S; a[2].Null {
				return types.Null, sqlerr.New(sqlerr.DataException,
					"range constructor flags argument must not be null")
			}
		}
		if !slices.Contains([]string{"[]", "[)", "(]", "()"}, flags) {
			return types.Null, sqlerr.New(sqlerr.SyntaxError, "invalid range bound flags").
				WithHint(`Valid values are "[]", "[)", "(]", and "()".`)
		}
		r, err := types.MakeRange(t,
			types.Bound{Value: a[0], Infinite: a[0].Null, Inclusive: flags[0] == '['},
			types.Bound{Value: a[1], Infinite: a[1].Null, Inclusive: flags[1] == ']'})
		return r.Datum(), err
	}
}

func newMultiRange(t *types.Type) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if len(a) == 1 && a[0].Null {
			return types.Null, nil
		}
		ranges := make([]types.RangeValue, len(a))
		for i, d := range a {
			if d.Null {
				return types.Null, sqlerr.New(sqlerr.NullValueNotAllowed,
					"multirange values cannot contain null members")
			}
			ranges[i] = types.RangeFrom(d)
		}
		return types.MultiRangeDatum(types.MakeMultiRange(t.Sub, ranges)), nil
	}
}

var rangeAggregates = []aggDef{
	agg("range_agg(anyrange) anymultirange", func(args []*types.Type) expr.Accumulator {
		return &rangeUnion{t: args[0]}
	}),
	agg("range_agg(anymultirange) anymultirange", func(args []*types.Type) expr.Accumulator {
		return &rangeUnion{t: args[0]}
	}),
	agg("range_intersect_agg(anyrange) anyrange", intersection),
	agg("range_intersect_agg(anymultirange) anymultirange", intersection),
}

// rangeUnion is range_agg: it collects the ranges and merges them at the end.
type rangeUnion struct {
	t      *types.Type
	ranges []types.RangeValue
	seen   bool
	size   int
}

// Add takes a range or a multirange.
func (s *rangeUnion) Add(_ *expr.Runtime, a []types.Datum) error {
	ranges, _ := operand(s.t, a[0])
	s.ranges, s.seen = append(s.ranges, ranges...), true
	s.size += types.DatumSize * 4 * len(ranges)
	return nil
}

// Result is NULL when there were only NULLs.
func (s *rangeUnion) Result(*expr.Runtime) (types.Datum, error) {
	if !s.seen {
		return types.Null, nil
	}
	t := s.t
	if t.Family == types.MultiRange {
		t = t.Sub
	}
	return types.MultiRangeDatum(types.MakeMultiRange(t, s.ranges)), nil
}

// Size is what the ranges hold.
func (s *rangeUnion) Size() int { return s.size }

func intersection(args []*types.Type) expr.Accumulator {
	return newFold(func(value, next types.Datum) (types.Datum, error) {
		x, t := operand(args[0], value)
		y, _ := operand(args[0], next)
		both := types.IntersectRanges(t, x, y)
		switch {
		case args[0].Family == types.MultiRange:
			return types.MultiRangeDatum(both), nil
		case len(both) == 0:
			return types.EmptyRange().Datum(), nil
		}
		return both[0].Datum(), nil
	})(args)
}
