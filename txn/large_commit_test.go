package txn_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
)

// latchCount is an engine that counts its updates, and the rows named by those under way: each is a
// latch.
type latchCount struct {
	*memkv.Engine
	held, most, updates atomic.Int64
}

func (e *latchCount) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	defer e.hold(rows)()
	return e.Engine.Update(ctx, rows, step)
}

func (e *latchCount) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	defer e.hold(rows)()
	return e.Engine.UpdateLazy(ctx, rows, step)
}

func (e *latchCount) hold(rows [][]byte) (release func()) {
	e.updates.Add(1)
	n := int64(len(rows))
	held := e.held.Add(n)
	for most := e.most.Load(); most < held &&
		!e.most.CompareAndSwap(most, held); most = e.most.Load() {
	}
	return func() { e.held.Add(-n) }
}

// TestACommitHoldsTheLatchesOfOneBatch (B3): whatever its size, and however it commits, a
// transaction never holds more than 4,096 latches.
func TestACommitHoldsTheLatchesOfOneBatch(t *testing.T) {
	const bound = 4096
	for _, c := range []struct {
		name  string
		keys  int
		value string
		opts  txn.Options
		most  int64
	}{
		{"one batch is one phase", bound, "v", txn.Options{}, bound},
		{"a row more is two phases", bound + 1, "v", txn.Options{}, bound},
		{"many rows", 5 * bound, "v", txn.Options{}, bound},
		{"long rows", 40, string(make([]byte, 100<<10)), txn.Options{}, 11},
		{"two phases", 5 * bound, "v", txn.Options{Protocol: txn.TwoPhase}, bound},
		{"streamed", 5 * bound, "v", txn.Options{StreamBytes: 2 << 20}, bound},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			e := &latchCount{Engine: memkv.New(memkv.Options{})}
			s, err := openTxn(ctx, e, c.opts)
			require.NoError(t, err)
			tx := begin(t, s)
			for i := range c.keys {
				require.NoError(t, tx.Set(fmt.Appendf(nil, "k%09d", i), []byte(c.value)))
			}
			require.NoError(t, tx.Commit(ctx))
			require.NoError(t, s.Close()) // the rest of its work is done
			require.LessOrEqual(t, e.most.Load(), c.most)
			again := openStore(t, e.Engine, txn.Options{})
			require.Len(t, scan(t, begin(t, again), kv.Span{}, txn.ScanOptions{}), c.keys)
		})
	}
}

// TestValidatedKeysAreLatchesToo (B3): points that a commit in one phase validates are rows of its
// update.
func TestValidatedKeysAreLatchesToo(t *testing.T) {
	const bound = 8
	e := &latchCount{Engine: memkv.New(memkv.Options{})}
	s := openStore(t, e, txn.Options{BatchKeys: bound})
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("k"), []byte("v")))
	for i := range 2 * bound {
		key := fmt.Appendf(nil, "read %d", i)
		tx.Validate(kv.Span{Start: key, End: append(key, 0)})
	}
	require.NoError(t, tx.Commit(context.Background()))
	require.LessOrEqual(t, e.most.Load(), int64(bound))
}

// TestReadersOfALargeTransactionUpdateNothing (B4): a read of what a running transaction has
// streamed out is no update of the store, and so no sync; nor is one while it is committed.
func TestReadersOfALargeTransactionUpdateNothing(t *testing.T) {
	ctx := context.Background()
	e := &latchCount{Engine: memkv.New(memkv.Options{})}
	s := openStore(t, e, txn.Options{StreamBytes: 1 << 10})
	large := begin(t, s)
	const keys = 200
	for i := range keys {
		require.NoError(t, large.Set(fmt.Appendf(nil, "k%06d", i), []byte("v")))
	}
	readers := make([]*txn.Txn, 0, keys)
	before := e.updates.Load()
	for i := range keys {
		readers = append(readers, begin(t, s))
		require.Nil(t, get(t, readers[i], fmt.Sprintf("k%06d", i)))
	}
	require.Empty(t, scan(t, begin(t, s), kv.Span{}, txn.ScanOptions{}))
	require.Equal(t, before, e.updates.Load())
	require.NoError(t, large.Commit(ctx))
	for i, r := range readers {
		require.Greater(t, large.CommitTS(), r.StartTS())
		r.Idle()
		require.Nil(t, get(t, r, fmt.Sprintf("k%06d", i)), "it was pushed above the reader")
	}
	require.Len(t, scan(t, begin(t, s), kv.Span{}, txn.ScanOptions{}), keys)
}
