package txn_test

import (
	"context"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/stretchr/testify/require"
)

// TestACollectionKeepsTheRollbackOfTheOldestTransaction: a resolver has met a secondary's lock,
// whose time was over, and rolled back a transaction whose prewrite of the primary is still to
// come. The transaction holds the safepoint at its own start_ts, and there the rollback record
// lies; without it the late prewrite would succeed and commit the primary alone.
func TestACollectionKeepsTheRollbackOfTheOldestTransaction(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{})
	s, err := openTxn(ctx, e, txn.Options{Protocol: txn.TwoPhase})
	require.NoError(t, err)
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	require.NoError(t, tx.Set([]byte("b"), []byte("1")))
	row := mvcc.Row([]byte("b"))
	require.NoError(t, e.Update(ctx, [][]byte{row}, func(r kv.Reader, b *kv.Batch) error {
		return mvcc.Prewrite(ctx, r, b,
			mvcc.PrewriteParams{StartTS: tx.StartTS(), Primary: []byte("a")},
			[]mvcc.Mutation{{Key: []byte("b"), Row: row, Kind: mvcc.KindPut, Value: []byte("1")}})
	}))
	settled, err := s.SettleLocks(ctx)
	require.NoError(t, err)
	require.Equal(t, 1, settled)
	stats, err := s.CollectGarbage(ctx)
	require.NoError(t, err)
	require.Equal(t, tx.StartTS(), stats.Safepoint)
	var conflict *txn.WriteConflictError
	require.ErrorAs(t, tx.Commit(ctx), &conflict)
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}
