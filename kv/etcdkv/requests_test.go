package etcdkv_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// TestRequestsOfATransaction counts what the transaction layer asks the cluster for, once the
// engine knows its habits.
func TestRequestsOfATransaction(t *testing.T) {
	ctx := context.Background()
	e := open(t)
	still := func() int64 { return 1000 }
	oracle, err := tso.Open(ctx, e, mvcc.MetaKey("oracle"), tso.Options{Clock: still})
	require.NoError(t, err)
	s, err := txn.Open(ctx, e, txn.Options{Oracle: oracle, LeaseRenewal: -1, Clock: still})
	require.NoError(t, err)
	key := func(i int) []byte { return fmt.Appendf(nil, "key %03d", i) }
	const rounds = 40
	// requests returns how many reads and how many updates a transaction makes, on average.
	requests := func(from int, run func(tx *txn.Txn, i int) error) (reads, updates float64) {
		all := func(i int) {
			tx, err := s.Begin(ctx, txn.BeginOptions{})
			require.NoError(t, err)
			require.NoError(t, run(tx, i))
			require.NoError(t, tx.Commit(ctx))
		}
		for i := range rounds {
			all(from + i)
		}
		r, u := e.Requests()
		for i := range rounds {
			all(from + rounds + i)
		}
		r2, u2 := e.Requests()
		return float64(r2-r) / rounds, float64(u2-u) / rounds
	}
	for _, c := range []struct {
		name           string
		run            func(tx *txn.Txn, i int) error
		reads, updates float64
	}{
		{"a new row", func(tx *txn.Txn, i int) error {
			return tx.Set(key(i), []byte("v"))
		}, 3, 2},
		{"a point read", func(tx *txn.Txn, i int) error {
			_, err := tx.Get(ctx, key(i%rounds))
			return err
		}, 2, 0},
		{"a row that was read", func(tx *txn.Txn, i int) error {
			if _, err := tx.Get(ctx, key(i%rounds)); err != nil {
				return err
			}
			return tx.Set(key(i%rounds), []byte("w"))
		}, 5, 2},
		{"ten new rows", func(tx *txn.Txn, i int) error {
			for j := range 10 {
				if err := tx.Set(key(1000+10*i+j), []byte("v")); err != nil {
					return err
				}
			}
			return nil
		}, 9, 6}, // with secondaries, which the next transaction may meet
	} {
		reads, updates := requests(0, c.run)
		t.Logf("%s: %.2f reads, %.2f updates", c.name, reads, updates)
		require.LessOrEqual(t, reads, c.reads, c.name)
		require.LessOrEqual(t, updates, c.updates, c.name)
	}
	require.NoError(t, s.Close())
	require.NoError(t, e.Close())
}
