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

// TestOverwrittenValuesCountWhileASavepointWantsThem: the undo log keeps them, streamed out or not.
func TestOverwrittenValuesCountWhileASavepointWantsThem(t *testing.T) {
	ctx := context.Background()
	for name, opts := range map[string]txn.Options{"buffered": {}, "streamed": {StreamBytes: 4 << 10}} {
		t.Run(name, func(t *testing.T) {
			opts.MaxTxnBytes = 64 << 10
			tx := begin(t, openStore(t, memkv.New(memkv.Options{}), opts))
			write := func() error { return tx.Set([]byte("key"), make([]byte, 1<<10)) }
			for range 200 {
				require.NoError(t, write())
			}
			sp := tx.Savepoint()
			n := 0
			var err error
			for ; err == nil && n < 70; n++ {
				err = write()
			}
			require.ErrorIs(t, err, txn.ErrTooLarge)
			require.Greater(t, n, 40)
			tx.RollbackTo(sp)
			for range 40 {
				require.NoError(t, write())
			}
			for range 10 {
				tx.ForgetSavepoints()
				sp = tx.Savepoint()
				for range 40 {
					require.NoError(t, write())
				}
			}
			require.NoError(t, tx.Set([]byte("key"), []byte("last")))
			tx.RollbackTo(sp)
			require.Equal(t, string(make([]byte, 1<<10)), get(t, tx, "key"))
			require.NoError(t, tx.Commit(ctx))
		})
	}
}

// TestAnUndoThatFailedTakesNoMemory: what can never be undone counts no more, and every answer from then on
// tells why the transaction failed.
func TestAnUndoThatFailedTakesNoMemory(t *testing.T) {
	ctx := context.Background()
	faults := kvtest.NewFault(memkv.New(memkv.Options{}))
	tx := begin(t, openStore(t, faults, txn.Options{StreamBytes: 4 << 10, MaxTxnBytes: 64 << 10}))
	sp := tx.Savepoint()
	write := func() error { return tx.Set([]byte("key"), make([]byte, 5<<10)) }
	var err error
	for err == nil {
		err = write()
	}
	require.ErrorIs(t, err, txn.ErrTooLarge)
	broken := errors.New("broken")
	faults.Plan(kvtest.FaultPlan{At: 1, Times: 1 << 30, Err: kv.NotApplied(broken)})
	defer faults.Plan(kvtest.FaultPlan{})
	tx.RollbackTo(sp)
	require.ErrorIs(t, write(), broken)
	require.ErrorIs(t, tx.Commit(ctx), broken)
}
