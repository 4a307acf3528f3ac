package tikvkv

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
)

// collect lets the client know that the cluster has collected what is older than now.
func collect(t *testing.T, e *Engine) {
	ts, err := e.oracle.Next(context.Background())
	require.NoError(t, err)
	e.store.UpdateSPCache(uint64(ts), time.Now())
}

// TestACollectedSnapshotIsGone: it fails for good, what needs no single state goes on, and a step
// runs again.
func TestACollectedSnapshotIsGone(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := newCluster(t).open(t, Options{Prefix: prefix}, nil)
	for _, row := range []string{"a", "b", "c"} {
		require.NoError(t, put(e, row, row))
	}
	s, err := e.Snapshot()
	require.NoError(t, err)
	_, err = s.Get(ctx, cellOf("a"))
	require.NoError(t, err)
	all, err := kv.Latest(e)
	require.NoError(t, err)
	it, err := all.NewIter(ctx, kv.Span{})
	require.NoError(t, err)
	require.True(t, it.First())
	collect(t, e)
	for range 2 {
		_, err = s.Get(ctx, cellOf("a"))
		require.ErrorIs(t, err, kv.ErrSnapshotGone)
		e.store.UpdateSPCache(0, time.Now()) // it stays gone whatever the client knows
	}
	_, err = s.NewIter(ctx, kv.Span{})
	require.ErrorIs(t, err, kv.ErrSnapshotGone)
	require.NoError(t, s.Close())
	require.True(t, it.Next())
	require.NoError(t, it.Close())
	require.NoError(t, all.Close())

	runs := 0
	require.NoError(t, e.Update(ctx, rowsOf("a"), func(r kv.Reader, b *kv.Batch) error {
		if runs++; runs == 1 {
			_, err := r.Get(ctx, cellOf("a"))
			require.NoError(t, err)
			collect(t, e)
		}
		_, err := r.Get(ctx, cellOf("a"))
		b.Set(cellOf("a"), []byte("again"))
		return err
	}))
	require.Equal(t, 2, runs)
	require.Equal(t, "again", get(t, e, "a"))
	require.NoError(t, e.Close())
}

// TestNothingGetsOlderThanTheClusterKeeps: whether the client knows of a collection or not.
func TestNothingGetsOlderThanTheClusterKeeps(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	e := newCluster(t).open(t, Options{Prefix: prefix}, nil)
	require.NoError(t, put(e, "a", "1"))
	r := &reader{e: e}
	it, err := r.NewIter(ctx, kv.Span{})
	require.NoError(t, err)
	require.True(t, it.First())
	r.at = r.at.Add(-e.o.Keep) // time passes
	require.False(t, it.First())
	require.ErrorIs(t, it.Err(), kv.ErrSnapshotGone)
	_, err = r.Get(ctx, cellOf("a"))
	require.ErrorIs(t, err, kv.ErrSnapshotGone)

	runs := 0
	require.NoError(t, e.Update(ctx, rowsOf("a"), func(r kv.Reader, b *kv.Batch) error {
		_, err := r.Get(ctx, cellOf("a"))
		if runs++; runs == 1 {
			step := r.(*stepReader)
			step.at = step.at.Add(-e.o.Keep)
		}
		b.Set(cellOf("a"), []byte("2"))
		return err
	}))
	require.Equal(t, 2, runs)
	require.NoError(t, e.Close())
}
