package txn

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/kv/memkv"
)

// TestWritesAreCountedAndStreamedOutEarly: a buffer for which there is no more memory goes out
// before it is full, and what must stay in memory fails.
func TestWritesAreCountedAndStreamedOutEarly(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, memkv.New(memkv.Options{}), Options{})
	require.NoError(t, err)
	defer s.Close()
	pool := memory.NewPool(64 << 20)
	others := pool.Account(nil)
	require.NoError(t, others.Grow(10<<20))
	write := func(tx *Txn, n int) (err error) {
		value := make([]byte, 1<<10)
		for i := 0; i < n && err == nil; i++ {
			err = tx.Set(fmt.Appendf(nil, "k%06d", i), value)
		}
		return err
	}
	var out Streamed
	tx, err := s.Begin(ctx, BeginOptions{OnStream: func(now Streamed) { out = now }})
	require.NoError(t, err)
	a := pool.Account(nil)
	tx.CountIn(a)
	require.NoError(t, write(tx, 3000))
	require.Positive(t, a.Used())
	require.Zero(t, out.Keys)
	require.NoError(t, write(tx, 12_000))
	require.Positive(t, out.Keys)
	require.Less(t, out.Bytes, int64(64<<20))
	require.NoError(t, tx.Commit(ctx))
	require.Zero(t, a.Used())

	tx, err = s.Begin(ctx, BeginOptions{})
	require.NoError(t, err)
	tx.CountIn(a)
	tx.Freeze()
	var e *memory.ExhaustedError
	require.ErrorAs(t, write(tx, 40_000), &e)
	require.NoError(t, tx.Rollback(ctx))
	require.Zero(t, a.Used())
	others.Close()
	a.Close()
	require.Zero(t, pool.Taken())
}
