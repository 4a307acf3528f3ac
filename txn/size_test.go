package txn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
)

func TestATransactionIsBounded(t *testing.T) {
	ctx := context.Background()
	tx := begin(t, openStore(t, memkv.New(memkv.Options{}), txn.Options{MaxTxnBytes: 64 << 10}))
	sp := tx.Savepoint()
	n := 0
	var err error
	for ; err == nil && n < 1000; n++ {
		err = tx.Set([]byte(fmt.Sprintf("key %d", n)), []byte("value"))
	}
	require.ErrorIs(t, err, txn.ErrTooLarge)
	require.ErrorIs(t, tx.Delete([]byte("key 1")), txn.ErrTooLarge)
	tx.RollbackTo(sp) // what was forgotten counts no more
	require.NoError(t, tx.Set([]byte("key"), []byte("value")))
	require.NoError(t, tx.Commit(ctx))
}

// TestTheUndoOfAStatementTakesNoMemory (B14): however many rows are written after a savepoint, and
// however often, the transaction keeps no more of them in memory than it may before it streams them
// out, and goes back to what was there.
func TestTheUndoOfAStatementTakesNoMemory(t *testing.T) {
	const rows = 3000 // of 1 KiB: a hundred times what the transaction may hold
	for name, opts := range map[string]txn.Options{"streamed": {StreamBytes: 8 << 10},
		"in batches": {StreamBytes: 8 << 10, BatchKeys: 3}} {
		t.Run(name, func(t *testing.T) {
			opts.MaxTxnBytes = 32 << 10
			tx := begin(t, openStore(t, memkv.New(memkv.Options{}), opts))
			key := func(i int) []byte { return fmt.Appendf(nil, "key %06d", i) }
			for i := range rows / 2 {
				require.NoError(t, tx.Set(key(2*i), []byte("before")))
			}
			for range 3 {
				sp := tx.Savepoint()
				for i := range rows {
					require.NoError(t, tx.Set(key(i), make([]byte, 1<<10)))
					require.NoError(t, tx.Set([]byte("always the same"), make([]byte, 1<<10)))
				}
				tx.RollbackTo(sp)
				require.Nil(t, get(t, tx, "always the same"))
			}
			for i := range rows / 2 {
				require.Equal(t, "before", get(t, tx, string(key(2*i))))
				require.Nil(t, get(t, tx, string(key(2*i+1))))
			}
			require.NoError(t, tx.Commit(context.Background()))
		})
	}
}

// TestStatementsAfterASavepointTakeNoMemory (B14): each statement has a savepoint of its own, which
// is forgotten after it, and a row that all of them write is kept as it was before the first.
func TestStatementsAfterASavepointTakeNoMemory(t *testing.T) {
	tx := begin(t, openStore(t, memkv.New(memkv.Options{}), txn.Options{MaxTxnBytes: 16 << 10}))
	require.NoError(t, tx.Set([]byte("hot"), []byte("before")))
	sp := tx.Savepoint()
	for range 1000 {
		tx.ForgetSavepointsAfter(sp)
		statement := tx.Savepoint()
		require.NoError(t, tx.Set([]byte("hot"), make([]byte, 1<<10)))
		require.NoError(t, tx.Set([]byte("fresh"), make([]byte, 1<<10)))
		tx.UndoTo(statement) // it runs again
		require.NoError(t, tx.Set([]byte("hot"), make([]byte, 1<<10)))
		require.NoError(t, tx.Set([]byte("fresh"), make([]byte, 1<<10)))
	}
	tx.RollbackTo(sp)
	require.Equal(t, "before", get(t, tx, "hot"))
	require.Nil(t, get(t, tx, "fresh"))
}

// TestAnUndoThatFailedFailsTheTransaction: every call from then on returns why.
func TestAnUndoThatFailedFailsTheTransaction(t *testing.T) {
	ctx := context.Background()
	faults := kvtest.NewFault(memkv.New(memkv.Options{}))
	tx := begin(t, openStore(t, faults, txn.Options{StreamBytes: 4 << 10}))
	sp := tx.Savepoint()
	for i := range 200 {
		require.NoError(t, tx.Set(fmt.Appendf(nil, "key %d", i), []byte("value")))
	}
	broken := errors.New("broken")
	faults.Plan(kvtest.FaultPlan{At: 1, Times: 1 << 30, Err: kv.NotApplied(broken)})
	defer faults.Plan(kvtest.FaultPlan{})
	tx.RollbackTo(sp)
	require.ErrorIs(t, tx.Set([]byte("key"), nil), broken)
	require.ErrorIs(t, tx.Commit(ctx), broken)
}
