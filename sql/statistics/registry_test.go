package statistics_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/sql/statistics"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// fixture is a store with a table of one column; open makes a registry over it, as each process has
// one.
func fixture(t testing.TB) (open func() *statistics.Registry, id table.ID,
	insert func(from, to int)) {
	ctx, quiet := context.Background(), slog.New(slog.DiscardHandler)
	kv := memkv.New(memkv.Options{})
	store, err := txn.Open(ctx, kv, txn.Options{Logger: quiet})
	require.NoError(t, err)
	cat, err := catalog.Open(ctx, store)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, store.Close())
		require.NoError(t, kv.Close())
	})
	write := func(f func(tx *txn.Txn) error) {
		tx, err := store.Begin(ctx, txn.BeginOptions{})
		require.NoError(t, err)
		require.NoError(t, f(tx))
		require.NoError(t, tx.Commit(ctx))
	}
	d := &table.Desc{DatabaseID: catalog.PostgresID, SchemaID: catalog.PublicID, Schema: "public",
		Name: "t", NextColumnID: 2, NextIndexID: 2,
		Columns: []table.Column{{ID: 1, Name: "id", Type: types.TInt8, NotNull: true}},
		RowKey:  []table.IndexColumn{{ColumnID: 1}}}
	write(func(tx *txn.Txn) (err error) {
		view := cat.View(tx)
		if d.ID, err = view.NewID(ctx); err != nil {
			return err
		}
		return view.CreateRelation(ctx, d)
	})
	insert = func(from, to int) {
		write(func(tx *txn.Txn) error {
			w := table.NewWriter(d, cat)
			for i := from; i <= to; i++ {
				if err := w.Insert(ctx, tx, []types.Datum{types.NewInt(int64(i))}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return func() *statistics.Registry { return statistics.New(store, cat, quiet) }, d.ID, insert
}

func TestOthersLearnAtTheirNextTick(t *testing.T) {
	ctx := context.Background()
	open, id, insert := fixture(t)
	a, b := open(), open()
	tables := []opt.TableVersion{{ID: id}}
	require.Nil(t, b.Get(ctx, id))
	insert(1, 100)
	_, err := a.Analyze(ctx, id, stats.Options{}, statistics.ByAnalyze)
	require.NoError(t, err)
	require.EqualValues(t, 100, a.Get(ctx, id).Rows)
	epoch := b.Epoch()
	require.Nil(t, b.Get(ctx, id))
	require.NoError(t, b.Tick(ctx))
	require.True(t, b.Changed(tables, epoch))
	require.EqualValues(t, 100, b.Get(ctx, id).Rows)

	insert(101, 130)
	_, err = a.Analyze(ctx, id, stats.Options{}, statistics.ByAnalyze)
	require.NoError(t, err)
	epoch = b.Epoch()
	require.NoError(t, b.Tick(ctx))
	require.True(t, b.Changed(tables, epoch))
	require.EqualValues(t, 130, b.Get(ctx, id).Rows)
	epoch = b.Epoch()
	require.NoError(t, b.Tick(ctx))
	require.NoError(t, a.Tick(ctx))
	require.Equal(t, epoch, b.Epoch(), "nothing new")
}

func TestASizeThatChangesMakesPlansAnew(t *testing.T) {
	ctx := context.Background()
	open, id, insert := fixture(t)
	a := open()
	tables := []opt.TableVersion{{ID: id}}
	insert(1, 10)
	_, err := a.Analyze(ctx, id, stats.Options{}, statistics.ByAnalyze)
	require.NoError(t, err)
	epoch := a.Epoch()
	a.Note(ctx, []statistics.Change{{Table: id, Inserted: 150}})
	require.False(t, a.Changed(tables, epoch))
	require.EqualValues(t, 160, a.Get(ctx, id).Rows, "the planner sees them all the same")
	a.Note(ctx, []statistics.Change{{Table: id, Inserted: 5000}})
	require.True(t, a.Changed(tables, epoch))
	epoch = a.Epoch()
	a.Note(ctx, []statistics.Change{{Table: id, Inserted: 1000, Updated: 9000}})
	require.False(t, a.Changed(tables, epoch), "not twice as many")
	a.Note(ctx, []statistics.Change{{Table: id, Truncated: true}})
	require.True(t, a.Changed(tables, epoch))
	require.Zero(t, a.Get(ctx, id).Rows)
}

// What was counted survives Close; what a process that died did not store is counted from the
// statistics.
func TestCountersAreKept(t *testing.T) {
	ctx := context.Background()
	open, id, insert := fixture(t)
	a := open()
	insert(1, 100)
	a.Note(ctx, []statistics.Change{{Table: id, Inserted: 100}})
	_, err := a.Analyze(ctx, id, stats.Options{}, statistics.ByAnalyze)
	require.NoError(t, err)
	c, err := open().Counters(ctx, id) // a has not stored its counters
	require.NoError(t, err)
	require.EqualValues(t, 100, c.Live)
	a.Note(ctx, []statistics.Change{{Table: id, Inserted: 7, Deleted: 2}})
	require.NoError(t, a.Close(ctx))
	c, err = open().Counters(ctx, id)
	require.NoError(t, err)
	require.EqualValues(t, 105, c.Live)
	require.EqualValues(t, 107, c.Inserted)
	require.EqualValues(t, 9, c.Modified)
}

// Scans survive Close, are stored at one tick of several where nothing else happened, and those of
// indexes that are gone are not kept.
func TestScansAreKept(t *testing.T) {
	ctx := context.Background()
	open, id, _ := fixture(t)
	scans := func(r *statistics.Registry) []stats.Scans {
		c, err := r.Counters(ctx, id)
		require.NoError(t, err)
		return c.Scans
	}
	a := open()
	a.Scans(id, 0).Add(1, 100, 0)
	pk := a.Scans(id, table.RowIndexID)
	pk.Add(1, 1, 1)
	pk.Add(2, 0, 0)
	a.Scans(id, 99).Add(1, 1, 1)
	require.Len(t, scans(a), 3)
	require.NoError(t, a.Tick(ctx))
	require.Empty(t, scans(open()))
	require.NoError(t, a.Close(ctx))
	kept := []stats.Scans{{Scans: 1, Read: 100},
		{Index: table.RowIndexID, Scans: 3, Read: 1, Fetched: 1}}
	b := open()
	require.Equal(t, kept, scans(b))
	b.Scans(id, 0).Add(1, 100, 0)
	for range 10 {
		require.NoError(t, b.Tick(ctx))
	}
	c := open()
	require.EqualValues(t, 200, scans(c)[0].Read)
	require.NoError(t, c.Reset(ctx, 1, id))
	require.Empty(t, scans(c))
}
