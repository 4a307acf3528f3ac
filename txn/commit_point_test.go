package txn_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
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
