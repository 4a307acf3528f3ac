package minidb_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
)

// TestAFailedLogEndsTheHandleAndNotTheProgram breaks the disk under eight writers.
func TestAFailedLogEndsTheHandleAndNotTheProgram(t *testing.T) {
	const writers = 8
	ctx := context.Background()
	disk := testfs.NewCrashFS()
	fs := testfs.NewFaultFS(disk)
	fatal := make(chan error, 2)
	db := openOn(t, fs, minidb.OnFatal(func(err error) { fatal <- err }))
	_, err := db.Exec(ctx, "CREATE TABLE t(writer int, n int, PRIMARY KEY(writer, n))")
	require.NoError(t, err)

	fs.Plan(testfs.Fault{At: 40})
	var acked [writers]int
	var codes sync.Map // of the errors
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := 0; ; n++ {
				_, err := db.Exec(ctx, "INSERT INTO t VALUES ($1, $2)", w, n)
				if err == nil {
					acked[w]++
					continue
				}
				var state interface{ SQLState() string }
				if errors.As(err, &state) {
					codes.Store(state.SQLState(), err)
				} else {
					codes.Store("none", err)
				}
				return
			}
		})
	}
	wg.Wait()
	err = <-fatal
	require.ErrorIs(t, err, minidb.ErrFailed)
	require.ErrorIs(t, err, syscall.EIO)
	codes.Range(func(code, err any) bool {
		require.Contains(t, []any{"40003", "58030"}, code, "%v", err)
		return true
	})
	_, some := codes.Load("40003")
	require.True(t, some, "a commit was under way when the log failed")
	for _, q := range []string{"SELECT * FROM t", "INSERT INTO t VALUES (99, 1)",
		"SELECT 1 FROM pg_class"} {
		_, err = db.Exec(ctx, q)
		require.ErrorIs(t, err, minidb.ErrFailed, q)
		var state interface{ SQLState() string }
		require.ErrorAs(t, err, &state, q)
		require.Equal(t, "58030", state.SQLState(), q)
	}
	require.ErrorIs(t, db.Close(), minidb.ErrFailed)
	require.Empty(t, fatal, "told once")

	after := disk.Crash(50, rand.New(rand.NewPCG(1, 1)))
	db, err = minidb.Open("db", minidb.OnEngine(func(o *pebblekv.Options) { o.FS = after }),
		minidb.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	for w, n := range acked {
		rows, err := db.Query(ctx, fmt.Sprintf("SELECT count(*), coalesce(max(n), -1) FROM t "+
			"WHERE writer = %d", w))
		require.NoError(t, err)
		require.True(t, rows.Next())
		var count, most int
		require.NoError(t, rows.Scan(&count, &most))
		require.NoError(t, rows.Close())
		require.GreaterOrEqual(t, count, n)
		require.Equal(t, count, most+1)
	}
	require.NoError(t, db.Close())
}
