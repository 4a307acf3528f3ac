package tso_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// clocks are a wall clock and a monotonic clock that the test moves.
type clocks struct {
	wall    int64
	elapsed time.Duration
	log     bytes.Buffer
}

// pass lets time pass on both.
func (c *clocks) pass(d time.Duration) { c.wall, c.elapsed = c.wall+d.Milliseconds(), c.elapsed+d }

// step sets the wall clock.
func (c *clocks) step(d time.Duration) { c.wall += d.Milliseconds() }

func (c *clocks) open(t *testing.T, opts memkv.Options) *tso.Oracle {
	o, err := tso.Open(ctx, memkv.New(opts), key, tso.Options{
		Clock:   func() int64 { return c.wall },
		Elapsed: func() time.Duration { return c.elapsed },
		Logger:  slog.New(slog.NewTextHandler(&c.log, nil)),
	})
	require.NoError(t, err)
	return o
}

func physical(t *testing.T, o *tso.Oracle) int64 { return next(t, o).Physical() }

func minutes(n int64) int64 { return n * 60_000 }

const base = int64(1_800_000_000_000)

// TestTimeGoesOnBehindAClockThatWasAhead: it loses a tenth until the two agree again.
func TestTimeGoesOnBehindAClockThatWasAhead(t *testing.T) {
	c := &clocks{wall: base}
	o := c.open(t, memkv.Options{})
	require.Equal(t, base, physical(t, o))
	c.step(time.Hour)
	require.Equal(t, base+minutes(60), physical(t, o), "a machine that has slept")
	c.step(-time.Hour)
	require.Equal(t, base+minutes(60), physical(t, o))
	for range 10 {
		c.pass(time.Minute)
		next(t, o)
	}
	require.Equal(t, base+minutes(60)+minutes(9), physical(t, o))
	for range 600 {
		c.pass(time.Minute)
		next(t, o)
	}
	require.Equal(t, c.wall, physical(t, o))
	require.Empty(t, c.log.String())
}

// TestAWildClockIsNotFollowed: a step to the year 2100 is logged once, and is not persisted.
func TestAWildClockIsNotFollowed(t *testing.T) {
	c := &clocks{wall: base}
	e := memkv.New(memkv.Options{})
	read := tso.Options{Clock: func() int64 { return c.wall },
		Elapsed: func() time.Duration { return c.elapsed },
		Logger:  slog.New(slog.NewTextHandler(&c.log, nil))}
	o, err := tso.Open(ctx, e, key, read)
	require.NoError(t, err)
	next(t, o)
	c.step(70 * 365 * 24 * time.Hour)
	for range 100 {
		c.pass(time.Second)
		next(t, o)
	}
	require.Equal(t, base+100_000, physical(t, o), "time goes on")
	require.Equal(t, 1, bytes.Count(c.log.Bytes(), []byte("far ahead")))
	c.step(-70 * 365 * 24 * time.Hour)
	after, err := tso.Open(ctx, e, key, read) // the other one is dead
	require.NoError(t, err)
	require.Less(t, physical(t, after), base+110_000)
}

// TestLeasesDoNotEndByAStep: where leases are judged by the oracle's time, a step forwards makes it
// pass twice as fast for a while, and no faster.
func TestLeasesDoNotEndByAStep(t *testing.T) {
	c := &clocks{wall: base}
	o := c.open(t, memkv.Options{Shared: true})
	last := physical(t, o)
	c.step(time.Minute)
	for range 60 {
		now := physical(t, o)
		require.LessOrEqual(t, now-last, int64(2000))
		last = now
		c.pass(time.Second)
	}
	c.pass(time.Second)
	next(t, o)
	require.Equal(t, c.wall, physical(t, o))
}

func TestAnAbsurdClockIsRefused(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		what    string
		step    time.Duration
		refused bool
	}{
		{"an hour back", -time.Hour, false},
		{"a week back", -7 * day, true},
		{"the year 1970", -time.Duration(base-1000) * time.Millisecond, true},
		{"two years later", 730 * day, false},
		{"the year 2100", 73 * 365 * day, true},
	} {
		e := memkv.New(memkv.Options{})
		cl := &clock{now: base}
		before := next(t, open(t, e, cl))
		cl.now += c.step.Milliseconds()
		opts := tso.Options{Clock: cl.read}
		o, err := tso.Open(ctx, e, key, opts)
		if c.refused {
			var wrong *tso.ClockError
			require.ErrorAs(t, err, &wrong, c.what)
			require.ErrorContains(t, err, "set the clock", c.what)
			opts.AcceptClock = true
			o, err = tso.Open(ctx, e, key, opts)
		}
		require.NoError(t, err, c.what)
		require.Greater(t, next(t, o), before, c.what)
	}
}

// TestNowNeverGoesBack: not while it is held back for a wall clock that is behind, and not when the
// two agree again. What was expired once must stay so.
func TestNowNeverGoesBack(t *testing.T) {
	c := &clocks{wall: base}
	o := c.open(t, memkv.Options{})
	next(t, o)
	c.step(3 * time.Second)
	next(t, o)
	c.step(-3 * time.Second)
	before := o.Now()
	for i := range 40_000 {
		c.pass(time.Duration(1+i%7) * time.Millisecond)
		now := o.Now()
		require.GreaterOrEqual(t, now, before, "step %d", i)
		before = now
	}
	require.Equal(t, c.wall, before.Physical())
}
