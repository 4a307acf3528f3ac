package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// early begins a transaction that goes on from what is not durable yet.
func early(t testing.TB, s *txn.Store) *txn.Txn {
	tx := begin(t, s)
	tx.SetLocking(txn.Locking{Writes: true, Rereads: true, Early: true})
	return tx
}

// heldCommit is a store on which a transaction that had locked a, and wrote a and b, is committing:
// the engine shows it, and its sync is held.
type heldCommit struct {
	fs      *testfs.CrashFS
	s       *txn.Store
	release func()
	group   sync.WaitGroup
	older   []*txn.Txn // begun before it
}

func holdCommit(t *testing.T, older int) *heldCommit {
	ctx := context.Background()
	h := &heldCommit{fs: testfs.NewCrashFS()}
	e, err := pebblekv.Open("db", pebblekv.Options{FS: h.fs})
	require.NoError(t, err)
	h.s, err = openTxn(ctx, e, txn.Options{})
	require.NoError(t, err)
	commit(t, h.s, "a", "1", "b", "1")
	for range older {
		h.older = append(h.older, early(t, h.s))
	}
	tx := locking(t, h.s, true)
	require.NoError(t, tx.LockCurrent(ctx, []byte("a"), rowlock.Update, false))
	require.NoError(t, tx.Set([]byte("a"), []byte("2")))
	require.NoError(t, tx.Set([]byte("b"), []byte("2")))
	h.release = sync.OnceFunc(h.fs.HoldSyncs())
	h.group.Go(func() {
		if err := tx.Commit(ctx); err != nil {
			t.Error(err)
		}
	})
	for newest(t, e, "a") != "2" {
		runtime.Gosched()
	}
	t.Cleanup(func() {
		h.release()
		h.group.Wait()
		require.True(t, h.s.RowLocks().Empty())
		require.NoError(t, h.s.Close())
		require.NoError(t, e.Close())
	})
	return h
}

// waits runs fn, which must wait for the held sync, and returns its result once the sync is
// released.
func (h *heldCommit) waits(t *testing.T, fn func(ctx context.Context) error) <-chan error {
	t.Helper()
	ctx, result := newWatched(), make(chan error, 1)
	h.group.Go(func() { result <- fn(ctx) })
	select {
	case <-ctx.waiting:
	case err := <-result:
		t.Errorf("answered %v before the sync", err)
		result <- err
	}
	return result
}

// lockEarly gets a's lock as a transaction that waited for it does, and reads a again.
func lockEarly(t *testing.T, tx *txn.Txn) {
	ctx := context.Background()
	var stale *txn.StaleError
	require.ErrorAs(t, tx.LockCurrent(ctx, []byte("a"), rowlock.Update, false), &stale)
	require.NoError(t, tx.Advance(ctx))
	require.Equal(t, "2", get(t, tx, "a"))
}

// TestALockIsPassedOnBeforeTheSync is txn: I18.
func TestALockIsPassedOnBeforeTheSync(t *testing.T) {
	h := holdCommit(t, 1)
	tx := h.older[0]
	lockEarly(t, tx)
	require.NoError(t, tx.Set([]byte("a"), []byte("3")))
	require.Equal(t, "3", get(t, tx, "a"))
	done := h.waits(t, func(ctx context.Context) error { // its own lock covers a, and not b
		v, err := tx.Get(ctx, []byte("b"))
		if err == nil && string(v) != "2" {
			err = fmt.Errorf("b is %q", v)
		}
		return err
	})
	h.release()
	require.NoError(t, <-done)
	require.NoError(t, tx.Commit(context.Background()))
}

// TestALockWithoutEarlyWaitsForTheSync: without Locking.Early a transaction reads durable commits
// only.
func TestALockWithoutEarlyWaitsForTheSync(t *testing.T) {
	for _, rereads := range []bool{false, true} {
		h := holdCommit(t, 1)
		tx := h.older[0]
		tx.SetLocking(txn.Locking{Writes: true, Rereads: rereads})
		done := h.waits(t, func(ctx context.Context) error {
			return tx.LockCurrent(ctx, []byte("a"), rowlock.Update, false)
		})
		h.release()
		var conflict *txn.WriteConflictError
		var stale *txn.StaleError
		err := <-done
		require.Equal(t, rereads, errors.As(err, &stale))
		require.Equal(t, !rereads, errors.As(err, &conflict))
		require.NoError(t, tx.Rollback(context.Background()))
	}
}

// TestNothingIsToldBeforeTheSync: a commit without writes, a commit that fails and AwaitDurable
// wait for what the transaction has read.
func TestNothingIsToldBeforeTheSync(t *testing.T) {
	for name, tell := range map[string]func(ctx context.Context, tx *txn.Txn) error{
		"await":  func(ctx context.Context, tx *txn.Txn) error { return tx.AwaitDurable(ctx) },
		"commit": func(ctx context.Context, tx *txn.Txn) error { return tx.Commit(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			h := holdCommit(t, 1)
			tx := h.older[0]
			lockEarly(t, tx)
			done := h.waits(t, func(ctx context.Context) error { return tell(ctx, tx) })
			h.release()
			require.NoError(t, <-done)
			require.NoError(t, tx.Rollback(context.Background()))
		})
	}
}

// TestASnapshotReaderIsRefusedWithoutALock: to a transaction whose snapshot is older than the row,
// it makes no difference how the present holder of the lock ends.
func TestASnapshotReaderIsRefusedWithoutALock(t *testing.T) {
	ctx := context.Background()
	everywhere(t, func(t *testing.T, s *txn.Store) {
		commit(t, s, "k", "1")
		old := locking(t, s, false)
		commit(t, s, "k", "2")
		holder := locking(t, s, false)
		require.NoError(t, holder.LockCurrent(ctx, []byte("k"), rowlock.Update, false))
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, old.LockCurrent(ctx, []byte("k"), rowlock.NoKeyUpdate, false), &conflict)
		require.NoError(t, old.Rollback(ctx))
		require.NoError(t, holder.Rollback(ctx))
		require.True(t, s.RowLocks().Empty())
	})
}

// TestEarlyLocksSurviveACrash counts in one hot key, with a record of every count, and checks what
// a crash leaves at any moment: an unbroken row of counts that has every count that was
// acknowledged, and every count that a transaction without writes returned.
func TestEarlyLocksSurviveACrash(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	fs := testfs.NewCrashFS()
	e, err := pebblekv.Open("db", pebblekv.Options{FS: fs, MemTableBytes: 256 << 10})
	require.NoError(t, err)
	s, err := openTxn(ctx, e, txn.Options{})
	require.NoError(t, err)
	commit(t, s, "hot", "0")
	var returned atomic.Int64 // the highest count that a client knows
	var group sync.WaitGroup
	for w := range 6 {
		group.Go(func() {
			for ctx.Err() == nil {
				n, err := countOnce(context.Background(), s, w < 5)
				if err != nil {
					t.Error(err)
					return
				}
				for old := returned.Load(); n > old && !returned.CompareAndSwap(old, n); {
					old = returned.Load()
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	for i := range rounds {
		for last := returned.Load(); returned.Load() < last+20; {
			runtime.Gosched()
		}
		known := returned.Load()
		checkCounts(t, fs.Crash(rng.IntN(101), rng), known, fmt.Sprintf("crash %d", i))
	}
	cancel()
	group.Wait()
	require.True(t, s.RowLocks().Empty())
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}

// countOnce adds one to the hot key, or only looks at it under its lock, and returns the count.
func countOnce(ctx context.Context, s *txn.Store, write bool) (int64, error) {
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	tx.SetLocking(txn.Locking{Writes: true, Rereads: true, Early: true})
	err = tx.LockCurrent(ctx, []byte("hot"), rowlock.NoKeyUpdate, false)
	if stale := (*txn.StaleError)(nil); errors.As(err, &stale) {
		err = tx.Advance(ctx)
	}
	if err != nil {
		return 0, err
	}
	v, err := tx.Get(ctx, []byte("hot"))
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || !write {
		return n, errors.Join(err, tx.Commit(ctx))
	}
	n++
	text := strconv.FormatInt(n, 10)
	return n, errors.Join(tx.Set([]byte("hot"), []byte(text)),
		tx.Set([]byte("count/"+text), []byte(text)), tx.Commit(ctx))
}

func checkCounts(t *testing.T, fs *testfs.CrashFS, known int64, when string) {
	e, err := pebblekv.Open("db", pebblekv.Options{FS: fs})
	require.NoError(t, err, when)
	s, err := openTxn(context.Background(), e, txn.Options{})
	require.NoError(t, err, when)
	tx := begin(t, s)
	hot, err := strconv.ParseInt(get(t, tx, "hot").(string), 10, 64)
	require.NoError(t, err, when)
	require.GreaterOrEqual(t, hot, known, when)
	for n := int64(1); n <= hot; n++ {
		require.NotNil(t, get(t, tx, "count/"+strconv.FormatInt(n, 10)), "%s: count %d of %d", when,
			n, hot)
	}
	require.Nil(t, get(t, tx, "count/"+strconv.FormatInt(hot+1, 10)), when)
	require.NoError(t, tx.Rollback(context.Background()))
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}
