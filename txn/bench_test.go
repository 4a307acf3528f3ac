package txn_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
	"github.com/stretchr/testify/require"
)

const benchKeys = 100_000

func benchKey(i int) []byte {
	return binary.BigEndian.AppendUint64([]byte("table/1/row/"), uint64(i))
}

func benchStore(b *testing.B, opts txn.Options) (*pebblekv.Engine, *txn.Store) {
	e, err := pebblekv.Open(b.TempDir(), pebblekv.Options{})
	require.NoError(b, err)
	s, err := openTxn(context.Background(), e, opts)
	require.NoError(b, err)
	b.Cleanup(func() {
		require.NoError(b, s.Close())
		require.NoError(b, e.Close())
	})
	return e, s
}

// fill writes the keys in transactions of a thousand.
func fill(b *testing.B, s *txn.Store, e *pebblekv.Engine) {
	value := make([]byte, 100)
	for i := 0; i < benchKeys; {
		tx := begin(b, s)
		for range 1000 {
			require.NoError(b, tx.Set(benchKey(i), value))
			i++
		}
		require.NoError(b, tx.Commit(context.Background()))
	}
	require.NoError(b, e.Flush())
}

// BenchmarkPointRead compares a read at a fresh snapshot, and one of many reads in a transaction,
// with a Get of the raw engine.
func BenchmarkPointRead(b *testing.B) {
	ctx := context.Background()
	e, s := benchStore(b, txn.Options{})
	fill(b, s, e)
	b.Run("raw get", func(b *testing.B) {
		raw, err := pebblekv.Open(b.TempDir(), pebblekv.Options{})
		require.NoError(b, err)
		value := make([]byte, 100)
		for i := 0; i < benchKeys; i += 1000 {
			require.NoError(b, raw.UpdateLazy(ctx, nil, func(_ kv.Reader, kb *kv.Batch) error {
				for j := range 1000 {
					kb.Set(benchKey(i+j), value)
				}
				return nil
			}))
		}
		require.NoError(b, raw.Flush())
		b.ReportAllocs()
		require.NoError(b, raw.Update(ctx, nil, func(r kv.Reader, _ *kv.Batch) error {
			for b.Loop() {
				v, err := r.Get(ctx, benchKey(rand.IntN(benchKeys)))
				if err != nil || v == nil {
					b.Fatal(err)
				}
			}
			return nil
		}))
		require.NoError(b, raw.Close())
	})
	b.Run("transaction each", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tx, err := s.Begin(ctx, txn.BeginOptions{ReadOnly: true})
			if err != nil {
				b.Fatal(err)
			}
			if v, err := tx.Get(ctx, benchKey(rand.IntN(benchKeys))); err != nil || v == nil {
				b.Fatal(err)
			}
			if err := tx.Rollback(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("one transaction", func(b *testing.B) {
		tx := begin(b, s)
		b.ReportAllocs()
		for b.Loop() {
			if v, err := tx.Get(ctx, benchKey(rand.IntN(benchKeys))); err != nil || v == nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, tx.Rollback(ctx))
	})
}

// BenchmarkScan reads the whole table; time is per row.
func BenchmarkScan(b *testing.B) {
	ctx := context.Background()
	e, s := benchStore(b, txn.Options{})
	fill(b, s, e)
	b.Run("raw", func(b *testing.B) {
		snap, err := e.Snapshot()
		require.NoError(b, err)
		b.ReportAllocs()
		it, err := snap.NewIter(ctx, kv.Span{})
		require.NoError(b, err)
		for b.Loop() {
			if !it.Next() {
				it.First()
			}
			if v, err := it.Value(); err != nil || v == nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, it.Close())
		require.NoError(b, snap.Close())
	})
	for _, reverse := range []bool{false, true} {
		b.Run(fmt.Sprintf("reverse=%v", reverse), func(b *testing.B) {
			tx := begin(b, s)
			b.ReportAllocs()
			var it *txn.Iterator
			for b.Loop() {
				if it == nil || !it.Next() {
					if it != nil {
						require.NoError(b, it.Close())
					}
					var err error
					it, err = tx.Scan(ctx, kv.Span{}, txn.ScanOptions{Reverse: reverse})
					require.NoError(b, err)
				}
			}
			require.NoError(b, it.Close())
			require.NoError(b, tx.Rollback(ctx))
		})
	}
}

// BenchmarkCommit compares commits of five keys with raw synced batches of five keys.
func BenchmarkCommit(b *testing.B) {
	ctx := context.Background()
	value := make([]byte, 100)
	parallel := func(b *testing.B, goroutines int, op func()) {
		b.SetParallelism(max(1, goroutines/runtime.GOMAXPROCS(0)))
		if goroutines == 1 {
			for b.Loop() {
				op()
			}
			return
		}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				op()
			}
		})
	}
	for _, goroutines := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("raw/%d", goroutines), func(b *testing.B) {
			e, _ := benchStore(b, txn.Options{})
			before := e.Syncs()
			parallel(b, goroutines, func() {
				err := e.Update(ctx, nil, func(_ kv.Reader, kb *kv.Batch) error {
					for range 5 {
						kb.Set(benchKey(rand.IntN(1<<40)), value)
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			})
			b.ReportMetric(float64(e.Syncs()-before)/float64(b.N), "syncs/op")
		})
		for _, protocol := range []txn.Protocol{txn.Auto, txn.TwoPhase} {
			b.Run(fmt.Sprintf("%s/%d", protocol, goroutines), func(b *testing.B) {
				e, s := benchStore(b, txn.Options{Protocol: protocol})
				before := e.Syncs()
				parallel(b, goroutines, func() {
					tx, err := s.Begin(ctx, txn.BeginOptions{})
					if err != nil {
						b.Fatal(err)
					}
					for range 5 {
						if err := tx.Set(benchKey(rand.IntN(1<<40)), value); err != nil {
							b.Fatal(err)
						}
					}
					if err := tx.Commit(ctx); err != nil {
						b.Fatal(err)
					}
				})
				b.ReportMetric(float64(e.Syncs()-before)/float64(b.N), "syncs/op")
			})
		}
	}
}

// BenchmarkOracle draws timestamps from all processors.
func BenchmarkOracle(b *testing.B) {
	ctx := context.Background()
	o, err := tso.Open(ctx, memkv.New(memkv.Options{}), []byte("m"), tso.Options{})
	require.NoError(b, err)
	var last atomic.Uint64
	b.Run("one goroutine", func(b *testing.B) {
		for b.Loop() {
			if _, err := o.Next(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				ts, err := o.Next(ctx)
				if err != nil {
					b.Fatal(err)
				}
				last.Store(uint64(ts))
			}
		})
	})
}
