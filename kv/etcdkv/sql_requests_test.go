package etcdkv_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/etcdkv"
	"github.com/minidb/minidb/txn"
)

// TestRequestsOfStatements counts what SQL statements ask the cluster for, once the engine knows
// its habits. Nothing follows in the background.
func TestRequestsOfStatements(t *testing.T) {
	ctx := context.Background()
	var engine *etcdkv.Engine // of the process that was opened last
	open := func() *minidb.DB {
		db, err := minidb.Open("etcd://"+strings.Join(members, ",")+"/"+t.Name(),
			minidb.Logger(slog.New(slog.DiscardHandler)),
			minidb.GCInterval(-1), minidb.AnalyzeInterval(-1),
			minidb.OnStore(func(o *txn.Options) { o.LeaseRenewal = -1 }),
			minidb.Engine("etcd", func(ctx context.Context, u kv.URL) (kv.Engine, error) {
				e, err := etcdkv.OpenURL(ctx, u)
				engine = e.(*etcdkv.Engine)
				return e, err
			}))
		require.NoError(t, err)
		return db
	}
	var db *minidb.DB
	run := func(format string, args ...any) {
		_, err := db.Exec(ctx, fmt.Sprintf(format, args...))
		require.NoError(t, err)
	}
	// The first serves timestamps, and says so in the store four times a second.
	first := open()
	db = open()
	run("CREATE TABLE t (id int PRIMARY KEY, a int, b text)")
	run("CREATE INDEX t_a ON t (a)")
	for i := range 20 {
		run("INSERT INTO t SELECT g, g, 'x' FROM generate_series(%d, %d) g", 50*i+1, 50*i+50)
	}
	require.NoError(t, db.Close())
	db = open()
	const warm, rounds = 100, 40
	for _, c := range []struct {
		name           string
		run            func(i int)
		reads, updates float64
	}{
		{"point select", func(i int) { run("SELECT * FROM t WHERE id = %d", 1+i) }, 1, 0},
		{"prepared point select", func(i int) {
			rows, err := db.Query(ctx, "SELECT * FROM t WHERE id = $1", 1+i)
			require.NoError(t, err)
			require.True(t, rows.Next())
			require.NoError(t, rows.Close())
		}, 1, 0},
		{"look-up by an index", func(i int) { run("SELECT b FROM t WHERE a = %d", 1+i) }, 3, 0},
		{"look-up of ten rows by an index", func(i int) {
			run("SELECT b FROM t WHERE a BETWEEN %d AND %d", 1+i, 10+i)
		}, 3, 0},
		{"insert into a table with an index", func(i int) {
			run("INSERT INTO t VALUES (%d, %d, 'x')", 2000+i, 5000+i)
		}, 0, 2},
		{"insert of three rows", func(i int) {
			run("INSERT INTO t VALUES (%d, 1, 'x'), (%d, 1, 'x'), (%d, 1, 'x')", 3000+3*i,
				3001+3*i, 3002+3*i)
		}, 0, 2},
		{"update", func(i int) { run("UPDATE t SET b = 'y' WHERE id = %d", 200+i) }, 1, 2},
		{"update of a column with an index", func(i int) {
			run("UPDATE t SET a = 7 WHERE id = %d", 400+i)
		}, 2, 2},
		{"delete", func(i int) { run("DELETE FROM t WHERE id = %d", 600+i) }, 2, 2},
		{"block of three updates", func(i int) {
			tx, err := db.Begin(ctx)
			require.NoError(t, err)
			for k := range 3 {
				_, err := tx.Exec(ctx, "UPDATE t SET b = 'z' WHERE id = $1", 10+k)
				require.NoError(t, err)
			}
			require.NoError(t, tx.Commit(ctx))
		}, 4, 5},
	} {
		for i := range warm {
			c.run(i)
		}
		r, u := engine.Requests()
		for i := range rounds {
			c.run(warm + i)
		}
		r2, u2 := engine.Requests()
		reads, updates := float64(r2-r)/rounds, float64(u2-u)/rounds
		t.Logf("%s: %.2f reads, %.2f updates", c.name, reads, updates)
		require.Less(t, reads, c.reads+1, c.name)
		require.Less(t, updates, c.updates+1, c.name)
	}
	require.NoError(t, db.Close())
	require.NoError(t, first.Close())
}
