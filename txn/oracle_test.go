package txn_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
	"github.com/minidb/minidb/txn/txntest"
	"github.com/stretchr/testify/require"
)

// Tests of this package open and check stores as those of engines do.
var (
	openTxn    = txntest.Open
	checkStore = txntest.CheckStore
)

// TestASharedStoreNeedsItsOracle: with an oracle for each process one would read below what another
// has acknowledged (B10).
func TestASharedStoreNeedsItsOracle(t *testing.T) {
	_, err := txn.Open(context.Background(), memkv.New(memkv.Options{Shared: true}), txn.Options{})
	require.ErrorIs(t, err, txn.ErrNoOracle)
}

// patient is an oracle that notes whether a draw had a deadline.
type patient struct {
	tso.Source
	bounded atomic.Int64
}

func (p *patient) Next(ctx context.Context) (tso.Timestamp, error) {
	if _, bounded := ctx.Deadline(); bounded {
		p.bounded.Add(1)
	}
	return p.Source.Next(ctx)
}

// TestACommitWaitsForItsTimestamp: nothing but the caller's context bounds the draw of commit_ts,
// for another process may be taking over the oracle.
func TestACommitWaitsForItsTimestamp(t *testing.T) {
	ctx := context.Background()
	e := memkv.New(memkv.Options{Shared: true})
	own, err := tso.Open(ctx, e, mvcc.MetaKey("oracle"), tso.Options{})
	require.NoError(t, err)
	source := &patient{Source: own}
	s, err := txn.Open(ctx, e, txn.Options{Oracle: source})
	require.NoError(t, err)
	tx, err := s.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	require.NoError(t, tx.Set([]byte("a"), []byte("1")))
	require.NoError(t, tx.Commit(ctx))
	require.NoError(t, s.Close())
	require.Zero(t, source.bounded.Load())
}
