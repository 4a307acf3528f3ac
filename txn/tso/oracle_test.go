package tso_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	key = []byte("moracle")
	ctx = context.Background()
)

// clock is a wall clock that the test moves.
type clock struct{ now int64 }

func (c *clock) read() int64 { return c.now }

func open(t testing.TB, e kv.Engine, c *clock) *tso.Oracle {
	opts := tso.Options{Window: time.Second}
	if c != nil {
		opts.Clock = c.read
	}
	o, err := tso.Open(ctx, e, key, opts)
	require.NoError(t, err)
	return o
}

func next(t testing.TB, o *tso.Oracle) tso.Timestamp {
	ts, err := o.Next(ctx)
	require.NoError(t, err)
	return ts
}

func TestTimestampsFollowTheClockAndNeverRepeat(t *testing.T) {
	c := &clock{now: 1000}
	o := open(t, memkv.New(memkv.Options{}), c)
	require.Equal(t, tso.New(1000, 0), next(t, o))
	require.Equal(t, tso.New(1000, 1), next(t, o))
	c.now = 1500
	require.Equal(t, tso.New(1500, 0), next(t, o))
	c.now = 200
	require.Equal(t, tso.New(1500, 1), next(t, o), "the wall clock stepped back")
	require.Equal(t, tso.New(1500, 1), o.Last())
	c.now = 90_000
	require.Equal(t, tso.New(90_000, 0), next(t, o), "beyond the range that was persisted")
}

// TestARestartContinuesAboveTheSavedMark holds txn: I1.
func TestARestartContinuesAboveTheSavedMark(t *testing.T) {
	c := &clock{now: 1000}
	e := memkv.New(memkv.Options{})
	before := next(t, open(t, e, c))
	c.now = 10 // the machine came back with a wrong clock
	after := next(t, open(t, e, c))
	require.Greater(t, after, before)
	require.Greater(t, after, tso.New(2000, 0), "nothing that the dead oracle may have given out")
}

func TestACleanCloseGivesTheRangeBack(t *testing.T) {
	c := &clock{now: 1000}
	e := memkv.New(memkv.Options{})
	o := open(t, e, c)
	before := next(t, o)
	require.NoError(t, o.Release(ctx))
	require.Equal(t, before+1, next(t, open(t, e, c)))
}

func TestDrawsAreServedFromMemory(t *testing.T) {
	e := record.New(memkv.New(memkv.Options{}))
	c := &clock{now: 1000}
	o := open(t, e, c)
	before := e.Counts()
	for range 10_000 {
		next(t, o)
	}
	require.Equal(t, int64(1), e.Since(before).Updates)
	c.now += 900
	next(t, o)
	require.Equal(t, int64(1), e.Since(before).Updates)
	c.now += 900
	next(t, o)
	require.Equal(t, int64(2), e.Since(before).Updates)
}

func TestConcurrentDrawsAreUnique(t *testing.T) {
	o := open(t, memkv.New(memkv.Options{}), nil)
	const workers, each = 8, 5000
	drawn := make([][]tso.Timestamp, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for range each {
				ts, err := o.Next(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				drawn[w] = append(drawn[w], ts)
			}
		})
	}
	wg.Wait()
	all := slices.Concat(drawn...)
	for _, d := range drawn {
		require.True(t, slices.IsSorted(d), "each caller sees them rise")
	}
	slices.Sort(all)
	require.Len(t, slices.Compact(all), workers*each)
}

func TestTwoOraclesOnOneKeyStayDisjoint(t *testing.T) {
	e := memkv.New(memkv.Options{Shared: true})
	c := &clock{now: 1000}
	a, b := open(t, e, c), open(t, e, c)
	seen := map[tso.Timestamp]bool{}
	for i := range 50 {
		for _, o := range []*tso.Oracle{a, b} {
			ts := next(t, o)
			require.False(t, seen[ts], "round %d", i)
			seen[ts] = true
		}
		c.now += 130
	}
}

func TestAFailedExtensionIsAnErrorAndNotATimestamp(t *testing.T) {
	f := kvtest.NewFault(memkv.New(memkv.Options{}))
	o := open(t, f, &clock{now: 1000})
	f.Plan(kvtest.FaultPlan{At: 1, Applied: true})
	_, err := o.Next(ctx)
	require.ErrorIs(t, err, kvtest.ErrInjected)
	require.Greater(t, next(t, o), tso.New(1000, 0))
}

func TestACorruptMarkIsReported(t *testing.T) {
	e := memkv.New(memkv.Options{})
	require.NoError(t, e.Update(ctx, [][]byte{kv.Row(key)}, func(_ kv.Reader, b *kv.Batch) error {
		b.Set(key, []byte("short"))
		return nil
	}))
	_, err := tso.Open(ctx, e, key, tso.Options{})
	require.ErrorIs(t, err, kv.ErrCorruption)
}

func TestTimestampParts(t *testing.T) {
	ts := tso.New(1234, 5)
	require.Equal(t, int64(1234), ts.Physical())
	require.Equal(t, int64(5), ts.Logical())
	require.Equal(t, "1234.5", ts.String())
	require.Equal(t, "7", tso.Timestamp(7).String())
	at := time.UnixMilli(99)
	require.Equal(t, at, tso.New(at.UnixMilli(), 0).Time())
}
