package txntest

import (
	"context"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

// Open is txn.Open, and gives a store that others may share an oracle in the engine if it has none.
func Open(ctx context.Context, e kv.Engine, opts txn.Options) (*txn.Store, error) {
	if opts.Oracle == nil && !kv.IsExclusive(e) {
		oracle, err := OpenOracle(ctx, e, opts)
		if err != nil {
			return nil, err
		}
		opts.Oracle = oracle
	}
	return txn.Open(ctx, e, opts)
}

// OpenOracle opens an oracle in the engine, for all that share it.
func OpenOracle(ctx context.Context, e kv.Engine, opts txn.Options) (*tso.Oracle, error) {
	return tso.Open(ctx, e, mvcc.MetaKey("oracle"), tso.Options{Clock: opts.Clock,
		AcceptClock: opts.AcceptClock})
}

func begin(t testing.TB, s *txn.Store) *txn.Txn {
	tx, err := s.Begin(context.Background(), txn.BeginOptions{})
	require.NoError(t, err)
	return tx
}
