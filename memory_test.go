package minidb_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/internal/memory"
)

// TestMemoryLimitIsTheProcess: handles share one account, the least limit is in force, and what a
// closed handle had comes back.
func TestMemoryLimitIsTheProcess(t *testing.T) {
	pool := memory.Process()
	usual, _ := pool.Bound()
	one := open(t, minidb.MemoryLimit(128<<20))
	two := open(t, minidb.MemoryLimit(64<<20))
	require.Equal(t, "64MB", scalar[string](t, two, "SHOW minidb.memory"))
	bound, heap := pool.Bound()
	require.EqualValues(t, 64<<20, bound)
	require.Greater(t, heap, int64(16<<20))
	require.NoError(t, two.Close())
	bound, _ = pool.Bound()
	require.EqualValues(t, 128<<20, bound)
	require.NoError(t, one.Close())
	bound, _ = pool.Bound()
	require.Equal(t, usual, bound)
	_, err := minidb.Open("", minidb.InMemory(), minidb.MemoryLimit(1<<20))
	require.ErrorContains(t, err, "at least")
	_, err = minidb.Open("", minidb.InMemory(), minidb.MemoryLimit(64<<20),
		minidb.CacheSize(60<<20))
	require.ErrorContains(t, err, "caches and memtables")
	bound, _ = pool.Bound()
	require.Equal(t, usual, bound)
}
