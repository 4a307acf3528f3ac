package stats_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// largeRows are so many that blocks of them are read.
const largeRows = 150_000

// large makes a table of largeRows and calls f with it. The columns are the key, its groups of
// four, which lie side by side, its groups of 3000, numbers below 500 and 20,000 in no order, and
// one that is 7 in a tenth of the rows and else 300 different.
func large(t *testing.T, key func(i int) int64, f func(ctx context.Context, tx *txn.Txn,
	d *table.Desc)) {
	ctx, quiet := context.Background(), slog.New(slog.DiscardHandler)
	kv := memkv.New(memkv.Options{})
	store, err := txn.Open(ctx, kv, txn.Options{Logger: quiet})
	require.NoError(t, err)
	cat, err := catalog.Open(ctx, store)
	require.NoError(t, err)
	defer func() {
		require.NoError(t, store.Close())
		require.NoError(t, kv.Close())
	}()
	d := &table.Desc{DatabaseID: catalog.PostgresID, SchemaID: catalog.PublicID, Schema: "public",
		Name: "t", NextColumnID: 7, NextIndexID: 2, RowKey: []table.IndexColumn{{ColumnID: 1}}}
	for i, name := range []string{"id", "four", "many", "few", "more", "common"} {
		d.Columns = append(d.Columns, table.Column{ID: table.ColumnID(i + 1), Name: name,
			Type: types.TInt8, NotNull: true})
	}
	write := func(f func(tx *txn.Txn) error) {
		tx, err := store.Begin(ctx, txn.BeginOptions{})
		require.NoError(t, err)
		require.NoError(t, f(tx))
		require.NoError(t, tx.Commit(ctx))
	}
	write(func(tx *txn.Txn) (err error) {
		view := cat.View(tx)
		if d.ID, err = view.NewID(ctx); err != nil {
			return err
		}
		return view.CreateRelation(ctx, d)
	})
	dice := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < largeRows; from += 10_000 {
		write(func(tx *txn.Txn) error {
			w := table.NewWriter(d, cat)
			for i := from; i < from+10_000; i++ {
				common := int64(7)
				if dice.IntN(10) > 0 {
					common = 10 + dice.Int64N(300)
				}
				row := []types.Datum{types.NewInt(key(i)), types.NewInt(int64(i / 4)),
					types.NewInt(int64(i / 3000)), types.NewInt(dice.Int64N(500)),
					types.NewInt(dice.Int64N(20_000)), types.NewInt(common)}
				if err := w.Insert(ctx, tx, row); err != nil {
					return err
				}
			}
			return nil
		})
	}
	tx, err := store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	f(ctx, tx, d)
}

// TestBlocksStandForATable: what a pass over blocks of rows finds is near what all rows have, also
// of values that lie side by side; without a number of rows that agrees all rows are read.
func TestBlocksStandForATable(t *testing.T) {
	large(t, func(i int) int64 { return int64(i) }, func(ctx context.Context, tx *txn.Txn,
		d *table.Desc) {
		res, err := stats.Analyze(ctx, tx, d, stats.Options{Rows: largeRows, Seed: 1})
		require.NoError(t, err)
		require.EqualValues(t, largeRows, res.Rows)
		require.Less(t, res.Read, int64(largeRows/4))
		require.EqualValues(t, largeRows, res.Table.Rows)
		column := func(id table.ColumnID) *stats.Column { return res.Table.Columns[id] }
		require.EqualValues(t, largeRows, column(1).Distinct)
		require.InDelta(t, 1, column(1).Correlation, 0.01)
		require.InEpsilon(t, largeRows/4, column(2).Distinct, 0.1)
		require.Empty(t, column(2).Common, "no value is more frequent than others")
		require.InEpsilon(t, largeRows/3000, column(3).Distinct, 0.1)
		require.EqualValues(t, 500, column(4).Distinct)
		require.InEpsilon(t, 20_000, column(5).Distinct, 0.1)
		require.InDelta(t, 0.1, column(6).Equal(types.NewInt(7)), 0.01)
		require.InDelta(t, 0.3, column(1).Below(types.NewInt(largeRows*3/10), false), 0.02)
		require.InDelta(t, 0.3, column(5).Below(types.NewInt(6000), false), 0.02)

		again, err := stats.Analyze(ctx, tx, d, stats.Options{Rows: largeRows, Seed: 1})
		require.NoError(t, err)
		again.Table.Counted = res.Table.Counted
		require.Equal(t, res, again)

		for _, believed := range []int64{0, largeRows * 7 / 8, largeRows * 9 / 8} {
			res, err := stats.Analyze(ctx, tx, d, stats.Options{Rows: believed, Seed: 1})
			require.NoError(t, err)
			require.EqualValues(t, largeRows, res.Rows, "believed to be %d", believed)
			require.EqualValues(t, largeRows, res.Read)
		}
	})
}

// TestUnevenKeysAreAllRead, because blocks of the space of keys do not stand for the rows there:
// most rows lie in a small part of it, and in parts with hardly any rows in between.
func TestUnevenKeysAreAllRead(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	for name, key := range map[string]func(i int) int64{
		"one end": func(i int) int64 {
			if i < largeRows/2 {
				return int64(i)
			}
			return int64(i) << 20
		},
		"clusters": func(i int) int64 { return int64(i/5000)<<20 + int64(i%5000) },
	} {
		t.Run(name, func(t *testing.T) {
			large(t, key, func(ctx context.Context, tx *txn.Txn, d *table.Desc) {
				res, err := stats.Analyze(ctx, tx, d, stats.Options{Rows: largeRows, Seed: 1})
				require.NoError(t, err)
				require.EqualValues(t, largeRows, res.Rows)
				require.EqualValues(t, largeRows, res.Read)
			})
		})
	}
}
