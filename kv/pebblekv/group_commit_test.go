package pebblekv

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/stretchr/testify/require"
)

// TestGroupCommitYieldsWhereItPays runs afterSync on a clock of its own.
func TestGroupCommitYieldsWhereItPays(t *testing.T) {
	var committing atomic.Int64
	var clock, yieldTakes time.Duration
	yields := 0
	g := newGroupCommit(&committing)
	g.now = func() time.Duration { return clock }
	g.yield = func() { yields++; clock += yieldTakes }
	yielded := func() bool {
		before := yields
		require.Zero(t, g.afterSync(), "the next sync is never put off")
		return yields > before
	}

	committing.Store(1)
	require.False(t, yielded(), "a single committer")
	committing.Store(2)
	require.True(t, yielded())
	require.True(t, yielded(), "a short yield is followed by others")

	yieldTakes = yieldMax + 2*yieldMaxEach
	require.True(t, yielded())
	require.True(t, yielded(), "it was as long as two may need")

	yieldTakes++
	require.True(t, yielded())
	require.False(t, yielded(), "after a long one")
	clock += yieldRest*yieldTakes - 1
	require.False(t, yielded(), "and until it is paid for")
	clock++
	require.True(t, yielded(), "but not for ever")
}

// TestFlushLoopYieldsAfterASync holds the first commit's sync until two others wait behind it: when
// it is over, the log's flush loop lets committers run.
func TestFlushLoopYieldsAfterASync(t *testing.T) {
	fs := testfs.NewCrashFS()
	e, err := Open("db", Options{FS: fs})
	require.NoError(t, err)
	var yields atomic.Int64
	e.group.yield = func() { yields.Add(1); runtime.Gosched() }

	release := fs.HoldSyncs()
	var wg sync.WaitGroup
	for _, key := range []string{"a", "b", "c"} {
		wg.Go(func() {
			err := e.Update(t.Context(), [][]byte{[]byte(key)},
				func(_ kv.Reader, b *kv.Batch) error {
					b.Set([]byte("x"+key), nil)
					return nil
				})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for e.unsynced.Load() < 3 {
		runtime.Gosched()
	}
	release()
	wg.Wait()
	require.NoError(t, e.Close())
	require.Positive(t, yields.Load())
}
