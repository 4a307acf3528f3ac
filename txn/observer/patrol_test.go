package observer_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// town is a store that several processes share. Each of them goes on patrol when it is asked to.
type town struct {
	t      *testing.T
	engine kv.Engine
	clock  atomic.Int64
	oracle *tso.Oracle
	sites  []*site
}

func newTown(t *testing.T) *town {
	c := &town{t: t, engine: memkv.New(memkv.Options{Shared: true, HashGroups: 2, Lost: 5})}
	c.clock.Store(1_000_000)
	oracle, err := tso.Open(ctx, c.engine, mvcc.MetaKey("oracle"),
		tso.Options{Clock: c.clock.Load})
	require.NoError(t, err)
	c.oracle = oracle
	return c
}

func (c *town) site() *site {
	x := open(c.t, c.engine, txn.Options{Oracle: c.oracle, Lease: time.Minute, LeaseRenewal: -1,
		LockTTL: time.Hour, LockWait: time.Millisecond})
	c.sites = append(c.sites, x)
	return x
}

// expire lets the leases of all processes but some end.
func (c *town) expire(but ...*site) {
	for range 4 {
		c.clock.Add((30 * time.Second).Milliseconds())
		for _, x := range but {
			require.NoError(c.t, x.s.RenewLease(ctx))
		}
	}
}

func (c *town) close() {
	for _, x := range c.sites {
		require.NoError(c.t, x.s.Close())
	}
}

func (x *site) startByHand(workers int) *observer.Pool {
	opts := x.options()
	opts.Workers = workers
	p := x.startWith(opts.ByHand())
	idle(p)
	return p
}

// patrols goes on one patrol, and waits until the pool has nothing left to do.
func patrols(p *observer.Pool) observer.Stats {
	p.Patrol()
	idle(p)
	return p.Stats()
}

// TestWhatOthersCommitIsFound by a pool that runs already: rows, a table-level change, and a
// backfill.
func TestWhatOthersCommitIsFound(t *testing.T) {
	c := newTown(t)
	here, there := c.site(), c.site()
	p := here.startByHand(2)
	for i := range 200 {
		there.change(fmt.Sprintf("a/%03d", i), "one")
	}
	idle(p)
	require.Zero(t, p.Stats().Runs)
	st := patrols(p)
	require.EqualValues(t, 200, st.Runs)
	require.EqualValues(t, 1, st.Patrols)
	require.Zero(t, st.Met+int64(st.Conflicts))
	require.Zero(t, here.notified())
	require.EqualValues(t, 200, patrols(p).Runs, "there is nothing else")
	p.Stop()

	there.move(toB)
	here.o.Rows = toB.To
	p = here.startByHand(2)
	require.EqualValues(t, 200, p.Stats().Runs)
	p.Stop()
	c.close()
}

// TestAMoveOfOthersIsFound: the walk, too, is taken up by a pool that runs already.
func TestAMoveOfOthersIsFound(t *testing.T) {
	c := newTown(t)
	here, there := c.site(), c.site()
	var moved atomic.Bool
	opts := here.options()
	opts.Place = func(context.Context) (observer.Target, error) {
		o := target
		if moved.Load() {
			o.Rows = toB.To
		}
		return o, nil
	}
	p := here.startWith(opts.ByHand())
	idle(p)
	there.change("a/1", "one")
	require.EqualValues(t, 1, patrols(p).Runs)
	there.move(toB)
	here.o.Rows = toB.To
	moved.Store(true)
	require.EqualValues(t, 2, patrols(p).Runs)
	require.Equal(t, []string{"a/1 none>one", "b/1 one>none"}, here.log())
	p.Stop()
	c.close()
}

// TestTheLockOfADeadWorkerIsFreed with the lease of its process, and not before.
func TestTheLockOfADeadWorkerIsFreed(t *testing.T) {
	c := newTown(t)
	here, there := c.site(), c.site()
	p := here.startByHand(1)
	there.change("a/1", "one")
	dying, err := there.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	_, found, err := target.Claim(ctx, dying, []byte("a/1"))
	require.NoError(t, err)
	require.Equal(t, observer.Pending, found)

	st := patrols(p)
	require.Zero(t, st.Runs)
	require.EqualValues(t, 1, st.Met)
	c.expire(here)
	st = patrols(p)
	require.EqualValues(t, 1, st.Runs)
	require.EqualValues(t, 1, st.Met)
	require.Equal(t, []string{"a/1 none>one"}, here.log())
	p.Stop()
	_ = dying.Rollback(ctx)
	c.close()
}

// TestPatrolsThatMeetGoElsewhere: while a process is at work on some rows, another one that comes
// to them leaves them alone, and does the rest from other places.
func TestPatrolsThatMeetGoElsewhere(t *testing.T) {
	const rows, held = 400, 40
	c := newTown(t)
	here, there, writer := c.site(), c.site(), c.site()
	p := here.startByHand(1)
	for i := range rows {
		writer.change(fmt.Sprintf("a/%03d", i), "one")
	}
	var holders []*txn.Txn
	for i := range held {
		tx, err := there.s.Begin(ctx, txn.BeginOptions{})
		require.NoError(t, err)
		_, found, err := target.Claim(ctx, tx, fmt.Appendf(nil, "a/%03d", 100+i))
		require.NoError(t, err)
		require.Equal(t, observer.Pending, found)
		holders = append(holders, tx)
	}
	var st observer.Stats
	for st.Runs < rows-held {
		st = patrols(p)
	}
	require.NotZero(t, st.Jumps)
	require.Zero(t, st.Conflicts, "no run was in vain")
	for _, tx := range holders {
		require.NoError(t, tx.Rollback(ctx))
	}
	for st.Runs < rows {
		st = patrols(p)
	}
	require.Len(t, here.log(), rows)
	p.Stop()
	c.close()
}

// TestPatrolsShareTheWork: of processes that patrol at once each row is run by one.
func TestPatrolsShareTheWork(t *testing.T) {
	const rows = 300
	c := newTown(t)
	writer := c.site()
	var pools []*observer.Pool
	for range 3 {
		pools = append(pools, c.site().startByHand(2))
	}
	for i := range rows {
		writer.change(fmt.Sprintf("a/%03d", i), "one")
	}
	for writer.notified() > 0 {
		var all sync.WaitGroup
		for _, p := range pools {
			all.Go(func() { patrols(p) })
		}
		all.Wait()
	}
	runs := int64(0)
	for _, p := range pools {
		runs += p.Stats().Runs
		p.Stop()
	}
	require.EqualValues(t, rows, runs)
	require.Len(t, writer.log(), rows)
	c.close()
}

// TestABackfillOfOthersIsFound, though its process has died before it announced anything.
func TestABackfillOfOthersIsFound(t *testing.T) {
	const rows = 20
	c := newTown(t)
	here, there := c.site(), c.site()
	p := here.startByHand(1)
	tx, err := there.s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	for i := range rows {
		require.NoError(t, tx.Set(fmt.Appendf(nil, "a/%03d", i), []byte("old")))
	}
	require.NoError(t, target.Backfill(tx))
	require.NoError(t, tx.Commit(ctx))
	require.EqualValues(t, rows, patrols(p).Runs)
	p.Stop()
	c.close()
}
