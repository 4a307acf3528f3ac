package table_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// TestABarredKeyIsLockedOrItsRowsValidated: on a store that several processes share, a transaction
// that removes a key to which rows refer, and has not locked it so that others cannot hold it,
// fails when rows of the table are written meanwhile.
func TestABarredKeyIsLockedOrItsRowsValidated(t *testing.T) {
	ctx := context.Background()
	for _, mode := range []rowlock.Mode{rowlock.None, rowlock.NoKeyUpdate, rowlock.Update} {
		engine := memkv.New(memkv.Options{Shared: true})
		oracle, err := tso.Open(ctx, engine, mvcc.MetaKey("oracle"), tso.Options{})
		require.NoError(t, err)
		d := openDB(t, engine, txn.Options{Oracle: oracle})
		child := d.observed()
		key := []byte("parent")
		d.must(func(tx *txn.Txn) error { return tx.Set(key, []byte("1")) })
		err = d.run(func(tx *txn.Txn) error {
			if mode != rowlock.None {
				require.NoError(t, tx.LockCurrent(ctx, key, mode, false))
			}
			table.BarKey(tx, child, key)
			d.must(func(other *txn.Txn) error {
				return table.NewWriter(child, nil).Insert(ctx, other, abRow(1, 1, "x"))
			})
			return tx.Delete(key)
		})
		if mode == rowlock.Update {
			require.NoError(t, err)
			continue
		}
		var conflict *txn.WriteConflictError
		require.ErrorAs(t, err, &conflict, "%s", mode)
	}
}
