package txn_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
)

// halted is an engine on which updates of many rows wait, once it is set to, unless a test's own
// context comes with them: the clean-up of large transactions.
type halted struct {
	*memkv.Engine
	on      atomic.Bool
	release chan struct{}
	most    atomic.Int64 // rows of one update
	waiting atomic.Int64
}

const manyRows = 50

type ownUpdate struct{}

// ownContext is that of what the test waits for.
func ownContext() context.Context {
	return context.WithValue(context.Background(), ownUpdate{}, true)
}

func (e *halted) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	for most := e.most.Load(); most < int64(len(rows)) &&
		!e.most.CompareAndSwap(most, int64(len(rows))); most = e.most.Load() {
	}
	if e.on.Load() && len(rows) >= manyRows && ctx.Value(ownUpdate{}) == nil {
		e.waiting.Add(1)
		<-e.release
	}
	return e.Engine.UpdateLazy(ctx, rows, step)
}

// locksIn counts the locks of a span.
func locksIn(t *testing.T, e kv.Engine, start, end string) (n int) {
	snap, err := e.Snapshot()
	require.NoError(t, err)
	defer func() { require.NoError(t, snap.Close()) }()
	span := kv.Span{Start: []byte(start), End: []byte(end)}
	require.NoError(t, mvcc.Locks(context.Background(), snap, span,
		func([]byte, mvcc.Lock) error { n++; return nil }))
	return n
}

// TestNobodyWaitsForTheCleanUpOfALargeTransaction: with its clean-up halted, ROLLBACK and COMMIT of
// large transactions return, and others commit, drop a span, read and have their own locks settled.
func TestNobodyWaitsForTheCleanUpOfALargeTransaction(t *testing.T) {
	ctx := ownContext()
	e := &halted{Engine: memkv.New(memkv.Options{}), release: make(chan struct{})}
	const batch, keys = 100, 1000
	s := openStore(t, e, txn.Options{StreamBytes: 8 << 10, Protocol: txn.TwoPhase,
		BatchKeys: batch})
	large := func(prefix string) *txn.Txn {
		tx := begin(t, s)
		for i := range keys {
			require.NoError(t, tx.Set(fmt.Appendf(nil, "%s%06d", prefix, i), []byte("v")))
		}
		return tx
	}
	rolledBack, committed := large("a"), large("b")
	e.on.Store(true)
	require.NoError(t, rolledBack.Rollback(ctx))
	for e.waiting.Load() == 0 {
		runtime.Gosched()
	}
	require.NoError(t, committed.Commit(ctx))
	require.GreaterOrEqual(t, locksIn(t, e, "a", "c"), 2*keys-2*batch)
	for i := range 2 * 256 { // more than the queue of the small ones has room for
		commit(t, s, fmt.Sprintf("c%06d", i), "v", fmt.Sprintf("d%06d", i), "v")
	}
	for locksIn(t, e, "c", "e") > 0 {
		runtime.Gosched()
	}
	drop := begin(t, s)
	require.NoError(t, drop.DropSpan(kv.Span{Start: []byte("a"), End: []byte("b")}))
	require.NoError(t, drop.Commit(ctx))
	// the rolled back lock in its way is settled by the commit that meets it
	commit(t, s, "a000001", "mine")
	reader := begin(t, s)
	require.Len(t, scan(t, reader, kv.Span{Start: []byte("a"), End: []byte("c")},
		txn.ScanOptions{}), keys+1)
	require.NoError(t, reader.Rollback(ctx))
	close(e.release)
	s.AwaitSecondaries()
	require.Zero(t, locksIn(t, e, "a", "e"))
	require.LessOrEqual(t, e.most.Load(), int64(batch), "a step is a batch")
}

// TestManyLargeCommitsAreSettled: those beyond the first few forget which locks they have, and find
// them.
func TestManyLargeCommitsAreSettled(t *testing.T) {
	e := &halted{Engine: memkv.New(memkv.Options{}), release: make(chan struct{})}
	s := openStore(t, e, txn.Options{Protocol: txn.TwoPhase, BatchKeys: manyRows})
	e.on.Store(true)
	const keys = 3 * manyRows
	for n := range 12 {
		tx := begin(t, s)
		for i := range keys {
			require.NoError(t, tx.Set(fmt.Appendf(nil, "%c%06d", 'a'+n, i), []byte("v")))
		}
		require.NoError(t, tx.Commit(ownContext()))
	}
	close(e.release)
	s.AwaitSecondaries()
	require.Zero(t, locksIn(t, e, "a", "z"))
	require.Len(t, scan(t, begin(t, s), kv.Span{}, txn.ScanOptions{}), 12*keys)
}
