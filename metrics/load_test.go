package metrics_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// load is a scripted load, with what it adds to the numbers.
type load struct {
	*scene
	before numbers
}

func newLoad(t *testing.T, opts ...minidb.Option) *load {
	return &load{scene: newScene(t, opts...)}
}

// begins notes the numbers as they are.
func (l *load) begins() { l.before = l.scrape() }

// added returns what came to a family's numbers since, by the values of their labels, without
// those that are as they were.
func (l *load) added(name string) map[string]float64 {
	out := map[string]float64{}
	now := l.scrape()
	for _, m := range now[name].GetMetric() {
		var has, values []string
		for _, label := range m.GetLabel() {
			has = append(has, label.GetName()+"="+label.GetValue())
			values = append(values, label.GetValue())
		}
		if d := valueOf(m) - l.before.of(name, has...); d != 0 {
			out[strings.Join(values, " ")] = d
		}
	}
	return out
}

func (l *load) exec(c *pgx.Conn, query string, args ...any) {
	l.t.Helper()
	_, err := c.Exec(context.Background(), query, args...)
	require.NoError(l.t, err)
}

// fails runs a statement that has to fail with a SQLSTATE.
func (l *load) fails(c *pgx.Conn, code, query string, args ...any) {
	l.t.Helper()
	_, err := c.Exec(context.Background(), query, args...)
	var e *pgconn.PgError
	require.ErrorAs(l.t, err, &e)
	require.Equal(l.t, code, e.Code)
}

// O9: statements by kind and SQLSTATE, whichever messages bring them.
func TestStatementsAreCountedOnceByKindAndOutcome(t *testing.T) {
	l := newLoad(t)
	c := l.connect()
	l.exec(c, "CREATE TABLE t(k int PRIMARY KEY, v int)")
	l.begins()
	for i := range 7 {
		l.exec(c, "INSERT INTO t VALUES ($1, 0)", i) // Parse, Bind, Execute, Sync
	}
	l.exec(c, "UPDATE t SET v = 1 WHERE k < 3")
	l.exec(c, "BEGIN; DELETE FROM t WHERE k = 6; COMMIT") // Query, of three statements
	l.exec(c, "")
	for range 3 {
		l.exec(c, "SELECT * FROM t")
	}
	l.fails(c, "23505", "INSERT INTO t VALUES (0, 0)")
	l.fails(c, "23505", "INSERT INTO t VALUES ($1, 0)", 1)
	l.fails(c, "22012", "SELECT 1 / v - v FROM t WHERE k = 5")
	l.fails(c, "42601", "SELEC 1")
	l.fails(c, "42P01", "SELECT $1::int FROM none", 1)                // in Parse
	l.fails(c, "P0001", "DO $$ BEGIN RAISE 'no'; END $$")             // a code of PostgreSQL's
	l.fails(c, "ZZ123", "DO $$ BEGIN RAISE SQLSTATE 'ZZ123'; END $$") // and one that is not
	require.Equal(t, map[string]float64{
		"insert 00000": 7, "update 00000": 1, "begin 00000": 1, "delete 00000": 1,
		"commit 00000": 1, "select 00000": 3, "insert 23505": 2, "select 22012": 1,
		"none 42601": 1, "none 42P01": 1, "do P0001": 1, "do other": 1,
	}, l.added("minidb_statements_total"))
	require.Equal(t, map[string]float64{"insert": 9, "update": 1, "begin": 1, "delete": 1,
		"commit": 1, "select": 4, "do": 2}, l.added("minidb_statement_duration_seconds"))
	require.Equal(t, map[string]float64{"insert": 7, "update": 3, "delete": 1, "select": 18},
		l.added("minidb_statement_rows_total"))
	// Preparing the INSERT took a transaction, too.
	require.Equal(t, map[string]float64{"one_phase": 9, "read_only": 3 + 1},
		l.added("minidb_commits_total"))
	require.Equal(t, map[string]float64{"": 6}, l.added("minidb_rollbacks_total"))
	require.Equal(t, map[string]float64{"": 9}, l.added("minidb_log_syncs_total"))
}

// A pipeline counts each of its statements, and the error of its commit is the last one's.
func TestPipelinedStatementsAreCounted(t *testing.T) {
	l := newLoad(t)
	c := l.connect()
	ctx := context.Background()
	l.exec(c, "CREATE TABLE parent(k int PRIMARY KEY); CREATE TABLE child(k int REFERENCES parent "+
		"DEFERRABLE INITIALLY DEFERRED)")
	l.begins()
	var b pgx.Batch
	for i := range 4 {
		b.Queue("INSERT INTO parent VALUES ($1)", i)
	}
	b.Queue("SELECT * FROM parent")
	require.NoError(t, c.SendBatch(ctx, &b).Close())
	l.exec(c, "INSERT INTO child VALUES (1)")
	l.fails(c, "23503", "INSERT INTO child VALUES (99)") // at the commit
	require.Equal(t, map[string]float64{"insert 00000": 5, "select 00000": 1, "insert 23503": 1},
		l.added("minidb_statements_total"))
	require.Equal(t, map[string]float64{"insert": 6, "select": 4},
		l.added("minidb_statement_rows_total"))

	l.begins()
	tx, err := c.Begin(ctx)
	require.NoError(t, err)
	l.exec(c, "DECLARE r CURSOR FOR SELECT * FROM parent")
	l.exec(c, "FETCH 3 FROM r")
	require.NoError(t, tx.Rollback(ctx))
	require.Equal(t, map[string]float64{"begin 00000": 1, "cursor 00000": 2, "rollback 00000": 1},
		l.added("minidb_statements_total"))
	require.Equal(t, map[string]float64{"cursor": 3}, l.added("minidb_statement_rows_total"))
}

// The handle's own statements end when their caller has the outcome.
func TestEmbeddedStatementsAreCounted(t *testing.T) {
	l := newLoad(t)
	ctx := context.Background()
	_, err := l.db.Exec(ctx, "CREATE TABLE t(k int PRIMARY KEY)")
	require.NoError(t, err)
	l.begins()
	for i := range 5 {
		_, err = l.db.Exec(ctx, "INSERT INTO t VALUES ($1)", i)
		require.NoError(t, err)
	}
	_, err = l.db.Exec(ctx, "INSERT INTO t VALUES ($1)", 1)
	require.Error(t, err)
	_, err = l.db.Exec(ctx, "SELECT nope FROM t")
	require.Error(t, err)
	rows, err := l.db.Query(ctx, "SELECT k FROM t")
	require.NoError(t, err)
	n := 0
	for rows.Next() {
		n++
	}
	require.NoError(t, rows.Close())
	require.Equal(t, 5, n)
	require.Equal(t, map[string]float64{"insert 00000": 5, "insert 23505": 1, "select 42703": 1,
		"select 00000": 1}, l.added("minidb_statements_total"))
	require.Equal(t, map[string]float64{"insert": 5, "select": 5},
		l.added("minidb_statement_rows_total"))
	require.Equal(t, map[string]float64{"one_phase": 5, "read_only": 1},
		l.added("minidb_commits_total"))
}

// O9: each route of a commit.
func TestCommitsAreCountedByRoute(t *testing.T) {
	for protocol, route := range map[string]string{"auto": "one_phase", "two-phase": "two_phase",
		"async": "async"} {
		l := newLoad(t, minidb.CommitProtocol(protocol), smallStreams())
		c := l.connect()
		l.exec(c, "CREATE TABLE t(k int PRIMARY KEY, v text)")
		l.begins()
		for i := range 3 {
			l.exec(c, "INSERT INTO t VALUES ($1, 'x')", i)
		}
		l.exec(c, "BEGIN; SELECT 1; COMMIT")
		require.Equal(t, map[string]float64{route: 3, "read_only": 1 + 1}, // and of Parse
			l.added("minidb_commits_total"), protocol)
		l.begins()
		l.exec(c, "INSERT INTO t SELECT g, repeat('x', 100) FROM generate_series(10, 2000) g")
		require.Equal(t, map[string]float64{"large": 1}, l.added("minidb_commits_total"), protocol)
	}
}

// O9: one conflict that its client sees, one that the server hides by running the statement again,
// one deadlock, and the waits for locks between them.
func TestConflictsDeadlocksAndLockWaitsAreCounted(t *testing.T) {
	l := newLoad(t)
	a, b := l.connect(), l.connect()
	l.exec(a, "CREATE TABLE t(k int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0), (2, 0)")
	l.begins()
	l.exec(a, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM t")
	l.exec(b, "UPDATE t SET v = v + 1 WHERE k = 1")
	l.fails(a, "40001", "UPDATE t SET v = v + 1 WHERE k = 1")
	l.exec(a, "ROLLBACK")
	require.Equal(t, map[string]float64{"update": 1}, l.added("minidb_conflicts_total"))
	require.Equal(t, map[string]float64{"update 00000": 1, "update 40001": 1, "begin 00000": 1,
		"select 00000": 1, "rollback 00000": 1}, l.added("minidb_statements_total"))
	require.Empty(t, l.added("minidb_lock_waits_total"))

	l.begins()
	l.exec(a, "BEGIN; UPDATE t SET v = v + 1 WHERE k = 1")
	l.waits(b, "UPDATE t SET v = v + 1 WHERE k = 1", func() { l.exec(a, "COMMIT") })
	added := l.added("minidb_statements_total")
	delete(added, "select 00000") // those that looked for the wait
	require.Equal(t, map[string]float64{"update 00000": 2, "begin 00000": 1, "commit 00000": 1},
		added)
	require.Equal(t, map[string]float64{"memory": 1}, l.added("minidb_lock_waits_total"))
	require.Positive(t, l.added("minidb_lock_wait_seconds_total")["memory"])
	var reruns float64
	require.NoError(t, a.QueryRow(context.Background(),
		"SELECT coalesce(sum(reruns), 0) FROM minidb_reruns").Scan(&reruns))
	require.InDelta(t, reruns, l.scrape().of("minidb_statement_reruns_total"), 0)

	l.begins()
	l.exec(a, "BEGIN; UPDATE t SET v = v + 1 WHERE k = 1")
	l.exec(b, "BEGIN; UPDATE t SET v = v + 1 WHERE k = 2")
	var victim error
	l.waits(b, "UPDATE t SET v = v + 1 WHERE k = 1", func() {
		_, victim = a.Exec(context.Background(), "UPDATE t SET v = v + 1 WHERE k = 2")
		l.exec(a, "ROLLBACK")
	})
	require.ErrorContains(t, victim, "40P01")
	l.exec(b, "COMMIT")
	require.Equal(t, map[string]float64{"deadlock": 1}, l.added("minidb_conflicts_total"))
	require.InDelta(t, 1, l.added("minidb_statements_total")["update 40P01"], 0)
	require.Equal(t, map[string]float64{"": 1}, l.added("minidb_rollbacks_total"))
}

// waits runs a statement that waits for a lock, and release once it does.
func (l *load) waits(c *pgx.Conn, query string, release func()) {
	l.t.Helper()
	l.whileWaiting(func() {
		_, err := c.Exec(context.Background(), query)
		require.NoError(l.t, err)
	}, release)
}

// whileWaiting runs what waits for a lock, and release once it does.
func (l *load) whileWaiting(run, release func()) {
	l.t.Helper()
	watch := l.connect()
	var done sync.WaitGroup
	done.Go(run)
	for waiting := 0; waiting == 0; {
		require.NoError(l.t, watch.QueryRow(context.Background(),
			"SELECT count(*) FROM pg_locks WHERE NOT granted").Scan(&waiting))
	}
	release()
	done.Wait()
}

// O9: what the server runs again after a conflict is one statement with one outcome, each of a
// pipeline too.
func TestWhatRunsAgainIsCountedOnce(t *testing.T) {
	l := newLoad(t)
	a, b := l.connect(), l.connect()
	ctx := context.Background()
	l.exec(a, "CREATE TABLE t(k int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0), (2, 0); "+
		"CREATE TABLE log(n int)")
	l.exec(b, "SET default_transaction_isolation = 'repeatable read'")
	update := "UPDATE t SET v = v + 1 WHERE k = 1"
	for _, run := range []func(){
		func() { // by one Query
			_, err := b.Exec(ctx, "INSERT INTO log VALUES (1); "+update)
			require.NoError(t, err)
		},
		func() { // by a pipeline
			var pipeline pgx.Batch
			pipeline.Queue("INSERT INTO log VALUES (1)")
			pipeline.Queue(update)
			require.NoError(t, b.SendBatch(ctx, &pipeline).Close())
		},
	} {
		l.begins()
		l.exec(a, "BEGIN; "+update)
		l.whileWaiting(run, func() { l.exec(a, "COMMIT") })
		added := l.added("minidb_statements_total")
		delete(added, "select 00000")
		require.Equal(t, map[string]float64{"begin 00000": 1, "commit 00000": 1,
			"insert 00000": 1, "update 00000": 2}, added)
		require.Equal(t, map[string]float64{"": 1}, l.added("minidb_transaction_reruns_total"))
		require.Equal(t, map[string]float64{"": 1}, l.added("minidb_rollbacks_total"))
		require.Equal(t, map[string]float64{"update": 1}, l.added("minidb_conflicts_total"))
	}
}

// O9: a collection counts what it drops, and the places in which there was something are forgotten.
func TestCollectionsAreCounted(t *testing.T) {
	l := newLoad(t, minidb.Retention(1))
	c := l.connect()
	l.exec(c, "CREATE TABLE t(k int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0)")
	ctx := context.Background()
	for done := false; !done; {
		var err error
		done, err = l.db.Store().CollectStep(ctx)
		require.NoError(t, err)
	}
	l.begins()
	for range 4 {
		l.exec(c, "UPDATE t SET v = v + 1")
	}
	require.Positive(t, l.scrape().of("minidb_gc_places"))
	safepoint := l.db.Store().Safepoint()
	for l.db.Store().Safepoint() == safepoint || l.added("minidb_gc_versions_total")[""] < 4 {
		_, err := l.db.Store().CollectStep(ctx)
		require.NoError(t, err)
	}
	require.Equal(t, map[string]float64{"": 4}, l.added("minidb_gc_versions_total"))
	require.Positive(t, l.added("minidb_gc_passes_total")[""])
	require.Positive(t, l.scrape().of("minidb_safepoint_age_seconds"))
}
