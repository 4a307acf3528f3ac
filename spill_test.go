package minidb_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// What an older process left of its temporary files is removed when the directory is opened, and a
// statement that runs leaves no name there.
func TestTemporaryFilesAreRemoved(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	db, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	left := filepath.Join(dir, "spill", "minidb-spill-1")
	require.NoError(t, os.MkdirAll(filepath.Dir(left), 0o700))
	require.NoError(t, os.WriteFile(left, []byte("x"), 0o600))
	db, err = minidb.Open(dir, quiet)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoFileExists(t, left)
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "SET work_mem = '64kB'")
	require.NoError(t, err)
	rows, err := conn.Query(ctx, "SELECT g FROM generate_series(1, 20000) g ORDER BY -g")
	require.NoError(t, err)
	require.True(t, rows.Next())
	names, err := os.ReadDir(filepath.Dir(left))
	require.NoError(t, err)
	require.Empty(t, names)
	require.NoError(t, rows.Close())
}
