package txn_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
)

func TestATransactionIsBounded(t *testing.T) {
	ctx := context.Background()
	engine := memkv.New(memkv.Options{})
	s, err := txn.Open(ctx, engine, txn.Options{MaxTxnBytes: 64 << 10})
	require.NoError(t, err)
	defer func() {
		require.NoError(t, s.Close())
		require.NoError(t, engine.Close())
	}()
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	sp := tx.Savepoint()
	n := 0
	for ; err == nil; n++ {
		err = tx.Set([]byte(fmt.Sprintf("key %d", n)), []byte("value"))
	}
	require.ErrorIs(t, err, txn.ErrTooLarge)
	require.Less(t, n, 1000)
	require.ErrorIs(t, tx.Delete([]byte("key 1")), txn.ErrTooLarge)
	tx.RollbackTo(sp) // what was forgotten counts no more
	require.NoError(t, tx.Set([]byte("key"), []byte("value")))
	require.NoError(t, tx.Commit(ctx))
}
