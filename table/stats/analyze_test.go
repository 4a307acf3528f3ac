package stats

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// column analyses values as they come, with a sample of target*rowsPerTarget of them.
func analyzed(t *types.Type, target int, seed uint64, values []types.Datum) *Column {
	d := &table.Desc{Columns: []table.Column{{ID: 1, Name: "c", Type: t}}}
	a := newAnalysis(d, &Options{Target: target, Seed: seed})
	v := types.NewVec(t, len(values))
	for _, x := range values {
		v.Append(x)
	}
	a.columns[0].add(v, v.Len)
	for i := range v.Len {
		a.sample.add([]*types.Vec{v}, i)
	}
	return a.columns[0].column(&ending{ctx: context.Background()}, a.sample.cols[0], a.sample.order,
		target)
}

// distribution is a way in which values may lie, with how far estimates from a sample may be off.
type distribution struct {
	name  string
	t     *types.Type
	value func(r *rand.Rand, i int) types.Datum
}

var distributions = []distribution{
	{"serial", types.TInt8, func(_ *rand.Rand,
		i int) types.Datum {
		return types.NewInt(int64(i))
	}},
	{"uniform", types.TInt4, func(r *rand.Rand,
		_ int) types.Datum {
		return types.NewInt(r.Int64N(5000))
	}},
	{"few", types.TInt2, func(r *rand.Rand,
		_ int) types.Datum {
		return types.NewInt(r.Int64N(7))
	}},
	{"normal", types.TFloat8, func(r *rand.Rand,
		_ int) types.Datum {
		return types.NewFloat(r.NormFloat64())
	}},
	{"skewed", types.TInt4, func(r *rand.Rand, _ int) types.Datum {
		return types.NewInt(int64(rand.NewZipf(r, 1.3, 1, 10000).Uint64()))
	}},
	{"texts", types.TText, func(r *rand.Rand, _ int) types.Datum {
		return types.NewString(fmt.Sprintf("user%05d@example.com", r.IntN(20000)))
	}},
	{"nulls", types.TInt4, func(r *rand.Rand, _ int) types.Datum {
		if r.IntN(10) < 4 {
			return types.Null
		}
		return types.NewInt(r.Int64N(1000))
	}},
}

// Estimates lie near the truth: shares of ranges and of values within 3 % of all rows, which is a
// bucket of 50 and several standard errors of a sample of 15,000; the number of different values
// within 5 %.
func TestEstimatesAreNearTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	const rows = 40_000
	for _, d := range distributions {
		t.Run(d.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			values := make([]types.Datum, rows)
			seen := map[string]int{}
			nulls := 0
			for i := range values {
				values[i] = d.value(r, i)
				if values[i].Null {
					nulls++
					continue
				}
				seen[fmt.Sprint(values[i].I, values[i].F, values[i].S)]++
			}
			c := analyzed(d.t, 50, 3, values)
			require.InDelta(t, float64(nulls)/rows, c.NullFraction, 1e-9)
			require.InEpsilon(t, float64(len(seen)), c.Distinct, 0.05)
			for range 200 {
				low, high := values[r.IntN(rows)], values[r.IntN(rows)]
				if low.Null || high.Null {
					continue
				}
				if types.Compare(d.t, low, high) > 0 {
					low, high = high, low
				}
				equal, below, between := 0, 0, 0
				for _, v := range values {
					if v.Null {
						continue
					}
					l, h := types.Compare(d.t, v, low), types.Compare(d.t, v, high)
					if l == 0 {
						equal++
					}
					if l < 0 {
						below++
					}
					if l >= 0 && h <= 0 {
						between++
					}
				}
				require.InDelta(t, float64(equal)/rows, c.Equal(low), 0.03)
				require.InDelta(t, float64(below)/rows, c.Below(low, false), 0.03)
				require.InDelta(t, float64(between)/rows, c.Between(&low, &high, true, true), 0.06)
			}
		})
	}
}

func TestASmallTableHasExactStatistics(t *testing.T) {
	values := []types.Datum{types.NewString("b"), types.NewString("a"), types.NewString("b"),
		types.Null, types.NewString("a"), types.NewString("b")}
	c := analyzed(types.TText, 100, 0, values)
	require.True(t, c.Complete)
	require.EqualValues(t, 2, c.Distinct)
	require.Equal(t, "b", c.Common[0].S)
	require.InDelta(t, 0.5, c.Equal(types.NewString("b")), 1e-9)
	require.InDelta(t, 2.0/6, c.Below(types.NewString("b"), false), 1e-9)
	require.InDelta(t, 5.0/6, c.Below(types.NewString("b"), true), 1e-9)
	require.Zero(t, c.Equal(types.NewString("zzz")))
	require.Zero(t, c.Equal(types.Null))
}

func TestCorrelationFollowsTheRows(t *testing.T) {
	up, down := make([]types.Datum, 500), make([]types.Datum, 500)
	for i := range up {
		up[i], down[i] = types.NewInt(int64(i)), types.NewInt(int64(-i))
	}
	up[3] = types.Null
	require.InDelta(t, 1, analyzed(types.TInt4, 100, 0, up).Correlation, 1e-6)
	require.InDelta(t, -1, analyzed(types.TInt4, 100, 0, down).Correlation, 1e-6)
}

func TestTheSameSeedGivesTheSameBytes(t *testing.T) {
	values := make([]types.Datum, 20_000)
	for i := range values {
		values[i] = types.NewInt(int64(i*i) % 7919)
	}
	a, err := encodeColumn(analyzed(types.TInt4, 10, 5, values))
	require.NoError(t, err)
	b, err := encodeColumn(analyzed(types.TInt4, 10, 5, values))
	require.NoError(t, err)
	require.Equal(t, a, b)
	other, err := encodeColumn(analyzed(types.TInt4, 10, 6, values))
	require.NoError(t, err)
	require.NotEqual(t, a, other)
}

// A sample of long values keeps its bound, and stays a sample of all rows.
func TestTheSampleKeepsItsBound(t *testing.T) {
	const budget = 10_000
	r := newReservoir([]*types.Type{types.TText}, 3000, budget, 1)
	v := types.NewVec(types.TText, 1)
	v.Append(types.Null)
	sum := 0.0
	for i := range 5000 {
		v.Set(0, types.NewString(strings.Repeat("x", 100+i%10)))
		r.add([]*types.Vec{v}, 0)
		require.LessOrEqual(t, r.bytes, budget)
	}
	require.Greater(t, len(r.order), 20)
	for _, n := range r.order {
		sum += float64(n)
	}
	require.InDelta(t, 2500, sum/float64(len(r.order)), 1000)
	require.EqualValues(t, 5000, r.seen)
}

func TestValuesTooWideAreCountedAndNotKept(t *testing.T) {
	values := []types.Datum{types.NewString(strings.Repeat("a", 5000)),
		types.NewString(strings.Repeat("b", 5000)), types.NewString("c"), types.NewString("d")}
	c := analyzed(types.TText, 100, 0, values)
	require.EqualValues(t, 4, c.Distinct)
	require.InDelta(t, (5004+5004+2+2)/4.0, c.Width, 1e-9)
	require.False(t, c.Complete)
	for _, b := range append(c.Bounds, c.Common...) {
		require.LessOrEqual(t, len(b.S), tooWide)
	}
}

// TestUniqueValuesAreAllDifferent, though the sketch counts too few of some.
func TestUniqueValuesAreAllDifferent(t *testing.T) {
	for _, step := range []int64{1, 2, 3, 5, 7, 7919} {
		values := make([]types.Datum, 30_000)
		for i := range values {
			values[i] = types.NewInt(int64(i) * step)
		}
		require.EqualValues(t, len(values), analyzed(types.TInt8, 10, 1, values).Distinct,
			"in steps of %d", step)
	}
}

func TestASketchCountsWithinItsError(t *testing.T) {
	for _, n := range []int{10, 1000, 30_000, 200_000, 1_000_000} {
		s := newSketch()
		for i := range n {
			s.add(types.HashInt(int64(i), 0))
			s.add(types.HashInt(int64(i), 0))
		}
		require.InEpsilon(t, float64(n), s.estimate(), 4*1.04/math.Sqrt(registers), "%d values", n)
	}
}

func TestMatchesAreMeasured(t *testing.T) {
	values := make([]types.Datum, 1000)
	for i := range values {
		values[i] = types.NewString(fmt.Sprintf("%03d", i))
	}
	c := analyzed(types.TText, 100, 0, values)
	require.InDelta(t, 0.1, c.Matching(func(d types.Datum) bool { return d.S[1] == '5' }), 0.05)
	require.Less(t, c.Matching(func(types.Datum) bool { return false }), 0.02)
}
