package catalog

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/ctxtest"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// endsAtEachLook runs f with a context that never ends, which must look at least so often, and with
// contexts that end at one of these looks: f then fails after a few more.
func endsAtEachLook(t *testing.T, least int, f func(ctx context.Context) error) {
	t.Helper()
	whole := &ctxtest.Ending{Context: t.Context()}
	require.NoError(t, f(whole))
	require.GreaterOrEqual(t, whole.Checks, least)
	for n := 1; n < whole.Checks; n += 1 + whole.Checks/5 { // the last one may come too late
		ctx := &ctxtest.Ending{Context: t.Context(), N: n}
		require.ErrorIs(t, f(ctx), context.Canceled, "look %d of %d", n, whole.Checks)
		require.LessOrEqual(t, ctx.Checks, n+6)
	}
}

func TestWorkOverATableEndsWithItsContext(t *testing.T) {
	f := newFixture(t, record.New(memkv.New(memkv.Options{})), txn.Options{})
	d := f.simple("t")
	d.Indexes = append(d.Indexes, table.Index{ID: 2, OID: 99999, Name: "t_v_idx",
		Columns: []table.IndexColumn{{ColumnID: 2}}})
	d.NextIndexID = 3
	f.must(func(_ *txn.Txn, v *View) error { return v.CreateRelation(f.ctx, d) })
	const rows = 20 * rowsPerCheck
	// Each row has its place in the table, and another one in the index.
	row := func(i int) []types.Datum {
		return []types.Datum{types.NewInt(int64(i)), types.NewString(fmt.Sprint(i * 7919 % rows))}
	}
	f.must(func(tx *txn.Txn, _ *View) error {
		w := table.NewWriter(d, f.cat)
		for i := range rows {
			if err := w.Insert(f.ctx, tx, row(i)); err != nil {
				return err
			}
		}
		return nil
	})
	_, err := f.store.SettleLocks(f.ctx) // the background would change how much there is to read
	require.NoError(t, err)
	t.Run("sums of an index", func(t *testing.T) {
		f.must(func(tx *txn.Txn, _ *View) error {
			ch := &checker{tx: tx}
			endsAtEachLook(t, 20, func(ctx context.Context) error {
				_, err := ch.sumOf(ctx, d, 2)
				return err
			})
			return nil
		})
	})
	t.Run("replacement", func(t *testing.T) {
		f.must(func(tx *txn.Txn, _ *View) error {
			r := NewReplacement(f.cat, d, d)
			for i := range rows {
				require.NoError(t, r.Add(t.Context(), row(i)))
			}
			unsorted := [][]pairRef{append([]pairRef(nil), r.lists[0].refs...),
				append([]pairRef(nil), r.lists[1].refs...)}
			endsAtEachLook(t, 20, func(ctx context.Context) error {
				for i := range r.lists {
					r.lists[i].refs, r.lists[i].unsorted = append([]pairRef(nil),
						unsorted[i]...), true
				}
				return r.Sort(ctx)
			})
			endsAtEachLook(t, 20, func(ctx context.Context) error {
				_, err := r.isThere(ctx, tx)
				return err
			})
			return nil
		})
	})
	t.Run("reading what is not damaged", func(t *testing.T) {
		snapshot, err := f.engine.Snapshot()
		require.NoError(t, err)
		defer func() { require.NoError(t, snapshot.Close()) }()
		endsAtEachLook(t, rows/1024, func(ctx context.Context) error {
			_, err := kv.Readable(ctx, snapshot, kv.Span{}, func(_, _ []byte) error { return nil })
			return err
		})
	})
}
