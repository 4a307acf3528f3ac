package pebblekv_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/stretchr/testify/require"
)

func TestAStoreIsItsOwnersAlone(t *testing.T) {
	parent := t.TempDir()
	made := filepath.Join(parent, "made before")
	require.NoError(t, os.Mkdir(made, 0o755))
	for _, dir := range []string{made, filepath.Join(parent, "new")} {
		for range 2 { // opened again, it has logs that are used again
			e := open(t, dir, pebblekv.Options{})
			update(t, e, "a", "1")
			require.NoError(t, e.Flush())
			update(t, e, "a", "2")
			require.NoError(t, e.Close())
		}
		require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			require.NoError(t, err)
			want := os.FileMode(0o600)
			if info.IsDir() {
				want = 0o700
			}
			require.Equal(t, want, info.Mode().Perm(), path)
			return nil
		}))
	}
}

func TestADirectoryWithOtherFilesIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "letter.txt"), []byte("hello"), 0o600))
	_, err := pebblekv.Open(dir, pebblekv.Options{})
	require.ErrorContains(t, err, `"letter.txt" is in it`)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)

	require.NoError(t, os.Rename(filepath.Join(dir, "letter.txt"), filepath.Join(t.TempDir(), "x")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700))
	require.NoError(t, open(t, dir, pebblekv.Options{}).Close())
}
