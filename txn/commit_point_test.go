package txn_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/stretchr/testify/require"
)

// distant is an engine whose updates take a while, or until their context ends: one at a distance
// that has no leader for the moment.
type distant struct {
	kv.Engine
	takes atomic.Int64
}

func (e *distant) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	select {
	case <-time.After(time.Duration(e.takes.Load())):
		return e.Engine.Update(ctx, rows, step)
	case <-ctx.Done():
		return kv.NotApplied(ctx.Err())
	}
}

// atCommitPoint prewrites, and calls a function before the commit point.
func atCommitPoint(t *testing.T, do func(e *distant, cancel context.CancelFunc)) (value any,
	err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e := &distant{Engine: memkv.New(memkv.Options{})}
	s := duringCommit(t, e, txn.Options{Protocol: txn.TwoPhase,
		Clock: func() int64 { return 1000 }}, txn.AfterCommitTS,
		func() { do(e, cancel) })
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	require.NoError(t, tx.Set([]byte("z"), []byte("1")))
	err = tx.Commit(ctx)
	e.takes.Store(0)
	after := begin(t, s)
	value = get(t, after, "z")
	require.NoError(t, after.Rollback(context.Background()))
	require.NoError(t, s.Close())
	return value, err
}

// TestTheEngineBoundsTheCommitPoint: an engine that answers late, but answers, commits.
func TestTheEngineBoundsTheCommitPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		value, err := atCommitPoint(t, func(e *distant, _ context.CancelFunc) {
			e.takes.Store(int64(8 * time.Second))
		})
		require.NoError(t, err)
		require.Equal(t, "1", value)
	})
}

// TestTheCallerEndsTheCommitPoint: a commit that is cancelled before the engine has it is rolled
// back, and its caller knows.
func TestTheCallerEndsTheCommitPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		value, err := atCommitPoint(t, func(e *distant, cancel context.CancelFunc) {
			e.takes.Store(int64(time.Second))
			cancel()
		})
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, txn.ErrAmbiguous)
		require.Nil(t, value)
	})
}

// TestTheCommitPointTakesAllKeysAlong: on a store that several processes share, where what follows
// would be one more request, nothing is left behind a commit that goes into one update. One that
// does not leaves its other keys to those that meet them.
func TestTheCommitPointTakesAllKeysAlong(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		keys, limit, left int
	}{{keys: 1, limit: 4}, {keys: 4, limit: 4}, {keys: 5, limit: 4, left: 4}} {
		rec := record.New(memkv.New(memkv.Options{Shared: true}))
		s, err := openTxn(ctx, rec, txn.Options{LeaseRenewal: -1, Clock: still,
			BatchKeys: c.limit, Protocol: txn.TwoPhase,
			CrashPoint: func(p txn.CrashPoint) bool { return p == txn.AfterCommitPoint }})
		require.NoError(t, err)
		tx := begin(t, s)
		for i := range c.keys {
			require.NoError(t, tx.Set(fmt.Appendf(nil, "k%d", i), []byte("v")))
		}
		before := rec.Counts()
		require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned)
		counts := rec.Since(before)
		if c.left == 0 {
			require.Equal(t, []int64{1, 1}, []int64{counts.Lazy, counts.Updates},
				"one prewrite, and the commit point")
		}
		require.Len(t, locked(t, rec), c.left)
		require.NoError(t, s.Close())

		later := openStore(t, rec, txn.Options{Clock: func() int64 { return 1_000_000 }})
		after := begin(t, later)
		for i := range c.keys {
			require.Equal(t, "v", get(t, after, fmt.Sprintf("k%d", i)))
		}
		require.NoError(t, after.Rollback(ctx))
	}
}

// locked returns the keys that are locked in a store.
func locked(t *testing.T, e kv.Engine) (keys []string) {
	snap, err := kv.Latest(e)
	require.NoError(t, err)
	require.NoError(t, mvcc.Locks(context.Background(), snap, kv.Span{},
		func(key []byte, _ mvcc.Lock) error {
			keys = append(keys, string(key))
			return nil
		}))
	require.NoError(t, snap.Close())
	return keys
}
