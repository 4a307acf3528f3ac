package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// TestACheckOfASoundTableLooksNothingUp counts what Check asks of the engine for a table with an
// index: the same for ten rows and for two thousand.
func TestACheckOfASoundTableLooksNothingUp(t *testing.T) {
	engine := record.New(memkv.New(memkv.Options{}))
	f := newFixture(t, engine, txn.Options{Clock: still})
	d := f.simple("t")
	d.Indexes = append(d.Indexes, table.Index{ID: 2, OID: 99999, Name: "t_v_idx",
		Columns: []table.IndexColumn{{ColumnID: 2}}})
	d.NextIndexID = 3
	f.must(func(tx *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, d) })
	rows := 0
	insert := func(to int) {
		f.must(func(tx *txn.Txn, _ *View) error {
			w := table.NewWriter(d, f.cat)
			for ; rows < to; rows++ {
				if err := w.Insert(f.ctx, tx,
					[]types.Datum{types.NewInt(int64(rows)), types.NewString("x")}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	asked := func() int64 {
		before := engine.Counts()
		f.check()
		c := engine.Since(before)
		return c.Gets + c.Iters
	}
	insert(10)
	few := asked()
	insert(2000)
	require.Equal(t, few, asked())
}

func TestEntrySumsDoNotDependOnOrder(t *testing.T) {
	entries := [][2]string{{"a", "1"}, {"ab", ""}, {"a", "b"}, {"", "ab"}}
	var there, back, swapped entrySum
	for i := range entries {
		there.add([]byte(entries[i][0]), []byte(entries[i][1]))
		e := entries[len(entries)-1-i]
		back.add([]byte(e[0]), []byte(e[1]))
		swapped.add([]byte(e[1]), []byte(e[0]))
	}
	require.Equal(t, there, back)
	require.NotEqual(t, there, swapped)
}
