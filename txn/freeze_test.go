package txn_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn"
)

// TestFrozenReadsShowTheWritesBefore: also those that were streamed out, and whatever is written
// meanwhile.
func TestFrozenReadsShowTheWritesBefore(t *testing.T) {
	ctx, opts := context.Background(), txn.Options{StreamBytes: 4 << 10}
	tx := begin(t, openStore(t, memkv.New(memkv.Options{}), opts))
	key := func(i int) []byte { return fmt.Appendf(nil, "k%04d", i) }
	read := func() (n int) {
		it, err := tx.Scan(ctx, kv.Span{Start: []byte("k"), End: []byte("l")}, txn.ScanOptions{})
		require.NoError(t, err)
		for ; it.Next(); n++ {
			require.Equal(t, "before", string(it.Value()))
		}
		require.NoError(t, it.Close())
		return n
	}
	for i := range 100 {
		require.NoError(t, tx.Set(key(2*i), []byte("before")))
	}
	require.Less(t, tx.Size(), 1000, "most is streamed out")
	tx.Freeze()
	for i := range 200 {
		require.NoError(t, tx.Set(key(i), []byte("after")))
	}
	require.NoError(t, tx.Delete(key(4)))
	require.Equal(t, 100, read())
	for i, want := range []string{"before", "", "before"} {
		v, err := tx.Get(ctx, key(i))
		require.NoError(t, err)
		require.Equal(t, want, string(v))
		v, err = tx.GetCurrent(ctx, key(i))
		require.NoError(t, err)
		require.Equal(t, "after", string(v))
	}
	require.Greater(t, tx.Size(), 1500, "what must not be seen is not streamed out")
	tx.Thaw()
	v, err := tx.Get(ctx, key(1))
	require.NoError(t, err)
	require.Equal(t, "after", string(v))
	require.NoError(t, tx.Rollback(ctx))
}
