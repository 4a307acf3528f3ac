package txn_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/stretchr/testify/require"
)

// BenchmarkHotRow reads and changes a row that has many versions, none of which may be collected
// yet: the newest one is found with one seek, however many there are.
func BenchmarkHotRow(b *testing.B) {
	ctx := context.Background()
	for _, versions := range []int{1, 1000, 100_000} {
		e, err := pebblekv.Open("", pebblekv.Options{InMemory: true})
		require.NoError(b, err)
		s, err := openTxn(ctx, e, txn.Options{})
		require.NoError(b, err)
		pin := begin(b, s) // holds the safepoint
		for range versions {
			commit(b, s, "hot", "0")
		}
		b.Run("read/"+strconv.Itoa(versions), func(b *testing.B) {
			for b.Loop() {
				tx := begin(b, s)
				if v, err := tx.Get(ctx, []byte("hot")); err != nil || v == nil {
					b.Fatal(err)
				}
				_ = tx.Rollback(ctx)
			}
		})
		b.Run("change/"+strconv.Itoa(versions), func(b *testing.B) {
			for b.Loop() {
				// An older snapshot, of which memory knows nothing, so that the newest version
				// is looked for.
				tx := begin(b, s)
				tx.SetLocking(txn.Locking{Writes: true, Rereads: true})
				commit(b, s, "hot", "1")
				err := tx.LockCurrent(ctx, []byte("hot"), rowlock.Update, false)
				if stale := (*txn.StaleError)(nil); !errors.As(err, &stale) {
					b.Fatal(err)
				}
				err = errors.Join(tx.Advance(ctx), tx.Set([]byte("hot"), []byte("2")),
					tx.Commit(ctx))
				if err != nil {
					b.Fatal(err)
				}
			}
		})
		require.NoError(b, pin.Rollback(ctx))
		require.NoError(b, s.Close())
		require.NoError(b, e.Close())
	}
}
