package txn_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// locking begins a transaction that locks what it writes.
func locking(t *testing.T, s *txn.Store, rereads bool) *txn.Txn {
	t.Helper()
	tx := begin(t, s)
	tx.SetLocking(txn.Locking{Writes: true, Rereads: rereads})
	return tx
}

func TestLockOfAKeyThatWasWrittenSince(t *testing.T) {
	ctx := context.Background()
	everywhere(t, func(t *testing.T, s *txn.Store) {
		commit(t, s, "k", "1")
		rr, rc := locking(t, s, false), locking(t, s, true)
		commit(t, s, "k", "2")
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, rr.LockCurrent(ctx, []byte("k"), rowlock.Update, true), &conflict)
		require.NoError(t, rr.Rollback(ctx))
		var stale *txn.StaleError
		require.ErrorAs(t, rc.LockCurrent(ctx, []byte("k"), rowlock.Update, true), &stale)
		require.NoError(t, rc.Advance(ctx))
		v, err := rc.Get(ctx, []byte("k"))
		require.NoError(t, err)
		require.Equal(t, "2", string(v))
		require.NoError(t, rc.Set([]byte("k"), []byte("3")))
		require.NoError(t, rc.Commit(ctx)) // based on the read timestamp, not on start_ts
		require.True(t, s.RowLocks().Empty())
	})
}

// TestACommitWaitsForRowLocks is txn: I9. The second key looks like the lock of a table.
func TestACommitWaitsForRowLocks(t *testing.T) {
	ctx := context.Background()
	for _, key := range []string{"k", string(rowlock.RelationKey(1_634_430_053))} {
		everywhere(t, func(t *testing.T, s *txn.Store) {
			commit(t, s, key, "1")
			holder := locking(t, s, false)
			require.NoError(t, holder.LockCurrent(ctx, []byte(key), rowlock.Update, false))
			done := make(chan error)
			go func() {
				tx, err := s.Begin(ctx, txn.BeginOptions{})
				if err == nil {
					err = tx.Set([]byte(key), []byte("stolen"))
				}
				if err == nil {
					err = tx.Commit(ctx)
				}
				done <- err
			}()
			for len(s.RowLocks().Waits()) == 0 {
				select {
				case err := <-done:
					t.Fatalf("committed over a row lock: %v", err)
				default:
				}
			}
			require.NoError(t, holder.Set([]byte(key), []byte("2")))
			require.NoError(t, holder.Commit(ctx))
			var conflict *txn.WriteConflictError
			require.ErrorAs(t, <-done, &conflict)
		})
	}
}

// TestLockersNeverLoseAtCommit: optimistic writers and lock holders of the same few keys; no
// increment is lost, and a transaction that locked and looked never fails at commit.
func TestLockersNeverLoseAtCommit(t *testing.T) {
	ctx := context.Background()
	everywhere(t, func(t *testing.T, s *txn.Store) {
		commit(t, s, "n", "0")
		add := func(tx *txn.Txn) error {
			v, err := tx.Get(ctx, []byte("n"))
			if err != nil {
				return err
			}
			var n int
			_, _ = fmt.Sscan(string(v), &n)
			return tx.Set([]byte("n"), fmt.Append(nil, n+1))
		}
		var wg sync.WaitGroup
		var total atomic.Int64
		for w := range 4 {
			wg.Go(func() {
				for range 25 {
					if w%2 == 0 {
						for retry(t, s, add) {
						}
						total.Add(1)
						continue
					}
					tx := locking(t, s, true)
					for stale := true; stale; {
						err := tx.LockCurrent(ctx, []byte("n"), rowlock.NoKeyUpdate, false)
						if stale = err != nil; stale {
							if err := tx.Advance(ctx); err != nil {
								t.Error(err)
							}
						}
					}
					if err := add(tx); err != nil {
						t.Error(err)
					}
					if err := tx.Commit(ctx); err != nil {
						t.Errorf("a lockHolder lost: %v", err)
					}
					total.Add(1)
				}
			})
		}
		wg.Wait()
		tx := begin(t, s)
		v, err := tx.Get(ctx, []byte("n"))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(total.Load()), string(v))
		require.NoError(t, tx.Rollback(ctx))
		require.True(t, s.RowLocks().Empty())
	})
}
