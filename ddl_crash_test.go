package minidb_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/pebblekv/testfs"
)

// schemaChanges are the statements of which each must be there whole or not at all after a crash.
var schemaChanges = []string{
	"CREATE TABLE t (id int PRIMARY KEY, a text, b int NOT NULL DEFAULT 7)",
	"INSERT INTO t SELECT i, 'row ' || i, i % 5 FROM generate_series(1, 60) i",
	"CREATE INDEX t_b ON t (b)",
	"ALTER TABLE t ADD COLUMN c int DEFAULT 3",
	"CREATE UNIQUE INDEX t_a ON t (a)",
	"CHECKPOINT",
	"CREATE TABLE u (id serial PRIMARY KEY, t int CHECK (t > 0))",
	"INSERT INTO u (t) SELECT id FROM t WHERE b = 1",
	"ALTER TABLE u ADD FOREIGN KEY (t) REFERENCES t ON UPDATE CASCADE ON DELETE CASCADE",
	"UPDATE t SET id = id + 100 WHERE b = 1",
	"DELETE FROM t WHERE id > 130",
	"DROP INDEX t_b",
	"ALTER TABLE t RENAME COLUMN c TO d",
	"UPDATE t SET d = id WHERE b = 2",
	"ANALYZE",
	"ALTER TABLE t DROP COLUMN b",
	"VACUUM",
	"CREATE VIEW v AS SELECT id, d FROM t WHERE d > 10",
	"CREATE MATERIALIZED VIEW m AS SELECT id, d FROM v WHERE id % 2 = 0",
	"CREATE UNIQUE INDEX m_id ON m (id)",
	"UPDATE t SET d = d + 1000 WHERE id % 3 = 0",
	"REFRESH MATERIALIZED VIEW m",
	"VACUUM",
	"INSERT INTO t (id, d) VALUES (200, 11), (202, 12)",
	"DELETE FROM t WHERE id = 22",
	"UPDATE t SET d = d + 1 WHERE id = 12",
	"REFRESH MATERIALIZED VIEW CONCURRENTLY m",
	"REFRESH MATERIALIZED VIEW m WITH NO DATA",
	"REFRESH MATERIALIZED VIEW m",
	"TRUNCATE u",
	"INSERT INTO u (t) SELECT min(id) FROM t",
	"VACUUM",
	"REINDEX TABLE t",
	"DROP MATERIALIZED VIEW m",
	"DROP VIEW v",
	"ALTER TABLE t ALTER d TYPE bigint USING d + 1",
	"VACUUM t",
	"SELECT lo_from_bytea(77, convert_to(repeat('large ', 1500), 'UTF8'))",
	"SELECT lo_put(77, 4000, convert_to(repeat('new', 1000), 'UTF8'))",
	"SELECT lo_unlink(77)",
	"DROP TABLE u",
	"DROP TABLE t",
	"VACUUM FULL",
	"VACUUM",
}

// TestCrashesDuringSchemaChanges takes crashes at the writes of the first Open, of schema changes,
// of maintenance and of Close: what is there afterwards is the state after the last acknowledged
// statement, or after the one that was under way. It takes a tenth of MINIDB_CRASH_POINTS (see
// txn/crash_test.go), at least fifty.
func TestCrashesDuringSchemaChanges(t *testing.T) {
	points := 50
	if testing.Short() {
		points = 30
	}
	if v := os.Getenv("MINIDB_CRASH_POINTS"); v != "" {
		n, err := strconv.Atoi(v)
		require.NoError(t, err, "MINIDB_CRASH_POINTS")
		points = max(points, n/10)
	}
	seed := rand.Uint64()
	if v := os.Getenv("MINIDB_CRASH_SEED"); v != "" {
		var err error
		seed, err = strconv.ParseUint(v, 10, 64)
		require.NoError(t, err, "MINIDB_CRASH_SEED")
	}
	t.Logf("MINIDB_CRASH_SEED=%d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))

	states := []string{""}
	db := openOn(t, testfs.NewFaultFS(testfs.NewCrashFS()))
	for _, s := range schemaChanges {
		_, err := db.Exec(context.Background(), s)
		require.NoError(t, err, s)
		states = append(states, fingerprint(t, db))
	}
	require.Equal(t, 2, strings.Count(states[10], "131 "), "the row and its child")
	require.Zero(t, strings.Count(states[11], "131 "))
	states[0] = states[len(states)-1] // nothing is there
	require.NoError(t, db.Close())

	taken := map[string]int{}
	for left := points; left > 0; {
		for _, c := range crashSchemaChanges(t, dice) {
			left--
			taken[c.doing]++
			db := openOn(t, testfs.NewFaultFS(c.fs))
			problems, err := db.Check(context.Background())
			require.NoError(t, err, c.what)
			require.Empty(t, problems, c.what)
			got := fingerprint(t, db)
			next := min(c.acked+1, len(schemaChanges))
			if got != states[c.acked] && got != states[next] {
				t.Fatalf("MINIDB_CRASH_SEED=%d: %s: the store is neither as after statement %d "+
					"nor as after %d:\n%s\n%s\n%s",
					seed, c.what, c.acked, next, got, states[c.acked], states[next])
			}
			require.NoError(t, db.Close(), c.what)
		}
	}
	t.Logf("crashes in %v", taken)
	for _, doing := range append([]string{"opening", "closing"}, schemaChanges...) {
		if points >= 1000 && taken[doing] == 0 {
			t.Errorf("no crash was taken in %s", doing)
		}
	}
}

type schemaCrash struct {
	fs    *testfs.CrashFS
	acked int
	doing string // a statement, or opening or closing
	what  string
}

func crashSchemaChanges(t *testing.T, dice *rand.Rand) (out []schemaCrash) {
	disk := testfs.NewCrashFS()
	fs := testfs.NewFaultFS(disk)
	var acked atomic.Int64
	var doing atomic.Value
	doing.Store("opening")
	fs.Before(func(write int) {
		at := doing.Load().(string)
		// a third of the writes are Open's
		if dice.IntN(6) > 0 || at == "opening" && dice.IntN(4) > 0 {
			return
		}
		n := int(acked.Load())
		percent := []int{0, 0, 20, 50, 80, 100}[dice.IntN(6)]
		out = append(out, schemaCrash{disk.Crash(percent, dice), n, at,
			fmt.Sprintf("crash at write %d, after %d statements, in %s, %d%% kept", write, n, at,
				percent)})
	})
	var opts []minidb.Option
	if dice.IntN(3) == 0 {
		opts = append(opts, minidb.CommitProtocol("two-phase"))
	}
	db := openOn(t, fs, opts...)
	for _, s := range schemaChanges {
		doing.Store(s)
		_, err := db.Exec(context.Background(), s)
		require.NoError(t, err, s)
		acked.Add(1)
	}
	doing.Store("closing")
	require.NoError(t, db.Close())
	return out
}

func openOn(t *testing.T, fs *testfs.FaultFS, opts ...minidb.Option) *minidb.DB {
	db, err := minidb.Open("db", append(opts, minidb.OnEngine(func(o *pebblekv.Options) {
		o.FS, o.MemTableBytes = fs, 256<<10
	}), minidb.CacheSize(1<<20), minidb.GCInterval(-1), minidb.Retention(
		time.Nanosecond), minidb.Logger(slog.New(slog.DiscardHandler)))...)
	require.NoError(t, err)
	return db
}

// fingerprint is all that the schema changes touch.
func fingerprint(t *testing.T, db *minidb.DB) string {
	var out strings.Builder
	ask := func(q string) (n int) {
		rows, err := db.Query(context.Background(), q)
		require.NoError(t, err, q)
		for rows.Next() {
			n++
			for i := range rows.Columns() {
				v, _ := rows.Text(i)
				out.WriteString(v + " ")
			}
			out.WriteString("\n")
		}
		require.NoError(t, rows.Err(), q)
		require.NoError(t, rows.Close())
		return n
	}
	ask("SELECT table_name, column_name, data_type FROM information_schema.columns WHERE " +
		"table_schema = 'public' ORDER BY 1, 2")
	ask("SELECT enumlabel FROM pg_enum ORDER BY enumsortorder")
	ask("SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1")
	ask("SELECT oid, length(lo_get(oid)), md5(lo_get(oid)) FROM pg_largeobject_metadata")
	for _, table := range []string{"t", "u", "v", "m"} {
		if ask("SELECT relkind, relispopulated FROM pg_class WHERE relispopulated AND relname = '"+
			table+"'") > 0 {
			ask("SELECT * FROM " + table + " ORDER BY 1")
		}
	}
	return out.String()
}
