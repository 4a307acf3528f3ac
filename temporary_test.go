package minidb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// Statements on temporary objects alone sync nothing, and a process without any has no store for
// them.
func TestTemporaryTablesAreNeverSynced(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	// Nothing in the background syncs either: by a clock that moves the oracle extends its range.
	now := time.Now().UnixMilli()
	db, err := minidb.Open(dir, quiet, minidb.GCInterval(-1), minidb.AnalyzeInterval(-1),
		minidb.Clock(func() int64 { return now }))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	run := func(text string, args ...any) {
		t.Helper()
		_, err := conn.Exec(ctx, text, args...)
		require.NoError(t, err, text)
	}
	run("CREATE TABLE p (i int)")
	run("INSERT INTO p VALUES (1)")
	require.NoDirExists(t, filepath.Join(dir, "temporary"))
	before := db.Syncs()
	run("CREATE TEMP TABLE t (id serial PRIMARY KEY, v text)")
	for i := range 20 {
		run("INSERT INTO t (v) VALUES ($1)", fmt.Sprint(i))
	}
	run("UPDATE t SET v = v || 'x'")
	run("CREATE TEMP TABLE u AS SELECT * FROM t, p")
	run("DISCARD TEMP")
	require.Equal(t, before, db.Syncs())
	require.DirExists(t, filepath.Join(dir, "temporary"))
	run("INSERT INTO p VALUES (2)")
	require.Greater(t, db.Syncs(), before)
}

// What a process that was killed has left of its temporary tables is removed by the next one, and
// nothing of it is in the database.
func TestNothingOfTemporaryTablesOutlivesTheirProcess(t *testing.T) {
	ctx, dir, copied := t.Context(), t.TempDir(), t.TempDir()
	db, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "CREATE TABLE p (i int PRIMARY KEY); INSERT INTO p VALUES (1)")
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "CREATE TEMP TABLE p (i serial PRIMARY KEY); "+
		"INSERT INTO p SELECT generate_series(10, 20); BEGIN; INSERT INTO p VALUES (30)")
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir))) // as a kill would leave it
	require.NoError(t, os.Remove(filepath.Join(copied, "LOCK")))
	require.DirExists(t, filepath.Join(copied, "temporary"))

	after, err := minidb.Open(copied, quiet)
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(copied, "temporary"))
	var n, names int
	require.NoError(t, after.QueryRow(ctx, "SELECT sum(i) FROM p").Scan(&n))
	require.Equal(t, 1, n)
	require.NoError(t, after.QueryRow(ctx,
		"SELECT count(*) FROM pg_class WHERE relpersistence = 't'").Scan(&names))
	require.Zero(t, names)
	problems, err := after.Check(ctx)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, after.Close())
}

// A session that goes back to the pool of the handle takes its temporary objects along.
func TestTemporaryTablesEndWithTheirConn(t *testing.T) {
	ctx, db := t.Context(), open(t)
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	_, err = conn.Exec(ctx, "CREATE TEMP TABLE t AS SELECT 1 AS i")
	require.NoError(t, err)
	var n int
	require.NoError(t, conn.QueryRow(ctx, "SELECT i FROM t").Scan(&n))
	require.NoError(t, conn.Close())
	_, err = db.Exec(ctx, "SELECT i FROM t")
	require.Equal(t, "42P01", state(err))
	exec(t, db, "CREATE TEMP TABLE t (i int)") // ends with the call
	_, err = db.Exec(ctx, "SELECT i FROM t")
	require.Equal(t, "42P01", state(err))
	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, "CREATE TEMP TABLE t ON COMMIT DROP AS SELECT 7 AS i")
	require.NoError(t, err)
	require.NoError(t, tx.QueryRow(ctx, "SELECT i FROM t").Scan(&n))
	require.Equal(t, 7, n)
	require.NoError(t, tx.Commit(ctx))
}
