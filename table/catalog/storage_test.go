package catalog

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// withRows makes a table with an index, and so many rows.
func (f *fixture) withRows(name string, rows int) *table.Desc {
	f.t.Helper()
	d := f.simple(name)
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, d) })
	f.must(func(tx *txn.Txn, v *View) error { return f.addIndex(tx, v, name+"_i") })
	f.insert(name, 0, rows)
	return f.table(name)
}

func (f *fixture) table(name string) (d *table.Desc) {
	f.t.Helper()
	f.must(func(_ *txn.Txn, v *View) (err error) {
		d, err = v.Relation(f.ctx, PostgresID, "public", name)
		return err
	})
	return d
}

// insert adds rows in transactions that commit in one phase, so that nothing is left to the
// background.
func (f *fixture) insert(name string, from, to int) {
	f.t.Helper()
	for n := from; n < to; n += 1000 {
		f.must(func(tx *txn.Txn, v *View) error {
			d, err := v.Relation(f.ctx, PostgresID, "public", name)
			if err != nil {
				return err
			}
			w := table.NewWriter(d, f.cat)
			for i := n; i < min(to, n+1000); i++ {
				if err := w.Insert(f.ctx, tx,
					[]types.Datum{types.NewInt(int64(i)), types.NewString("x")}); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// count is how many rows of a table a transaction sees.
func (f *fixture) count(tx *txn.Txn, d *table.Desc) (n int) {
	f.t.Helper()
	require.NoError(f.t, Rows(f.ctx, tx, d, func([]types.Datum) error { n++; return nil }))
	return n
}

// wholesale are the changes that take all rows, or all entries of an index, away at once.
var wholesale = map[string]func(f *fixture, v *View, d *table.Desc) error{
	"drop":     func(f *fixture, v *View, d *table.Desc) error { return v.DropRelation(f.ctx, d) },
	"truncate": func(f *fixture, v *View, d *table.Desc) error { return v.Truncate(f.ctx, d) },
	"drop index": func(f *fixture, v *View, d *table.Desc) error {
		next := d.Clone()
		next.Indexes = next.Indexes[:1]
		return v.UpdateRelation(f.ctx, d, next)
	},
}

// TestTakingAllRowsAwayCostsTheSameForAnyNumber counts all that a change does to the engine, the
// keys that its iterators pass included (S20).
func TestTakingAllRowsAwayCostsTheSameForAnyNumber(t *testing.T) {
	cost := func(t *testing.T, rows int, observed bool,
		change func(f *fixture, v *View, d *table.Desc) error) (record.Counts, int64) {
		steps := kvtest.NewSteps(memkv.New(memkv.Options{}))
		record := record.New(steps)
		f := newFixture(t, record, txn.Options{Clock: still})
		d := f.withRows("t", rows)
		if observed {
			d = f.observe("t", table.Observer{Name: "o"})
		}
		before, walked := record.Counts(), steps.Steps()
		f.must(func(_ *txn.Txn, v *View) error { return change(f, v, d) })
		counts, walked := record.Since(before), steps.Steps()-walked
		// Whether a point read shares the store's snapshot, or opens one and an iterator on it,
		// depends on the slots into which the keys of the rows happen to fall (txn: I14).
		require.LessOrEqual(t, counts.Snapshots, int64(1))
		counts.Iters -= counts.Snapshots
		counts.Snapshots = 0
		f.check()
		f.collect()
		f.check()
		return counts, walked
	}
	for name, change := range wholesale {
		t.Run(name, func(t *testing.T) {
			counts, steps := cost(t, 1, false, change)
			rows := 10_000
			if name == "drop" && !testing.Short() {
				rows = 100_000
			}
			manyCounts, manySteps := cost(t, rows, false, change)
			require.Equal(t, counts, manyCounts)
			require.Equal(t, steps, manySteps)
			counts, steps = cost(t, 1, true, change)
			manyCounts, manySteps = cost(t, 1000, true, change)
			require.Equal(t, counts, manyCounts, "observed")
			require.Equal(t, steps, manySteps, "observed")
		})
	}
}

// TestASnapshotFromBeforeKeepsItsRows: it reads the old descriptor, and with it the old place.
func TestASnapshotFromBeforeKeepsItsRows(t *testing.T) {
	for name, change := range wholesale {
		t.Run(name, func(t *testing.T) {
			f := memory(t)
			d := f.withRows("t", 100)
			before := f.begin()
			f.must(func(_ *txn.Txn, v *View) error { return change(f, v, d) })
			f.collect()
			old, err := f.cat.View(before).Relation(f.ctx, PostgresID, "public", "t")
			require.NoError(t, err)
			require.Equal(t, 100, f.count(before, old))
			past, err := f.store.Begin(f.ctx,
				txn.BeginOptions{ReadOnly: true, StartTS: before.StartTS()})
			require.NoError(t, err)
			require.Equal(t, 100, f.count(past, old))
			it, err := past.Scan(f.ctx, old.IndexSpan(2), txn.ScanOptions{})
			require.NoError(t, err)
			entries := 0
			for it.Next() {
				entries++
			}
			require.NoError(t, it.Close())
			require.Equal(t, 100, entries)
			require.NoError(t, past.Rollback(f.ctx))
			require.NoError(t, before.Rollback(f.ctx))
			f.check()
			f.collect()
			f.check()
		})
	}
}

// TestATruncatedTableIsWrittenInItsNewPlace: under a number that nothing had before, and each time
// another.
func TestATruncatedTableIsWrittenInItsNewPlace(t *testing.T) {
	f := memory(t)
	d := f.withRows("t", 10)
	require.Equal(t, table.StorageID(d.ID), d.Storage())
	seen := map[table.StorageID]bool{d.Storage(): true, d.Indexes[1].Storage(): true}
	for range 3 {
		f.must(func(_ *txn.Txn, v *View) error { return v.Truncate(f.ctx, f.table("t")) })
		d = f.table("t")
		require.False(t, seen[d.Storage()] || seen[d.Indexes[1].Storage()])
		seen[d.Storage()], seen[d.Indexes[1].Storage()] = true, true
		f.insert("t", 0, 5)
		tx := f.begin()
		require.Equal(t, 5, f.count(tx, d))
		found, err := f.cat.View(tx).RelationByStorage(f.ctx, d.Storage())
		require.NoError(t, err)
		require.Equal(t, d.ID, found.ID)
		gone, err := f.cat.View(tx).RelationByStorage(f.ctx, table.StorageID(d.ID))
		require.NoError(t, err)
		require.Nil(t, gone)
		require.NoError(t, tx.Rollback(f.ctx))
		f.check()
	}
	f.collect()
	f.check()
}

// TestAWriterOfATruncatedTableFails: its row would lie where no reader looks any more.
func TestAWriterOfATruncatedTableFails(t *testing.T) {
	for _, opts := range []txn.Options{{}, {Protocol: txn.TwoPhase}} {
		f := newFixture(t, memkv.New(memkv.Options{}), opts)
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, f.commitBeside(func(v *View, d,
			_ *table.Desc) error {
			return v.Truncate(f.ctx, d)
		}), &conflict)
		f.collect()
		f.check()
	}
}

// TestADropDoesNotLookAtLocksInTheSpan: a large transaction has prewritten rows of the table, as
// one does that is rolled back and not yet cleaned up. The drop neither waits for its locks nor
// steps over them.
func TestADropDoesNotLookAtLocksInTheSpan(t *testing.T) {
	for name, change := range wholesale {
		t.Run(name, func(t *testing.T) {
			steps := kvtest.NewSteps(memkv.New(memkv.Options{}))
			f := newFixture(t, steps, txn.Options{StreamBytes: 1000, BatchKeys: 64})
			d := f.withRows("t", 1)
			tx := f.begin()
			w := table.NewWriter(d, f.cat)
			for i := range 5000 {
				require.NoError(t,
					w.Insert(f.ctx, tx,
						[]types.Datum{types.NewInt(int64(i + 1)), types.NewString("x")}))
			}
			before := steps.Steps()
			f.must(func(_ *txn.Txn, v *View) error { return change(f, v, d) })
			require.Less(t, steps.Steps()-before, int64(500))
			var conflict *txn.WriteConflictError
			require.ErrorAs(t, tx.Commit(f.ctx), &conflict)
			f.collect()
			f.check()
		})
	}
}

// TestAStoreOfFormat1IsReadAsItIs: tables without a storage ID lie under their own numbers.
// Programs that know only format 1 refuse the store from then on.
func TestAStoreOfFormat1IsReadAsItIs(t *testing.T) {
	f := memory(t)
	f.withRows("t", 10)
	f.must(func(tx *txn.Txn, _ *View) error {
		return tx.Set(formatKey,
			binary.AppendUvarint(nil, 1))
	})
	var err error
	f.cat, err = Open(f.ctx, f.store)
	require.NoError(t, err)
	f.check()
	d := f.table("t")
	require.Equal(t, table.StorageSpan(table.StorageID(d.ID)), d.Span())
	f.must(func(tx *txn.Txn, v *View) error {
		b, err := tx.Get(f.ctx, formatKey)
		require.Equal(t, binary.AppendUvarint(nil, format), b)
		return err
	})
	f.must(func(_ *txn.Txn, v *View) error { return v.Truncate(f.ctx, d) })
	f.insert("t", 0, 3)
	f.collect()
	f.check()
	f.must(func(tx *txn.Txn, _ *View) error {
		return tx.Set(formatKey,
			binary.AppendUvarint(nil, format+1))
	})
	_, err = Open(f.ctx, f.store)
	require.ErrorContains(t, err, fmt.Sprintf("this program supports %d", format))
}
