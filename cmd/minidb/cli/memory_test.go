package cli

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/memory"
)

func TestSizesOfMemory(t *testing.T) {
	for text, want := range map[string]int64{"2GiB": 2 << 30, "2gb": 2 << 30, "512MB": 512 << 20,
		"1.5 GB": 3 << 29, "67108864": 64 << 20,
		"65536kB": 64 << 20, "67108864B": 64 << 20} {
		got, err := parseMemory(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "GB", "-1GB", "1MB", "2PB", "1e30", "NaN"} {
		_, err := parseMemory(text)
		require.Error(t, err, text)
	}
	for _, flag := range []string{"--memory", "--column-file"} {
		code, _, stderr := runCommand(t, "serve", flag, "much")
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "write 2GiB or 512MB")
	}
	n, err := parseSize("0")
	require.NoError(t, err)
	require.Zero(t, n)
}

// TestServeGovernsGo: what the caches take lies outside of Go's heap, and Go may have the rest.
func TestServeGovernsGo(t *testing.T) {
	pool := memory.Process()
	defer pool.Limit(1 << 30)()
	defer pool.Fix("block cache", 200<<20)()
	before := debug.SetMemoryLimit(-1)
	end := governMemory(t.Context())
	limit := debug.SetMemoryLimit(-1)
	end()
	require.LessOrEqual(t, limit, int64(1<<30+ballastMost))
	require.Greater(t, limit, int64(800<<20))
	require.Equal(t, before, debug.SetMemoryLimit(-1))
}
