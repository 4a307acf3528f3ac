package txn_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// liveHeap measures what lives beyond what lived when it was made, at its most.
type liveHeap struct{ before, most uint64 }

func newLiveHeap() *liveHeap {
	h := &liveHeap{}
	h.look()
	h.before, h.most = h.most, 0
	return h
}

func (h *liveHeap) look() {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	h.most = max(h.most, now.HeapAlloc-min(now.HeapAlloc, h.before))
}

// openOnDisk opens a store whose engine keeps little in memory.
func openOnDisk(t *testing.T, opts txn.Options) *txn.Store {
	t.Helper()
	e, err := pebblekv.Open(t.TempDir(),
		pebblekv.Options{MemTableBytes: 1 << 20, CacheBytes: 2 << 20})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return openStore(t, e, opts)
}

func keyOf(i int) []byte { return fmt.Appendf(nil, "key %08d", i) }

// TestManyRowLocksInBoundedMemory: a block that locks each row before it writes it.
func TestManyRowLocksInBoundedMemory(t *testing.T) {
	const keys, bound = 60_000, 7 << 20 // the row locks alone take 12 MiB
	ctx := context.Background()
	s := openOnDisk(t, txn.Options{StreamBytes: 1 << 20, RowLocks: 1000})
	heap := newLiveHeap()
	tx := begin(t, s)
	tx.SetLocking(txn.Locking{Writes: true})
	for i := range keys {
		_, err := tx.LockKey(ctx, keyOf(i), rowlock.NoKeyUpdate, false)
		require.NoError(t, err)
		require.NoError(t, tx.Set(keyOf(i), []byte("v")))
		if i%10_000 == 9999 {
			heap.look()
		}
	}
	require.Less(t, heap.most, uint64(bound))
	t.Logf("%d KiB at most", heap.most>>10)
	for _, i := range []int{0, 1, keys / 2, keys - 1} {
		thief := locking(t, s, false)
		require.ErrorIs(t, thief.LockCurrent(ctx, keyOf(i), rowlock.NoKeyUpdate, true),
			rowlock.ErrNotAvailable)
		require.NoError(t, thief.Rollback(ctx))
	}
	require.NoError(t, tx.Commit(ctx))
	require.True(t, s.RowLocks().Empty())
}

// TestRowLocksCount: those of rows that are not written stay in memory, up to a bound.
func TestRowLocksCount(t *testing.T) {
	ctx := context.Background()
	tx := begin(t, openStore(t, memkv.New(memkv.Options{}), txn.Options{MaxTxnBytes: 64 << 10}))
	tx.SetLocking(txn.Locking{Writes: true})
	sp := tx.Savepoint()
	n := 0
	var err error
	for ; err == nil && n < 1000; n++ {
		_, err = tx.LockKey(ctx, keyOf(n), rowlock.Update, false)
	}
	require.ErrorIs(t, err, txn.ErrTooLarge)
	require.ErrorIs(t, tx.Set(keyOf(0), nil), txn.ErrTooLarge)
	tx.RollbackTo(sp)
	require.NoError(t, tx.Set(keyOf(0), []byte("v")))
	require.NoError(t, tx.Commit(ctx))
}

// TestASavepointIsGoneBackToInBoundedMemory: what takes the writes back is streamed out as they
// were.
func TestASavepointIsGoneBackToInBoundedMemory(t *testing.T) {
	// half of it the undo log; undone in the buffer they would take 14 MiB more
	const keys, bound = 60_000, 16 << 20
	ctx := context.Background()
	s := openOnDisk(t, txn.Options{StreamBytes: 1 << 20})
	commit(t, s, string(keyOf(0)), "old", string(keyOf(keys-1)), "old")
	heap, undoing, streams := newLiveHeap(), false, 0
	tx, err := s.Begin(ctx, txn.BeginOptions{OnStream: func(txn.Streamed) {
		if streams++; undoing && streams%4 == 0 {
			heap.look()
		}
	}})
	require.NoError(t, err)
	require.NoError(t, tx.Set([]byte("before"), []byte("v")))
	require.NoError(t, tx.Set(keyOf(1), []byte("v1")))
	sp := tx.Savepoint()
	write := func() {
		for i := range keys {
			require.NoError(t, tx.Set(keyOf(i), []byte("w")))
		}
	}
	write()
	forth := streams
	undoing = true
	tx.RollbackTo(sp)
	require.Greater(t, streams, forth+5)
	require.LessOrEqual(t, tx.Size(), 1<<20)
	require.Less(t, heap.most, uint64(bound))
	t.Logf("%d KiB at most", heap.most>>10)
	undoing, streams = false, 0
	require.NoError(t, tx.Set([]byte("later"), []byte("v")))
	require.LessOrEqual(t, streams, 1, "a later write does not pay")
	want := []string{"before=v", string(keyOf(0)) + "=old", string(keyOf(1)) + "=v1",
		string(keyOf(keys-1)) + "=old", "later=v"}
	require.Equal(t, want, scan(t, tx, kv.Span{}, txn.ScanOptions{}))
	write()
	tx.RollbackTo(sp)
	require.NoError(t, tx.Set([]byte("later"), []byte("v")))
	require.NoError(t, tx.Commit(ctx))
	reader := begin(t, s)
	require.Equal(t, want, scan(t, reader, kv.Span{}, txn.ScanOptions{}))
	require.NoError(t, reader.Rollback(ctx))
}
