package memory

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// worker is an owner that runs until End is called.
type worker struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   bool
	pid    int32
}

func newWorker(t *testing.T, pid int32) *worker {
	w := &worker{pid: pid}
	w.ctx, w.cancel = context.WithCancelCause(t.Context())
	return w
}

func (w *worker) Running() context.Context { return w.ctx }
func (w *worker) PID() int32               { return w.pid }
func (w *worker) End(cause error) bool {
	if !w.idle {
		w.cancel(cause)
	}
	return !w.idle
}

func exhausted(t *testing.T, err error) *ExhaustedError {
	t.Helper()
	var e *ExhaustedError
	require.ErrorAs(t, err, &e)
	return e
}

const testShare = 90 << 20 // of a pool of 160 MiB; its last eighth is the reserve

func newTestPool() *Pool { return NewPool(160 << 20) }

func TestAFewBytesNeverTouchThePool(t *testing.T) {
	p := newTestPool()
	a := p.Account(newWorker(t, 1))
	require.NoError(t, a.Grow(free))
	require.Zero(t, p.Taken())
	require.NoError(t, a.Grow(1))
	require.Positive(t, p.Taken())
	a.Close()
	require.Zero(t, p.Taken())
}

func TestTheLargestPaysWhoeverAsks(t *testing.T) {
	p := newTestPool()
	large, asker := newWorker(t, 1), newWorker(t, 2)
	a, b := p.Account(large), p.Account(asker)
	require.NoError(t, a.Grow(60<<20))
	require.NoError(t, b.Grow(10<<20))
	got := make(chan error)
	go func() { got <- b.Grow(20 << 20) }()
	<-large.ctx.Done() // its End was called
	e := exhausted(t, context.Cause(large.ctx))
	require.EqualValues(t, 160<<20, e.Bound)
	require.GreaterOrEqual(t, e.Held, int64(60<<20))
	require.Equal(t, e, a.Grow(1<<20), "an ending account gets nothing and does not wait")
	select {
	case err := <-got:
		t.Fatal("memory that has not come back was given out", err)
	default:
	}
	a.Shrink(61 << 20)
	a.Settle()
	require.NoError(t, <-got)
	require.NoError(t, a.Grow(1<<20), "the next statement of the same session")
	require.NoError(t, asker.ctx.Err())
	require.EqualValues(t, 1, p.Stats().Ended)
	a.Close()
	b.Close()
	require.Zero(t, p.Taken())
}

func TestTheAskerPaysWhenItIsTheLargest(t *testing.T) {
	p := newTestPool()
	other := newWorker(t, 2)
	a, b := p.Account(newWorker(t, 1)), p.Account(other)
	require.NoError(t, b.Grow(30<<20))
	require.NoError(t, a.Grow(40<<20))
	e := exhausted(t, a.Grow(30<<20))
	require.Positive(t, e.Asked)
	require.NoError(t, other.ctx.Err())
	a.Close()
	require.NoError(t, b.Grow(30<<20))
}

func TestWhatCanNeverFitEndsNobodyElse(t *testing.T) {
	p := newTestPool()
	other := newWorker(t, 2)
	a, b := p.Account(newWorker(t, 1)), p.Account(other)
	require.NoError(t, b.Grow(60<<20))
	exhausted(t, a.Grow(testShare+1))
	require.NoError(t, other.ctx.Err())
}

func TestAnIdleOwnerIsPassedOver(t *testing.T) {
	p := newTestPool()
	idle, runs := newWorker(t, 1), newWorker(t, 2)
	idle.idle = true
	a, b, c := p.Account(idle), p.Account(runs), p.Account(newWorker(t, 3))
	require.NoError(t, a.Grow(40<<20))
	require.NoError(t, b.Grow(30<<20))
	require.NoError(t, c.Grow(5<<20))
	got := make(chan error)
	go func() { got <- c.Grow(10 << 20) }()
	<-runs.ctx.Done()
	b.Close()
	require.NoError(t, <-got)
	require.NoError(t, idle.ctx.Err())

	// When no owner runs anything, the asker pays, although it is not the largest.
	exhausted(t, c.Grow(30<<20))
}

func TestTheReserveIsForSmallAccounts(t *testing.T) {
	p := newTestPool()
	other := newWorker(t, 1)
	other.idle = true
	a, b := p.Account(other), p.Account(newWorker(t, 2))
	require.NoError(t, a.Grow(testShare/8*7-1<<20))
	require.NoError(t, b.Grow(small), "from the reserve")
	exhausted(t, b.Grow(small))
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	p := newTestPool()
	large, asker := newWorker(t, 1), newWorker(t, 2)
	a, b := p.Account(large), p.Account(asker)
	require.NoError(t, a.Grow(70<<20))
	got := make(chan error)
	go func() { got <- b.Grow(20 << 20) }()
	<-large.ctx.Done()
	asker.cancel(errors.New("cancelled"))
	require.ErrorIs(t, <-got, context.Canceled)
}

func TestTryGrowNeitherWaitsNorEnds(t *testing.T) {
	p := newTestPool()
	large := newWorker(t, 1)
	a, b := p.Account(large), p.Account(newWorker(t, 2))
	require.NoError(t, a.Grow(30<<20))
	require.False(t, b.TryGrow(20<<20), "more than half of the pool")
	require.Zero(t, b.Used())
	require.True(t, b.TryGrow(1<<20))
	require.NoError(t, large.ctx.Err())
}

func TestMoveTakesNothingNew(t *testing.T) {
	p := newTestPool()
	a, b := p.Account(nil), p.Account(nil)
	require.NoError(t, a.Grow(10<<20))
	taken := p.Taken()
	a.Move(8<<20, b)
	require.Equal(t, taken, p.Taken())
	require.EqualValues(t, 8<<20, b.Used())
	b.Close()
	require.Less(t, p.Taken(), int64(3<<20))
	a.Close()
	require.Zero(t, p.Taken())
}

func TestTheLeastLimitIsInForce(t *testing.T) {
	p := NewPool(0)
	bound := func() int64 { n, _ := p.Bound(); return n }
	one := p.Limit(100 << 20)
	two := p.Limit(50 << 20)
	require.EqualValues(t, 50<<20, bound())
	fixed := p.Fix("cache", 10<<20)
	require.EqualValues(t, 40<<20/16*9, p.Stats().Share)
	two()
	require.EqualValues(t, 100<<20, bound())
	one()
	fixed()
	require.Zero(t, bound())
	require.NoError(t, p.Account(nil).Grow(1<<40))
}

func TestAFullHeapEndsTheLargest(t *testing.T) {
	p := newTestPool()
	runtime.GC()
	p.WatchHeap(1) // more is live in any program
	large := newWorker(t, 1)
	a, b := p.Account(large), p.Account(newWorker(t, 2))
	a.Owe(20 << 20)
	exhausted(t, a.Grow(1))
	a.Settle()
	require.NoError(t, b.Grow(10<<20), "until the next collections have seen what came back")
	require.EqualValues(t, 1, p.Stats().Ended)
}

func TestMemoryIsReturnedOnceItIsNotNeeded(t *testing.T) {
	p := newTestPool()
	tide := NewTide(p)
	a := p.Account(nil)
	require.False(t, tide.Ebbed())
	require.NoError(t, a.Grow(70<<20))
	require.False(t, tide.Ebbed())
	a.Shrink(70 << 20)
	require.False(t, tide.Ebbed(), "it was needed since the last look")
	require.True(t, tide.Ebbed())
	require.False(t, tide.Ebbed())
	require.NoError(t, a.Grow(10<<20))
	a.Shrink(10 << 20)
	require.False(t, tide.Ebbed())
	require.False(t, tide.Ebbed(), "too little")
}

// TestManyAccountsAtOnce: whatever they do at the same time, the pool keeps its bound, some account
// always proceeds, and nothing is left in the end.
func TestManyAccountsAtOnce(t *testing.T) {
	p := newTestPool()
	const workers, rounds, step, most = 8, 20, 1 << 20, 60
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for range rounds {
				w := newWorker(t, int32(i))
				a := p.Account(w)
				for range most {
					if w.ctx.Err() != nil || a.Grow(step) != nil {
						break
					}
					if n := p.Taken(); n > testShare {
						t.Errorf("%d bytes are taken", n)
					}
				}
				a.Close()
			}
		})
	}
	wg.Wait()
	s := p.Stats()
	require.Zero(t, s.Taken)
	require.Empty(t, s.Holders)
	require.LessOrEqual(t, s.Peak, int64(testShare))
	require.Zero(t, p.mu.ending)
}
