package txn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

// TestARowInMemoryIsNotReadAgain counts what transactions ask the engine for.
func TestARowInMemoryIsNotReadAgain(t *testing.T) {
	rec := record.New(memkv.New(memkv.Options{}))
	s := openStore(t, rec, txn.Options{})
	long := strings.Repeat("x", 2000)
	commit(t, s, "a", "1", "long", long)
	settled(t, s)
	asks := func(key, want string) record.Counts {
		before := rec.Counts()
		require.Equal(t, want, readOne(t, s, key))
		return rec.Since(before)
	}
	asks("a", "1")
	require.Equal(t, record.Counts{}, asks("a", "1"))
	commit(t, s, "a", "2")
	require.NotZero(t, asks("a", "2"), "it has changed")
	require.Equal(t, record.Counts{}, asks("a", "2"))
	asks("long", long)
	require.NotZero(t, asks("long", long), "it is too large")
	held := s.RowsHeld()
	asks("absent", "")
	require.Equal(t, held, s.RowsHeld(), "what is absent is not kept")
}

// TestTheRowCacheIsBounded reads more rows than there is room for, of sizes for which the places
// would be enough, and then finds a part of them in memory.
func TestTheRowCacheIsBounded(t *testing.T) {
	const bound, rows, size = 64 << 10, 400, 900
	rec := record.New(memkv.New(memkv.Options{}))
	s := openStore(t, rec, txn.Options{RowCacheBytes: bound})
	for i := range rows {
		commit(t, s, fmt.Sprint("k", i), strings.Repeat("x", size))
	}
	settled(t, s)
	var kept int
	for range 2 {
		kept = 0
		for i := range rows {
			tx := begin(t, s)
			before := rec.Counts()
			_, err := tx.Get(context.Background(), fmt.Append(nil, "k", i))
			require.NoError(t, err)
			if rec.Since(before) == (record.Counts{}) {
				kept++
			}
			require.NoError(t, tx.Rollback(context.Background()))
		}
	}
	require.LessOrEqual(t, s.RowsHeld(), int64(bound))
	require.Greater(t, s.RowsHeld(), int64(bound/2))
	require.LessOrEqual(t, kept, bound/size)
}

// TestASharedStoreKeepsNoRows: another process may have written them.
func TestASharedStoreKeepsNoRows(t *testing.T) {
	rec := record.New(memkv.New(memkv.Options{Shared: true}))
	s, err := openTxn(context.Background(), rec, txn.Options{})
	require.NoError(t, err)
	commit(t, s, "a", "1")
	for range 2 {
		before := rec.Counts()
		require.Equal(t, "1", readOne(t, s, "a"))
		require.NotZero(t, rec.Since(before).Snapshots)
	}
	require.Zero(t, s.RowsHeld())
	require.NoError(t, s.Close())
}
