package table_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// liveDouble takes the place of the planner: the expression is twice the column a, the predicate b,
// and a = 13 is an error.
type liveDouble struct{}

var errThirteen = errors.New("thirteen")

func (p liveDouble) Compile(*table.Desc) table.RowProgram                             { return p }
func (liveDouble) CompileDomain(*types.Definition, []*types.Type) types.DomainProgram { return nil }
func (p liveDouble) Evaluator() table.RowEvaluator                                    { return p }

func (liveDouble) Expression(_ context.Context, _ int, row []types.Datum) (types.Datum, error) {
	if row[1].I == 13 {
		return types.Null, errThirteen
	}
	if row[1].Null {
		return row[1], nil
	}
	return types.NewInt(2 * row[1].I), nil
}

func (liveDouble) Excludes(context.Context, int, []types.Datum, []types.Datum) (bool, error) {
	return false, nil
}

func (liveDouble) Predicate(_ context.Context, _ int, row []types.Datum) (bool, error) {
	return row[2].Bool(), nil
}

func computedDesc() *table.Desc {
	return &table.Desc{
		Name: "c", NextColumnID: 5, NextIndexID: 3,
		Columns: []table.Column{
			{ID: 1, Name: "id", Type: types.TInt4, NotNull: true},
			{ID: 2, Name: "a", Type: types.TInt8},
			{ID: 3, Name: "b", Type: types.TBool},
		},
		RowKey: []table.IndexColumn{{ColumnID: 1}},
		Exprs:  []table.Expression{{ID: 4, Text: "(a * 2)", Name: "expr", Type: types.TInt8}},
		Indexes: []table.Index{
			{ID: table.RowIndexID, Name: "c_pkey", Unique: true, Primary: true, Constraint: true,
				Columns: []table.IndexColumn{{ColumnID: 1}}},
			{ID: 2, Name: "c_live", Unique: true, WhereText: "b",
				Columns: []table.IndexColumn{{ColumnID: 4}}},
		},
	}
}

func openComputed(t *testing.T) (*db, *record.Engine, *table.Desc) {
	rec := record.New(memkv.New(memkv.Options{}))
	ctx := context.Background()
	// The oracle extends its range by no clock: what the engine is asked for is counted.
	still := func() int64 { return 1000 }
	store, err := txn.Open(ctx, kvtest.NewPoison(rec), txn.Options{Clock: still})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	cat, err := catalog.Open(ctx, store, catalog.WithPrograms(liveDouble{}))
	require.NoError(t, err)
	d := &db{t: t, store: store, cat: cat}
	return d, rec, d.create(computedDesc())
}

func computedRow(id, a int64, b bool) []types.Datum {
	return []types.Datum{types.NewInt(id), types.NewInt(a), types.NewBool(b)}
}

// entries returns the expressions in the entries of the index, in order, with the keys of their
// rows.
func (d *db) entries(desc *table.Desc) (out [][2]int64) {
	d.must(func(tx *txn.Txn) error {
		spans, err := table.Spans(desc, desc.Index(2), nil, false)
		require.NoError(d.t, err)
		s, err := table.OpenScan(context.Background(), tx, table.ScanSpec{Desc: desc,
			Index: desc.Index(2), Out: []int{3, 0}, Spans: spans})
		require.NoError(d.t, err)
		b := types.NewBatch([]*types.Type{types.TInt8, types.TInt4})
		for {
			more, err := s.Next(context.Background(), b)
			require.NoError(d.t, err)
			if !more {
				return s.Close()
			}
			for i := range b.Len {
				out = append(out, [2]int64{b.Cols[0].Get(i).I, b.Cols[1].Get(i).I})
			}
		}
	})
	return out
}

func (d *db) checkWith(p catalog.Programs) (problems []string) {
	require.NoError(d.t, catalog.Check(context.Background(), d.store,
		func(p catalog.Problem) { problems = append(problems, p.What) },
		catalog.WithPrograms(p)))
	return problems
}

// A row has an entry exactly while it satisfies the predicate, under the expression of its values.
func TestAPartialIndexHasTheRowsOfItsPredicate(t *testing.T) {
	d, _, desc := openComputed(t)
	ctx := context.Background()
	w := table.NewWriter(desc, d.cat)
	write := func(f func(tx *txn.Txn) error) error { return d.run(f) }
	insert := func(id, a int64, b bool) error {
		return write(func(tx *txn.Txn) error { return w.Insert(ctx, tx, computedRow(id, a, b)) })
	}
	update := func(old, new []types.Datum) error {
		return write(func(tx *txn.Txn) error { return w.Update(ctx, tx, old, new) })
	}
	require.NoError(t, insert(1, 5, true))
	require.NoError(t, insert(2, 5, false))
	require.NoError(t, insert(3, 4, true))
	require.Equal(t, [][2]int64{{8, 3}, {10, 1}}, d.entries(desc))

	err := update(computedRow(2, 5, false), computedRow(2, 5, true))
	var se *sqlerr.Error
	require.ErrorAs(t, err, &se)
	require.Equal(t, sqlerr.UniqueViolation, se.Code)
	require.Equal(t, "Key ((a * 2))=(10) already exists.", se.Detail)
	require.NoError(t, update(computedRow(1, 5, true), computedRow(1, 5, false)))
	require.NoError(t, update(computedRow(2, 5, false), computedRow(2, 5, true)))
	require.NoError(t, update(computedRow(3, 4, true), computedRow(3, 6, true)))
	require.Equal(t, [][2]int64{{10, 2}, {12, 3}}, d.entries(desc))

	require.NoError(t, write(func(tx *txn.Txn) error {
		for _, b := range []bool{true, false} {
			_, ix, found, err := w.Conflict(ctx, tx, computedRow(9, 6, b), []table.IndexID{2})
			require.NoError(t, err)
			require.Equal(t, b, found)
			require.Equal(t, b, ix != nil)
		}
		return w.Delete(ctx, tx, computedRow(2, 5, true))
	}))
	require.Equal(t, [][2]int64{{12, 3}}, d.entries(desc))
	require.Empty(t, d.checkWith(liveDouble{}))
	require.ErrorIs(t, insert(4, 13, true), errThirteen)
	require.NoError(t, insert(5, 13, false)) // no entry, and nothing to compute
}

// Check reports an entry too many, one that is missing, and one that cannot be made.
func TestCheckComparesComputedEntries(t *testing.T) {
	d, _, desc := openComputed(t)
	ctx := context.Background()
	d.must(func(tx *txn.Txn) error {
		return table.NewWriter(desc, d.cat).Insert(ctx, tx, computedRow(1, 13, false))
	})
	entry := func(a int64) table.Entry {
		b, err := table.NewEntryBuilder(desc, desc.Index(2))
		require.NoError(t, err)
		es, err := b.Entries(ctx, computedRow(1, a, true))
		require.NoError(t, err)
		require.Len(t, es, 1)
		return es[0]
	}
	e := entry(1)
	d.must(func(tx *txn.Txn) error { return tx.Set(e.Key, e.Value) })
	require.Equal(t, []string{"entry does not belong to its row (1, 13, f)"},
		d.checkWith(liveDouble{}))
	d.must(func(tx *txn.Txn) error {
		if err := tx.Delete(e.Key); err != nil {
			return err
		}
		key, value, err := rowOf(desc, computedRow(1, 13, true))
		require.NoError(t, err)
		return tx.Set(key, value)
	})
	require.Equal(t, []string{"entry of row (1, 13, t) cannot be made: thirteen"},
		d.checkWith(liveDouble{}))
	d.must(func(tx *txn.Txn) error {
		key, value, err := rowOf(desc, computedRow(1, 12, true))
		require.NoError(t, err)
		return tx.Set(key, value)
	})
	require.Equal(t, []string{"row (1, 12, t) has no entry"}, d.checkWith(liveDouble{}))
}

func rowOf(desc *table.Desc, row []types.Datum) (key, value []byte, err error) {
	b, err := table.NewEntryBuilder(desc, desc.Index(table.RowIndexID))
	if err != nil {
		return nil, nil, err
	}
	es, err := b.Entries(context.Background(), row)
	return es[0].Key, es[0].Value, err
}

// A row outside of a partial index costs what it costs without the index.
func TestARowOutsideOfAPartialIndexCostsNoPut(t *testing.T) {
	d, rec, desc := openComputed(t)
	ctx := context.Background()
	plain := computedDesc()
	plain.Name, plain.Exprs, plain.Indexes = "plain", nil, plain.Indexes[:1]
	plain.Indexes[0].Name = "plain_pkey"
	plain = d.create(plain)
	count := func(desc *table.Desc, id int64, b bool) int64 {
		w := table.NewWriter(desc, d.cat)
		before := rec.Counts()
		d.must(func(tx *txn.Txn) error { return w.Insert(ctx, tx, computedRow(id, id, b)) })
		return rec.Since(before).Sets
	}
	require.Equal(t, count(plain, 1, false), count(desc, 1, false))
	require.Equal(t, count(plain, 2, true)+1, count(desc, 2, true))
}

// Without a program a table with computed entries can be read and not written.
func TestEntriesNeedTheirProgram(t *testing.T) {
	d := memory(t)
	desc := d.create(computedDesc())
	err := d.run(func(tx *txn.Txn) error {
		w := table.NewWriter(desc, d.cat)
		return w.Insert(context.Background(), tx, computedRow(1, 1, true))
	})
	require.ErrorContains(t, err, "have not been compiled")
}
