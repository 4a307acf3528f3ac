package minidb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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

// TestColumnsOnDisk: a handle of little memory keeps in a file, without a name, what scans of a
// large table decode; with ColumnFile(-1) it does not.
func TestColumnsOnDisk(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 { // sections are for scans by several goroutines
		before := runtime.GOMAXPROCS(2)
		t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	}
	for bytes, wanted := range map[int64]bool{0: true, -1: false} {
		ctx, dir := t.Context(), t.TempDir()
		db, err := minidb.Open(dir, quiet, minidb.MemoryLimit(48<<20), minidb.ColumnFile(bytes))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		conn, err := db.Conn(ctx)
		require.NoError(t, err)
		_, err = conn.Exec(ctx, `CREATE TABLE t AS SELECT i AS a, md5(i::text) AS b
			FROM generate_series(1, 200000) AS s (i)`)
		require.NoError(t, err)
		var plan string
		for range 4 { // cuts, keeps, finds
			plan = ""
			rows, err := conn.Query(ctx, `EXPLAIN ANALYZE SELECT sum(a), max(b COLLATE "C") FROM t`)
			require.NoError(t, err)
			for rows.Next() {
				line, err := rows.Values()
				require.NoError(t, err)
				plan += fmt.Sprintln(line...)
			}
			require.NoError(t, rows.Close())
		}
		require.Equal(t, wanted, strings.Contains(plan, "On Disk: "), plan)
		names, err := filepath.Glob(filepath.Join(dir, "spill", "*"))
		require.NoError(t, err)
		require.Empty(t, names)
	}
}
