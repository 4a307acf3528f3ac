package builtin

import (
	"math"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// KeyBound is how an index on a column of one type serves a comparison with a value of another:
// which keys are on the side of the value that the operator selects. The comparison `id < 2.5` of
// an int4 key has the bound 2, `id = 2.5` has none, and `id < 2^40` has the largest int4.
type KeyBound struct {
	// Func converts the value to the bound, a value of the key's type. NULL means that the
	// comparison is true for no key.
	Func *expr.Func
	// Inclusive is set when the comparison may be true for the bound itself.
	Inclusive bool
	// Exact is set when the comparison is true for every key on that side. Otherwise the condition
	// stays as a filter.
	Exact bool
}

// KeyBoundOf returns the bound for a comparison `key op value`; op is =, <, <=, > or >=. It returns
// false where the order of the keys is not the order of the comparison, and for = where several
// keys may equal one value: these lie between the bounds of >= and <=.
func KeyBoundOf(key *types.Type, op string, value *types.Type) (KeyBound, bool) {
	b, ok := keyBounds()[keyComparison{key.OID, value.OID, op}]
	return b, ok
}

// keyComparison identifies a comparison of a key with a value.
type keyComparison struct {
	key, value types.OID
	op         string
}

// keyOrder makes bounds for the keys of one type from the values of another.
type keyOrder struct {
	keys, values []*types.Type
	vol          expr.Volatility
	// several is set when several keys may equal one value.
	several bool
	// rough is set when the comparison may be false for keys within its bounds; those of = are
	// always exact.
	rough bool
	// bound returns the implementation of the function for one operator. inclusive is as in
	// KeyBound.
	bound func(key *types.Type, op string) (fn scalar, inclusive bool)
}

var keyBounds = sync.OnceValue(func() map[keyComparison]KeyBound {
	out := map[keyComparison]KeyBound{}
	for _, o := range keyOrders() {
		for _, k := range o.keys {
			for _, v := range o.values {
				if k.OID != v.OID {
					o.add(out, k, v)
				}
			}
		}
	}
	return out
})

func (o *keyOrder) add(out map[keyComparison]KeyBound, key, value *types.Type) {
	for _, op := range []string{"=", "<", "<=", ">", ">="} {
		if op == "=" && o.several {
			continue
		}
		fn, inclusive := o.bound(key, op)
		out[keyComparison{key.OID, value.OID, op}] = KeyBound{
			Func: &expr.Func{Name: op, Args: []*types.Type{value},
				Returns:    key.WithMod(types.NoMod),
				Volatility: o.vol, Bound: true, Scalar: fn},
			Inclusive: inclusive,
			Exact:     op == "=" || !o.rough,
		}
	}
}

// keyOrders lists the pairs of types whose comparisons an index can serve.
func keyOrders() []keyOrder {
	ints := []*types.Type{types.TInt2, types.TInt4, types.TInt8}
	floats := []*types.Type{types.TFloat4, types.TFloat8}
	texts := []*types.Type{types.TText, types.TVarchar, types.TName}
	date, local, zoned := []*types.Type{types.TDate}, []*types.Type{types.TTimestamp},
		[]*types.Type{types.TTimestampTZ}
	return []keyOrder{
		{keys: ints, values: ints, bound: intBound(floorOfInt)},
		{keys: ints, values: []*types.Type{types.TNumeric}, bound: intBound(floorOfNumeric)},
		{keys: ints[:2], values: floats, bound: searchedBound(intFloatCompare)},
		{keys: ints[2:], values: floats, several: true, bound: searchedBound(intFloatCompare)},
		{keys: floats[:1], values: floats[1:], bound: searchedBound(floatCompare)},
		{keys: floats[1:], values: floats[:1], bound: sameOrder(unchanged)},
		{keys: texts, values: texts, bound: sameOrder(unchanged)},
		{keys: []*types.Type{types.TBPChar}, values: texts, rough: true, bound: trimmedBound},
		{keys: date, values: local, bound: searchedBound(dateCompare)},
		{keys: local, values: date, bound: sameOrder(dateAsLocal)},
		{keys: date, values: zoned, vol: expr.Stable, several: true, rough: true,
			bound: searchedBound(zonedDateCompare)},
		{keys: zoned, values: date, vol: expr.Stable, bound: sameOrder(dateAsZoned)},
		{keys: zoned, values: local, vol: expr.Stable, bound: sameOrder(localAsZoned)},
		{keys: local, values: zoned, vol: expr.Stable, several: true, rough: true,
			bound: clockBound},
	}
}

// sameOrder makes bounds from a conversion of values that keeps their order, whether or not the
// result is the key of the value.
func sameOrder(convert func(rt *expr.Runtime, v types.Datum) types.Datum) func(*types.Type,
	string) (scalar, bool) {
	return func(_ *types.Type, op string) (scalar, bool) {
		return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			return convert(rt, a[0]), nil
		}, op != "<" && op != ">"
	}
}

func unchanged(_ *expr.Runtime, v types.Datum) types.Datum { return v }

func dateAsLocal(_ *expr.Runtime, v types.Datum) types.Datum {
	return types.NewInt(dateMicros(v.I))
}

func dateAsZoned(rt *expr.Runtime, v types.Datum) types.Datum {
	return types.NewInt(zonedDateMicros(v.I, location(rt)))
}

func localAsZoned(rt *expr.Runtime, v types.Datum) types.Datum {
	return types.NewInt(zonedMicros(v.I, location(rt)))
}

// floor is the largest integer that is not greater than a number.
type floor struct {
	i      int64
	exact  bool // the number is this integer
	beyond int  // -1 or 1: the number is less or greater than every int64; NaN is greater
}

// intBound makes bounds of numbers for integer keys.
func intBound(floorOf func(v types.Datum) floor) func(*types.Type, string) (scalar, bool) {
	return func(key *types.Type, op string) (scalar, bool) {
		most := int64(1)<<(uint(key.Len)*8-1) - 1
		least := -most - 1
		side := (*floor).above
		switch op {
		case "=":
			side = (*floor).same
		case "<", "<=":
			side = (*floor).below
		}
		orSame := op == ">=" || op == "<="
		return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			f := floorOf(a[0])
			i, ok := side(&f, orSame)
			if !ok || i < least && op != ">" && op != ">=" || i > most && op != "<" && op != "<=" {
				return types.Null, nil
			}
			return types.NewInt(min(max(i, least), most)), nil
		}, true
	}
}

// same returns the integer that equals the number.
func (f *floor) same(bool) (int64, bool) { return f.i, f.exact && f.beyond == 0 }

// above returns the smallest integer that is greater than the number, or with orSame not less.
func (f *floor) above(orSame bool) (int64, bool) {
	switch {
	case f.beyond != 0:
		return math.MinInt64, f.beyond < 0
	case f.exact && orSame:
		return f.i, true
	}
	return f.i + 1, f.i < math.MaxInt64
}

// below returns the largest integer that is less than the number, or with orSame not greater.
func (f *floor) below(orSame bool) (int64, bool) {
	switch {
	case f.beyond != 0:
		return math.MaxInt64, f.beyond > 0
	case f.exact && !orSame:
		return f.i - 1, f.i > math.MinInt64
	}
	return f.i, true
}

func floorOfInt(v types.Datum) floor { return floor{i: v.I, exact: true} }

func floorOfNumeric(v types.Datum) floor {
	if v.Dec.Form == apd.Finite {
		if whole, err := types.NumericFloor(v.Dec); err == nil {
			if i, ok := types.NumericToInt64(whole); ok {
				return floor{i: i, exact: types.NumericCmp(whole, v.Dec) == 0}
			}
		}
	}
	return floor{beyond: types.NumericCmp(v.Dec, types.NumericFromInt(0))}
}

// trimmedBound makes bounds of texts for keys of type char(n), which are compared as texts without
// trailing blanks. No text without trailing blanks is greater than 'a ' and less than 'a!'.
func trimmedBound(_ *types.Type, op string) (scalar, bool) {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		trimmed := strings.TrimRight(a[0].S, " ")
		switch {
		case trimmed == a[0].S:
			return a[0], nil
		case op == "=":
			return types.Null, nil
		case op == "<", op == "<=":
			trimmed += "!"
		}
		return types.NewString(trimmed), nil
	}, true
}

// clockBound makes bounds of moments for keys that are local times. A change of the zone's offset
// reverses the order of local times near it: there the bounds are widened by what any zone may
// need.
func clockBound(_ *types.Type, op string) (scalar, bool) {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		moment := a[0].I
		if types.IsInfinite(moment) {
			return a[0], nil
		}
		offset, steady := types.OffsetAround(moment, location(rt), 4*24*time.Hour)
		local := moment + offset
		const margin = 2 * types.MicrosPerDay
		switch {
		case steady:
		case op == "<", op == "<=":
			local += margin
		default:
			local -= margin
		}
		return types.NewInt(local), nil
	}, true
}
