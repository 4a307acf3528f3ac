package txn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/stretchr/testify/require"
)

// fillRows loads n rows into rowsSpan in an order of its own, some with long values, and sets what
// leads to them.
func fillRows(t testing.TB, tx *txn.Txn, n int, value string) {
	t.Helper()
	require.NoError(t, tryFill(tx, n, value))
	require.NoError(t, tx.Set(way, fmt.Appendf(nil, "%d %s", n, value)))
}

func tryFill(tx *txn.Txn, n int, value string) error {
	ctx := context.Background()
	load, err := tx.NewLoad(ctx, rowsSpan)
	if err != nil {
		return err
	}
	defer load.Abandon()
	for _, i := range rand.New(rand.NewPCG(uint64(n), 0)).Perm(n) {
		if err := load.Add(ctx, loadKey(i), loadValue(i, value)); err != nil {
			return err
		}
	}
	return load.Finish(ctx)
}

func loadKey(i int) []byte { return fmt.Appendf(nil, "r%05d", i) }

func loadValue(i int, value string) []byte {
	if i%10 == 0 {
		return []byte(strings.Repeat(value, 300))
	}
	return fmt.Appendf(nil, "%s%d", value, i)
}

// checkFilled checks that a transaction that finds the way finds all that it leads to, and nothing
// else.
func checkFilled(t testing.TB, tx *txn.Txn) (n int, value string) {
	t.Helper()
	ctx := context.Background()
	at, err := tx.Get(ctx, way)
	require.NoError(t, err)
	if at == nil {
		return 0, ""
	}
	_, err = fmt.Sscan(string(at), &n, &value)
	require.NoError(t, err)
	it, err := tx.Scan(ctx, rowsSpan, txn.ScanOptions{})
	require.NoError(t, err)
	for i := range n {
		require.True(t, it.Next(), "row %d of %d", i, n)
		require.Equal(t, string(loadKey(i)), string(it.Key()))
		require.Equal(t, string(loadValue(i, value)), string(it.Value()))
	}
	require.False(t, it.Next())
	require.NoError(t, errors.Join(it.Err(), it.Close()))
	for range min(n, 20) {
		i := rand.IntN(n)
		got, err := tx.Get(ctx, loadKey(i))
		require.NoError(t, err)
		require.Equal(t, string(loadValue(i, value)), string(got), "a point")
	}
	return n, value
}

// checkFilledNow is checkFilled in a transaction of its own.
func checkFilledNow(t testing.TB, s *txn.Store) (n int, value string) {
	t.Helper()
	tx := begin(t, s)
	n, value = checkFilled(t, tx)
	require.NoError(t, tx.Rollback(context.Background()))
	return n, value
}

// loadEngines are engines with and without ingestion.
var loadEngines = map[string]func(t *testing.T) kv.Engine{
	"memory": func(*testing.T) kv.Engine { return memkv.New(memkv.Options{}) },
	"groups": func(*testing.T) kv.Engine { return memkv.New(memkv.Options{HashGroups: 3}) },
	"pebble": func(t *testing.T) kv.Engine {
		e, err := pebblekv.Open("", pebblekv.Options{InMemory: true, MemTableBytes: 1 << 20,
			CacheBytes: 1 << 20})
		require.NoError(t, err)
		return e
	},
	"poisoned": func(*testing.T) kv.Engine {
		return kvtest.NewPoison(memkv.New(memkv.Options{}))
	},
	"none": func(*testing.T) kv.Engine {
		return kvtest.NewKeyByKey(memkv.New(memkv.Options{}))
	},
	"shared": func(*testing.T) kv.Engine { return memkv.New(memkv.Options{Shared: true}) },
}

// TestALoadIsSeenFromItsCommitOn: by the transaction itself at once, by those that begin later as a
// whole, and by none from before, whatever snapshots and rows memory has from before.
func TestALoadIsSeenFromItsCommitOn(t *testing.T) {
	ctx := context.Background()
	for name, open := range loadEngines {
		for _, stream := range []int{0, 1 << 13} { // in one run, in several
			t.Run(fmt.Sprint(name, stream), func(t *testing.T) {
				e := open(t)
				s, err := openTxn(ctx, e, txn.Options{StreamBytes: stream, LeaseRenewal: -1})
				require.NoError(t, err)
				commit(t, s, "other", "1")
				old := begin(t, s)
				require.Equal(t, "1", get(t, old, "other"))
				require.Equal(t, "1", readOne(t, s, "other")) // leaves a snapshot
				tx := begin(t, s)
				fillRows(t, tx, 1000, "a")
				checkFilled(t, tx)
				n, _ := checkFilledNow(t, s)
				require.Zero(t, n)
				require.Equal(t, "1", readOne(t, s, "other")) // leaves one from before the commit
				require.NoError(t, tx.Commit(ctx))
				n, _ = checkFilledNow(t, s)
				require.Equal(t, 1000, n)
				n, _ = checkFilled(t, old)
				require.Zero(t, n)
				require.NoError(t, old.Rollback(ctx))

				// rows that came in a load are rows like others
				commit(t, s, string(loadKey(7)), "seven", "way", "")
				require.Equal(t, "seven", readOne(t, s, string(loadKey(7))))
				collect(t, s)
				require.Equal(t, "seven", readOne(t, s, string(loadKey(7))))
				require.Equal(t, string(loadValue(8, "a")), readOne(t, s, string(loadKey(8))))
				require.NoError(t, s.Close())
				require.NoError(t, e.Close())
			})
		}
	}
}

// TestALoadThatIsTakenBackLeavesNothing: not its rows, which another load puts in the same place,
// and not what memory learnt of them; by ROLLBACK, by a failed commit, at a savepoint.
func TestALoadThatIsTakenBackLeavesNothing(t *testing.T) {
	ctx := context.Background()
	for name, open := range loadEngines {
		t.Run(name, func(t *testing.T) {
			e := open(t)
			s, err := openTxn(ctx, e, txn.Options{StreamBytes: 1 << 13, LeaseRenewal: -1})
			require.NoError(t, err)
			for i, end := range []func(tx *txn.Txn, before txn.Savepoint){
				func(tx *txn.Txn, _ txn.Savepoint) { require.NoError(t, tx.Rollback(ctx)) },
				func(tx *txn.Txn, _ txn.Savepoint) {
					tx.Unlock()
					require.NoError(t, tx.Rollback(ctx))
				},
				func(tx *txn.Txn, _ txn.Savepoint) {
					tx.Validate(kv.Span{Start: []byte("x"), End: []byte("y")})
					commit(t, s, "x", "1")
					var conflict *txn.WriteConflictError
					require.ErrorAs(t, tx.Commit(ctx), &conflict)
				},
				func(tx *txn.Txn, before txn.Savepoint) {
					tx.RollbackTo(before)
					n, _ := checkFilled(t, tx)
					require.Zero(t, n)
					require.Nil(t, get(t, tx, string(loadKey(3))))
					require.NoError(t, tx.Set([]byte("other"), []byte("1")))
					require.NoError(t, tx.Commit(ctx))
				},
				func(tx *txn.Txn, before txn.Savepoint) {
					tx.RollbackTo(before)
					fillRows(t, tx, 300, "second")
					n, _ := checkFilled(t, tx)
					require.Equal(t, 300, n)
					require.NoError(t, tx.Rollback(ctx))
				},
			} {
				tx := begin(t, s)
				require.NoError(t, tx.Set([]byte("before"), nil))
				before := tx.Savepoint()
				fillRows(t, tx, 1000, fmt.Sprint("v", i))
				checkFilled(t, tx)
				end(tx, before)
				cells, entries := loadCells(t, e)
				require.Equal(t, []int{0, 0}, []int{cells, entries}, "case %d", i)
			}
			tx := begin(t, s)
			fillRows(t, tx, 200, "last")
			require.NoError(t, tx.Set(loadKey(5), []byte("changed")))
			require.NoError(t, tx.Set(loadKey(5), loadValue(5, "last")))
			require.NoError(t, tx.Delete(loadKey(200)))
			require.NoError(t, tx.Commit(ctx))
			n, v := checkFilledNow(t, s)
			require.Equal(t, "200 last", fmt.Sprint(n, " ", v))
			require.NoError(t, s.Close())
			require.NoError(t, e.Close())
		})
	}
}

// loadCells counts the values that the rows have, and the entries of the list of loads.
func loadCells(t testing.TB, e kv.Engine) (cells, entries int) {
	t.Helper()
	snap, err := e.Snapshot()
	require.NoError(t, err)
	count := func(n *int) func(key, value []byte) error {
		return func(_, _ []byte) error { *n++; return nil }
	}
	walk := mvcc.Committed(snap, true)
	require.NoError(t, walk(context.Background(), rowsSpan, false, count(&cells)))
	list := []byte("\x00load")
	require.NoError(t, walk(context.Background(),
		kv.Span{Start: list, End: kv.PrefixEnd(list)}, false, count(&entries)))
	require.NoError(t, snap.Close())
	return cells, entries
}

// TestALoadRefusesAKeyThatComesTwice, in one run and in two.
func TestALoadRefusesAKeyThatComesTwice(t *testing.T) {
	ctx := context.Background()
	for name, open := range loadEngines {
		for _, stream := range []int{0, 1 << 13} {
			t.Run(fmt.Sprint(name, stream), func(t *testing.T) {
				e := open(t)
				s, err := openTxn(ctx, e, txn.Options{StreamBytes: stream, LeaseRenewal: -1})
				require.NoError(t, err)
				tx := begin(t, s)
				load, err := tx.NewLoad(ctx, rowsSpan)
				require.NoError(t, err)
				for i := 0; i < 2000 && err == nil; i++ {
					err = load.Add(ctx, loadKey(i%1999), []byte("value"))
				}
				if err == nil {
					err = load.Finish(ctx)
				}
				var twice *txn.DuplicateKeyError
				require.ErrorAs(t, err, &twice)
				require.Equal(t, string(loadKey(0)), string(twice.Key))
				require.Equal(t, "value", string(twice.Value))
				load.Abandon()
				require.NoError(t, tx.Rollback(ctx))
				cells, entries := loadCells(t, e)
				require.Equal(t, []int{0, 0}, []int{cells, entries})
				require.NoError(t, s.Close())
				require.NoError(t, e.Close())
			})
		}
	}
}

// TestALoadIntoASpanWithRows writes key by key, so that nothing of the transaction's own and of
// others is lost.
func TestALoadIntoASpanWithRows(t *testing.T) {
	ctx := context.Background()
	for name, open := range loadEngines {
		t.Run(name, func(t *testing.T) {
			e := open(t)
			s, err := openTxn(ctx, e, txn.Options{StreamBytes: 1 << 13, LeaseRenewal: -1})
			require.NoError(t, err)
			for _, own := range []bool{true, false} {
				tx := begin(t, s)
				if own {
					require.NoError(t, tx.Set([]byte("r"), []byte("mine")))
				}
				require.NoError(t, tryFill(tx, 1000, "b"))
				require.Equal(t, "mine", get(t, tx, "r"))
				require.NoError(t, tx.Commit(ctx))
				require.Equal(t, "mine", readOne(t, s, "r"))
				require.Equal(t, "b17", readOne(t, s, string(loadKey(17))))
			}
			require.NoError(t, s.Close())
			require.NoError(t, e.Close())
		})
	}
}

// TestALoadCostsNoWritePerKey counts what the engine is asked for.
func TestALoadCostsNoWritePerKey(t *testing.T) {
	ctx := context.Background()
	e := record.New(memkv.New(memkv.Options{}))
	s, err := openTxn(ctx, e, txn.Options{Clock: still, StreamBytes: 1 << 16})
	require.NoError(t, err)
	commit(t, s, "a", "1")
	before := e.Counts()
	tx := begin(t, s)
	fillRows(t, tx, 1000, "a")
	require.NoError(t, tx.Commit(ctx))
	c := e.Since(before)
	require.Equal(t, []int64{1, 1100}, []int64{c.Ingests, c.Ingested}, "a record each, and values")
	require.Equal(t, int64(2), c.Updates+c.Lazy, "the entry and the commit")
	require.NoError(t, s.Close())
}

// TestACrashAnywhereInALoad: the power fails before each write to the disk. Then all of the load is
// there, or nothing, and what is left of it is gone once the store is open; another load fits in
// its place.
func TestACrashAnywhereInALoad(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	ctx := context.Background()
	opts := func(fs *testfs.FaultFS) pebblekv.Options {
		return pebblekv.Options{FS: fs, MemTableBytes: 1 << 18, CacheBytes: 1 << 20}
	}
	for at, crashes := 1, 0; ; at += 1 + crashes%3 {
		disk := testfs.NewCrashFS()
		fs := testfs.NewFaultFS(disk)
		e, err := pebblekv.Open("dir", opts(fs))
		require.NoError(t, err)
		topts := txn.Options{Protocol: []txn.Protocol{txn.TwoPhase, txn.Auto}[at%2],
			StreamBytes: 1 << 13}
		s, err := openTxn(ctx, e, topts)
		require.NoError(t, err)
		commit(t, s, "other", "1")
		var after *testfs.CrashFS
		fs.Plan(testfs.Fault{})
		fs.Before(func(write int) {
			if write == at {
				after = disk.Crash(rand.IntN(2)*50, rand.New(rand.NewPCG(uint64(at), 0)))
			}
		})
		tx := begin(t, s)
		sp := tx.Savepoint()
		fillRows(t, tx, 150, "undone")
		tx.RollbackTo(sp)
		require.NoError(t, tx.Rollback(ctx))
		tx = begin(t, s)
		fillRows(t, tx, 200, "done")
		require.NoError(t, tx.Commit(ctx))
		acknowledged := after == nil
		commit(t, s, "other", "1")
		fs.Before(nil)
		require.NoError(t, s.Close())
		require.NoError(t, e.Close())
		if after == nil {
			require.Greater(t, crashes, 30)
			return
		}
		crashes++
		again, err := pebblekv.Open("dir", opts(testfs.NewFaultFS(after)))
		require.NoError(t, err)
		s, err = openTxn(ctx, again, topts)
		require.NoError(t, err)
		n, v := checkFilledNow(t, s)
		require.Contains(t, []string{"0 ", "200 done"}, fmt.Sprint(n, " ", v), "crash %d", at)
		require.False(t, acknowledged && n == 0, "crash %d", at)
		cells, entries := loadCells(t, again)
		require.Equal(t, []int{n, 0}, []int{cells, entries}, "crash %d", at)
		if n == 0 {
			tx := begin(t, s)
			fillRows(t, tx, 150, "later")
			require.NoError(t, tx.Commit(ctx))
			n, v := checkFilledNow(t, s)
			require.Equal(t, "150 later", fmt.Sprint(n, " ", v))
		}
		names, err := after.List("dir")
		require.NoError(t, err)
		for _, name := range names {
			require.False(t, strings.HasPrefix(name, "ingest"), "crash %d left %s", at, name)
		}
		require.NoError(t, s.Close())
		require.NoError(t, again.Close())
	}
}

// TestALoadedRowIsNoCommit: the transaction writes rows that it has loaded, in two phases and in
// many prewrites, and is rolled back or dies. The record of a loaded row does not pass for its
// commit.
func TestALoadedRowIsNoCommit(t *testing.T) {
	ctx := context.Background()
	for _, die := range []bool{false, true} {
		e := memkv.New(memkv.Options{})
		opts := txn.Options{Protocol: txn.TwoPhase, StreamBytes: 1 << 13}
		armed := false
		opts.CrashPoint = func(p txn.CrashPoint) bool { return armed && p == txn.AfterCommitTS }
		s, err := openTxn(ctx, e, opts)
		require.NoError(t, err)
		tx := begin(t, s)
		fillRows(t, tx, 1000, "a")
		for i := range 1000 {
			require.NoError(t, tx.Set(loadKey(i), []byte("again")))
		}
		require.NoError(t, tx.Set([]byte("other"), []byte("1")))
		require.Equal(t, "again", get(t, tx, string(loadKey(30))))
		if armed = die; die {
			require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned)
		} else {
			require.NoError(t, tx.Rollback(ctx))
		}
		require.NoError(t, s.Close())
		s, err = openTxn(ctx, e, txn.Options{})
		require.NoError(t, err)
		require.Nil(t, value(t, s, "other"))
		n, _ := checkFilledNow(t, s)
		require.Zero(t, n)
		cells, entries := loadCells(t, e)
		require.Equal(t, []int{0, 0}, []int{cells, entries})
		require.NoError(t, s.Close())
	}
}
