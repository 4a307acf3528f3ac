package builtin

import (
	"math"

	"github.com/minidb/minidb/table/types"
)

// gistDistance is what btree_gist has for a type: a function of two values, which the operator <->
// names too.
type gistDistance struct {
	name, typ, result string
	fn                scalar
}

var gistDistances = []gistDistance{
	{"cash_dist", "money", "money", integerDistance(math.MinInt64, types.ErrMoneyRange)},
	{"date_dist", "date", "int4", lift2(func(x, y int64) (int64, error) {
		days, err := types.DateDiff(x, y)
		return max(days, -days), err
	})},
	{"float4_dist", "float4", "float4", gapOfFloats(round32(subFloat))},
	{"float8_dist", "float8", "float8", gapOfFloats(subFloat)},
	{"int2_dist", "int2", "int2", integerDistance(math.MinInt16, outOf(math.MaxInt16))},
	{"int4_dist", "int4", "int4", integerDistance(math.MinInt32, outOf(math.MaxInt32))},
	{"int8_dist", "int8", "int8", integerDistance(math.MinInt64, outOf(math.MaxInt64))},
	{"interval_dist", "interval", "interval",
		lift2(func(x, y types.IntervalValue) (types.IntervalValue, error) {
			d, err := types.IntervalSub(x, y)
			return absInterval(d, err)
		})},
	{"oid_dist", "oid", "oid", sure2(func(x, y int64) int64 { return max(x-y, y-x) })},
	{"time_dist", "time", "interval", sure2(func(x, y int64) types.IntervalValue {
		return types.IntervalValue{Micros: max(x-y, y-x)}
	})},
	{"ts_dist", "timestamp", "interval", lift2(gapOfTimestamps)},
	{"tstz_dist", "timestamptz", "interval", lift2(gapOfTimestamps)},
}

// distanceMembers are the functions and operators of the extension btree_gist.
func distanceMembers() members {
	var m members
	for _, d := range gistDistances {
		sig := "(" + d.typ + "," + d.typ + ") " + d.result
		m.functions = append(m.functions, f(d.name+sig, d.fn))
		m.operators = append(m.operators, f("<->"+sig, d.fn))
	}
	return m
}

// integerDistance fails when the difference is not above the least value of the type.
func integerDistance(least int64, tooFar func() error) scalar {
	return lift2(func(x, y int64) (int64, error) {
		d := x - y
		if (x < y) != (d < 0) || d <= least || d > -(least+1) {
			return 0, tooFar()
		}
		return max(d, -d), nil
	})
}

func outOf(greatest int64) func() error {
	return func() error { return errIntRange(greatest) }
}

// gapOfFloats is infinite between NaN and any number.
func gapOfFloats(difference floatOp) scalar {
	return lift2(func(x, y float64) (float64, error) {
		switch {
		case x == y, math.IsNaN(x) && math.IsNaN(y): // two infinities too
			return 0, nil
		case math.IsNaN(x) || math.IsNaN(y):
			return math.Inf(1), nil
		}
		d, err := difference(x, y)
		return math.Abs(d), err
	})
}

// gapOfTimestamps is the longest interval where one of the two is infinite.
func gapOfTimestamps(x, y int64) (types.IntervalValue, error) {
	if types.IsInfinite(x) || types.IsInfinite(y) {
		return types.IntervalValue{Months: math.MaxInt32, Days: math.MaxInt32,
			Micros: math.MaxInt64}, nil
	}
	return absInterval(types.TimestampDiff(x, y))
}

func absInterval(d types.IntervalValue, err error) (types.IntervalValue, error) {
	if err != nil || types.IntervalCmp(d, types.IntervalValue{}) >= 0 {
		return d, err
	}
	return types.IntervalNeg(d)
}
