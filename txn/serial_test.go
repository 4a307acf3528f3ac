package txn_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

var serializable = txn.BeginOptions{Serializable: true}

func beginIn(t *testing.T, s *txn.Store, opts txn.BeginOptions) *txn.Txn {
	t.Helper()
	tx, err := s.Begin(context.Background(), opts)
	require.NoError(t, err)
	return tx
}

// TestWriteSkewIsRefused is txn: I10: two doctors, one of which has to stay.
func TestWriteSkewIsRefused(t *testing.T) {
	ctx := context.Background()
	everywhere(t, func(t *testing.T, s *txn.Store) {
		for round := range 20 {
			for _, k := range []string{"on/a", "on/b"} {
				commit(t, s, k, "1")
			}
			var wg sync.WaitGroup
			for _, who := range []string{"on/a", "on/b"} {
				wg.Go(func() {
					retryIn(t, s, serializable, func(tx *txn.Txn) error {
						it, err := tx.Scan(ctx, prefixSpan("on/"), txn.ScanOptions{})
						if err != nil {
							return err
						}
						n := 0
						for it.Next() {
							n++
						}
						if err := it.Close(); err != nil || n < 2 {
							return err
						}
						return tx.Delete([]byte(who))
					})
				})
			}
			wg.Wait()
			tx := begin(t, s)
			require.NotEmpty(t, scan(t, tx, prefixSpan("on/"), txn.ScanOptions{}), "round %d",
				round)
			require.NoError(t, tx.Rollback(ctx))
		}
	})
}

// TestReadsAreNotedAsFarAsTheyWent: of two transactions, each of which writes what the other has
// read, one is refused; what lies behind the last row that was taken was not read.
func TestReadsAreNotedAsFarAsTheyWent(t *testing.T) {
	ctx := context.Background()
	everywhere(t, func(t *testing.T, s *txn.Store) {
		for _, k := range []string{"a", "b", "c"} {
			commit(t, s, k, "1")
		}
		for _, c := range []struct {
			key     string
			reverse bool
			ok      bool
		}{{"b", false, false}, {"bb", false, true}, {"c", false, true}, {"aa", false, false}, {"bb",
			true, false}, {"aa", true, true}} {
			tx := beginIn(t, s, serializable)
			it, err := tx.Scan(ctx, kv.Span{Start: []byte("a"), End: []byte("d")},
				txn.ScanOptions{Reverse: c.reverse})
			require.NoError(t, err)
			for range 2 { // a, b, or c, b
				require.True(t, it.Next())
			}
			require.NoError(t, it.Close())
			other := beginIn(t, s, serializable)
			get(t, other, "z")
			require.NoError(t, other.Set([]byte(c.key), []byte("2")))
			require.NoError(t, other.Commit(ctx))
			err = tx.Set([]byte("z"), nil)
			if err == nil {
				err = tx.Commit(ctx)
			}
			require.Equal(t, c.ok, !unserializable(err), "%s, reverse %v: %v", c.key, c.reverse,
				err)
			require.NoError(t, tx.Rollback(ctx))
			commit(t, s, "a", "1", "b", "1", "c", "1")
			clean := begin(t, s)
			for _, k := range []string{"aa", "bb", "z"} {
				require.NoError(t, clean.Delete([]byte(k)))
			}
			require.NoError(t, clean.Commit(ctx))
		}
	})
}

// TestOneDependencyIsNoReason: a reader of what another has overwritten comes before it, and both
// commit.
func TestOneDependencyIsNoReason(t *testing.T) {
	ctx := context.Background()
	s := openStore(t, memkv.New(memkv.Options{}), txn.Options{})
	commit(t, s, "x", "1")
	tx := beginIn(t, s, serializable)
	require.Equal(t, "1", get(t, tx, "x"))
	other := beginIn(t, s, serializable)
	require.NoError(t, other.Set([]byte("x"), []byte("2")))
	require.NoError(t, other.Commit(ctx))
	require.NoError(t, tx.Set([]byte("y"), []byte("1")))
	require.NoError(t, tx.Commit(ctx))
}

// TestTheReadOnlyAnomaly (Fekete, O'Neil and O'Neil, 2004): a reader makes a history of two writers
// unserializable. One of them is refused, on a shared engine too.
func TestTheReadOnlyAnomaly(t *testing.T) {
	ctx := context.Background()
	everywhere(t, func(t *testing.T, s *txn.Store) {
		commit(t, s, "checking", "0", "savings", "0")
		report := func() error {
			r := beginIn(t, s, txn.BeginOptions{Serializable: true, ReadOnly: true})
			defer func() { require.NoError(t, r.Rollback(ctx)) }()
			for _, k := range []string{"checking", "savings"} {
				if _, err := r.Get(ctx, []byte(k)); err != nil {
					return err
				}
			}
			return r.Commit(ctx)
		}
		withdraw := beginIn(t, s, serializable)
		get(t, withdraw, "checking")
		get(t, withdraw, "savings")
		deposit := beginIn(t, s, serializable)
		get(t, deposit, "savings")
		require.NoError(t, deposit.Set([]byte("savings"), []byte("20")))
		require.NoError(t, deposit.Commit(ctx))
		err := report()
		if err == nil {
			err = withdraw.Set([]byte("checking"), []byte("-11"))
		}
		if err == nil {
			err = withdraw.Commit(ctx)
		}
		require.True(t, unserializable(err), "%v", err)
		require.NoError(t, withdraw.Rollback(ctx))
	})
}

// TestTheReadOnlyAnomalyBetweenProcesses: two stores on one engine. The first has validated what it
// read, when the second overwrites that and commits; a reader that sees the second and not the
// first has no place among them. So commit_ts is drawn before validation.
func TestTheReadOnlyAnomalyBetweenProcesses(t *testing.T) {
	ctx := context.Background()
	engine := memkv.New(memkv.Options{Shared: true})
	oracle, err := tso.Open(ctx, engine, mvcc.MetaKey("oracle"), tso.Options{})
	require.NoError(t, err)
	reached, goOn := make(chan struct{}), make(chan struct{})
	var stopped bool
	first := openStore(t, engine,
		txn.Options{Oracle: oracle, CrashPoint: func(p txn.CrashPoint) bool {
			if p == txn.AfterCommitTS && !stopped {
				stopped = true
				close(reached)
				<-goOn
			}
			return false
		}})
	second := openStore(t, engine, txn.Options{Oracle: oracle})
	commit(t, second, "x", "0", "y", "0")
	pivot := beginIn(t, first, serializable)
	require.Equal(t, "0", get(t, pivot, "x"))
	require.NoError(t, pivot.Set([]byte("y"), []byte("1")))
	done := make(chan error, 1)
	go func() { done <- pivot.Commit(ctx) }()
	<-reached // validated, and not committed
	commit(t, second, "x", "1")
	reader := beginIn(t, second, txn.BeginOptions{Serializable: true, ReadOnly: true})
	read := make(chan [2]string, 1)
	go func() {
		x, _ := reader.Get(ctx, []byte("x"))
		y, _ := reader.Get(ctx, []byte("y"))
		read <- [2]string{string(x), string(y)}
	}()
	seen := <-read
	close(goOn)
	err = <-done
	if seen == [2]string{"1", "0"} {
		require.True(t, unserializable(err), "the reader saw %v, and the pivot was told %v", seen,
			err)
	}
	require.NoError(t, reader.Rollback(ctx))
}

// TestDeferrableWaitsForASafeSnapshot: its snapshot is taken when no writer can spoil it, and then
// its reads need not be noted.
func TestDeferrableWaitsForASafeSnapshot(t *testing.T) {
	ctx := context.Background()
	s := openStore(t, memkv.New(memkv.Options{}), txn.Options{})
	deferrable := txn.BeginOptions{Serializable: true, ReadOnly: true, Deferrable: true, Session: 7}
	require.NoError(t, beginIn(t, s, deferrable).Commit(ctx)) // no writer to wait for
	commit(t, s, "x", "0", "y", "0")
	pivot := beginIn(t, s, txn.BeginOptions{Serializable: true, Session: 3})
	get(t, pivot, "x")
	out := beginIn(t, s, txn.BeginOptions{Serializable: true, Session: 4})
	require.NoError(t, out.Set([]byte("x"), []byte("1")))
	require.NoError(t, out.Commit(ctx))
	begun := make(chan *txn.Txn, 1)
	go func() {
		tx, err := s.Begin(ctx, deferrable)
		if err == nil {
			begun <- tx
		}
	}()
	waiting := func() bool { return len(s.SafeSnapshotWaits()) > 0 }
	for !waiting() {
		runtime.Gosched()
	}
	require.Equal(t, int64(7), s.SafeSnapshotWaits()[0].Owner)
	require.Equal(t, []int64{3}, s.SafeSnapshotWaits()[0].Blockers)
	require.NoError(t, pivot.Set([]byte("y"), []byte("1")))
	require.NoError(t, pivot.Commit(ctx)) // spoils the first snapshot: the second must have both
	tx := <-begun
	require.Equal(t, "1", get(t, tx, "x"))
	require.Equal(t, "1", get(t, tx, "y"))
	require.NoError(t, tx.Commit(ctx))

	writer := beginIn(t, s, serializable)
	canceled, cancel := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		_, err := s.Begin(canceled, deferrable)
		failed <- err
	}()
	for !waiting() {
		runtime.Gosched()
	}
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	require.False(t, waiting())
	require.NoError(t, writer.Rollback(ctx))
	require.Zero(t, s.Active())
}

// TestAnInsertDependsOnNobodyElsesAbsence: to look whether a key is there before it is inserted is
// no read that others could overwrite, unless a savepoint may take the insert back.
func TestAnInsertDependsOnNobodyElsesAbsence(t *testing.T) {
	ctx := context.Background()
	s := openStore(t, memkv.New(memkv.Options{}), txn.Options{})
	for _, savepoint := range []bool{false, true} {
		commit(t, s, "x", "0", "y", "0")
		tx := beginIn(t, s, serializable)
		get(t, tx, "x")
		other := beginIn(t, s, serializable)
		if savepoint {
			sp := other.Savepoint()
			_, err := other.Peek(ctx, []byte("k"))
			require.NoError(t, err)
			require.NoError(t, other.Insert([]byte("k"), nil))
			other.RollbackTo(sp)
		} else {
			_, err := other.Peek(ctx, []byte("k"))
			require.NoError(t, err)
		}
		require.NoError(t, other.Set([]byte("x"), []byte("1")))
		require.NoError(t, other.Commit(ctx))
		err := tx.Set([]byte("k"), nil)
		require.Equal(t, savepoint, unserializable(err), "%v", err)
		require.NoError(t, tx.Rollback(ctx))
	}
}
