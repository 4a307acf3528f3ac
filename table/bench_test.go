package table_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// wide is (id int primary key, a int8, b text, c text) with an index on a.
func wide() *table.Desc {
	return &table.Desc{
		Name: "w", NextColumnID: 5, NextIndexID: 3,
		Columns: []table.Column{
			{ID: 1, Name: "id", Type: types.TInt4, NotNull: true}, {ID: 2, Name: "a",
				Type: types.TInt8},
			{ID: 3, Name: "b", Type: types.TText}, {ID: 4, Name: "c", Type: types.TText},
		},
		RowKey: []table.IndexColumn{{ColumnID: 1}},
		Indexes: []table.Index{
			{ID: table.RowIndexID, Name: "w_pkey", Unique: true, Primary: true,
				Columns: []table.IndexColumn{{ColumnID: 1}}},
			{ID: 2, Name: "w_a_idx", Columns: []table.IndexColumn{{ColumnID: 2}}},
		},
	}
}

func benchDB(b *testing.B) *db {
	engine, err := pebblekv.Open("", pebblekv.Options{InMemory: true})
	require.NoError(b, err)
	return openDB(b, engine, txn.Options{})
}

func fill(b *testing.B, d *db, desc *table.Desc, n int) {
	ctx := context.Background()
	for from := 0; from < n; from += 1000 {
		d.must(func(tx *txn.Txn) error {
			w := table.NewWriter(desc, d.cat)
			for i := from; i < min(n, from+1000); i++ {
				row := []types.Datum{types.NewInt(int64(i)), types.NewInt(int64(i % 100)),
					types.NewString("some text of a row"), types.NewString("more")}
				if err := w.Insert(ctx, tx, row); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func BenchmarkInsert(b *testing.B) {
	d := benchDB(b)
	desc := d.create(wide())
	b.ReportAllocs()
	b.ResetTimer()
	fill(b, d, desc, b.N)
}

func BenchmarkScan(b *testing.B) {
	const rows = 20_000
	d := benchDB(b)
	desc := d.create(wide())
	fill(b, d, desc, rows)
	for _, c := range []struct {
		name string
		ix   *table.Index
		out  []int
	}{
		{"rows", nil, []int{0, 1, 2}}, {"covering", desc.Index(2), []int{0, 1}}, {"fetching",
			desc.Index(2), []int{0, 2}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				d.must(func(tx *txn.Txn) error {
					ctx := context.Background()
					spans, err := table.Spans(desc, c.ix, nil, false)
					require.NoError(b, err)
					s, err := table.OpenScan(ctx, tx,
						table.ScanSpec{Desc: desc, Index: c.ix, Out: c.out, Spans: spans})
					require.NoError(b, err)
					ts := make([]*types.Type, len(c.out))
					for i, o := range c.out {
						ts[i] = desc.Columns[o].Type
					}
					batch := types.NewBatch(ts)
					n := 0
					for {
						more, err := s.Next(ctx, batch)
						require.NoError(b, err)
						if !more {
							break
						}
						n += batch.Len
					}
					require.Equal(b, rows, n)
					return s.Close()
				})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}

func BenchmarkGetRow(b *testing.B) {
	d := benchDB(b)
	desc := d.create(wide())
	fill(b, d, desc, 10_000)
	ctx := context.Background()
	tx, err := d.store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	require.NoError(b, err)
	row := make([]types.Datum, 4)
	key := make([]types.Datum, 1)
	out := []int{0, 1, 2, 3}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		key[0] = types.NewInt(int64(i % 10_000))
		found, err := table.GetRow(ctx, tx, desc, key, out, row)
		if err != nil || !found {
			b.Fatal(err, found)
		}
	}
	b.StopTimer()
	require.NoError(b, tx.Rollback(ctx))
}
