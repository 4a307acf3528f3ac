package minidb_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
)

// TestAFullDiskRefusesNewDataAndNothingElse takes the room away from a database and gives it back.
func TestAFullDiskRefusesNewDataAndNothingElse(t *testing.T) {
	const plenty = 1 << 30
	ctx := context.Background()
	log := &logged{}
	fs := testfs.NewSizedFS(testfs.NewCrashFS(), plenty)
	db, err := minidb.Open("db", minidb.GCInterval(-1),
		minidb.Logger(slog.New(slog.NewTextHandler(log, nil))),
		minidb.OnEngine(func(o *pebblekv.Options) { o.FS, o.MemTableBytes = fs, 1<<20 }))
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE t(id int PRIMARY KEY, v int); CREATE TABLE u(id int); INSERT INTO "+
		"t SELECT i, 0 FROM generate_series(1, 100) i")
	block, err := db.Begin(ctx)
	require.NoError(t, err)
	_, err = block.Exec(ctx, "INSERT INTO t VALUES (1000, 0)")
	require.NoError(t, err)

	fs.SetFree(7 << 20)
	full := func(q string) bool {
		_, err := db.Exec(ctx, q)
		if err == nil {
			return false
		}
		require.ErrorIs(t, err, kv.ErrDiskFull, q)
		var state interface{ SQLState() string }
		require.True(t, errors.As(err, &state))
		require.Equal(t, "53100", state.SQLState())
		return true
	}
	for !full("UPDATE t SET v = v + 1 WHERE id = 1") { // until the engine looks again
		runtime.Gosched()
	}
	for _, q := range []string{"INSERT INTO t VALUES (2000, 1)", "CREATE TABLE v(id int)",
		"CREATE INDEX ON t(v)"} {
		require.True(t, full(q), q)
	}
	require.ErrorIs(t, block.Commit(ctx), kv.ErrDiskFull)
	require.EqualValues(t, 100, scalar[int64](t, db, "SELECT count(*) FROM t"))
	exec(t, db, "DELETE FROM t WHERE id > 50")
	exec(t, db, "BEGIN; DELETE FROM t WHERE id > 40; DROP TABLE u; COMMIT")
	exec(t, db, "VACUUM t")
	require.EqualValues(t, 40, scalar[int64](t, db, "SELECT count(*) FROM t"))
	require.Len(t, log.lines("old versions are collected early"), 1)
	require.Len(t, log.lines("new data is refused"), 1)

	fs.SetFree(plenty)
	for full("INSERT INTO t VALUES (3000, 1)") {
		runtime.Gosched()
	}
	exec(t, db, "TRUNCATE t")
	require.Len(t, log.lines("new data is taken"), 1)
	require.NoError(t, db.Close())
}
