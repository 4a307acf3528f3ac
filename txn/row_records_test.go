package txn_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/lease"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// counted is an engine that calls before each update of a row with its number, from one on.
type counted struct {
	kv.Engine
	row    []byte
	n      int
	before func(n int)
}

func (c *counted) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	c.count(rows)
	return c.Engine.Update(ctx, rows, step)
}

func (c *counted) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	c.count(rows)
	return kv.UpdateLazy(ctx, c.Engine, rows, step)
}

func (c *counted) count(rows [][]byte) {
	for _, row := range rows {
		if bytes.Equal(row, c.row) {
			c.n++
			c.before(c.n)
		}
	}
}

// lockedAgain plays a transaction that locks a row, outlives its lease, and locks the row anew
// under another session, just before the update of the row with the given number by a second
// process. That one has found out before that the first session is over.
func (sc *scene) lockedAgain(number int, second func(other *txn.Store)) {
	e, row := shared(), mvcc.Row([]byte("n"))
	opts := txn.Options{LockTTL: time.Hour, Lease: time.Minute}
	paused := sc.open(e, opts)
	opts.Oracle = paused.Oracle()
	tx := sc.lockHolder(paused, true)
	tx.SetLocking(txn.Locking{Writes: true, Rereads: true, Owner: paused.RowLocks().NewOwner(1)})
	at := tx.Savepoint()
	sc.must(sc.nowait(tx, "n", rowlock.Update), "lock")
	sc.clock += 60_000
	second(sc.open(&counted{Engine: e, row: row, before: func(n int) {
		if n == number {
			tx.RollbackTo(at)
			sc.must(sc.nowait(tx, "n", rowlock.Update), "lock under another session")
		}
	}}, opts))
	sc.want("row locks", sc.rowRecords(paused), 1)
	sc.set(tx, "m", "guarded")
	sc.must(tx.Commit(sc.ctx), "commit")
}

// TestTheEndOfASessionEndsItsOwnRowLocks: that a session is over says nothing of what its
// transaction has locked since under the next one.
func TestTheEndOfASessionEndsItsOwnRowLocks(t *testing.T) {
	t.Run("who waits", func(t *testing.T) {
		require.NoError(t, prove(func(sc *scene) {
			sc.lockedAgain(2, func(
				other *txn.Store) {
				sc.mustBeLocked(sc.lockHolder(other, true), "n", rowlock.Update)
			})
		}))
	})
	t.Run("who settles all", func(t *testing.T) {
		require.NoError(t, prove(func(sc *scene) {
			sc.lockedAgain(1, func(other *txn.Store) {
				n, err := other.SettleLocks(sc.ctx)
				sc.must(err, "settle locks")
				sc.want("settled", n, 0)
			})
		}))
	})
}

// TestLockTimeoutBoundsAllWaitsInTheStore: a transaction that has waited for a row lock as long as
// it may does not begin anew when the lock of a commit replaces it.
func TestLockTimeoutBoundsAllWaitsInTheStore(t *testing.T) {
	require.NoError(t, prove(func(sc *scene) {
		e := shared()
		here := sc.open(e, txn.Options{LockTTL: time.Hour, Lease: time.Hour})
		holder, commit := sc.lockHolder(here, true), sc.coordinator(here, "primary")
		sc.must(sc.nowait(holder, "n", rowlock.Update), "lock")
		looks := &counted{Engine: e, row: mvcc.Row([]byte("n")), before: func(n int) {
			if n == 2 {
				sc.must(holder.Rollback(sc.ctx), "rollback")
				sc.must(commit.prewrite("n", "1"), "prewrite")
			}
		}}
		waiter := sc.begin(sc.open(looks,
			txn.Options{Oracle: here.Oracle(), Lease: time.Hour, LockWait: time.Hour}))
		// Shorter than the first pause between two looks, so that the recheck is the last look.
		waiter.SetLocking(txn.Locking{Writes: true, Timeout: 200 * time.Microsecond})
		if err := waiter.LockCurrent(sc.ctx, []byte("n"), rowlock.Update, false); !errors.Is(err,
			rowlock.ErrTimeout) {
			sc.fail("lock: %v", err)
		}
		if looks.n > 2 {
			sc.fail("%d looks", looks.n)
		}
	}))
}

// TestATransactionReadsOneSessionBeforeEachAttempt at a row, however many hold it: as long as one
// of them is alive, it does not matter which others are.
func TestATransactionReadsOneSessionBeforeEachAttempt(t *testing.T) {
	sh := openShop(t, 0)
	var holders []*txn.Store
	for range 8 {
		s := sh.store(nil)
		tx := begin(t, s)
		require.NoError(t, tx.LockCurrent(t.Context(), []byte("a"), rowlock.KeyShare, false))
		holders = append(holders, s)
	}
	meter := &sessionReads{Wrapped: kv.Wrapped{Engine: sh.engine}}
	s, err := openTxn(t.Context(), meter, sh.opts)
	require.NoError(t, err)
	ask := func() (reads int64, err error) {
		tx := begin(t, s)
		before := meter.n.Load()
		err = tx.LockCurrent(t.Context(), []byte("a"), rowlock.Update, true)
		reads = meter.n.Load() - before
		require.NoError(t, tx.Rollback(t.Context()))
		return reads, err
	}
	reads, err := ask()
	require.ErrorIs(t, err, rowlock.ErrNotAvailable)
	require.EqualValues(t, 1, reads)
	for _, dead := range holders[1:] {
		require.NoError(t, dead.Close())
	}
	_, err = ask()
	require.ErrorIs(t, err, rowlock.ErrNotAvailable)
	require.NoError(t, holders[0].Close())
	_, err = ask()
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// sessionReads counts reads of sessions' records outside of updates.
type sessionReads struct {
	kv.Wrapped
	n atomic.Int64
}

func (m *sessionReads) Snapshot() (kv.Snapshot, error) {
	s, err := m.Engine.Snapshot()
	return sessionReader{s, m}, err
}

type sessionReader struct {
	kv.Snapshot
	m *sessionReads
}

func (s sessionReader) Get(ctx context.Context, key []byte) ([]byte, error) {
	if id := lease.Key(0); bytes.HasPrefix(key, id[:len(id)-16]) {
		s.m.n.Add(1)
	}
	return s.Snapshot.Get(ctx, key)
}
