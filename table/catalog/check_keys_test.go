package catalog

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// TestACheckReadsForeignKeysSideBySide: the rows of a sound table do not cost a look-up each, in
// whatever order they refer to the other one; and each row that refers to nothing is named.
func TestACheckReadsForeignKeysSideBySide(t *testing.T) {
	engine := kvtest.NewMeter(memkv.New(memkv.Options{}))
	f := newFixture(t, engine, txn.Options{})
	parent, child := f.simple("parent"), f.simple("child")
	child.Columns[1].Type = types.TInt4
	child.ForeignKeys = []table.ForeignKey{{Name: "fk", OID: 77777, RefTable: parent.ID,
		Columns: []table.ColumnID{2}, RefColumns: []table.ColumnID{1}}}
	parent.ReferencedBy = []table.ID{child.ID}
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, parent) })
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, child) })
	const parents, children = 2000, 20_000
	refers := map[string]func(i int) int{
		"in order":         func(i int) int { return i * parents / children },
		"in no order":      func(i int) int { return i * 7919 % parents },
		"to one of many":   func(i int) int { return i * 7919 % parents / 100 * 100 },
		"to the last ones": func(i int) int { return parents - 1 - i%2*(i%parents) },
	}
	f.must(func(tx *txn.Txn, _ *View) error {
		w := table.NewWriter(parent, f.cat)
		for i := range parents {
			if err := w.Insert(f.ctx, tx,
				[]types.Datum{types.NewInt(int64(i)), types.NewString("x")}); err != nil {
				return err
			}
		}
		return nil
	})
	for name, to := range refers {
		t.Run(name, func(t *testing.T) {
			f.must(func(tx *txn.Txn, v *View) error {
				w := table.NewWriter(child, f.cat)
				for i := range children {
					row := []types.Datum{types.NewInt(int64(i)), types.NewInt(int64(to(i)))}
					if err := tx.Set(keyAndValue(t, w, row)); err != nil {
						return err
					}
				}
				return nil
			})
			_, err := f.store.CollectGarbage(f.ctx)
			require.NoError(t, err)
			ctx := engine.Watch(f.ctx, 1, func() {})
			require.NoError(t, Check(ctx, f.store, func(p Problem) { t.Error(p) }))
			require.Less(t, engine.After(), int64(2*children+8*parents),
				"rows are read twice, and the keys of batches")
		})
	}
	var seen []string
	require.NoError(t, CheckWithProgress(f.ctx, f.store,
		Report{Problem: func(p Problem) { t.Error(p) }, Every: 15_000,
			Progress: func(relation string,
				keys int64) {
				seen = append(seen, fmt.Sprint(relation, " ", keys))
			}}))
	require.Equal(t, []string{"postgres.public.child 15000", "postgres.public.child 30000"}, seen)
	f.must(func(tx *txn.Txn, _ *View) error {
		w := table.NewWriter(child, f.cat)
		for _, i := range []int{5, 7000} {
			if err := tx.Set(keyAndValue(t, w,
				[]types.Datum{types.NewInt(int64(i)), types.NewInt(parents)})); err != nil {
				return err
			}
		}
		return nil
	})
	var problems []string
	require.NoError(t, Check(f.ctx, f.store,
		func(p Problem) { problems = append(problems, p.What) }))
	require.Equal(t, []string{
		fmt.Sprintf(`row (5, %d) refers by "fk" to a row that does not exist`, parents),
		fmt.Sprintf(`row (7000, %d) refers by "fk" to a row that does not exist`, parents),
	}, problems)
}

// keyAndValue encodes a row of a table that has no index but its rows.
func keyAndValue(t *testing.T, w *table.Writer, row []types.Datum) (key, value []byte) {
	require.NoError(t, w.Encode(t.Context(), row, func(_ int, k, v []byte) {
		key, value = append([]byte(nil), k...), append([]byte(nil), v...)
	}))
	return key, value
}
