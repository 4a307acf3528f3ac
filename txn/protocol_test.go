package txn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// duringCommit opens a store on which a function runs when a commit passes a crash point.
func duringCommit(t *testing.T, e kv.Engine, opts txn.Options, at txn.CrashPoint,
	run func()) *txn.Store {
	opts.CrashPoint = func(p txn.CrashPoint) bool {
		if p == at && run != nil {
			f := run
			run = nil
			f()
		}
		return false
	}
	s, err := openTxn(context.Background(), e, opts)
	require.NoError(t, err)
	return s
}

// TestAReaderPushesALivingWriterAboveItself: the writer has drawn its commit timestamp already; the
// reader, which starts above it, does not wait, and the writer has to draw again.
func TestAReaderPushesALivingWriterAboveItself(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{})
	s := duringCommit(t, e, txn.Options{Protocol: txn.TwoPhase}, "", nil)
	commit(t, s, "a", "1", "b", "1")
	require.NoError(t, s.Close())
	var reader *txn.Txn
	s = duringCommit(t, e, txn.Options{Protocol: txn.TwoPhase}, txn.AfterCommitTS, func() {
		reader = begin(t, s)
		require.Equal(t, "1", get(t, reader, "b"),
			"the secondary's lock leads to the primary, which is pushed")
	})
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("2")))
	require.NoError(t, tx.Set([]byte("b"), []byte("2")))
	require.NoError(t, tx.Commit(ctx))
	require.Greater(t, tx.CommitTS(), reader.StartTS())
	require.Equal(t, "1", get(t, reader, "a"))
	require.Equal(t, "1", get(t, reader, "b"))
	later := begin(t, s)
	require.Equal(t, []string{"a=2", "b=2"}, scan(t, later, kv.Span{}, txn.ScanOptions{}))
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, later.Rollback(ctx))
	require.NoError(t, s.Close())
}

// TestALatePrewriteIsStopped: a resolver has decided that the transaction is dead; its prewrite and
// its commit arrive afterwards.
func TestALatePrewriteIsStopped(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{Splits: [][]byte{[]byte("m")}})
	clock := int64(1000)
	var s *txn.Store
	s = duringCommit(t, e, txn.Options{Clock: func() int64 { return clock }},
		txn.AfterPrewritePrimary, func() {
			clock += 60_000
			s.TakeForDead()
			other := begin(t, s)
			require.Nil(t, get(t, other, "a"), "the reader rolls the expired primary back")
			require.NoError(t, other.Rollback(ctx))
		})
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	require.NoError(t, tx.Set([]byte("z"), []byte("1")))
	var conflict *txn.WriteConflictError
	require.ErrorAs(t, tx.Commit(ctx), &conflict)
	reader := begin(t, s)
	require.Empty(t, scan(t, reader, kv.Span{}, txn.ScanOptions{}))
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, s.Close())
}

// TestAMissingPrimaryIsBarredBeforeASecondaryIsRolledBack: the secondaries' prewrite overtook the
// primary's. A transaction that meets them waits for the TTL, then writes a rollback where the
// primary would be written (txn: I5).
func TestAMissingPrimaryIsBarredBeforeASecondaryIsRolledBack(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{})
	clock := int64(1000)
	s, err := openTxn(ctx, e, txn.Options{Protocol: txn.TwoPhase,
		Clock: func() int64 { return clock }, LockWait: time.Millisecond})
	require.NoError(t, err)
	owner := begin(t, s)
	p := mvcc.PrewriteParams{StartTS: owner.StartTS(), Primary: []byte("p"), TTLMillis: 3000}
	prewrite := func(key string) error {
		row := mvcc.Row([]byte(key))
		return e.Update(ctx, [][]byte{row}, func(r kv.Reader, b *kv.Batch) error {
			return mvcc.Prewrite(ctx, r, b, p,
				[]mvcc.Mutation{{Key: []byte(key), Row: row, Kind: mvcc.KindPut,
					Value: []byte("v")}})
		})
	}
	require.NoError(t, prewrite("s"))
	// As on a shared store: this one did not place the lock itself, so it has to look.
	require.NoError(t, s.Close())
	s, err = openTxn(ctx, memkvShared{e},
		txn.Options{Oracle: sourceOf(s), LockWait: time.Millisecond})
	require.NoError(t, err)

	reader := begin(t, s)
	_, err = reader.Get(ctx, []byte("s"))
	var locked *txn.LockedError
	require.ErrorAs(t, err, &locked, "the primary may still be on its way")
	clock += 5000
	require.Nil(t, get(t, reader, "s"))
	var rolled *mvcc.RolledBackError
	require.ErrorAs(t, prewrite("p"), &rolled, "it came too late")
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, s.Close())
}

// memkvShared denies that the engine is exclusive.
type memkvShared struct{ kv.Engine }

// sourceOf returns the oracle of a store that was closed, as a source for another.
func sourceOf(s *txn.Store) tso.Source { return s.Oracle() }

func TestALongTransactionIsNotBornExpired(t *testing.T) {
	ctx := context.Background()
	clock := int64(1000)
	var s *txn.Store
	s = duringCommit(t, memkv.New(memkv.Options{}),
		txn.Options{Protocol: txn.TwoPhase, Clock: func() int64 { return clock }},
		txn.AfterPrewrite, func() {
			clock += 2000 // within the TTL, counted from the prewrite
			other := begin(t, s)
			require.Nil(t, get(t, other, "a"))
			require.NoError(t, other.Rollback(ctx))
		})
	tx := begin(t, s)
	clock += 3_600_000 // an hour in psql
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	require.NoError(t, tx.Commit(ctx), "its lock was taken for a living one's")
	require.NoError(t, s.Close())
}

func TestACommitOfManyBatchesShowsThatItLives(t *testing.T) {
	ctx := context.Background()
	clock := int64(1000)
	var s *txn.Store
	opts := txn.Options{Protocol: txn.TwoPhase, BatchKeys: 1,
		Clock: func() int64 { clock += 100; return clock }}
	s = duringCommit(t, memkv.New(memkv.Options{}), opts, txn.AfterPrewrite, func() {
		other := begin(t, s)
		require.Nil(t, get(t, other, "k00"))
		require.NoError(t, other.Rollback(ctx))
	})
	tx := begin(t, s)
	for i := range 50 {
		require.NoError(t, tx.Set(fmt.Appendf(nil, "k%02d", i), []byte("v")))
	}
	require.NoError(t, tx.Commit(ctx), "ten seconds of prewrites under a lock of three")
	require.NoError(t, s.Close())
}

func TestTheSafepointWaitsForRunningTransactions(t *testing.T) {
	everywhere(t, func(t *testing.T, s *txn.Store) {
		ctx := context.Background()
		commit(t, s, "a", "1")
		old := begin(t, s)
		commit(t, s, "a", "2")
		st, err := s.CollectGarbage(ctx)
		require.NoError(t, err)
		require.LessOrEqual(t, st.Safepoint, old.StartTS())
		require.Equal(t, "1", get(t, old, "a"), "txn: I6")
		again, err := s.Begin(ctx, txn.BeginOptions{StartTS: old.StartTS()})
		require.NoError(t, err)
		require.Equal(t, "1", get(t, again, "a"))
		require.NoError(t, again.Rollback(ctx))
		ts := old.StartTS()
		require.NoError(t, old.Rollback(ctx))
		st, err = s.CollectGarbage(ctx)
		require.NoError(t, err)
		require.Equal(t, 1, st.Versions)
		_, err = s.Begin(ctx, txn.BeginOptions{StartTS: ts})
		var below *txn.SafepointError
		require.ErrorAs(t, err, &below)
		require.Equal(t, s.Safepoint(), below.Safepoint)
		require.Zero(t, s.Active())
	})
}

func TestTheSafepointSurvivesARestart(t *testing.T) {
	ctx := context.Background()
	e := openPebble(t)
	s, err := openTxn(ctx, e, txn.Options{})
	require.NoError(t, err)
	commit(t, s, "a", "1")
	commit(t, s, "a", "2")
	st, err := s.CollectGarbage(ctx)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	s, err = openTxn(ctx, e, txn.Options{})
	require.NoError(t, err)
	_, err = s.Begin(ctx, txn.BeginOptions{StartTS: st.Safepoint - 1})
	var below *txn.SafepointError
	require.ErrorAs(t, err, &below)
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}

func TestRetentionKeepsThePast(t *testing.T) {
	ctx := context.Background()
	clock := int64(1_000_000)
	s, err := openTxn(ctx, memkv.New(memkv.Options{}),
		txn.Options{Clock: func() int64 { return clock }, Retention: time.Minute})
	require.NoError(t, err)
	commit(t, s, "a", "1")
	then, err := s.Now(ctx)
	require.NoError(t, err)
	clock += 1000
	commit(t, s, "a", "2")
	_, err = s.CollectGarbage(ctx)
	require.NoError(t, err)
	past, err := s.Begin(ctx, txn.BeginOptions{StartTS: then})
	require.NoError(t, err)
	require.Equal(t, "1", get(t, past, "a"))
	require.NoError(t, past.Rollback(ctx))
	clock += 600_000
	_, err = s.CollectGarbage(ctx)
	require.NoError(t, err)
	_, err = s.Begin(ctx, txn.BeginOptions{StartTS: then})
	var below *txn.SafepointError
	require.ErrorAs(t, err, &below)
	require.NoError(t, s.Close())
}

func TestACancelledCommitLeavesNothing(t *testing.T) {
	everywhere(t, func(t *testing.T, s *txn.Store) {
		ctx, cancel := context.WithCancel(context.Background())
		tx := begin(t, s)
		require.NoError(t, tx.Set([]byte("a"), []byte("1")))
		cancel()
		require.ErrorIs(t, tx.Commit(ctx), context.Canceled)
		require.ErrorIs(t, tx.Commit(ctx), txn.ErrTxnDone)
		tx = begin(t, s)
		require.Nil(t, get(t, tx, "a"))
		_, err := tx.Get(ctx, []byte("a"))
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
		require.NoError(t, tx.Rollback(context.Background()))
	})
}

func TestLargeTransactionsAreCutIntoBatches(t *testing.T) {
	for _, opts := range []txn.Options{{Protocol: txn.TwoPhase, BatchKeys: 7},
		{Protocol: txn.TwoPhase, BatchBytes: 100}, {}} {
		ctx := context.Background()
		e := openPebble(t)
		s, err := openTxn(ctx, e, opts)
		require.NoError(t, err)
		tx := begin(t, s)
		var want []string
		for i := range 500 {
			key, value := fmt.Sprintf("k%03d", i), strings.Repeat("v", i)
			require.NoError(t, tx.Set([]byte(key), []byte(value)))
			want = append(want, key+"="+value)
		}
		require.NoError(t, tx.Commit(ctx))
		tx = begin(t, s)
		require.Equal(t, want, scan(t, tx, kv.Span{}, txn.ScanOptions{}))
		require.NoError(t, tx.Rollback(ctx))
		require.NoError(t, s.Close())
		snap, err := e.Snapshot()
		require.NoError(t, err)
		require.NoError(t, mvcc.Locks(ctx, snap, kv.Span{}, func(key []byte, _ mvcc.Lock) error {
			return fmt.Errorf("lock left on %q: Close waits for the background committer", key)
		}))
		require.NoError(t, snap.Close())
		require.NoError(t, e.Close())
	}
}

func TestAnOpenIteratorDoesNotSeeLaterWrites(t *testing.T) {
	everywhere(t, func(t *testing.T, s *txn.Store) {
		ctx := context.Background()
		commit(t, s, "a", "1", "b", "1", "c", "1")
		tx := begin(t, s)
		require.NoError(t, tx.Set([]byte("b"), []byte("2")))
		it, err := tx.Scan(ctx, kv.Span{}, txn.ScanOptions{})
		require.NoError(t, err)
		var got []string
		for it.Next() {
			got = append(got, fmt.Sprintf("%s=%s", it.Key(), it.Value()))
			// What an UPDATE does: it must not meet its own new rows.
			require.NoError(t, tx.Set(append([]byte("z"), it.Key()...), it.Value()))
			require.NoError(t, tx.Set(it.Key(), []byte("9")))
			tx.Idle()
			require.Nil(t, get(t, tx, "nothing"))
		}
		require.NoError(t, it.Err())
		require.NoError(t, it.Close())
		require.Equal(t, []string{"a=1", "b=2", "c=1"}, got)
		require.Len(t, scan(t, tx, kv.Span{}, txn.ScanOptions{}), 6)
		require.Equal(t, []string{"a=", "b=", "c=", "za=", "zb=", "zc="},
			scan(t, tx, kv.Span{}, txn.ScanOptions{KeysOnly: true}))
		require.NoError(t, tx.Commit(ctx))
	})
}

func TestManyVersionsAreSteppedOver(t *testing.T) {
	everywhere(t, func(t *testing.T, s *txn.Store) {
		ctx := context.Background()
		var readers []*txn.Txn
		for v := range 12 {
			commit(t, s, "a", fmt.Sprint(v), "b", fmt.Sprint(v), "c",
				strings.Repeat("x", 300)+fmt.Sprint(v))
			readers = append(readers, begin(t, s))
		}
		for v, r := range readers {
			want := []string{fmt.Sprintf("a=%d", v), fmt.Sprintf("b=%d", v),
				fmt.Sprintf("c=%s%d", strings.Repeat("x", 300), v)}
			require.Equal(t, want, scan(t, r, kv.Span{}, txn.ScanOptions{}))
			require.Equal(t, []string{want[2], want[1], want[0]},
				scan(t, r, kv.Span{}, txn.ScanOptions{Reverse: true}))
			require.Equal(t, fmt.Sprint(v), get(t, r, "b"))
			require.NoError(t, r.Rollback(ctx))
		}
	})
}

func TestAClosedStoreSaysSo(t *testing.T) {
	everywhere(t, func(t *testing.T, s *txn.Store) {
		tx := begin(t, s)
		require.NoError(t, tx.Set([]byte("a"), []byte("1")))
		other, err := openTxn(context.Background(), s.Engine(), txn.Options{Oracle: s.Oracle()})
		require.NoError(t, err)
		require.NoError(t, other.Close())
		_, err = other.Begin(context.Background(), txn.BeginOptions{})
		require.ErrorIs(t, err, txn.ErrClosed)
		require.ErrorIs(t, other.Close(), txn.ErrClosed)
		require.NoError(t, tx.Commit(context.Background()))
		_, err = tx.Get(context.Background(), []byte("a"))
		require.ErrorIs(t, err, txn.ErrTxnDone)
		require.ErrorIs(t, tx.Set(nil, nil), txn.ErrTxnDone)
	})
}

// TestSettlingAllLocksBesideATransaction: it begins before SettleLocks does and commits meanwhile,
// so its secondaries are not all met. They must still be looked for.
func TestSettlingAllLocksBesideATransaction(t *testing.T) {
	ctx := context.Background()
	e := &afterSnapshot{Engine: memkv.New(memkv.Options{})}
	s := duringCommit(t, e, txn.Options{Protocol: txn.TwoPhase}, "", nil)
	commit(t, s, "a", "1", "b", "1")
	require.NoError(t, s.Close())
	s, err := openTxn(ctx, e, txn.Options{Protocol: txn.TwoPhase,
		CrashPoint: func(p txn.CrashPoint) bool {
			// so its secondaries stay locked, as if the background were slow
			return p == txn.AfterCommitPoint
		}})
	require.NoError(t, err)
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("2")))
	require.NoError(t, tx.Set([]byte("b"), []byte("2")))
	e.then = func() { require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned) }
	_, err = s.SettleLocks(ctx)
	require.NoError(t, err)
	reader := begin(t, s)
	require.Equal(t, "2", get(t, reader, "a"))
	require.Equal(t, "2", get(t, reader, "b"))
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, s.Close())
}

// afterSnapshot runs a function after the next snapshot was taken.
type afterSnapshot struct {
	kv.Engine
	then func()
}

func (e *afterSnapshot) Exclusive() bool { return true }

func (e *afterSnapshot) Snapshot() (kv.Snapshot, error) {
	snap, err := e.Engine.Snapshot()
	if f := e.then; f != nil {
		e.then = nil
		f()
	}
	return snap, err
}
