package testfs

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

// TestCrashesWhileFilesAreReused: clones and what changes directories wait for each other in turn.
func TestCrashesWhileFilesAreReused(t *testing.T) {
	const times = 3000
	fs := NewCrashFS()
	names := []string{"a", "b"}
	f, err := fs.Create(names[0], vfs.WriteCategoryUnspecified)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	var wg sync.WaitGroup
	wg.Go(func() {
		rng := rand.New(rand.NewPCG(1, 1))
		for range times {
			fs.Crash(50, rng)
		}
	})
	for i := range times {
		f, err := fs.ReuseForWrite(names[i%2], names[(i+1)%2], vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.NoError(t, fs.Link(names[(i+1)%2], "link"))
		require.NoError(t, fs.Remove("link"))
	}
	wg.Wait()
}
