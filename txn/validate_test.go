package txn_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

func pointSpan(key string) kv.Span { return kv.Span{Start: []byte(key), End: []byte(key + "\x00")} }

func prefixSpan(p string) kv.Span { return kv.Span{Start: []byte(p), End: kv.PrefixEnd([]byte(p))} }

func TestValidationRefusesWhatOthersChangedSince(t *testing.T) {
	ctx := context.Background()
	everywhere(t, func(t *testing.T, s *txn.Store) {
		commit(t, s, "desc", "v1", "row/1", "a", "row/2", "b")
		for _, c := range []struct {
			name    string
			span    kv.Span
			change  func(tx *txn.Txn) error
			refused bool
		}{
			{"a point that was put", pointSpan("desc"),
				func(tx *txn.Txn) error { return tx.Set([]byte("desc"), []byte("v2")) }, true},
			{"another key", pointSpan("desc"),
				func(tx *txn.Txn) error { return tx.Set([]byte("desc2"), []byte("x")) }, false},
			{"a span that got a key", prefixSpan("row/"),
				func(tx *txn.Txn) error { return tx.Set([]byte("row/3"), []byte("c")) }, true},
			{"a span that lost a key", prefixSpan("row/"),
				func(tx *txn.Txn) error { return tx.Delete([]byte("row/3")) }, true},
			{"beside the span", prefixSpan("row/"),
				func(tx *txn.Txn) error { return tx.Set([]byte("rox"), []byte("c")) }, false},
		} {
			t.Run(c.name, func(t *testing.T) {
				tx := begin(t, s)
				tx.Validate(c.span)
				require.NoError(t, tx.Set([]byte("mine"), []byte("x")))
				other := begin(t, s)
				require.NoError(t, c.change(other))
				require.NoError(t, other.Commit(ctx))
				err := tx.Commit(ctx)
				if !c.refused {
					require.NoError(t, err)
					return
				}
				var conflict *txn.WriteConflictError
				require.ErrorAs(t, err, &conflict)
				require.True(t, c.span.Contains(conflict.Key))
			})
		}
	})
}

// TestAnIndexBuiltBesideWritersMissesNoRow is what validation is for: writers put rows, and index
// entries once the descriptor says that there is an index; meanwhile it is built from a scan.
func TestAnIndexBuiltBesideWritersMissesNoRow(t *testing.T) {
	ctx := context.Background()
	everywhere(t, func(t *testing.T, s *txn.Store) {
		commit(t, s, "desc", "plain")
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for n := range 40 {
					row := fmt.Sprintf("%d-%d", w, n)
					for retry(t, s, func(tx *txn.Txn) error { return putRow(ctx, tx, row) }) {
					}
				}
			})
		}
		wg.Go(func() {
			for retry(t, s, func(tx *txn.Txn) error { return buildIndex(ctx, tx) }) {
			}
		})
		wg.Wait()
		tx := begin(t, s)
		defer func() { _ = tx.Rollback(ctx) }()
		rows := scan(t, tx, prefixSpan("row/"), txn.ScanOptions{KeysOnly: true})
		entries := scan(t, tx, prefixSpan("index/"), txn.ScanOptions{KeysOnly: true})
		require.Len(t, rows, 160)
		require.Len(t, entries, 160)
	})
}

// retry runs a transaction and reports whether it lost and must be run again.
func retry(t *testing.T, s *txn.Store, run func(tx *txn.Txn) error) bool {
	return retryIn(t, s, txn.BeginOptions{}, run)
}

func retryIn(t *testing.T, s *txn.Store, opts txn.BeginOptions, run func(tx *txn.Txn) error) bool {
	ctx := context.Background()
	tx, err := s.Begin(ctx, opts)
	if err == nil {
		err = run(tx)
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	_ = tx.Rollback(ctx)
	var conflict *txn.WriteConflictError
	var locked *txn.LockedError
	if errors.As(err, &conflict) || errors.As(err, &locked) || unserializable(err) {
		return true
	}
	if err != nil {
		t.Error(err)
	}
	return false
}

// unserializable reports whether a serializable transaction was refused.
func unserializable(err error) bool {
	var read *txn.ReadConflictError
	var pair *txn.SerializationError
	return errors.As(err, &read) || errors.As(err, &pair)
}

func putRow(ctx context.Context, tx *txn.Txn, row string) error {
	desc, err := tx.Get(ctx, []byte("desc"))
	if err != nil {
		return err
	}
	tx.Validate(pointSpan("desc"))
	if string(desc) == "indexed" {
		if err := tx.Set([]byte("index/"+row), nil); err != nil {
			return err
		}
	}
	return tx.Set([]byte("row/"+row), []byte("x"))
}

func buildIndex(ctx context.Context, tx *txn.Txn) error {
	tx.Validate(prefixSpan("row/"))
	it, err := tx.Scan(ctx, prefixSpan("row/"), txn.ScanOptions{KeysOnly: true})
	if err != nil {
		return err
	}
	for it.Next() {
		if err := tx.Set([]byte("index/"+string(it.Key()[len("row/"):])), nil); err != nil {
			return err
		}
	}
	return errors.Join(it.Err(), it.Close(), tx.Set([]byte("desc"), []byte("indexed")))
}

// TestAnInsertThatIsTakenBackStillHadToBeRight: a client whose transaction inserts a key and
// deletes it again has learnt that the key was absent. If another transaction has written it
// meanwhile, the two cannot both commit; in one phase and in two.
func TestAnInsertThatIsTakenBackStillHadToBeRight(t *testing.T) {
	ctx := context.Background()
	for _, protocol := range []txn.Protocol{txn.Auto, txn.TwoPhase} {
		s := openStore(t, memkv.New(memkv.Options{}), txn.Options{Protocol: protocol})
		for i := range 4 {
			rival, more := i&1 != 0, i&2 == 0 // more: there is something to write
			tx := begin(t, s)
			require.NoError(t, tx.Insert([]byte("taken back"), []byte("1")))
			if more {
				require.NoError(t, tx.Set([]byte("other"), []byte("1")))
			}
			require.NoError(t, tx.Delete([]byte("taken back")))
			if rival {
				commit(t, s, "taken back", "rival"+strconv.Itoa(i))
			}
			err := tx.Commit(ctx)
			if !rival {
				require.NoError(t, err)
				continue
			}
			var conflict *txn.WriteConflictError
			require.ErrorAs(t, err, &conflict)
			require.Equal(t, "taken back", string(conflict.Key))
			require.Equal(t, "rival"+strconv.Itoa(i), readOne(t, s, "taken back"))
			gone := begin(t, s)
			require.NoError(t, gone.Delete([]byte("taken back")))
			require.NoError(t, gone.Commit(ctx))
		}
	}
}

// TestATransactionWithoutLocksWaitsForAnOlderOne: a transaction that has taken back all that it
// inserted is in no other's way, so it can wait for one that writes one of the keys; if that one
// fails, what its client learnt was true.
func TestATransactionWithoutLocksWaitsForAnOlderOne(t *testing.T) {
	require.NoError(t, prove(func(sc *scene) {
		s := sc.open(shared(), txn.Options{LockWait: time.Minute})
		older := sc.coordinator(s, "k")
		tx := sc.begin(s)
		sc.must(tx.Insert([]byte("k"), nil), "insert")
		sc.must(tx.Delete([]byte("k")), "delete")
		sc.must(older.prewrite("k", "theirs"), "prewrite")
		done := make(chan error, 1)
		go func() { done <- tx.Commit(sc.ctx) }()
		for len(s.LockWaits()) == 0 && len(done) == 0 {
			runtime.Gosched()
		}
		sc.must(older.rollback("k", true), "rollback")
		sc.must(<-done, "commit")
	}))
}

// TestANewKeyThatIsTakenBackLeavesNoTrace: what SetNew wrote and the same transaction deleted again
// is no conflict for the next writer of the key, and nothing is checked of it. Of a key that was
// there, or was written by Set, the deletion stays. A savepoint brings each back.
func TestANewKeyThatIsTakenBackLeavesNoTrace(t *testing.T) {
	ctx := context.Background()
	key := []byte("entry")
	for _, protocol := range []txn.Protocol{txn.Auto, txn.TwoPhase} {
		s := openStore(t, memkv.New(memkv.Options{}), txn.Options{Protocol: protocol})
		takeBack := func(write func(tx *txn.Txn) error) (next error) {
			tx, late := begin(t, s), begin(t, s)
			require.NoError(t, write(tx))
			require.NoError(t, tx.Set([]byte("other"), []byte("1")))
			require.NoError(t, tx.Delete(key))
			value, err := tx.Get(ctx, key)
			require.NoError(t, err)
			require.Nil(t, value)
			require.NoError(t, tx.Commit(ctx))
			require.Empty(t, readOne(t, s, "entry"))
			require.NoError(t, late.SetNew(key, []byte("late")))
			return late.Commit(ctx)
		}
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, takeBack(func(tx *txn.Txn) error { return tx.Set(key, []byte("1")) }),
			&conflict)
		require.NoError(t, takeBack(func(tx *txn.Txn) error { return tx.SetNew(key, []byte("1")) }))
		require.Equal(t, "late", readOne(t, s, "entry"))
		require.ErrorAs(t, takeBack(func(tx *txn.Txn) error { // the key is there now
			return errors.Join(tx.Delete(key), tx.SetNew(key, []byte("2")))
		}), &conflict)
		require.NoError(t, takeBack(func(tx *txn.Txn) error {
			return errors.Join(tx.SetNew(key, []byte("1")), tx.Delete(key),
				tx.SetNew(key, []byte("2")), tx.Set(key, []byte("3")))
		}))

		tx := begin(t, s)
		require.NoError(t, tx.Delete(key))
		require.NoError(t, tx.Commit(ctx))
		tx = begin(t, s)
		require.NoError(t, tx.SetNew(key, []byte("kept")))
		sp := tx.Savepoint()
		require.NoError(t, tx.Delete(key))
		tx.RollbackTo(sp)
		require.NoError(t, tx.Commit(ctx))
		require.Equal(t, "kept", readOne(t, s, "entry"))

		// What another wrote meanwhile does not concern a transaction that has taken its own key
		// back.
		tx = begin(t, s)
		require.NoError(t, tx.SetNew([]byte("new"), []byte("1")))
		require.NoError(t, tx.Delete([]byte("new")))
		commit(t, s, "new", "rival")
		require.NoError(t, tx.Commit(ctx))
		require.Equal(t, "rival", readOne(t, s, "new"))
	}
}

// TestManySpansAreValidatedTogether: of several readings of one span the earliest counts, and all
// spans are validated in one snapshot (B15).
func TestManySpansAreValidatedTogether(t *testing.T) {
	ctx := context.Background()
	rec := record.New(memkv.New(memkv.Options{Shared: true}))
	s := openStore(t, rec, txn.Options{LeaseRenewal: -1, Clock: still})
	const spans = 20_000
	point := func(i int) kv.Span {
		key := fmt.Appendf(nil, "p%05d", i)
		return kv.Span{Start: key, End: append(key[:len(key):len(key)], 0)}
	}
	tx := begin(t, s)
	early := tx.StartTS()
	commit(t, s, "p00007", "1")
	require.NoError(t, tx.Advance(ctx))
	for i := range 2 * spans {
		tx.Validate(point(10 + i%spans))
	}
	require.NoError(t, tx.Set([]byte("a"), nil))
	before := rec.Counts()
	require.NoError(t, tx.Commit(ctx))
	require.Less(t, rec.Since(before).Snapshots, int64(5))

	tx = begin(t, s)
	tx.Validate(point(7))
	tx.ValidateSince(point(7), early)
	require.NoError(t, tx.Set([]byte("a"), nil))
	var conflict *txn.WriteConflictError
	require.ErrorAs(t, tx.Commit(ctx), &conflict)
}

// TestLocksReadAsRecordsPassValidation: a transaction that reads a span while the locks of a large
// commit in it are not settled does not settle them when it validates the span. A commit above its
// read, and one that may yet come, still refuse it.
func TestLocksReadAsRecordsPassValidation(t *testing.T) {
	ctx := context.Background()
	at := txn.AfterCommitPoint
	rec := record.New(memkv.New(memkv.Options{}))
	s := openStore(t, rec, txn.Options{StreamBytes: 1 << 10,
		CrashPoint: func(p txn.CrashPoint) bool { return p == at }})
	const keys = 200
	large := func(what string) *txn.Txn {
		tx := begin(t, s)
		for i := range keys {
			require.NoError(t, tx.Set(fmt.Appendf(nil, "%s%06d", what, i), []byte("v")))
		}
		return tx
	}
	before, running := begin(t, s), begin(t, s)
	require.ErrorIs(t, large("k").Commit(ctx), txn.ErrAbandoned) // its locks stay
	validate := func(tx *txn.Txn, span string) error {
		tx.Validate(prefixSpan(span))
		require.NoError(t, tx.Set([]byte("mine "+span), nil))
		return tx.Commit(ctx)
	}

	after := begin(t, s)
	require.Len(t, scan(t, after, prefixSpan("k"), txn.ScanOptions{}), keys)
	counts := rec.Counts()
	require.NoError(t, validate(after, "k"))
	require.EqualValues(t, 1, rec.Since(counts).Updates)

	var conflict *txn.WriteConflictError
	require.ErrorAs(t, validate(before, "k0001"), &conflict) // its primary has a record elsewhere
	require.Equal(t, before.StartTS(), conflict.StartTS)

	other := large("l")
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, validate(running, "l"), context.Canceled, "it waits for the lock")
	require.NoError(t, other.Rollback(context.Background()))
}
