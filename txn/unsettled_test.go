package txn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// unsettling are options with which a transaction of many writes is large, and leaves all its locks
// but for one batch.
func unsettling() txn.Options {
	return txn.Options{StreamBytes: 1 << 10, BatchKeys: 4, Clock: still, RowCacheBytes: -1,
		CrashPoint: func(p txn.CrashPoint) bool { return p == txn.AfterSecondaryBatch }}
}

// largeKeys is how many keys a transaction of at least unsettling's StreamBytes writes.
const largeKeys = 30

// largeOf begins a transaction that has written so many keys that begin with a letter, and streamed
// them out.
func largeOf(t testing.TB, s *txn.Store, letter string) *txn.Txn {
	streamed := 0
	tx, err := s.Begin(context.Background(),
		txn.BeginOptions{OnStream: func(txn.Streamed) { streamed++ }})
	require.NoError(t, err)
	for i := range largeKeys {
		require.NoError(t, tx.Set(fmt.Appendf(nil, "%s%02d", letter, i), []byte("2")))
	}
	require.Positive(t, streamed)
	return tx
}

// largeCommitIsSeen: a snapshot is left while a large transaction runs, and taken again after its
// commit.
func largeCommitIsSeen(sc *scene) {
	opts := unsettling()
	opts.StreamBytes, opts.BatchKeys = 1, 1
	s := sc.open(single(), opts)
	tx := sc.writer(s, "a", "1", "b", "1", "c", "1", "d", "1")
	sc.want("while it runs", sc.read(s, "c", "d"), "c=- d=- ")
	before := sc.begin(s)
	sc.must(tx.Commit(sc.ctx), "commit")
	sc.want("after the commit", sc.read(s, "c", "d", "x"), "c=1 d=1 x=- ")
	sc.want("before the commit", sc.get(before, "d"), "-")
}

// TestReadersShareASnapshotBesideALargeTransaction counts what reads ask the engine for while a
// large transaction runs, and while its locks wait to be settled: no snapshot of their own, and no
// look at locks where there are none (O5).
func TestReadersShareASnapshotBesideALargeTransaction(t *testing.T) {
	rec := record.New(memkv.New(memkv.Options{}))
	s := openStore(t, rec, unsettling())
	commit(t, s, "a", "1", "m10", "1", "z", "1")
	read := func(keys ...string) record.Counts {
		for _, key := range keys {
			readOne(t, s, key) // the first one may take a snapshot
		}
		before := rec.Counts()
		for range 5 {
			for _, key := range keys {
				readOne(t, s, key)
			}
		}
		return rec.Since(before)
	}
	rolledBack, tx := largeOf(t, s, "b"), largeOf(t, s, "m")
	require.Equal(t, record.Counts{}, read("a", "b20", "m10", "m20", "z"),
		"they run, so their locks say nothing")
	require.NoError(t, rolledBack.Rollback(context.Background()))
	require.NoError(t, tx.Commit(context.Background()))
	require.Equal(t, record.Counts{Gets: 5}, read("a", "b20", "m20", "z"), "m20 is still locked")
	require.Equal(t, "", readOne(t, s, "b20"))
	require.Equal(t, "2", readOne(t, s, "m20"))
	require.Greater(t, locksIn(t, rec, "a", "z"), largeKeys)
}

// TestACommitLooksForNoLockOfALargeTransaction: in a span where it has none (O5).
func TestACommitLooksForNoLockOfALargeTransaction(t *testing.T) {
	rec := record.New(memkv.New(memkv.Options{}))
	s := openStore(t, rec, unsettling())
	commit(t, s, "a", "1", "z", "1")
	large := largeOf(t, s, "m")
	counts := func(key string) record.Counts {
		before := rec.Counts()
		tx := begin(t, s)
		require.NoError(t, tx.LockCurrent(context.Background(), []byte(key), rowlock.Update, true))
		require.NoError(t, tx.Set([]byte(key), []byte("3")))
		require.NoError(t, tx.Commit(context.Background()))
		since := rec.Since(before)
		since.Bytes = 0
		return since
	}
	want := record.Counts{Updates: 1, Sets: 1, Syncs: 1}
	require.Equal(t, want, counts("a"), "while it runs")
	require.NoError(t, large.Commit(context.Background()))
	require.Equal(t, want, counts("z"), "while its locks are not settled")
	require.Positive(t, counts("m20").Gets)
	require.Equal(t, "3", readOne(t, s, "m20"))
}

// TestReadersBesideLargeTransactionsSeeThemWhole: each transaction writes one value to keys of a
// span that they share, in pieces, and half of them roll back. Readers find one value in all the
// keys, by scans and by point reads, and never an older one than before.
func TestReadersBesideLargeTransactionsSeeThemWhole(t *testing.T) {
	ctx := context.Background()
	for name, e := range map[string]kv.Engine{"memory": memkv.New(memkv.Options{}),
		"pebble": openPebble(t)} {
		t.Run(name, func(t *testing.T) {
			s, err := openTxn(ctx, e, txn.Options{StreamBytes: 64, BatchKeys: 2})
			require.NoError(t, err)
			const keys, rounds, readers = 24, 60, 4
			write := func(round int) *txn.Txn {
				tx := begin(t, s)
				for _, k := range rand.Perm(keys) {
					require.NoError(t,
						tx.Set(fmt.Appendf(nil, "k%02d", k), fmt.Appendf(nil, "%06d", round)))
				}
				return tx
			}
			require.NoError(t, write(0).Commit(ctx))
			var wg sync.WaitGroup
			done := make(chan struct{})
			for range readers {
				wg.Go(func() {
					for last := "000000"; ; {
						last = readWhole(t, s, keys, last)
						select {
						case <-done:
							return
						default:
						}
					}
				})
			}
			for round := 1; round < rounds; round++ {
				tx := write(round)
				commit(t, s, "other", fmt.Sprint(round))
				if round%2 == 0 {
					require.NoError(t, tx.Rollback(ctx))
				} else {
					require.NoError(t, tx.Commit(ctx))
				}
			}
			close(done)
			wg.Wait()
			require.Equal(t, fmt.Sprintf("%06d", rounds-1), readWhole(t, s, keys, ""))
			s.AwaitSecondaries()
			require.NoError(t, s.Close())
			checkStore(t, e, "after Close")
			require.NoError(t, e.Close())
		})
	}
}

// readWhole reads all the keys in one transaction, and returns the value that each of them has.
func readWhole(t *testing.T, s *txn.Store, keys int, atLeast string) (value string) {
	tx := begin(t, s)
	defer func() { _ = tx.Rollback(context.Background()) }()
	for _, k := range rand.Perm(keys)[:1+rand.IntN(keys)] {
		got, err := tx.Get(context.Background(), fmt.Appendf(nil, "k%02d", k))
		if err != nil || value != "" && string(got) != value || string(got) < atLeast {
			t.Errorf("k%02d at %s is %q (%v), another key %q, before %q", k, tx.StartTS(), got, err,
				value, atLeast)
		}
		value = string(got)
	}
	if rand.IntN(2) == 0 {
		n := 0
		for _, pair := range scan(t, tx, kv.Span{Start: []byte("k"), End: []byte("l")},
			txn.ScanOptions{Reverse: rand.IntN(2) == 0}) {
			if n++; pair[4:] != value {
				t.Errorf("a scan at %s finds %s, a get %q", tx.StartTS(), pair, value)
			}
		}
		if n != keys {
			t.Errorf("a scan at %s finds %d keys", tx.StartTS(), n)
		}
	}
	return value
}
