package txn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
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

// A table in small: the key "way" leads to its rows. Transactions that write them validate it, and
// one that drops the rows as a whole writes it.
var (
	rowsSpan = kv.Span{Start: []byte("r"), End: []byte("s")}
	way      = []byte("way")
	wayPoint = kv.Span{Start: way, End: []byte("way\x00")}
)

// dropRows drops the rows in a transaction of its own.
func dropRows(t *testing.T, s *txn.Store) *txn.Txn {
	t.Helper()
	tx := begin(t, s)
	require.NoError(t, tx.Set(way, []byte("gone")))
	require.NoError(t, tx.DropSpan(rowsSpan))
	require.NoError(t, tx.Commit(context.Background()))
	return tx
}

// inSpan counts the cells of the rows, and the entries of the list of dropped spans.
func inSpan(t *testing.T, e kv.Engine) (cells, entries int) {
	t.Helper()
	snap, err := kv.Latest(e)
	require.NoError(t, err)
	require.NoError(t, mvcc.Cells(context.Background(), snap, func(c mvcc.Cell) error {
		if c.Column != mvcc.ColumnMeta && rowsSpan.Contains(c.Key) {
			cells++
		}
		if _, ok := txn.DroppedStart(c.Key); ok && c.Column == mvcc.ColumnWrite {
			entries++
		}
		return nil
	}))
	require.NoError(t, snap.Close())
	return cells, entries
}

func collect(t *testing.T, s *txn.Store) {
	t.Helper()
	_, err := s.CollectGarbage(context.Background())
	require.NoError(t, err)
}

// dropEngines are engines that delete a span at once, key by key, and key by key in groups.
var dropEngines = map[string]func() kv.Engine{
	"at once":    func() kv.Engine { return memkv.New(memkv.Options{}) },
	"key by key": func() kv.Engine { return kvtest.NewKeyByKey(memkv.New(memkv.Options{})) },
	"groups": func() kv.Engine {
		return kvtest.NewKeyByKey(
			memkv.New(memkv.Options{HashGroups: 3}))
	},
	"shared": func() kv.Engine { return memkv.New(memkv.Options{Shared: true, Lost: 3}) },
}

// TestADroppedSpanGoesWhenNobodyCanReadIt: a transaction from before the drop reads the rows until
// it ends; then one pass deletes them, and the next one, which finds nothing, the entry in the
// list.
func TestADroppedSpanGoesWhenNobodyCanReadIt(t *testing.T) {
	ctx := context.Background()
	for name, open := range dropEngines {
		t.Run(name, func(t *testing.T) {
			e := open()
			s, err := openTxn(ctx, e, txn.Options{LeaseRenewal: -1, Clock: still})
			require.NoError(t, err)
			commit(t, s, "way", "here", "r1", "1", "r2", string(make([]byte, 500)), "other", "1")
			before := begin(t, s)
			dropped := dropRows(t, s)
			for range 3 {
				collect(t, s)
				require.Equal(t, "1", get(t, before, "r1"))
				require.Len(t, get(t, before, "r2"), 500)
			}
			past, err := s.Begin(ctx,
				txn.BeginOptions{ReadOnly: true, StartTS: dropped.CommitTS() - 1})
			require.NoError(t, err)
			require.NoError(t, before.Rollback(ctx))
			collect(t, s)
			require.Equal(t, "1", get(t, past, "r1"))
			require.NoError(t, past.Rollback(ctx))
			cells, entries := inSpan(t, e)
			require.Equal(t, []int{3, 1}, []int{cells, entries})

			collect(t, s)
			cells, entries = inSpan(t, e)
			require.Equal(t, []int{0, 1}, []int{cells, entries})
			collect(t, s)
			cells, entries = inSpan(t, e)
			require.Equal(t, []int{0, 0}, []int{cells, entries})
			require.Equal(t, "1", get(t, begin(t, s), "other"))
			require.NoError(t, s.Close())
		})
	}
}

// TestADropRolledBackDropsNothing, at a savepoint or as a whole.
func TestADropRolledBackDropsNothing(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{})
	s, err := openTxn(ctx, e, txn.Options{})
	require.NoError(t, err)
	commit(t, s, "r1", "1")
	tx := begin(t, s)
	sp := tx.Savepoint()
	require.NoError(t, tx.DropSpan(rowsSpan))
	spans, err := tx.Dropped(ctx)
	require.NoError(t, err)
	require.Equal(t, []kv.Span{rowsSpan}, spans)
	tx.RollbackTo(sp)
	require.NoError(t, tx.Set([]byte("other"), nil))
	require.NoError(t, tx.Commit(ctx))
	tx = begin(t, s)
	require.NoError(t, tx.DropSpan(rowsSpan))
	require.NoError(t, tx.Rollback(ctx))
	collect(t, s)
	cells, entries := inSpan(t, e)
	require.Equal(t, []int{1, 0}, []int{cells, entries})
	require.NoError(t, s.Close())
}

// TestALatePrewriteInADroppedSpan: a writer that came by the old way prewrites, or its process dies
// with its locks down, after the drop. It cannot commit, its locks are settled first, and they go
// with the span; what an engine applies after the span was deleted goes in the next pass.
func TestALatePrewriteInADroppedSpan(t *testing.T) {
	ctx := context.Background()
	for name, open := range dropEngines {
		t.Run(name, func(t *testing.T) {
			e := open()
			dead, err := openTxn(ctx, e, txn.Options{Protocol: txn.TwoPhase, LeaseRenewal: -1,
				Clock: still,
				CrashPoint: func(p txn.CrashPoint) bool {
					return p == txn.AfterPrewrite
				}})
			require.NoError(t, err)
			s := dead
			setup := begin(t, s)
			require.NoError(t, setup.Rollback(ctx))
			writer := begin(t, s)
			writer.Validate(wayPoint)
			for _, key := range []string{"a", "r1", "r2"} { // the primary lies outside
				require.NoError(t, writer.Set([]byte(key), []byte("late")))
			}
			require.ErrorIs(t, writer.Commit(ctx), txn.ErrAbandoned)
			require.NoError(t, dead.Close())

			s, err = openTxn(ctx, e, txn.Options{LeaseRenewal: -1, Clock: still})
			require.NoError(t, err)
			writer = begin(t, s)
			writer.Validate(wayPoint)
			require.NoError(t, writer.Set([]byte("r3"), []byte("late")))
			dropRows(t, s)
			var conflict *txn.WriteConflictError
			require.ErrorAs(t, writer.Commit(ctx), &conflict)
			collect(t, s)
			cells, _ := inSpan(t, e)
			require.Zero(t, cells)

			// What lands late, after the span was deleted.
			row := mvcc.Row([]byte("r4"))
			require.NoError(t, e.Update(ctx, [][]byte{row}, func(r kv.Reader, b *kv.Batch) error {
				mvcc.WriteOnePhase(b, 1, 2,
					[]mvcc.Mutation{{Key: []byte("r4"), Row: row, Kind: mvcc.KindPut,
						Value: []byte("late")}})
				return nil
			}))
			collect(t, s)
			cells, entries := inSpan(t, e)
			require.Equal(t, []int{0, 1}, []int{cells, entries})
			collect(t, s)
			_, entries = inSpan(t, e)
			require.Zero(t, entries)
			require.Nil(t, value(t, s, "a"))
			require.NoError(t, s.Close())
		})
	}
}

// value reads a key in a transaction of its own; nil when it is absent.
func value(t *testing.T, s *txn.Store, key string) []byte {
	t.Helper()
	tx := begin(t, s)
	v, err := tx.Get(context.Background(), []byte(key))
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(context.Background()))
	return v
}

// TestAPrimaryInADroppedSpanDecidesFirst: its transaction has committed, a secondary elsewhere is
// still locked, and what it says goes with the span.
func TestAPrimaryInADroppedSpanDecidesFirst(t *testing.T) {
	ctx := context.Background()
	for name, open := range dropEngines {
		t.Run(name, func(t *testing.T) {
			e := open()
			dead, err := openTxn(ctx, e, txn.Options{Protocol: txn.TwoPhase, LeaseRenewal: -1,
				Clock: still,
				CrashPoint: func(p txn.CrashPoint) bool {
					return p == txn.AfterCommitPoint
				}})
			require.NoError(t, err)
			tx := begin(t, dead)
			require.NoError(t, tx.Set([]byte("r1"), []byte("1")))
			require.NoError(t, tx.Set([]byte("z"), []byte("1")))
			require.ErrorIs(t, tx.Commit(ctx), txn.ErrAbandoned)
			require.NoError(t, dead.Close())
			s, err := openTxn(ctx, e, txn.Options{LeaseRenewal: -1, Clock: still})
			require.NoError(t, err)
			dropRows(t, s)
			collect(t, s)
			cells, _ := inSpan(t, e)
			require.Zero(t, cells)
			require.Equal(t, "1", string(value(t, s, "z")))
			require.NoError(t, s.Close())
		})
	}
}

// TestASerializableReaderOfADroppedSpan: it has read a row and writes what the dropper has read.
// The two have no serial order, though the dropper wrote no key that the reader read.
func TestASerializableReaderOfADroppedSpan(t *testing.T) {
	ctx := context.Background()
	for _, shared := range []bool{false, true} {
		s, err := openTxn(ctx, memkv.New(memkv.Options{Shared: shared}),
			txn.Options{LeaseRenewal: -1, Clock: still})
		require.NoError(t, err)
		commit(t, s, "r1", "1", "x", "1")
		reader, err := s.Begin(ctx, txn.BeginOptions{Serializable: true})
		require.NoError(t, err)
		dropper, err := s.Begin(ctx, txn.BeginOptions{Serializable: true})
		require.NoError(t, err)
		require.Equal(t, "1", get(t, reader, "r1"))
		require.NoError(t, reader.Set([]byte("x"), []byte("2")))
		require.Equal(t, "1", get(t, dropper, "x"))
		require.NoError(t, dropper.Set(way, []byte("gone")))
		err = dropper.DropSpan(rowsSpan)
		if err == nil {
			err = dropper.Commit(ctx)
		}
		if err == nil {
			err = reader.Commit(ctx)
			require.Error(t, err, "shared %v", shared)
		}
		_ = reader.Rollback(ctx)
		_ = dropper.Rollback(ctx)
		require.NoError(t, s.Close())
	}
}

// TestWhoHoldsASpanSeesItDropped: rows that were read, and are not written, may have moved.
func TestWhoHoldsASpanSeesItDropped(t *testing.T) {
	ctx := context.Background()
	s, err := openTxn(ctx, memkv.New(memkv.Options{}), txn.Options{})
	require.NoError(t, err)
	commit(t, s, "r1", "1")
	for _, drop := range []bool{false, true} {
		tx := begin(t, s)
		tx.ValidateKept(rowsSpan, tx.ReadTS())
		require.NoError(t, tx.Set([]byte("other"), nil))
		if !drop {
			require.NoError(t, tx.Commit(ctx))
			continue
		}
		dropRows(t, s)
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, tx.Commit(ctx), &conflict)
	}
	require.NoError(t, s.Close())
}

// dropCosts counts what a drop does to the engine, and what the two passes after it do.
func dropCosts(t *testing.T, rows int) (drop, passes record.Counts, steps int64) {
	ctx := context.Background()
	walk := kvtest.NewSteps(memkv.New(memkv.Options{}))
	e := record.New(walk)
	s, err := openTxn(ctx, e, txn.Options{Clock: still})
	require.NoError(t, err)
	commit(t, s, "way", "here")
	for n := 0; n < rows; n += 1000 {
		tx := begin(t, s)
		for i := n; i < min(rows, n+1000); i++ {
			require.NoError(t, tx.SetNew(fmt.Appendf(nil, "r%08d", i), []byte("1")))
		}
		require.NoError(t, tx.Commit(ctx))
	}
	before, walked := e.Counts(), walk.Steps()
	dropRows(t, s)
	drop = e.Since(before)
	before = e.Counts()
	for range 2 {
		collect(t, s)
	}
	require.NoError(t, s.Close())
	return drop, e.Since(before), walk.Steps() - walked
}

// TestADropCostsTheSameForAnyNumberOfRows counts all that is done to the engine, the keys that its
// iterators pass included (S20). Nothing in it depends on the number of rows, so ten million cost
// the same.
func TestADropCostsTheSameForAnyNumberOfRows(t *testing.T) {
	drop, passes, steps := dropCosts(t, 1)
	manyDrop, manyPasses, manySteps := dropCosts(t, 100_000)
	require.Equal(t, drop, manyDrop)
	require.Equal(t, passes, manyPasses)
	require.Equal(t, steps, manySteps)
	require.Equal(t, int64(1), passes.Ranges)
}

// TestADropInBoundedStepsKeyByKey: where an engine cannot delete a span at once, a step of the
// background deletes no more than it may.
func TestADropInBoundedStepsKeyByKey(t *testing.T) {
	ctx := context.Background()
	e := kvtest.NewKeyByKey(memkv.New(memkv.Options{}))
	s, err := openTxn(ctx, e, txn.Options{GCRows: 100})
	require.NoError(t, err)
	tx := begin(t, s)
	for i := range 1000 {
		require.NoError(t, tx.Set(fmt.Appendf(nil, "r%04d", i), []byte("1")))
	}
	require.NoError(t, tx.Commit(ctx))
	dropRows(t, s)
	for cells, passes := 1000, 0; passes < 2; {
		done, err := s.CollectStep(ctx)
		require.NoError(t, err)
		left, _ := inSpan(t, e)
		require.LessOrEqual(t, cells-left, 100)
		if cells = left; done {
			passes++
		}
	}
	cells, entries := inSpan(t, e)
	require.Equal(t, []int{0, 0}, []int{cells, entries})
	require.NoError(t, s.Close())
}

// TestACrashAnywhereInADrop: the power fails before each write to the disk between the drop and the
// end of its collection. Before the drop's commit the rows are there; after it, and two passes,
// nothing is.
func TestACrashAnywhereInADrop(t *testing.T) {
	ctx := context.Background()
	opts := func(fs *testfs.FaultFS) pebblekv.Options {
		return pebblekv.Options{FS: fs, MemTableBytes: 1 << 18, CacheBytes: 1 << 20}
	}
	for at, crashes := 1, 0; ; at++ {
		disk := testfs.NewCrashFS()
		fs := testfs.NewFaultFS(disk)
		e, err := pebblekv.Open("dir", opts(fs))
		require.NoError(t, err)
		s, err := openTxn(ctx, e,
			txn.Options{Protocol: []txn.Protocol{txn.TwoPhase, txn.Auto}[at%2]})
		require.NoError(t, err)
		commit(t, s, "way", "here", "r1", "1", "r2", string(make([]byte, 500)), "other", "1")
		var after *testfs.CrashFS
		fs.Plan(testfs.Fault{})
		fs.Before(func(write int) {
			if write == at {
				after = disk.Crash(rand.IntN(2)*50, rand.New(rand.NewPCG(uint64(at), 0)))
			}
		})
		dropRows(t, s)
		for range 2 {
			collect(t, s)
			commit(t, s, "other", "1") // what was lazy goes to the disk with it
			require.NoError(t, e.Flush())
		}
		fs.Before(nil)
		require.NoError(t, s.Close())
		require.NoError(t, e.Close())
		if after == nil {
			require.Greater(t, crashes, 8)
			return
		}
		crashes++
		again, err := pebblekv.Open("dir", opts(testfs.NewFaultFS(after)))
		require.NoError(t, err)
		s, err = openTxn(ctx, again, txn.Options{})
		require.NoError(t, err)
		gone := string(value(t, s, "way")) == "gone"
		if !gone {
			require.Equal(t, "1", string(value(t, s, "r1")), "crash %d", at)
			require.Len(t, value(t, s, "r2"), 500, "crash %d", at)
		}
		collect(t, s)
		collect(t, s)
		cells, entries := inSpan(t, again)
		if gone {
			require.Equal(t, []int{0, 0}, []int{cells, entries}, "crash %d", at)
		} else {
			require.Equal(t, []int{3, 0}, []int{cells, entries}, "crash %d", at)
		}
		require.Equal(t, "1", string(value(t, s, "other")))
		require.NoError(t, s.Close())
		require.NoError(t, again.Close())
	}
}
