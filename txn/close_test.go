package txn_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// awaitOrFail returns when the condition holds; a value in done means that it never will.
func awaitOrFail(t *testing.T, what string, done <-chan error, condition func() bool) {
	t.Helper()
	for !condition() {
		select {
		case err := <-done:
			t.Fatalf("%s: it did not wait: %v", what, err)
		default:
		}
	}
}

// TestCloseEndsEveryWait: Close does not wait for a commit that waits for a transaction which
// cannot commit before Close is over.
func TestCloseEndsEveryWait(t *testing.T) {
	ctx := context.Background()
	waits := map[string]func(t *testing.T, s *txn.Store) (wait func() error, waits func() bool){
		"a commit for a row lock": func(t *testing.T, s *txn.Store) (func() error, func() bool) {
			_, err := locking(t, s, false).LockKey(ctx, []byte("k"), rowlock.Update, false)
			require.NoError(t, err)
			tx := begin(t, s)
			require.NoError(t, tx.Set([]byte("k"), nil))
			return func() error { return tx.Commit(ctx) },
				func() bool { return len(s.RowLocks().Waits()) > 0 }
		},
		"a lockHolder for a row lock": func(t *testing.T, s *txn.Store) (func() error,
			func() bool) {
			_, err := locking(t, s, false).LockKey(ctx, []byte("k"), rowlock.Update, false)
			require.NoError(t, err)
			tx := locking(t, s, false)
			return func() error {
				_, err := tx.LockKey(ctx, []byte("k"), rowlock.Update, false)
				return err
			}, func() bool { return len(s.RowLocks().Waits()) > 0 }
		},
		"a commit for a lock in the store": func(t *testing.T, s *txn.Store) (func() error,
			func() bool) {
			tx := begin(t, s) // the older one, or it would give in
			large(t, s, "k")
			require.NoError(t, tx.Set([]byte("k"), nil))
			return func() error { return tx.Commit(ctx) },
				func() bool { return len(s.LockWaits()) > 0 }
		},
		"a lockHolder for a lock in the store": func(t *testing.T, s *txn.Store) (func() error,
			func() bool) {
			large(t, s, "k")
			tx := locking(t, s, false)
			return func() error {
				_, err := tx.LockKey(ctx, []byte("k"), rowlock.Update, false)
				return err
			}, func() bool { return len(s.LockWaits()) > 0 }
		},
	}
	for name, set := range waits {
		for _, shared := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, shared %v", name, shared), func(t *testing.T) {
				s, err := openTxn(ctx, memkv.New(memkv.Options{Shared: shared}), txn.Options{
					StreamBytes: 1 << 10, LockWait: time.Hour, LockTTL: time.Hour,
					Lease: time.Hour})
				require.NoError(t, err)
				wait, waits := set(t, s)
				done, closed := make(chan error, 1), make(chan error, 1)
				go func() { done <- wait() }()
				awaitOrFail(t, name, done, waits)
				go func() { closed <- s.Close() }()
				require.ErrorIs(t, <-done, txn.ErrClosed)
				require.NoError(t, <-closed)
				require.ErrorIs(t, s.Close(), txn.ErrClosed)
			})
		}
	}
}

// large begins a transaction that has a lock of the key in the store, and lets it run.
func large(t *testing.T, s *txn.Store, key string) {
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte(key), make([]byte, 2<<10)))
	t.Cleanup(func() { require.NoError(t, tx.Rollback(context.Background())) })
}

// TestCloseEndsTheWaitForASafeSnapshot: it may wait for a writer that is never committed.
func TestCloseEndsTheWaitForASafeSnapshot(t *testing.T) {
	ctx := context.Background()
	s, err := openTxn(ctx, memkv.New(memkv.Options{}), txn.Options{})
	require.NoError(t, err)
	_, err = s.Begin(ctx, txn.BeginOptions{Serializable: true})
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := s.Begin(ctx,
			txn.BeginOptions{Serializable: true, ReadOnly: true, Deferrable: true, Session: 1})
		done <- err
	}()
	awaitOrFail(t, "deferrable", done, func() bool { return len(s.SafeSnapshotWaits()) > 0 })
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-done, txn.ErrClosed)
}

// heldSecondaries holds the lazy updates that come after a durable one, the commit point, until
// they are let go.
type heldSecondaries struct {
	kv.Engine
	armed   atomic.Bool
	hold    atomic.Bool
	held    chan struct{} // closed when the first one came
	release chan struct{}
	once    sync.Once
	done    atomic.Int64 // after the first one came
}

func (e *heldSecondaries) Exclusive() bool { return true }

func (e *heldSecondaries) Update(ctx context.Context, rows [][]byte, step kv.Step) error {
	err := e.Engine.Update(ctx, rows, step)
	e.hold.CompareAndSwap(false, e.armed.Load())
	return err
}

func (e *heldSecondaries) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	if e.hold.Load() {
		e.once.Do(func() { close(e.held) })
		<-e.release
		e.done.Add(1)
	}
	return kv.UpdateLazy(ctx, e.Engine, rows, step)
}

// TestCloseLeavesTheSecondariesOfLargeCommits: once Close has begun, the background ends with the
// batch that it is at. The next Open settles what is left, and reads lose nothing.
func TestCloseLeavesTheSecondariesOfLargeCommits(t *testing.T) {
	const rows, perBatch = 2000, 100
	for name, opts := range map[string]txn.Options{
		"two phases": {Protocol: txn.TwoPhase, BatchKeys: perBatch},
		"streamed":   {Protocol: txn.TwoPhase, BatchKeys: perBatch, StreamBytes: 4 << 10},
	} {
		ctx := context.Background()
		base := memkv.New(memkv.Options{})
		e := &heldSecondaries{Engine: base, held: make(chan struct{}), release: make(chan struct{})}
		// nothing else is updated
		opts.Clock, opts.LockTTL = still, time.Hour
		s, err := openTxn(ctx, e, opts)
		require.NoError(t, err)
		tx := begin(t, s)
		for i := range rows {
			require.NoError(t, tx.Set(fmt.Appendf(nil, "k%04d", i), []byte("v")))
		}
		e.armed.Store(true)
		require.NoError(t, tx.Commit(ctx))
		<-e.held
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		for err = nil; err == nil; { // until Close has begun
			if tx, err = s.Begin(ctx, txn.BeginOptions{}); err == nil {
				require.NoError(t, tx.Rollback(ctx))
			}
		}
		close(e.release)
		require.NoError(t, <-closed)
		require.EqualValues(t, 1, e.done.Load(), "%s: batches", name)

		s, err = openTxn(ctx, base, txn.Options{})
		require.NoError(t, err)
		require.Len(t, scan(t, begin(t, s), kv.Span{}, txn.ScanOptions{}), rows, name)
		s.AwaitSecondaries()
		checkStore(t, base, name)
		require.NoError(t, s.Close())
	}
}

// TestFoundLocksAreSettledAtOnce: reads are cheap again as soon as the locks that a crash left are
// gone, which takes no reader and no collection.
func TestFoundLocksAreSettledAtOnce(t *testing.T) {
	ctx := context.Background()
	for _, crash := range []txn.CrashPoint{txn.AfterPrewrite, txn.AfterCommitPoint} {
		const rows, perTxn = 3000, 1500
		e := memkv.New(memkv.Options{})
		s, err := openTxn(ctx, e, txn.Options{Protocol: txn.TwoPhase, Clock: still,
			CrashPoint: func(p txn.CrashPoint) bool { return p == crash }})
		require.NoError(t, err)
		for i := 0; i < rows; {
			tx := begin(t, s)
			for range perTxn {
				require.NoError(t, tx.Set(fmt.Appendf(nil, "k%04d", i), []byte("v")))
				i++
			}
			require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned)
		}
		require.NoError(t, s.Close())

		rec := record.New(e)
		before := rec.Counts()
		s = openStore(t, rec, txn.Options{Retention: time.Hour, Clock: still})
		s.AwaitSecondaries()
		require.LessOrEqual(t, rec.Since(before).Lazy, int64(rows/256+10),
			"neighbours are settled together")
		checkStore(t, e, string(crash))

		before = rec.Counts()
		for i := range 100 {
			tx := begin(t, s)
			want := map[txn.CrashPoint]any{txn.AfterPrewrite: nil, txn.AfterCommitPoint: "v"}[crash]
			require.Equal(t, want, get(t, tx, fmt.Sprintf("k%04d", i)))
			require.NoError(t, tx.Rollback(ctx))
		}
		since := rec.Since(before)
		require.Less(t, since.Snapshots, int64(10),
			"%s: readers take the snapshot that another left", crash)
		require.Zero(t, since.Gets, "%s: nobody looks for locks", crash)
	}
}
