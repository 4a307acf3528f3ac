package txntest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

// FailedUpdate makes one transfer on an empty engine, of which updates fail by a plan, with an
// unknown result. Whatever Commit says must be true afterwards, and with ErrAmbiguous both accounts
// must still agree (txn: I4). It returns what Commit said: "committed", "failed" or "ambiguous".
func FailedUpdate(t testing.TB, what string, e kv.Engine, opts txn.Options,
	plan kvtest.FaultPlan) string {
	ctx := context.Background()
	f := kvtest.NewFault(e)
	clock := int64(1000)
	opts.Clock = func() int64 { return clock }
	opts.LockWait, opts.BatchKeys, opts.Logger = time.Millisecond, 1, slog.New(slog.DiscardHandler)
	s, err := Open(ctx, f, opts)
	require.NoError(t, err)
	set(t, s, "a", "10", "b", "10", "c", "0")

	f.Plan(plan)
	tx := begin(t, s)
	require.NoError(t, tx.Set([]byte("a"), []byte("3")))
	require.NoError(t, tx.Set([]byte("b"), []byte("17")))
	require.NoError(t, tx.Insert([]byte("d"), []byte("7")))
	err = tx.Commit(ctx)
	f.Plan(kvtest.FaultPlan{})
	clock += 3_600_000 // whatever was left is now expired

	reader := begin(t, s)
	read := func() string {
		return fmt.Sprintf("%v %v %v", get(t, reader, "a"), get(t, reader, "b"),
			get(t, reader, "d"))
	}
	got := read()
	require.NoError(t, f.Land())
	reader.Idle()
	require.Equal(t, got, read(), "%s: what lands later is above every snapshot that has missed it",
		what)
	after, before := "3 17 7", "10 10 <nil>"
	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, s.Close())
	switch {
	case err == nil:
		require.Equal(t, after, got, what)
		require.NotZero(t, tx.CommitTS(), what)
		return "committed"
	case errors.Is(err, txn.ErrAmbiguous):
		require.Contains(t, []string{after, before}, got, what)
		return "ambiguous"
	}
	require.Equal(t, before, got, "%s: %v", what, err)
	return "failed"
}

// set writes keys and their values in one transaction.
func set(t testing.TB, s *txn.Store, kvs ...string) {
	tx := begin(t, s)
	for i := 0; i < len(kvs); i += 2 {
		require.NoError(t, tx.Set([]byte(kvs[i]), []byte(kvs[i+1])))
	}
	require.NoError(t, tx.Commit(context.Background()))
}

func get(t testing.TB, tx *txn.Txn, key string) any {
	v, err := tx.Get(context.Background(), []byte(key))
	require.NoError(t, err)
	if v == nil {
		return nil
	}
	return string(v)
}
