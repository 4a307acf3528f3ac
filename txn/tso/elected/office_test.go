package elected

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ctx     = context.Background()
	cellKey = []byte("moracle")
)

const (
	term  = 2 * time.Second
	epoch = int64(1_800_000_000_000)
)

// world is time as it passes for all.
type world struct{ now time.Duration }

// process is one candidate, whose clocks are its own: they run a little faster or slower, and its
// wall clock is late or early by minutes.
type process struct {
	office
	rate    float64
	late    time.Duration
	newest  tso.Timestamp
	drawnAt time.Duration
}

func (w *world) process(e kv.Engine, name string, rate float64, late time.Duration) *process {
	p := &process{rate: rate, late: late}
	elapsed := func() time.Duration { return time.Duration(float64(w.now) * rate) }
	p.office = office{engine: e, key: cellKey, term: term, address: name,
		now: func() Moment { return Moment{Elapsed: elapsed(), Wall: elapsed() + late} },
		log: slog.New(slog.DiscardHandler),
		estimate: func() tso.Timestamp {
			if p.newest == 0 {
				return 0
			}
			return p.newest + tso.New((elapsed()-p.drawnAt).Milliseconds(), 0)
		},
		oracle: tso.Options{Logger: slog.New(slog.DiscardHandler), Elapsed: elapsed,
			Clock: func() int64 { return epoch + (elapsed() + late).Milliseconds() }}}
	return p
}

func (p *process) drew(ts tso.Timestamp) {
	p.newest, p.drawnAt = ts, p.now().Elapsed
}

func looks(t *testing.T, p *process) (holder, bool) {
	h, ok, err := p.look(ctx)
	require.NoError(t, err)
	return h, ok
}

func TestTheFirstTakesTheOfficeAndKeepsIt(t *testing.T) {
	w, e := &world{}, memkv.New(memkv.Options{Shared: true, Lost: 3})
	a, b := w.process(e, "a", 1, 0), w.process(e, "b", 1, 0)
	h, ok := looks(t, a)
	require.True(t, ok)
	require.Equal(t, "a", h.address)
	for range 100 {
		w.now += term / 4
		h, ok = looks(t, b)
		require.True(t, ok)
		require.Equal(t, a.current().self, h)
		require.NoError(t, a.renew(ctx))
		require.True(t, a.current().valid())
	}
	require.Nil(t, b.current())
}

func TestWhoStopsIsFollowedAfterATermAndCannotComeBack(t *testing.T) {
	w, e := &world{}, memkv.New(memkv.Options{Shared: true, Lost: 3})
	a, b := w.process(e, "a", 1, 0), w.process(e, "b", 1, 0)
	looks(t, a)
	first, err := a.current().draw(ctx, 10)
	require.NoError(t, err)
	looks(t, b)
	w.now += term - time.Millisecond
	h, _ := looks(t, b)
	require.Equal(t, "a", h.address, "its term is not over")
	require.False(t, a.current().valid(), "it serves for nine tenths of it")
	_, err = a.current().draw(ctx, 1)
	require.ErrorIs(t, err, tso.ErrDeposed)
	w.now += time.Millisecond
	h, _ = looks(t, b)
	require.Equal(t, "b", h.address)
	next, err := b.current().draw(ctx, 1)
	require.NoError(t, err)
	require.Greater(t, next, first+9)

	require.ErrorIs(t, a.renew(ctx), tso.ErrDeposed)
	require.Nil(t, a.current())
	h, _ = looks(t, a)
	require.Equal(t, "b", h.address)
}

// TestALateExtensionKeepsTheOffice: a store that did not answer for terms is no reason to leave.
func TestALateExtensionKeepsTheOffice(t *testing.T) {
	w, e := &world{}, memkv.New(memkv.Options{Shared: true, Lost: 3})
	a := w.process(e, "a", 1, 0)
	looks(t, a)
	w.now += 5 * term
	require.False(t, a.current().valid())
	require.NoError(t, a.renew(ctx))
	require.True(t, a.current().valid())
}

func TestASuspendedMachineKnowsItByItsWallClock(t *testing.T) {
	now := Moment{}
	w, e := &world{}, memkv.New(memkv.Options{Shared: true, Lost: 3})
	a := w.process(e, "a", 1, 0)
	a.now = func() Moment { return now }
	looks(t, a)
	now.Wall = time.Hour
	require.False(t, a.current().valid())
	now.Wall = -time.Hour
	require.True(t, a.current().valid(), "a step back of the wall clock proves nothing")
	now.Elapsed = term
	require.False(t, a.current().valid(), "nor does it give time")
}

func TestWhoResignsIsFollowedAtOnce(t *testing.T) {
	w, e := &world{}, memkv.New(memkv.Options{Shared: true, Lost: 3})
	a, b := w.process(e, "a", 1, 0), w.process(e, "b", 1, 0)
	looks(t, a)
	last, err := a.current().draw(ctx, 1)
	require.NoError(t, err)
	looks(t, b)
	require.NoError(t, a.resign(ctx))
	h, ok := looks(t, b)
	require.True(t, ok)
	require.Equal(t, "b", h.address)
	next, err := b.current().draw(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, last+1, next, "the range was given back")
}

// TestTheStoresTimeDoesNotJumpWithItsHolder: a holder whose wall clock is minutes early goes on at
// the time of the one before.
func TestTheStoresTimeDoesNotJumpWithItsHolder(t *testing.T) {
	w, e := &world{}, memkv.New(memkv.Options{Shared: true, Lost: 3})
	a, b := w.process(e, "a", 1, 0), w.process(e, "b", 1, 5*time.Minute)
	looks(t, a)
	ts, err := a.current().draw(ctx, 1)
	require.NoError(t, err)
	b.drew(ts)
	looks(t, b)
	w.now += term
	looks(t, b)
	next, err := b.current().draw(ctx, 1)
	require.NoError(t, err)
	require.Less(t, next.Time().Sub(ts.Time()), 2*term)
	w.now += time.Minute
	require.NoError(t, b.renew(ctx))
	next, err = b.current().draw(ctx, 1)
	require.NoError(t, err)
	require.Less(t, next.Time().Sub(ts.Time()), 3*time.Minute, "at most twice as fast")
}

// TestAWrongClockTakesNoOffice: a candidate whose clock cannot be right leaves the cell as it is.
func TestAWrongClockTakesNoOffice(t *testing.T) {
	w, e := &world{}, memkv.New(memkv.Options{Shared: true, Lost: 3})
	a, wrong := w.process(e, "a", 1, 0), w.process(e, "b", 1, -1000*time.Hour)
	looks(t, a)
	require.NoError(t, a.renew(ctx))
	looks(t, wrong)
	w.now += 2 * term
	_, _, err := wrong.look(ctx)
	var clock *tso.ClockError
	require.ErrorAs(t, err, &clock)
	require.NoError(t, a.renew(ctx))
	require.Nil(t, wrong.current())
}

// TestOrderHoldsOverFailOvers runs processes that stop anywhere and for any time, between the look
// at their term and the draw too, and demands: what was asked after an answer is above it, and
// nothing is drawn twice.
func TestOrderHoldsOverFailOvers(t *testing.T) {
	failOvers := 0
	for seed := range uint64(200) {
		failOvers += orderHolds(t, seed)
	}
	require.Greater(t, failOvers, 1000)
}

// late is a request that a holder has read and looked at its term for, and not answered yet.
type late struct {
	t     *tenure
	asked tso.Timestamp // the newest that was answered when it was asked
}

func orderHolds(t *testing.T, seed uint64) (failOvers int) {
	r := rand.New(rand.NewPCG(seed, 1))
	w, e := &world{}, memkv.New(memkv.Options{Shared: true, Lost: 3})
	var all []*process
	paused := map[*process]time.Duration{}
	for i := range 3 {
		all = append(all, w.process(e, fmt.Sprint(i), 0.97+0.06*r.Float64(),
			time.Duration(r.IntN(600)-300)*time.Second))
	}
	var newest tso.Timestamp // that was answered
	seen := map[tso.Timestamp]bool{}
	var pending []late
	answered := func(asked, ts tso.Timestamp) {
		require.Greater(t, ts, asked, "seed %d", seed)
		require.False(t, seen[ts], "seed %d: drawn twice", seed)
		seen[ts] = true
		newest = max(newest, ts)
	}
	for range 2000 {
		w.now += time.Duration(r.IntN(100)) * time.Millisecond
		p := all[r.IntN(len(all))]
		if paused[p] > w.now {
			continue
		}
		switch r.IntN(10) {
		case 0:
			if r.IntN(4) == 0 {
				paused[p] = w.now + time.Duration(r.Int64N(int64(3*term)))
			}
		case 1, 2, 3:
			if p.current() == nil {
				before := p.standing
				_, _, err := p.look(ctx)
				require.NoError(t, err)
				if p.standing != before {
					failOvers++
				}
			} else if err := p.renew(ctx); !errors.Is(err, tso.ErrDeposed) {
				require.NoError(t, err)
			}
		case 4, 5, 6, 7:
			if c := p.current(); c != nil {
				ts, err := c.draw(ctx, 1)
				if err == nil {
					answered(newest, ts)
					p.drew(ts)
				}
			}
		case 8:
			if c := p.current(); c != nil && c.valid() {
				pending = append(pending, late{c, newest})
			}
		case 9:
			if len(pending) > 0 {
				l := pending[0]
				pending = pending[1:]
				if ts, ok := l.t.oracle.TryDraw(1); ok {
					answered(l.asked, ts)
				}
			}
		}
	}
	return failOvers
}
