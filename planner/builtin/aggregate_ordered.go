package builtin

import (
	"math"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// orderedSetAggregates are called with WITHIN GROUP (ORDER BY value). Their rows are (direct
// arguments, value), sorted by value.
var orderedSetAggregates = []aggDef{
	withinGroup("percentile_cont(float8,float8) float8", newPercentile(true)),
	withinGroup("percentile_cont(float8,interval) interval", newPercentile(true)),
	withinGroup("percentile_cont(float8[],float8) float8[]", newPercentile(true)),
	withinGroup("percentile_cont(float8[],interval) interval[]", newPercentile(true)),
	withinGroup("percentile_disc(float8,anyelement) anyelement", newPercentile(false)),
	withinGroup("percentile_disc(float8[],anyelement) anyarray", newPercentile(false)),
	withinGroup("mode(anyelement) anyelement", newMode),
}

func withinGroup(sig string, make func(args []*types.Type) expr.Accumulator) aggDef {
	return aggDef{sig: sig, make: make, nulls: true, within: true}
}

// percentile is percentile_cont and percentile_disc, for one fraction or an array of them.
type percentile struct {
	values     []types.Datum
	fraction   types.Datum
	array      bool
	continuous bool
	interval   bool
	size       int
}

func newPercentile(continuous bool) func([]*types.Type) expr.Accumulator {
	return func(args []*types.Type) expr.Accumulator {
		return &percentile{continuous: continuous, array: args[0].Elem != nil, fraction: types.Null,
			interval: args[1].Family == types.Interval}
	}
}

func (s *percentile) Add(_ *expr.Runtime, a []types.Datum) error {
	s.fraction = a[0]
	if !a[1].Null {
		s.values = append(s.values, a[1])
		s.size += datumSize(a[1])
	}
	return nil
}

func (s *percentile) Result(*expr.Runtime) (types.Datum, error) {
	if s.fraction.Null || len(s.values) == 0 {
		return types.Null, nil
	}
	if !s.array {
		return s.at(s.fraction.F)
	}
	out := *s.fraction.Arr
	out.Elems = make([]types.Datum, len(s.fraction.Arr.Elems))
	for i, f := range s.fraction.Arr.Elems {
		if f.Null {
			out.Elems[i] = types.Null
			continue
		}
		d, err := s.at(f.F)
		if err != nil {
			return types.Null, err
		}
		out.Elems[i] = d
	}
	return types.Datum{Arr: &out}, nil
}

func (s *percentile) at(f float64) (types.Datum, error) {
	if !(f >= 0 && f <= 1) {
		return types.Null, sqlerr.New(sqlerr.NumericValueOutOfRange,
			"percentile value %v is not between 0 and 1", f)
	}
	n := float64(len(s.values))
	if !s.continuous {
		return s.values[int(math.Max(1, math.Ceil(f*n)))-1], nil
	}
	pos := f * (n - 1)
	lo, hi := s.values[int(math.Floor(pos))], s.values[int(math.Ceil(pos))]
	part := pos - math.Floor(pos)
	if part == 0 {
		return lo, nil
	}
	if !s.interval {
		return types.NewFloat(lo.F + part*(hi.F-lo.F)), nil
	}
	diff, err := types.IntervalSub(hi.Iv, lo.Iv)
	if err != nil {
		return types.Null, err
	}
	if diff, err = types.IntervalMul(diff, part); err != nil {
		return types.Null, err
	}
	diff, err = types.IntervalAdd(diff, lo.Iv)
	return types.NewInterval(diff), err
}

func (s *percentile) Size() int { return s.size }

// mode is the most frequent value; of several, the first in sort order.
type mode struct {
	t             *types.Type
	current, best types.Datum
	run, most     int64
}

func newMode(args []*types.Type) expr.Accumulator { return &mode{t: args[0], best: types.Null} }

func (s *mode) Add(_ *expr.Runtime, a []types.Datum) error {
	if a[0].Null {
		return nil
	}
	if s.run > 0 && types.Compare(s.t, s.current, a[0]) == 0 {
		s.run++
	} else {
		s.current, s.run = a[0], 1
	}
	if s.run > s.most {
		s.best, s.most = s.current, s.run
	}
	return nil
}

func (s *mode) Result(*expr.Runtime) (types.Datum, error) { return s.best, nil }

func (s *mode) Size() int { return len(s.best.S) + len(s.current.S) }
