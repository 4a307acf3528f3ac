package observer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

// What a pool cannot remember, or could not do, is done in the end.

// cutValues splits what a run has written down.
func cutValues(values string) (before, after string, ok bool) {
	return strings.Cut(values, ">")
}

// changeMany changes n rows in one transaction.
func (x *site) changeMany(n int, value string) {
	t, err := x.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(x.t, err)
	for i := range n {
		key := fmt.Appendf(nil, "a/%04d", i)
		old, err := t.Get(ctx, key)
		require.NoError(x.t, err)
		t.Notify(key, target.ID, old)
		require.NoError(x.t, t.Set(key, []byte(value)))
	}
	require.NoError(x.t, t.Commit(ctx))
}

func TestAFullQueueLosesNothing(t *testing.T) {
	const rows = 300
	x := open(t, memkv.New(memkv.Options{}), txn.Options{})
	p := x.startWith(x.options().Lowered(4))
	for _, value := range []string{"one", "two"} {
		x.changeMany(rows, value)
		x.settle(p, 0)
	}
	require.Len(t, x.log(), 2*rows)
	require.EqualValues(t, 2*rows, p.Stats().Runs)
	p.Stop()
	require.Empty(t, x.failures)
}

func TestABackfillWaitsForRoom(t *testing.T) {
	const rows = 60
	st := newStage(t)
	st.load(rows)
	st.backfill()
	opts := st.options().Lowered(4)
	opts.Target = opts.Target.Lowered(7)
	p := st.startWith(opts)
	st.settle(p, 0)
	require.Len(t, st.log(), rows)
	require.EqualValues(t, rows, p.Stats().Runs)
	require.False(t, p.Stats().Backfill)
	p.Stop()
}

// TestAScanBesideARun finds a notification of a row on which a worker is running, with a snapshot
// from before it: the row is run on again.
func TestAScanBesideARun(t *testing.T) {
	x := open(t, memkv.New(memkv.Options{}), txn.Options{StreamBytes: 1})
	x.change("a/0000", "one")
	passed := make(chan struct{}) // the scan has passed the row and come to the next one
	once := sync.Once{}
	x.fail = func(_ context.Context, key string) error {
		if key != "a/0000" {
			close(passed)
			return nil
		}
		once.Do(func() {
			x.changeMany(2, "two")
			<-passed
		})
		return nil
	}
	opts := x.options()
	opts.Workers = 2
	p := x.startWith(opts)
	x.settle(p, 0)
	p.Stop()
	require.Equal(t, []string{"a/0000 none>one", "a/0000 one>two", "a/0001 none>two"}, x.log())
}

// TestAStoreThatFailsIsAskedAgain fails one snapshot after the other that a pool takes from its
// start on: in the scan, in the backfill, in the clean-up of a crash, in runs.
func TestAStoreThatFailsIsAskedAgain(t *testing.T) {
	places := 0
	for failed := true; failed; places++ {
		e := &brittleEngine{Engine: memkv.New(memkv.Options{})}
		st := &stage{e: e}
		st.site = open(t, e, txn.Options{})
		st.load(3)
		st.backfill()
		st.change("a/gone", "one")
		st.change("a/gone", "")
		st.acknowledge("a/gone")
		st.change("a/seen", "one")
		st.acknowledge("a/seen")
		st.change("a/seen", "two") // which no backfill announces
		st.restart()
		e.failAt(places + 1)
		p := st.startWith(st.options().Lowered(100))
		idle(p)
		failed = e.failAt(0)
		require.Zero(t, st.notified())
		require.Len(t, st.log(), 4)
		require.Equal(t, 4+1, st.state(), "nothing of the row that is gone")
		p.Stop()
		if failed {
			require.Len(t, st.failures, 1)
		}
		require.NoError(t, st.s.Close())
	}
	t.Logf("failed in %d places", places-1)
	require.Greater(t, places, 5)
}

func TestAFunctionThatFailsIsCalledAgain(t *testing.T) {
	const rows = 20
	x := open(t, memkv.New(memkv.Options{}), txn.Options{})
	var mu sync.Mutex
	failed := map[string]int{}
	x.fail = func(_ context.Context, key string) error {
		mu.Lock()
		defer mu.Unlock()
		if failed[key] == 2 {
			return nil
		}
		failed[key]++
		return errors.New("not yet")
	}
	p := x.start()
	x.changeMany(rows, "one")
	x.settle(p, 0)
	p.Stop()
	require.Len(t, x.log(), rows)
	st := p.Stats()
	require.EqualValues(t, rows, st.Runs)
	require.EqualValues(t, 2*rows, st.Failures)
	require.Zero(t, st.DeadLetters)
	require.Empty(t, x.letters())
}

// TestStoppingInTheMiddle: the workers are in the function, and others wait.
func TestStoppingInTheMiddle(t *testing.T) {
	const rows = 20
	x := open(t, memkv.New(memkv.Options{}), txn.Options{})
	x.changeMany(rows, "one")
	opts := x.options()
	running := make(chan struct{}, opts.Workers)
	x.fail = func(ctx context.Context, _ string) error {
		running <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	p := x.startWith(opts)
	for range opts.Workers {
		<-running
	}
	require.Equal(t, opts.Workers, p.Stats().Running)
	p.Stop()
	require.Empty(t, x.log())
	require.Equal(t, rows, x.notified())
	require.Empty(t, x.letters(), "a stop is no failure of the function")
	x.fail = func(context.Context, string) error { return nil }
	p = x.start()
	x.settle(p, 0)
	p.Stop()
	require.Len(t, x.log(), rows)
	require.EqualValues(t, rows, p.Stats().Runs)
}

// TestAStoppedObserverHoldsNoSafepoint: three times the retention passes before it runs again, and
// the versions that its changes replaced are gone. The old image is in the notification.
func TestAStoppedObserverHoldsNoSafepoint(t *testing.T) {
	var clock atomic.Int64
	clock.Store(1_000_000)
	x := open(t, memkv.New(memkv.Options{}),
		txn.Options{Clock: clock.Load, Retention: time.Minute})
	x.change("a/1", "one")
	x.change("a/2", "one")
	p := x.start()
	x.settle(p, 0)
	p.Stop()
	x.change("a/1", "two")
	x.change("a/2", "")
	last := x.change("a/1", "three")
	for range 3 {
		clock.Add(time.Minute.Milliseconds() + 1)
		_, err := x.s.CollectGarbage(ctx)
		require.NoError(t, err)
	}
	require.Greater(t, x.s.Safepoint(), last)
	p = x.start()
	x.settle(p, 0)
	p.Stop()
	require.Equal(t, []string{"a/1 none>one", "a/1 one>three", "a/2 none>one", "a/2 one>none"},
		x.log())
	require.Equal(t, 1, x.state())
}
