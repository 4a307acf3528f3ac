package txn_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/stretchr/testify/require"
)

// records counts the write records of a store.
func records(t *testing.T, e kv.Engine) (n int) {
	snap, err := kv.Latest(e)
	require.NoError(t, err)
	require.NoError(t, mvcc.Cells(context.Background(), snap, func(c mvcc.Cell) error {
		if c.Column == mvcc.ColumnWrite {
			n++
		}
		return nil
	}))
	require.NoError(t, snap.Close())
	return n
}

// TestACollectionGoesInBoundedSteps: each step looks at so many rows, goes on where the last one
// stopped, also after a failure, and the whole drops what a pass at once would (txn: I6).
func TestACollectionGoesInBoundedSteps(t *testing.T) {
	ctx := context.Background()
	f := kvtest.NewFault(memkv.New(memkv.Options{}))
	s, err := openTxn(ctx, f, txn.Options{GCRows: 10})
	require.NoError(t, err)
	const keys = 95
	for range 2 {
		tx := begin(t, s)
		for i := range keys {
			require.NoError(t, tx.Set(fmt.Appendf(nil, "k%02d", i), []byte("v")))
		}
		require.NoError(t, tx.Commit(ctx))
	}
	require.Equal(t, 2*keys, records(t, f))
	steps := 0
	for done := false; !done; steps++ {
		before := records(t, f)
		if steps == 3 {
			f.Plan(kvtest.FaultPlan{At: 1, Times: 1})
			_, err := s.CollectStep(ctx)
			require.Error(t, err)
			f.Plan(kvtest.FaultPlan{})
		}
		done, err = s.CollectStep(ctx)
		require.NoError(t, err)
		require.LessOrEqual(t, before-records(t, f), 10)
	}
	require.Equal(t, 10, steps)
	require.Equal(t, keys, records(t, f))

	at := f.Seen()
	done, err := s.CollectStep(ctx)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, at, f.Seen(), "nothing was committed since: no pass")
	commit(t, s, "k00", "w")
	for done = false; !done; {
		done, err = s.CollectStep(ctx)
		require.NoError(t, err)
	}
	require.Equal(t, keys, records(t, f))
	require.NoError(t, s.Close())
}

// TestAReaderOfThePastHoldsASteppedCollection: it began before the pass, which must leave it its
// versions; one that comes below the safepoint is refused.
func TestAReaderOfThePastHoldsASteppedCollection(t *testing.T) {
	ctx := context.Background()
	s, err := openTxn(ctx, memkv.New(memkv.Options{}), txn.Options{GCRows: 1})
	require.NoError(t, err)
	commit(t, s, "a", "1", "b", "1")
	reader := begin(t, s)
	commit(t, s, "a", "2", "b", "2")
	for done := false; !done; {
		done, err = s.CollectStep(ctx)
		require.NoError(t, err)
		require.Equal(t, "1", get(t, reader, "b"))
	}
	past := reader.StartTS()
	require.NoError(t, reader.Rollback(ctx))
	commit(t, s, "a", "3")
	for done := false; !done; {
		done, err = s.CollectStep(ctx)
		require.NoError(t, err)
	}
	_, err = s.Begin(ctx, txn.BeginOptions{StartTS: past})
	var refused *txn.SafepointError
	require.ErrorAs(t, err, &refused)
	require.NoError(t, s.Close())
}
