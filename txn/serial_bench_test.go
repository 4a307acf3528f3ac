package txn_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

// BenchmarkSerializable runs small transactions, five reads and two writes of keys read, on 8
// goroutines, at both levels: on Pebble, where a commit syncs, and in memory, where nothing hides
// the cost.
func BenchmarkSerializable(b *testing.B) {
	for _, engine := range []string{"pebble", "memory"} {
		var s *txn.Store
		if engine == "pebble" {
			e, store := benchStore(b, txn.Options{})
			fill(b, store, e)
			s = store
		} else {
			s = benchMemory(b)
		}
		for _, level := range []string{"repeatable read", "serializable"} {
			b.Run(engine+"/"+level, func(b *testing.B) {
				var refused atomic.Int64
				b.SetParallelism(max(1, 8/runtime.GOMAXPROCS(0)))
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						for smallTransaction(b, s, level == "serializable") {
							refused.Add(1)
						}
					}
				})
				b.ReportMetric(float64(refused.Load())/float64(b.N), "refused/op")
			})
		}
	}
}

func benchMemory(b *testing.B) *txn.Store {
	s, err := openTxn(context.Background(), memkv.New(memkv.Options{}), txn.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	tx := begin(b, s)
	for i := range benchKeys {
		require.NoError(b, tx.Set(benchKey(i), make([]byte, 100)))
	}
	require.NoError(b, tx.Commit(context.Background()))
	return s
}

// smallTransaction reports whether it was refused and must run again.
func smallTransaction(b *testing.B, s *txn.Store, serializable bool) bool {
	ctx := context.Background()
	tx, err := s.Begin(ctx, txn.BeginOptions{Serializable: serializable})
	if err != nil {
		b.Error(err)
		return false
	}
	value := make([]byte, 100)
	for i := range 5 {
		key := benchKey(rand.IntN(benchKeys))
		if _, err = tx.Get(ctx, key); err == nil && i < 2 {
			err = tx.Set(key, value)
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = tx.Commit(ctx)
	}
	if rerr := tx.Rollback(ctx); rerr != nil && !errors.Is(rerr, txn.ErrTxnDone) {
		b.Error(rerr)
	}
	var conflict *txn.WriteConflictError
	if err != nil && !errors.As(err, &conflict) && !unserializable(err) {
		b.Error(err)
		return false
	}
	return err != nil
}
