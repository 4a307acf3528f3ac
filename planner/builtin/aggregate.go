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
		agg("sum(int2) int8", newSumInt), agg("sum(int4) int8", newSumInt),
		agg("sum(int8) numeric", newSumBigint),
		agg("sum(float4) float4", newSumFloat), agg("sum(float8) float8", newSumFloat),
		agg("sum(numeric) numeric", newSumNumeric), agg("sum(interval) interval", newSumInterval),
		agg("avg(int2) numeric", newAvgInt), agg("avg(int4) numeric",
			newAvgInt), agg("avg(int8) numeric", newAvgInt),
		agg("avg(float4) float8", newAvgFloat), agg("avg(float8) float8", newAvgFloat),
		agg("avg(numeric) numeric", newAvgNumeric), agg("avg(interval) interval", newAvgInterval),
		agg("bool_and(bool) bool", newBool(true)), agg("every(bool) bool", newBool(true)),
		agg("bool_or(bool) bool", newBool(false)),
	}
	for _, t := range []string{
		"int8", "int4", "int2", "oid", "float4", "float8", "date", "time", "timestamp",
		"timestamptz",
		"interval", "numeric", "text", "bpchar", "anyarray",
	} {
		for name, sign := range map[string]int{"max": 1, "min": -1} {
			d := agg(name+"("+t+") "+t,
				func(args []*types.Type) expr.Accumulator {
					return &extreme{t: args[0],
						sign: sign}
				})
			if t == "bpchar" { // a char(n) keeps its padding
				d.returns = func(args []*types.Type) *types.Type { return args[0] }
			}
			out = append(out, d)
		}
	}
	for _, t := range []string{"int2", "int4", "int8"} {
		sig := "(" + t + ") " + t
		out = append(out,
			agg("bit_and"+sig, newBits(func(x, y int64) int64 { return x & y })),
			agg("bit_or"+sig, newBits(func(x, y int64) int64 { return x | y })),
			agg("bit_xor"+sig, newBits(func(x, y int64) int64 { return x ^ y })))
	}
	return out
}

// count counts its rows.
type count struct{ n int64 }

func newCount([]*types.Type) expr.Accumulator { return &count{} }

func (s *count) Add(*expr.Runtime, []types.Datum) error { s.n++; return nil }

func (s *count) Result(*expr.Runtime) (types.Datum, error) { return types.NewInt(s.n), nil }

func (s *count) Size() int { return 0 }

// sumInt is sum over int2 and int4, in int8.
type sumInt struct {
	sum  int64
	seen bool
}

func newSumInt([]*types.Type) expr.Accumulator { return &sumInt{} }

func (s *sumInt) Add(_ *expr.Runtime, a []types.Datum) error {
	r, ok := addInt(s.sum, a[0].I)
	if !ok {
		return errIntRange(1<<63 - 1)
	}
	s.sum, s.seen = r, true
	return nil
}

func (s *sumInt) Result(*expr.Runtime) (types.Datum, error) {
	if !s.seen {
		return types.Null, nil
	}
	return types.NewInt(s.sum), nil
}

func (s *sumInt) Size() int { return 0 }

// sumBigint is sum over int8, in numeric.
type sumBigint struct {
	sum  wideInt
	seen bool
}

func newSumBigint([]*types.Type) expr.Accumulator { return &sumBigint{} }

func (s *sumBigint) Add(_ *expr.Runtime, a []types.Datum) error {
	s.sum.add(a[0].I)
	s.seen = true
	return nil
}

func (s *sumBigint) Result(*expr.Runtime) (types.Datum, error) {
	if !s.seen {
		return types.Null, nil
	}
	return types.NewDecimal(s.sum.decimal()), nil
}

func (s *sumBigint) Size() int { return 0 }

// avgInt is avg over the integer types, in numeric.
type avgInt struct {
	sum wideInt
	n   int64
}

func newAvgInt([]*types.Type) expr.Accumulator { return &avgInt{} }

func (s *avgInt) Add(_ *expr.Runtime, a []types.Datum) error {
	s.sum.add(a[0].I)
	s.n++
	return nil
}

func (s *avgInt) Result(*expr.Runtime) (types.Datum, error) { return averageInt(s.sum, s.n) }

func (s *avgInt) Size() int { return 0 }

func averageInt(sum wideInt, n int64) (types.Datum, error) {
	if n == 0 {
		return types.Null, nil
	}
	d, err := types.NumericDiv(sum.decimal(), types.NumericFromInt(n))
	return types.Datum{Dec: d}, err
}

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

// extreme is max, or with sign -1 min. As in PostgreSQL, it returns the last of several equal
// values that print differently.
type extreme struct {
	t    *types.Type
	sign int
	best types.Datum
	seen bool
}

func (s *extreme) Add(_ *expr.Runtime, a []types.Datum) error {
	if !s.seen || s.sign*types.Compare(s.t, a[0], s.best) >= 0 {
		s.best, s.seen = a[0], true
	}
	return nil
}

func (s *extreme) Result(*expr.Runtime) (types.Datum, error) {
	if !s.seen {
		return types.Null, nil
	}
	return s.best, nil
}

func (s *extreme) Size() int { return len(s.best.S) }

// boolean is bool_and or bool_or. Its state starts with the value that it returns if no row decides
// otherwise.
type boolean struct {
	start, value, seen bool
}

func newBool(start bool) func([]*types.Type) expr.Accumulator {
	return func([]*types.Type) expr.Accumulator { return &boolean{start: start, value: start} }
}

func (s *boolean) Add(_ *expr.Runtime, a []types.Datum) error {
	s.seen = true
	if (a[0].I != 0) != s.start {
		s.value = !s.start
	}
	return nil
}

func (s *boolean) Result(*expr.Runtime) (types.Datum, error) {
	if !s.seen {
		return types.Null, nil
	}
	return types.NewBool(s.value), nil
}

func (s *boolean) Size() int { return 0 }

// bitwise is bit_and, bit_or and bit_xor.
type bitwise struct {
	op    func(x, y int64) int64
	value int64
	seen  bool
}

func newBits(op func(x, y int64) int64) func([]*types.Type) expr.Accumulator {
	return func([]*types.Type) expr.Accumulator { return &bitwise{op: op} }
}

func (s *bitwise) Add(_ *expr.Runtime, a []types.Datum) error {
	if s.seen {
		s.value = s.op(s.value, a[0].I)
	} else {
		s.value, s.seen = a[0].I, true
	}
	return nil
}

func (s *bitwise) Result(*expr.Runtime) (types.Datum, error) {
	if !s.seen {
		return types.Null, nil
	}
	return types.NewInt(s.value), nil
}

func (s *bitwise) Size() int { return 0 }
