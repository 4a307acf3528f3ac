package table_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

func ginDesc() *table.Desc {
	return &table.Desc{
		Name: "g", NextColumnID: 5, NextIndexID: 4,
		Columns: []table.Column{
			{ID: 1, Name: "id", Type: types.TInt4, NotNull: true},
			{ID: 2, Name: "tags", Type: types.ArrayOf(types.TText)},
			{ID: 3, Name: "doc", Type: types.TJSONB},
			{ID: 4, Name: "n", Type: types.TInt4},
		},
		RowKey: []table.IndexColumn{{ColumnID: 1}},
		Indexes: []table.Index{
			{ID: table.RowIndexID, Name: "g_pkey", Unique: true, Primary: true, Constraint: true,
				Columns: []table.IndexColumn{{ColumnID: 1}}},
			{ID: 2, Name: "g_gin", Method: table.MethodGIN,
				Columns: []table.IndexColumn{{ColumnID: 2}, {ColumnID: 3}}},
			{ID: 3, Name: "g_path", Method: table.MethodGIN,
				Columns: []table.IndexColumn{{ColumnID: 3, OpClass: "jsonb_path_ops"}}},
		},
	}
}

func ginRow(t testing.TB, id int64, tags, doc string, n int64) []types.Datum {
	row := []types.Datum{types.NewInt(id), types.Null, types.Null, types.NewInt(n)}
	for i, text := range []string{tags, doc} {
		if text == "NULL" {
			continue
		}
		v, err := types.ParseText(ginDesc().Columns[1+i].Type, text, nil)
		require.NoError(t, err)
		row[1+i] = v
	}
	return row
}

// keysOf describes the entries of an index.
func (d *db) keysOf(desc *table.Desc, ix table.IndexID) string {
	var out []string
	d.must(func(tx *txn.Txn) error {
		it, err := tx.Scan(context.Background(), desc.IndexSpan(ix), txn.ScanOptions{})
		require.NoError(d.t, err)
		for it.Next() {
			k, ok := table.DecodeKey(it.Key())
			require.True(d.t, ok)
			require.Empty(d.t, it.Value())
			out = append(out, table.DescribeKey(desc, k))
		}
		require.NoError(d.t, it.Err())
		return it.Close()
	})
	return strings.Join(out, " ")
}

// A row has an entry for each key of each column, and loses and gets only those that change.
func TestAGINIndexHasAnEntryForEachKey(t *testing.T) {
	variants(t, func(t *testing.T, d *db) {
		desc, ctx := d.create(ginDesc()), context.Background()
		w := table.NewWriter(desc, d.cat)
		one := ginRow(t, 1, "{b,a,b}", `{"k": 1}`, 0)
		d.must(func(tx *txn.Txn) error { return w.Insert(ctx, tx, one) })
		require.Equal(t, "(tags: a)/(1) (tags: b)/(1) (doc: k:k)/(1) (doc: n:1E+0)/(1)",
			d.keysOf(desc, 2))
		d.must(func(tx *txn.Txn) error { return w.Insert(ctx, tx, ginRow(t, 2, "{}", "NULL", 0)) })
		next := ginRow(t, 1, "{c,a}", `{"k": 1}`, 0)
		d.must(func(tx *txn.Txn) error { return w.Update(ctx, tx, one, next) })
		require.Equal(t, "(tags: a)/(1) (tags: c)/(1) (tags: no key)/(2) (doc: k:k)/(1) "+
			"(doc: n:1E+0)/(1) (doc: null value)/(2)", d.keysOf(desc, 2))
		moved := ginRow(t, 3, "{c,a}", `{"k": 1}`, 7)
		d.must(func(tx *txn.Txn) error { return w.Update(ctx, tx, next, moved) })
		d.check()
		d.must(func(tx *txn.Txn) error { return w.Delete(ctx, tx, moved) })
		require.Equal(t, "(tags: no key)/(2) (doc: null value)/(2)", d.keysOf(desc, 2))
		d.check()
	})
}

// An entry too few and an entry too many are named by the check, each with its row or key.
func TestTheCheckFindsEntriesOfGINThatDoNotBelong(t *testing.T) {
	variants(t, func(t *testing.T, d *db) {
		desc, ctx := d.create(ginDesc()), context.Background()
		w := table.NewWriter(desc, d.cat)
		row := ginRow(t, 1, "{a,b}", `{"k": 1}`, 0)
		d.must(func(tx *txn.Txn) error { return w.Insert(ctx, tx, row) })
		b, err := table.NewEntryBuilder(desc, desc.Index(2))
		require.NoError(t, err)
		entry := func(tags string) []byte {
			entries, err := b.Entries(ctx, ginRow(t, 1, tags, "NULL", 0))
			require.NoError(t, err)
			return append([]byte(nil), entries[0].Key...)
		}
		missing, surplus := entry("{a}"), entry("{z}")
		d.must(func(tx *txn.Txn) error { return tx.Delete(missing) })
		require.Equal(t, []string{
			"row (1, {a,b}, {\"k\": 1}, 0) has no entry"}, d.checkWith(nil))
		d.must(func(tx *txn.Txn) error { return tx.Set(missing, nil) })
		require.Empty(t, d.checkWith(nil))
		d.must(func(tx *txn.Txn) error { return tx.Set(surplus, nil) })
		require.Equal(t, []string{"entry does not belong to its row " +
			"(1, {a,b}, {\"k\": 1}, 0)"}, d.checkWith(nil))
		d.must(func(tx *txn.Txn) error { return tx.Delete(surplus) })
	})
}

// Random writes leave every row with its entries, and every entry with its row.
func TestRandomWritesKeepGINEntries(t *testing.T) {
	variants(t, func(t *testing.T, d *db) {
		desc, ctx := d.create(ginDesc()), context.Background()
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		rnd := rand.New(rand.NewPCG(seed, 1))
		rows := map[int64][]types.Datum{}
		tags := []string{"NULL", "{}", "{a}", "{a,NULL}", "{b,a,b}", "{c,d,e,f}"}
		docs := []string{"NULL", "{}", `{"a": 1}`, `{"a": 1.0, "b": [1, "x"]}`, `[[], null]`, "3"}
		for range 30 {
			d.must(func(tx *txn.Txn) error {
				w := table.NewWriter(desc, d.cat)
				for range 1 + rnd.IntN(10) {
					id := rnd.Int64N(20)
					row := ginRow(t, id, tags[rnd.IntN(len(tags))], docs[rnd.IntN(len(docs))],
						rnd.Int64N(3))
					var err error
					switch old := rows[id]; {
					case old == nil:
						err, rows[id] = w.Insert(ctx, tx, row), row
					case rnd.IntN(3) == 0:
						err = w.Delete(ctx, tx, old)
						delete(rows, id)
					default:
						err, rows[id] = w.Update(ctx, tx, old, row), row
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		d.check()
	})
}
