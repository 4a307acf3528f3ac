package txn_test

import (
	"context"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// openTxn is txn.Open, and gives a store that others may share an oracle in the engine if it has
// none.
func openTxn(ctx context.Context, e kv.Engine, opts txn.Options) (*txn.Store, error) {
	if opts.Oracle == nil && !kv.IsExclusive(e) {
		oracle, err := tso.Open(ctx, e, mvcc.MetaKey("oracle"), tso.Options{
			Clock: opts.Clock, AcceptClock: opts.AcceptClock})
		if err != nil {
			return nil, err
		}
		opts.Oracle = oracle
	}
	return txn.Open(ctx, e, opts)
}

// TestASharedStoreNeedsItsOracle: with an oracle for each process one would read below what another
// has acknowledged (B10).
func TestASharedStoreNeedsItsOracle(t *testing.T) {
	_, err := txn.Open(context.Background(), memkv.New(memkv.Options{Shared: true}), txn.Options{})
	require.ErrorIs(t, err, txn.ErrNoOracle)
}
