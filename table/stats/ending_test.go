package stats

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/ctxtest"
	"github.com/minidb/minidb/table/types"
)

// TestASampleIsLeftWhenTheContextEnds: the statistics of a column are made of a sample of up to
// millions of values, whose sorting ends with the context.
func TestASampleIsLeftWhenTheContextEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has nothing to see in one goroutine")
	}
	const values = 100_000
	r := rand.New(rand.NewPCG(1, 1))
	v, order := types.NewVec(types.TInt4, 0), make([]int64, values)
	for i := range order {
		v.Append(types.NewInt(r.Int64N(values / 4)))
		order[i] = r.Int64()
	}
	g := newGathered(types.TInt4)
	g.add(v, values)
	made := func(n int) (*ctxtest.Ending, error) {
		ctx := &ctxtest.Ending{Context: t.Context(), N: n}
		e := &ending{ctx: ctx}
		g.column(e, v, order, values)
		return ctx, e.err
	}
	whole, err := made(1 << 30)
	require.NoError(t, err)
	require.GreaterOrEqual(t, whole.Checks, 6*values/stepsPerLook, "each pass checks")
	for n := 1; n <= whole.Checks; n += 1 + whole.Checks/20 {
		ctx, err := made(n)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, n, ctx.Checks, "no check follows")
	}
}
