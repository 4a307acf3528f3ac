package txn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
)

// TestLongValuesOfAScanAreReadTogether on a store whose reads are requests: not each by a Get.
// There are older versions, deleted rows and short values among them.
func TestLongValuesOfAScanAreReadTogether(t *testing.T) {
	ctx := context.Background()
	rec := record.New(memkv.New(memkv.Options{Shared: true}))
	s := openStore(t, rec, txn.Options{})
	long := strings.Repeat("long ", 100)
	key := func(i int) []byte { return fmt.Appendf(nil, "k%03d", i) }
	for round := range 2 {
		for i := range 60 {
			tx := begin(t, s)
			switch {
			case round == 0:
				require.NoError(t, tx.Set(key(i), []byte(long+"old")))
			case i%7 == 0:
				require.NoError(t, tx.Delete(key(i)))
			case i%5 == 0:
				require.NoError(t, tx.Set(key(i), []byte("short")))
			case i%2 == 0:
				require.NoError(t, tx.Set(key(i), fmt.Append(nil, long, i)))
			}
			require.NoError(t, tx.Commit(ctx))
		}
	}
	var want []string
	tx := begin(t, s)
	for i := range 60 {
		value, err := tx.Get(ctx, key(i))
		require.NoError(t, err)
		if value != nil {
			want = append(want, fmt.Sprintf("%s=%s", key(i), value))
		}
	}
	require.NoError(t, tx.Rollback(ctx))
	tx = begin(t, s)
	before := rec.Counts()
	require.Equal(t, want, scan(t, tx, kv.Span{}, txn.ScanOptions{}))
	require.Less(t, rec.Since(before).Gets, int64(10))
	require.NoError(t, tx.Rollback(ctx))
}
