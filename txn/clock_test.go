package txn_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

const hour = int64(3_600_000)

// TestLeasesEndAfterTheClockWasAhead: the wall clock was an hour ahead when a process died with
// locks, and was put right. Its lease ends ten seconds later all the same.
func TestLeasesEndAfterTheClockWasAhead(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{Shared: true})
	var clock atomic.Int64
	clock.Store(hour)
	oracle, err := tso.Open(ctx, e, mvcc.MetaKey("oracle"), tso.Options{Clock: clock.Load})
	require.NoError(t, err)
	open := func(at txn.CrashPoint) *txn.Store {
		return openStore(t, e,
			txn.Options{Oracle: oracle, LeaseRenewal: -1, LockWait: time.Millisecond,
				CrashPoint: func(p txn.CrashPoint) bool { return p == at }})
	}
	clock.Add(hour)
	dead := open(txn.AfterPrewrite)
	tx := begin(t, dead)
	require.NoError(t, tx.Set([]byte("k"), []byte("1")))
	require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned)
	clock.Add(-hour)
	alive := open("")
	seconds := 0
	for ; ; seconds++ {
		tx := begin(t, alive)
		require.NoError(t, tx.Set([]byte("k"), []byte("2")))
		if tx.Commit(ctx) == nil {
			break
		}
		require.Less(t, seconds, 20, "the lock of the dead stands")
		clock.Add(1000)
	}
	require.Greater(t, seconds, 1, "its time to live is over, and no sooner")
}

// TestRetentionGoesOnAfterTheClockWasAhead: so do collections and reads of the past.
func TestRetentionGoesOnAfterTheClockWasAhead(t *testing.T) {
	ctx := context.Background()
	var clock atomic.Int64
	clock.Store(hour)
	s := openStore(t, memkv.New(memkv.Options{}),
		txn.Options{Clock: clock.Load, Retention: 10 * time.Minute})
	clock.Add(hour)
	commit(t, s, "k", "1")
	clock.Add(-hour)
	commit(t, s, "k", "1")
	for range 20 { // minutes
		clock.Add(60_000)
		commit(t, s, "k", "2")
	}
	now, err := s.Now(ctx)
	require.NoError(t, err)
	require.GreaterOrEqual(t, now.Physical(), 2*hour+18*60_000)
	past, err := s.Begin(ctx, txn.BeginOptions{StartTS: tso.New(now.Physical()-19*60_000, 0)})
	require.NoError(t, err)
	require.Nil(t, get(t, past, "k"), "it was begun before the first commit")
	require.NoError(t, past.Rollback(ctx))
	stats, err := s.CollectGarbage(ctx)
	require.NoError(t, err)
	require.Positive(t, stats.Versions)
	require.Greater(t, stats.Safepoint.Physical(), 2*hour+7*60_000)
}
