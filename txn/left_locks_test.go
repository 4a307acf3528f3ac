package txn_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// leftLocks is two processes on a store of which the updates of the first can be made to fail. In
// the first an old transaction runs, so that no lock counts as dead by its age.
type leftLocks struct {
	t           *testing.T
	e           *kvtest.Fault
	here, there *txn.Store
}

func newLeftLocks(t *testing.T, renewal time.Duration) *leftLocks {
	e := shared()
	c := &leftLocks{t: t, e: kvtest.NewFault(e)}
	opts := txn.Options{LeaseRenewal: renewal, Lease: time.Hour, Clock: still}
	c.here = openStore(t, c.e, opts)
	opts.Oracle, opts.Clock = c.here.Oracle(), nil
	c.there = openStore(t, e, opts)
	old := begin(t, c.here)
	t.Cleanup(func() { require.NoError(t, old.Rollback(context.Background())) })
	return c
}

func (c *leftLocks) lock(tx *txn.Txn, noWait bool) error {
	tx.SetLocking(txn.Locking{Writes: true, Rereads: true})
	return tx.LockCurrent(context.Background(), []byte("k"), rowlock.Update, noWait)
}

// failing makes the updates of the first process fail meanwhile.
func (c *leftLocks) failing(f func()) {
	c.e.Plan(kvtest.FaultPlan{At: 1, Times: 1 << 20, Err: kv.NotApplied(kv.ErrUnavailable)})
	f()
	require.NotZero(c.t, c.e.Hits())
	c.e.Plan(kvtest.FaultPlan{})
}

func (c *leftLocks) requireLocked(yes bool) {
	c.t.Helper()
	tx := begin(c.t, c.there)
	err := c.lock(tx, true)
	require.NoError(c.t, tx.Rollback(context.Background()))
	if yes {
		require.ErrorIs(c.t, err, rowlock.ErrNotAvailable)
		return
	}
	require.NoError(c.t, err)
}

// TestALockThatCouldNotBeGivenBack is given back when the store answers again, though an older
// transaction of its process runs: that one may wait for it.
func TestALockThatCouldNotBeGivenBack(t *testing.T) {
	ctx := context.Background()
	ends := map[string]func(tx *txn.Txn) error{
		"rollback": func(tx *txn.Txn) error { return tx.Rollback(ctx) },
		"commit":   func(tx *txn.Txn) error { return tx.Commit(ctx) },
		"failure":  func(tx *txn.Txn) error { tx.Unlock(); return nil },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			c := newLeftLocks(t, -1)
			tx := begin(t, c.here)
			require.NoError(t, c.lock(tx, true))
			c.failing(func() {
				require.NoError(t, end(tx))
				require.ErrorIs(t, c.here.RenewLease(ctx), kv.ErrUnavailable)
			})
			c.requireLocked(true)
			require.NoError(t, c.here.RenewLease(ctx))
			c.requireLocked(false)
			require.NoError(t, tx.Rollback(ctx))
		})
	}
}

// TestALeftLockIsGivenBackInTheBackground lets another process that waits for it go on.
func TestALeftLockIsGivenBackInTheBackground(t *testing.T) {
	c := newLeftLocks(t, time.Hour)
	tx := begin(t, c.here)
	require.NoError(t, c.lock(tx, true))
	c.failing(func() { require.NoError(t, tx.Rollback(context.Background())) })
	waiter := begin(t, c.there)
	require.NoError(t, c.lock(waiter, false))
	require.NoError(t, waiter.Rollback(context.Background()))
}

// TestASavepointsLeftLockIsKept by its transaction, which may lock the row again, and ends with it.
func TestASavepointsLeftLockIsKept(t *testing.T) {
	ctx := context.Background()
	c := newLeftLocks(t, -1)
	tx := begin(t, c.here)
	first := tx.Savepoint()
	require.NoError(t, c.lock(tx, true))
	c.failing(func() { tx.RollbackTo(first) })
	c.requireLocked(true)
	require.NoError(t, c.lock(tx, true))
	require.NoError(t, c.here.RenewLease(ctx))
	c.requireLocked(true)
	c.failing(func() { tx.RollbackTo(first) })
	tx.RollbackTo(first)
	c.requireLocked(false)
	require.NoError(t, c.lock(tx, true))
	c.failing(func() { tx.RollbackTo(first) })
	require.NoError(t, tx.Rollback(ctx))
	c.requireLocked(false)
}

// TestALeftPlaceInAQueue is given back too, and not the row, which its transaction has got since.
func TestALeftPlaceInAQueue(t *testing.T) {
	ctx := context.Background()
	c := newLeftLocks(t, -1)
	holder, tx := begin(t, c.there), begin(t, c.here)
	require.NoError(t, c.lock(holder, true))
	waiting, giveUp := context.WithCancel(ctx)
	done := make(chan error)
	tx.SetLocking(txn.Locking{Writes: true, Rereads: true})
	go func() { done <- tx.LockCurrent(waiting, []byte("k"), rowlock.Update, false) }()
	until(func() bool {
		sc := &scene{ctx: ctx}
		return sc.rowRecords(c.there) == 2
	})
	c.failing(func() {
		giveUp()
		require.Error(t, <-done)
	})
	require.NoError(t, holder.Rollback(ctx))
	c.requireLocked(true)
	require.NoError(t, c.here.RenewLease(ctx))
	c.requireLocked(false)
	require.NoError(t, c.lock(tx, true))
	require.NoError(t, c.here.RenewLease(ctx))
	c.requireLocked(true)
	require.NoError(t, tx.Rollback(ctx))
}
