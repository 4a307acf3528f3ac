package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// basicAggregates are those for which NewGrouped has typed states.
func basicAggregates() []aggDef {
	out := []aggDef{
		{sig: "count() int8", make: newCount, nulls: true},
		agg("count(any) int8", newCount),
		agg("sum(int2|int4) int8", newFold(sumInt)),
		agg("sum(int8) numeric", newSumWide),
		agg("sum(float4) float4", newSumFloat), agg("sum(float8) float8", newSumFloat),
		agg("sum(numeric) numeric", newSumNumeric), agg("sum(interval) interval", newSumInterval),
		agg("avg(int2|int4|int8) numeric", newAvgInt),
		agg("avg(float4|float8) float8", newAvgFloat),
		agg("avg(numeric) numeric", newAvgNumeric), agg("avg(interval) interval", newAvgInterval),
		agg("bool_and|every(bool) bool", foldInts(func(x, y int64) int64 { return x & y })),
		agg("bool_or(bool) bool", foldInts(func(x, y int64) int64 { return x | y })),
	}
	for _, t := range []string{
		"int8", "int4", "int2", "oid", "float4", "float8", "date", "time", "timestamp",
		"timestamptz", "interval", "numeric", "text", "bpchar", "anyarray", "anyenum", "tid",
		"xid8", "inet", "timetz", "money", "pg_lsn",
	} {
		for name, sign := range map[string]int{"max": 1, "min": -1} {
			d := agg(name+"("+t+") "+t, extreme(sign))
			if t == "bpchar" { // a char(n) keeps its padding
				d.returns = func(args []*types.Type) *types.Type { return args[0] }
			}
			out = append(out, d)
		}
	}
	for _, t := range []string{"int2", "int4", "int8"} {
		sig := "(" + t + ") " + t
		out = append(out, agg("bit_and"+sig, foldInts(func(x, y int64) int64 { return x & y })),
			agg("bit_or"+sig, foldInts(func(x, y int64) int64 { return x | y })),
			agg("bit_xor"+sig, foldInts(func(x, y int64) int64 { return x ^ y })))
	}
	return out
}

// count counts its rows.
type count struct{ n int64 }

func newCount([]*types.Type) expr.Accumulator { return &count{} }

func (s *count) Add(*expr.Runtime, []types.Datum) error { s.n++; return nil }

func (s *count) Result(*expr.Runtime) (types.Datum, error) { return types.NewInt(s.n), nil }

func (s *count) Size() int { return 0 }

// fold is an aggregate whose state is its result over the rows so far: that over the first row is
// the first value.
type fold struct {
	value types.Datum
	step  func(value, next types.Datum) (types.Datum, error)
}

func newFold(step func(value, next types.Datum) (types.Datum, error)) func(
	[]*types.Type) expr.Accumulator {
	return func([]*types.Type) expr.Accumulator { return &fold{value: types.Null, step: step} }
}

func (s *fold) Add(_ *expr.Runtime, a []types.Datum) (err error) {
	if s.value.Null {
		s.value = a[0]
		return nil
	}
	s.value, err = s.step(s.value, a[0])
	return err
}

func (s *fold) Result(*expr.Runtime) (types.Datum, error) { return s.value, nil }

func (s *fold) Size() int { return len(s.value.S) }

// foldInts folds the values of a type that a datum holds as an integer.
func foldInts(op func(x, y int64) int64) func([]*types.Type) expr.Accumulator {
	return newFold(func(value, next types.Datum) (types.Datum, error) {
		return types.NewInt(op(value.I, next.I)), nil
	})
}

// sumInt is sum over int2 and int4, in int8.
func sumInt(sum, next types.Datum) (types.Datum, error) {
	r, ok := addInt(sum.I, next.I)
	if !ok {
		return types.Null, errIntRange(1<<63 - 1)
	}
	return types.NewInt(r), nil
}

// extreme makes max, or with sign -1 min. As in PostgreSQL, it returns the last of several equal
// values that print differently.
func extreme(sign int) func([]*types.Type) expr.Accumulator {
	return func(args []*types.Type) expr.Accumulator {
		elem := args[0].Elem
		return newFold(func(best, next types.Datum) (types.Datum, error) {
			if elem != nil && elem.Unordered() {
				return types.Null, errNotComparable(comparisonFunction, elem)
			}
			if sign*types.Compare(args[0], next, best) >= 0 {
				return next, nil
			}
			return best, nil
		})(args)
	}
}

// sumWide is sum over int8 and avg over the integer types, in numeric.
type sumWide struct {
	sum wideInt
	n   int64
	avg bool
}

func newSumWide([]*types.Type) expr.Accumulator { return &sumWide{} }

func newAvgInt([]*types.Type) expr.Accumulator { return &sumWide{avg: true} }

func (s *sumWide) Add(_ *expr.Runtime, a []types.Datum) error { return s.add(a[0].I) }

func (s *sumWide) add(x int64) error {
	s.sum.add(x)
	s.n++
	return nil
}

func (s *sumWide) Result(*expr.Runtime) (types.Datum, error) {
	switch {
	case s.n == 0:
		return types.Null, nil
	case s.avg:
		d, err := types.NumericDiv(s.sum.decimal(), types.NumericFromInt(s.n))
		return types.Datum{Dec: d}, err
	}
	return types.NewDecimal(s.sum.decimal()), nil
}

func (s *sumWide) Size() int { return 0 }

// sumFloat is sum and avg over floats. PostgreSQL keeps the sums of Youngs and Cramer, of which
// these two aggregates need only the plain sum.
type sumFloat struct {
	sum    float64
	n      int64
	avg    bool
	single bool // the result is a float4
}

func newSumFloat(args []*types.Type) expr.Accumulator {
	return &sumFloat{single: args[0].OID == types.OIDFloat4}
}

func newAvgFloat([]*types.Type) expr.Accumulator { return &sumFloat{avg: true} }

func (s *sumFloat) Add(_ *expr.Runtime, a []types.Datum) error {
	return s.add(a[0].F)
}

func (s *sumFloat) add(x float64) error {
	r, err := addFloat(s.sum, x)
	if err == nil && s.single {
		r = float64(float32(r))
		err = checkFloat(r, isInf(s.sum, x), true)
	}
	if err != nil {
		return err
	}
	s.sum = r
	s.n++
	return nil
}

func (s *sumFloat) Result(*expr.Runtime) (types.Datum, error) {
	switch {
	case s.n == 0:
		return types.Null, nil
	case s.avg:
		return types.NewFloat(s.sum / float64(s.n)), nil
	}
	return types.NewFloat(s.sum), nil
}

func (s *sumFloat) Size() int { return 0 }

// sumNumeric is sum and avg over numeric.
type sumNumeric struct {
	sum decimalSum
	avg bool
}

func newSumNumeric([]*types.Type) expr.Accumulator { return &sumNumeric{} }

func newAvgNumeric([]*types.Type) expr.Accumulator { return &sumNumeric{avg: true} }

func (s *sumNumeric) Add(_ *expr.Runtime, a []types.Datum) error { return s.sum.add(a[0].Dec) }

func (s *sumNumeric) Result(*expr.Runtime) (types.Datum, error) {
	if s.avg {
		return s.sum.average()
	}
	return s.sum.total()
}

func (s *sumNumeric) Size() int { return 64 }

// sumInterval is sum and avg over interval.
type sumInterval struct {
	sum types.IntervalValue
	n   int64
	avg bool
}

func newSumInterval([]*types.Type) expr.Accumulator { return &sumInterval{} }

func newAvgInterval([]*types.Type) expr.Accumulator { return &sumInterval{avg: true} }

func (s *sumInterval) Add(_ *expr.Runtime, a []types.Datum) error {
	r, err := types.IntervalAdd(s.sum, a[0].Iv)
	s.sum, s.n = r, s.n+1
	return err
}

func (s *sumInterval) Result(*expr.Runtime) (types.Datum, error) {
	switch {
	case s.n == 0:
		return types.Null, nil
	case s.avg:
		r, err := types.IntervalDiv(s.sum, float64(s.n))
		return types.NewInterval(r), err
	}
	return types.NewInterval(s.sum), nil
}

func (s *sumInterval) Size() int { return 0 }
