package txn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

var asyncOptions = txn.Options{Protocol: txn.Async, BatchKeys: 1, LockWait: time.Millisecond}

// write2 commits the keys a and z in one transaction.
func write2(t *testing.T, s *txn.Store, value string) (*txn.Txn, error) {
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte(value)))
	require.NoError(t, tx.Set([]byte("z"), []byte(value)))
	return tx, tx.Commit(context.Background())
}

// TestAResolverSettlesAnAsyncCommitBeforeItsCoordinator: all locks are down, so the transaction is
// committed, although its coordinator lives and has not said so yet (txn: I12).
func TestAResolverSettlesAnAsyncCommitBeforeItsCoordinator(t *testing.T) {
	ctx := context.Background()
	for _, key := range []string{"a", "z"} {
		e := memkv.New(memkv.Options{})
		var s *txn.Store
		s = duringCommit(t, e, asyncOptions, txn.AfterPrewrite, func() {
			reader := begin(t, s)
			require.Equal(t, "1", get(t, reader, key))
			require.NoError(t, reader.Rollback(ctx))
		})
		tx, err := write2(t, s, "1")
		require.NoError(t, err)
		past, err := s.Begin(ctx, txn.BeginOptions{StartTS: tx.CommitTS()})
		require.NoError(t, err)
		require.Equal(t, []string{"a=1", "z=1"}, scan(t, past, kv.Span{}, txn.ScanOptions{}),
			"the same timestamp for all")
		require.NoError(t, past.Rollback(ctx))
		before, err := s.Begin(ctx, txn.BeginOptions{StartTS: tx.CommitTS() - 1})
		require.NoError(t, err)
		require.Empty(t, scan(t, before, kv.Span{}, txn.ScanOptions{}))
		require.NoError(t, before.Rollback(ctx))
		require.NoError(t, s.Close())
		checkStore(t, e, key)
	}
}

// TestAMissingAsyncLockIsBarredWhileTheCoordinatorLives: a resolver takes the coordinator for dead
// between two prewrites; the second one must not land any more.
func TestAMissingAsyncLockIsBarredWhileTheCoordinatorLives(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{})
	clock := int64(1000)
	opts := asyncOptions
	opts.Clock = func() int64 { return clock }
	var s *txn.Store
	s = duringCommit(t, e, opts, txn.AfterPrewritePrimary, func() {
		clock += 60_000
		s.TakeForDead()
		reader := begin(t, s)
		require.Nil(t, get(t, reader, "a"))
		require.NoError(t, reader.Rollback(ctx))
	})
	_, err := write2(t, s, "1")
	var conflict *txn.WriteConflictError
	require.ErrorAs(t, err, &conflict)
	reader := begin(t, s)
	require.Empty(t, scan(t, reader, kv.Span{}, txn.ScanOptions{}))
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, s.Close())
	checkStore(t, e, "barred")
}

// TestAnEarlierReaderPassesAnAsyncLock: it needs no more than each lock's own lowest commit
// timestamp.
func TestAnEarlierReaderPassesAnAsyncLock(t *testing.T) {
	ctx := context.Background()
	var s *txn.Store
	var early *txn.Txn
	s = duringCommit(t, memkv.New(memkv.Options{}), asyncOptions, txn.AfterPrewrite, func() {
		require.Nil(t, get(t, early, "a"))
		require.Nil(t, get(t, early, "z"))
	})
	early = begin(t, s)
	_, err := write2(t, s, "1")
	require.NoError(t, err)
	require.Nil(t, get(t, early, "z"), "and afterwards its record")
	require.NoError(t, early.Rollback(ctx))
	require.NoError(t, s.Close())
}

// TestAReaderAboveAnAsyncLockNeverMissesIt stops a prewrite between its timestamp and its locks: a
// reader that begins there, above the timestamp, must wait for the locks (txn: I2).
func TestAReaderAboveAnAsyncLockNeverMissesIt(t *testing.T) {
	ctx := context.Background()
	e := &pausing{Engine: openPebble(t), onKey: "a", column: mvcc.ColumnLock,
		reached: make(chan struct{}), resume: make(chan struct{})}
	s, err := openTxn(ctx, e, txn.Options{Protocol: txn.Async})
	require.NoError(t, err)
	done := make(chan error)
	var tx *txn.Txn
	go func() {
		tx = begin(t, s)
		done <- errors.Join(tx.Set([]byte("a"), []byte("1")), tx.Commit(ctx))
	}()
	<-e.reached
	reader := begin(t, s)
	w := newWatched()
	answer := make(chan string)
	go func() {
		v, err := reads["get"](w, reader)
		if err != nil {
			v = err.Error()
		}
		answer <- v
	}()
	select {
	case <-w.waiting:
	case v := <-answer:
		t.Fatalf("answered %q without waiting", v)
	}
	e.resume <- struct{}{}
	require.NoError(t, <-done)
	require.Less(t, tx.CommitTS(), reader.StartTS())
	require.Equal(t, "1", <-answer)
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}

// TestTooManyKeysForAsyncTakeTwoPhases: the primary's lock would have to name them all.
func TestTooManyKeysForAsyncTakeTwoPhases(t *testing.T) {
	for _, n := range []int{3, 300} {
		points := map[txn.CrashPoint]int{}
		opts := asyncOptions
		opts.BatchKeys = 0
		opts.CrashPoint = func(p txn.CrashPoint) bool { points[p]++; return false }
		s, err := openTxn(context.Background(), memkv.New(memkv.Options{}), opts)
		require.NoError(t, err)
		tx := begin(t, s)
		for i := range n {
			require.NoError(t, tx.Set([]byte{byte(i >> 8), byte(i)}, []byte("v")))
		}
		require.NoError(t, tx.Commit(context.Background()))
		require.Equal(t, n == 300, points[txn.AfterCommitPoint] == 1)
		require.NoError(t, s.Close())
	}
}

// TestALockNamesItsSession: a transaction that is stopped by a lock learns which session it waits
// for.
func TestALockNamesItsSession(t *testing.T) {
	ctx := context.Background()
	opts := asyncOptions
	opts.CrashPoint = func(p txn.CrashPoint) bool { return p == txn.AfterPrewritePrimary }
	s, err := openTxn(ctx, memkv.New(memkv.Options{}), opts)
	require.NoError(t, err)
	tx := begin(t, s)
	tx.SetLocking(txn.Locking{Owner: s.RowLocks().NewOwner(77)})
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	require.NoError(t, tx.Set([]byte("z"), []byte("1")))
	require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned)
	reader := begin(t, s)
	_, err = reader.Get(ctx, []byte("a"))
	require.ErrorContains(t, err,
		fmt.Sprintf("of session %s, process 77", tso.Timestamp(s.SessionID())))
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, s.Close())
}
