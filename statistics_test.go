package minidb_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

func scalar[T any](t testing.TB, db *minidb.DB, query string) (v T) {
	t.Helper()
	require.NoError(t, db.QueryRow(context.Background(), query).Scan(&v), query)
	return v
}

var rowsOf = regexp.MustCompile(`rows=(\d+)`)

// planned is the number of rows that the planner expects of a query.
func planned(t *testing.T, db *minidb.DB, query string) float64 {
	t.Helper()
	line := scalar[string](t, db, "EXPLAIN "+query)
	n, err := strconv.ParseFloat(rowsOf.FindStringSubmatch(line)[1], 64)
	require.NoError(t, err)
	return n
}

func fillShop(t *testing.T, db *minidb.DB) {
	exec(t, db, `CREATE TABLE customer (id int PRIMARY KEY, region int, name text, vip bool);
		CREATE TABLE orders (id int PRIMARY KEY, customer int, status text, total numeric,
			placed timestamp, note text);
		CREATE INDEX ON orders (customer); CREATE INDEX ON orders (placed)`)
	exec(t, db, `INSERT INTO customer SELECT i, i % 5, 'name ' || i, i % 50 = 0
		FROM generate_series(1, 1000) i`)
	exec(t, db, `INSERT INTO orders SELECT i, 1 + (i * 7919) % 1000,
		CASE WHEN i % 50 = 0 THEN 'open' WHEN i % 1000 = 1 THEN 'lost' ELSE 'done' END,
		(i % 977) * 1.5,
		timestamp '2020-01-01' + i * interval '1 hour',
		CASE WHEN i % 3 = 0 THEN NULL ELSE 'note ' || i % 40 END
		FROM generate_series(1, 12000) i`)
}

// Of each query the estimate is wrong by less than a factor of 2, where the truth is more than a
// few rows.
func TestEstimatesAreNearWhatQueriesReturn(t *testing.T) {
	db := open(t)
	fillShop(t, db)
	exec(t, db, "ANALYZE")
	for _, query := range []string{
		"SELECT * FROM orders", "SELECT * FROM orders WHERE status = 'done'",
		"SELECT * FROM orders WHERE status = 'lost'",
		"SELECT * FROM orders WHERE status <> 'done'",
		"SELECT * FROM orders WHERE status IN ('open', 'lost')",
		"SELECT * FROM orders WHERE id < 3000", "SELECT * FROM orders WHERE id BETWEEN 100 AND 250",
		"SELECT * FROM orders WHERE total > 1400",
		"SELECT * FROM orders WHERE total > 1400 AND status = 'done'",
		"SELECT * FROM orders WHERE placed >= '2020-06-01' AND placed < '2020-07-01'",
		"SELECT * FROM orders WHERE placed < '2020-02-01' OR placed > '2021-04-01'",
		"SELECT * FROM orders WHERE note IS NULL", "SELECT * FROM orders WHERE note LIKE 'note 3%'",
		"SELECT * FROM orders WHERE note LIKE '%7'",
		"SELECT * FROM orders WHERE customer = 17",
		"SELECT * FROM orders WHERE customer = ANY ('{1,2,3}')",
		"SELECT * FROM orders WHERE NOT status = 'done'",
		"SELECT * FROM customer WHERE vip", "SELECT * FROM customer WHERE NOT vip",
		"SELECT * FROM customer WHERE name ~ '^name 1'",
		"SELECT * FROM orders o JOIN customer c ON c.id = o.customer",
		"SELECT * FROM orders o JOIN customer c ON c.id = o.customer WHERE c.vip",
		"SELECT * FROM orders o JOIN customer c ON c.id = o.customer WHERE c.vip AND o.status = " +
			"'done'",
		"SELECT * FROM customer x JOIN customer y ON x.region = y.region",
		"SELECT region, count(*) FROM customer GROUP BY region",
		"SELECT vip, status, count(*) FROM orders o JOIN customer c ON c.id = o.customer GROUP " +
			"BY vip, status", "SELECT DISTINCT customer FROM orders",
		"SELECT * FROM customer c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
		"SELECT * FROM customer c WHERE c.id IN (SELECT customer FROM orders WHERE id <= 100)",
	} {
		truth := float64(scalar[int64](t, db, "SELECT count(*) FROM ("+query+") q"))
		guess := planned(t, db, query)
		wrong := math.Max(guess/math.Max(truth, 10), truth/math.Max(guess, 10))
		require.Less(t, wrong, 2.0, "%s: %g rows, estimated %g", query, truth, guess)
	}
}

func TestRowCountsStayFreshWithoutAnalyze(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	db, err := minidb.Open(dir, quiet, minidb.AnalyzeInterval(-1))
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY, v int)")
	require.EqualValues(t, 1000, planned(t, db, "SELECT * FROM t"), "nothing is known")
	exec(t, db, "INSERT INTO t SELECT i, i FROM generate_series(1, 100) i")
	exec(t, db, "ANALYZE t")
	counters := func() string {
		return scalar[string](t, db, "SELECT format('%s %s %s %s %s', n_tup_ins, n_tup_upd, "+
			"n_tup_del, n_live_tup, n_mod_since_analyze) FROM pg_stat_user_tables")
	}
	require.Equal(t, "100 0 0 100 0", counters())
	exec(t, db, "INSERT INTO t SELECT i, i FROM generate_series(101, 5000) i")
	exec(t, db, "UPDATE t SET v = 0 WHERE id <= 10")
	exec(t, db, "WITH gone AS (DELETE FROM t WHERE id > 4990 RETURNING id) INSERT INTO t SELECT "+
		"id + 10000, 1 FROM gone")
	require.Equal(t, "5010 10 10 5000 4930", counters())
	require.EqualValues(t, 5000, planned(t, db, "SELECT * FROM t"))

	// What is rolled back does not count, to a savepoint or wholly.
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	for _, text := range []string{"BEGIN", "DELETE FROM t WHERE id = 1", "SAVEPOINT a",
		"DELETE FROM t WHERE id < 100", "ROLLBACK TO a",
		"INSERT INTO t VALUES (1, 1)", "COMMIT", "BEGIN", "DELETE FROM t", "ROLLBACK"} {
		_, err := conn.Exec(ctx, text)
		require.NoError(t, err, text)
	}
	require.NoError(t, conn.Close())
	require.Equal(t, "5011 10 11 5000 4932", counters())

	// The counters are in the store after Close.
	require.NoError(t, db.Close())
	db, err = minidb.Open(dir, quiet, minidb.AnalyzeInterval(-1))
	require.NoError(t, err)
	defer db.Close()
	require.Equal(t, "5011 10 11 5000 4932", counters())
	require.EqualValues(t, 5000, planned(t, db, "SELECT * FROM t"))
	exec(t, db, "TRUNCATE t")
	require.EqualValues(t, 1, planned(t, db, "SELECT * FROM t"))
	require.EqualValues(t, 0, scalar[int64](t, db, "SELECT n_live_tup FROM pg_stat_user_tables"))
}

func TestTheBackgroundAnalysesWhatHasChanged(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	fillShop(t, db)
	exec(t, db, "CREATE TABLE small (id int); INSERT INTO small VALUES (1); CREATE TABLE gone "+
		"(id int)")
	exec(t, db, "ANALYZE gone")
	require.NoError(t, db.TickStatistics(ctx))
	auto := func(name string) int64 {
		return scalar[int64](t, db, "SELECT autoanalyze_count FROM pg_stat_user_tables WHERE "+
			"relname = '"+name+"'")
	}
	require.EqualValues(t, 1, auto("orders"))
	require.Zero(t, auto("small"), "one row is no reason")
	require.EqualValues(t, 240, planned(t, db, "SELECT * FROM orders WHERE status = 'open'"))
	require.NoError(t, db.TickStatistics(ctx))
	require.EqualValues(t, 1, auto("orders"), "nothing has changed since")
	exec(t, db, "UPDATE orders SET status = 'open' WHERE id <= 3000")
	require.NoError(t, db.TickStatistics(ctx))
	require.EqualValues(t, 2, auto("orders"))
	require.EqualValues(t, 3180, planned(t, db, "SELECT * FROM orders WHERE status = 'open'"))

	// What is known of a table that was dropped is swept up.
	exec(t, db, "DROP TABLE gone; DROP TABLE orders")
	require.NoError(t, db.TickStatistics(ctx))
	left := map[table.ID]bool{}
	tx, err := db.Store().Begin(ctx, txn.BeginOptions{ReadOnly: true})
	require.NoError(t, err)
	it, err := tx.Scan(ctx, table.PrefixSpan([]byte{table.PrefixStats}), txn.ScanOptions{})
	require.NoError(t, err)
	for it.Next() {
		id, _, ok := table.ReadID(it.Key()[1:])
		require.True(t, ok)
		left[id] = true
	}
	require.NoError(t, it.Close())
	require.NoError(t, tx.Rollback(ctx))
	require.Len(t, left, 2, "of customer and small")
	problems, err := db.Check(ctx)
	require.NoError(t, err)
	require.Empty(t, problems)
}

// A cached plan is made anew when the statistics of its tables change, or their size; others stay.
func TestPlansFollowStatistics(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	exec(t, db, `CREATE TABLE t (id int PRIMARY KEY, a int); CREATE INDEX t_a ON t (a);
		INSERT INTO t SELECT i, 1 FROM generate_series(1, 2000) i`)
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	defer conn.Close()
	run := func(text string) (first string) {
		rows, err := conn.Query(ctx, text)
		require.NoError(t, err, text)
		defer rows.Close()
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			if first == "" {
				first = line
			}
		}
		require.NoError(t, rows.Err())
		return first
	}
	run("PREPARE p AS SELECT * FROM t WHERE a = 1")
	const explain = "EXPLAIN (COSTS OFF) EXECUTE p"
	require.Contains(t, run(explain), "Scan using t_a")
	_, err = conn.Exec(ctx, "ANALYZE t")
	require.NoError(t, err)
	require.Equal(t, "Seq Scan on t", run(explain))
	_, err = conn.Exec(ctx, "UPDATE t SET a = id; ANALYZE t")
	require.NoError(t, err)
	require.Contains(t, run(explain), "Scan using t_a")

	// In a block ANALYZE counts for the block alone, until it commits.
	for _, text := range []string{"BEGIN", "UPDATE t SET a = 1", "ANALYZE t"} {
		_, err = conn.Exec(ctx, text)
		require.NoError(t, err)
	}
	require.Equal(t, "Seq Scan on t", run(explain))
	require.Contains(t, scalar[string](t, db, "EXPLAIN SELECT * FROM t WHERE a = 1"),
		"Scan using t_a")
	_, err = conn.Exec(ctx, "ROLLBACK")
	require.NoError(t, err)
	require.Contains(t, run(explain), "Scan using t_a")
}

// The value of 'now' is that of each statement, also where its text was planned before.
func TestAMomentIsNotCached(t *testing.T) {
	db := open(t)
	for _, query := range []string{"SELECT timestamptz 'NoW'",
		"SELECT ('{now}'::timestamptz[])[1]"} {
		first := scalar[time.Time](t, db, query)
		for !scalar[time.Time](t, db, query).After(first) {
			runtime.Gosched()
		}
	}
}

// What the catalog keeps has the value that a moment had when it was made, as in PostgreSQL.
func TestAMomentInTheCatalogStays(t *testing.T) {
	db := open(t)
	exec(t, db, "CREATE VIEW moment AS SELECT timestamptz 'now' AS at")
	exec(t, db, "CREATE TABLE t (id int, at timestamptz DEFAULT 'now', day date DEFAULT 'today')")
	made := scalar[time.Time](t, db, "SELECT at FROM moment")
	for !scalar[time.Time](t, db, "SELECT now()").After(made) {
		runtime.Gosched()
	}
	exec(t, db, "INSERT INTO t VALUES (1)")
	exec(t, db, "INSERT INTO t VALUES (2)")
	require.True(t, made.Equal(scalar[time.Time](t, db, "SELECT at FROM moment")))
	require.Equal(t, int64(1), scalar[int64](t, db, "SELECT count(DISTINCT at) FROM t"))
	require.Regexp(t, "^'20..-..-..'::date$", scalar[string](t, db, "SELECT column_default FROM "+
		"information_schema.columns WHERE column_name = 'day'"))
}

// REINDEX trusts nothing of the entries that are there.
func TestReindexMendsAnIndex(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY, a int, b text); CREATE INDEX t_a ON t (a); "+
		"CREATE UNIQUE INDEX t_b ON t (b) INCLUDE (a)")
	exec(t, db, "INSERT INTO t SELECT i, i % 7, 'b' || i FROM generate_series(1, 500) i")
	id := table.StorageID(scalar[int64](t, db, "SELECT pg_relation_filenode('t')::int8"))
	tx, err := db.Store().Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	for ix := range 2 {
		it, err := tx.Scan(ctx, table.Key{Storage: id, Index: table.IndexID(2 + ix)}.IndexSpan(),
			txn.ScanOptions{})
		require.NoError(t, err)
		n := 0
		for it.Next() {
			if n++; n%3 == 0 {
				require.NoError(t, tx.Delete(append([]byte(nil), it.Key()...)))
			}
		}
		require.Positive(t, n)
		require.NoError(t, it.Close())
	}
	require.NoError(t, tx.Commit(ctx))
	problems, err := db.Check(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, problems)
	exec(t, db, "REINDEX TABLE t")
	problems, err = db.Check(ctx)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.EqualValues(t, 500, scalar[int64](t, db, "SELECT count(*) FROM t"))
	require.EqualValues(t, 72, scalar[int64](t, db, "SELECT count(*) FROM t WHERE a = 3"))
}

// VACUUM drops the versions of the tables named, and of no others.
func TestVacuumCollectsTheTablesNamed(t *testing.T) {
	db, err := minidb.Open("", minidb.InMemory(), quiet, minidb.Retention(time.Millisecond),
		minidb.GCInterval(-1))
	require.NoError(t, err)
	defer db.Close()
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY, v int); CREATE TABLE u (id int PRIMARY KEY, "+
		"v int)")
	for _, name := range []string{"t", "u"} {
		exec(t, db, "INSERT INTO "+name+" SELECT i, 0 FROM generate_series(1, 50) i")
		for range 3 {
			exec(t, db, "UPDATE "+name+" SET v = v + 1")
		}
	}
	versions := func(name string) (n int) {
		id := scalar[int64](t, db, fmt.Sprintf("SELECT oid::int8 FROM pg_class WHERE relname = "+
			"'%s'", name))
		return db.Versions(t, table.StorageSpan(table.StorageID(id)))
	}
	require.Equal(t, 200, versions("t"))
	for versions("t") != 50 { // until the retention is over
		exec(t, db, "VACUUM t")
	}
	require.Equal(t, 200, versions("u"))
	for versions("u") != 50 {
		exec(t, db, "VACUUM FULL")
	}
	require.EqualValues(t, 3, scalar[int64](t, db, "SELECT min(v) FROM t"))
}
