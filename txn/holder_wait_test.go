package txn_test

import (
	"context"
	"testing"
	"time"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// streamedKey opens a store whose transactions stream every write, and one that has streamed key a
// out.
func streamedKey(t *testing.T) (*txn.Store, *txn.Txn) {
	t.Helper()
	s := openStore(t, memkv.New(memkv.Options{}),
		txn.Options{StreamBytes: 1, LockWait: time.Nanosecond})
	commit(t, s, "a", "0", "b", "0")
	holder := begin(t, s)
	holder.SetLocking(txn.Locking{Owner: s.RowLocks().NewOwner(7)})
	require.NoError(t, holder.Set([]byte("a"), []byte("1")))
	return s, holder
}

// TestNoWaitForAStreamedKey: a request with NoWait does not wait for a lock in the store either,
// and has no row lock afterwards.
func TestNoWaitForAStreamedKey(t *testing.T) {
	ctx := context.Background()
	s, holder := streamedKey(t)
	for _, rereads := range []bool{false, true} {
		lockHolder := locking(t, s, rereads)
		require.ErrorIs(t, lockHolder.LockCurrent(ctx, []byte("a"), rowlock.Update, true),
			rowlock.ErrNotAvailable)
		require.True(t, s.RowLocks().Empty())
		require.NoError(t, lockHolder.LockCurrent(ctx, []byte("b"), rowlock.Update, true))
		require.NoError(t, lockHolder.Rollback(ctx))
	}
	require.NoError(t, holder.Rollback(ctx))
	lockHolder := locking(t, s, false)
	require.NoError(t, lockHolder.LockCurrent(ctx, []byte("a"), rowlock.Update, true))
	require.NoError(t, lockHolder.Rollback(ctx))
}

// TestAFailedTransactionHoldsNoStreamedKey: no transaction has to wait for one that has failed and
// whose client has not sent ROLLBACK yet, not even for a lock in the store.
func TestAFailedTransactionHoldsNoStreamedKey(t *testing.T) {
	ctx := context.Background()
	s, failed := streamedKey(t)
	failed.Unlock()
	lockHolder := locking(t, s, false)
	require.NoError(t, lockHolder.LockCurrent(ctx, []byte("a"), rowlock.Update, true))
	require.NoError(t, lockHolder.Set([]byte("a"), []byte("2")))
	require.NoError(t, lockHolder.Commit(ctx))
	_, err := failed.Get(ctx, []byte("a"))
	require.ErrorIs(t, err, txn.ErrTxnDone)
	require.ErrorIs(t, failed.Set([]byte("c"), nil), txn.ErrTxnDone)
	require.ErrorIs(t, failed.Commit(ctx), txn.ErrTxnDone)
	require.Equal(t, "2", get(t, begin(t, s), "a"))
}

// TestLockTimeoutOnAStreamedKey: the bound of a wait for a row lock is one for a lock in the store
// too.
func TestLockTimeoutOnAStreamedKey(t *testing.T) {
	ctx := context.Background()
	s, holder := streamedKey(t)
	lockHolder := begin(t, s)
	lockHolder.SetLocking(txn.Locking{Writes: true, Timeout: time.Millisecond,
		Owner: s.RowLocks().NewOwner(9)})
	err := lockHolder.LockCurrent(ctx, []byte("a"), rowlock.NoKeyUpdate, false)
	var late *rowlock.TimeoutError
	require.ErrorAs(t, err, &late)
	require.ErrorIs(t, err, rowlock.ErrTimeout)
	require.Equal(t, "a", string(late.Wait.Key))
	require.EqualValues(t, 9, late.Wait.Owner)
	require.EqualValues(t, 7, late.Wait.Blocker)
	require.NoError(t, lockHolder.Rollback(ctx))
	require.NoError(t, holder.Rollback(ctx))
}

// TestWaitForAStreamedKey: a row lock is waited for as long as the holder takes, whatever LockWait
// is.
func TestWaitForAStreamedKey(t *testing.T) {
	ctx := context.Background()
	s, holder := streamedKey(t)
	lockHolder := locking(t, s, false)
	lockHolder.SetLocking(txn.Locking{Writes: true, Owner: s.RowLocks().NewOwner(9)})
	got := make(chan error, 1)
	var v mvcc.Version
	go func() (err error) {
		defer func() { got <- err }()
		v, err = lockHolder.LockKey(ctx, []byte("a"), rowlock.Update, false)
		return err
	}()
	for range 3 { // LockWait is over each time
		for len(s.LockWaits()) == 0 {
			require.Empty(t, got, "it gave up")
		}
		for len(s.LockWaits()) > 0 {
		}
	}
	require.NoError(t, holder.Commit(ctx))
	require.NoError(t, <-got)
	require.Equal(t, holder.CommitTS(), v.CommitTS)
	require.NoError(t, lockHolder.Rollback(ctx))
}

// TestACycleThroughAStreamedKey: a cycle of which one wait is for a lock in the store is found.
func TestACycleThroughAStreamedKey(t *testing.T) {
	ctx := context.Background()
	s, holder := streamedKey(t)
	lockHolder := begin(t, s)
	lockHolder.SetLocking(txn.Locking{Writes: true, Owner: s.RowLocks().NewOwner(9)})
	require.NoError(t, lockHolder.LockCurrent(ctx, []byte("b"), rowlock.Update, false))
	committed := make(chan error, 1)
	go func() {
		err := holder.Set([]byte("b"), []byte("1")) // waits for the row lock of b
		if err == nil {
			err = holder.Commit(ctx)
		}
		committed <- err
	}()
	var deadlock *rowlock.DeadlockError
	require.ErrorAs(t, lockHolder.LockCurrent(ctx, []byte("a"), rowlock.Update, false), &deadlock)
	require.Len(t, deadlock.Cycle, 2)
	for i, key := range []string{"a", "b"} {
		w := deadlock.Cycle[i]
		require.Equal(t, key, string(w.Key))
		require.Equal(t, []int64{9, 7}[i], w.Owner)
		require.Equal(t, []int64{7, 9}[i], w.Blocker)
		require.Equal(t, deadlock.Cycle[1-i].OwnerTransaction, w.BlockerTransaction)
	}
	require.NoError(t, lockHolder.Rollback(ctx))
	require.NoError(t, <-committed)
}
