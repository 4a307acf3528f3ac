package sql_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// TestForUpdateLocksTheRowsBelow: of a simple view or subquery those that are shown are locked, in
// the tables below, and no others.
func TestForUpdateLocksTheRowsBelow(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, c, "CREATE TABLE other (id int PRIMARY KEY, w text)")
	mustQuery(t, c, "INSERT INTO other VALUES (1, 'one'), (2, 'two')")
	mustQuery(t, c, "CREATE VIEW v AS SELECT n * 10 AS m, u FROM t WHERE n > 0")
	mustQuery(t, c, "CREATE VIEW both_ AS SELECT m, w FROM v JOIN other ON other.id = v.u")
	for query, want := range map[string]string{
		"SELECT m FROM v WHERE u = 1 FOR UPDATE":                                        "public.t",
		"SELECT x.n + 1 FROM (SELECT n, u FROM t) AS x WHERE x.u = 1 FOR NO KEY UPDATE": "public.t",
		"SELECT * FROM both_ WHERE m = 100 FOR UPDATE":                                  "public.t",
		"SELECT m FROM v, other WHERE v.u = other.id AND other.id = 1 FOR UPDATE OF v":  "public.t",
		"SELECT m FROM v WHERE u = 1 ORDER BY m LIMIT 1 FOR UPDATE":                     "public.t",
		"SELECT x.n FROM (SELECT n, u FROM t ORDER BY n * -1) x, (VALUES (1)) k " +
			"WHERE x.u = k.column1 FOR UPDATE": "public.t",
		"SELECT y.m FROM (SELECT m + 1 AS m FROM (SELECT m, u FROM v) x " +
			"WHERE u = 1) y FOR SHARE": "public.t",
	} {
		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, query)
		mustQuery(t, b, "BEGIN")
		mustQuery(t, b, "UPDATE t SET n = n WHERE id = 2")
		mustQuery(t, b, "COMMIT")
		mustQuery(t, b, "BEGIN")
		wait := blocked(t, b, c, "UPDATE t SET n = n WHERE id = 1")
		require.Contains(t, mustQuery(t, c, "SELECT table_name FROM minidb_lock_waits"), want,
			query)
		mustQuery(t, a, "COMMIT")
		require.NoError(t, <-wait)
		mustQuery(t, b, "COMMIT")
	}
	for _, query := range []string{
		"SELECT * FROM (SELECT count(*) FROM t) x FOR UPDATE",
		"SELECT * FROM (SELECT n FROM t LIMIT 1) x FOR UPDATE",
		"SELECT * FROM (SELECT n FROM t UNION SELECT 1) x FOR UPDATE",
		"SELECT * FROM (SELECT DISTINCT n FROM t) x FOR UPDATE",
	} {
		fails(t, a, query, sqlerr.FeatureNotSupported)
	}
}

// TestReadCommittedLooksAgainThroughAView: the row as it is now decides, through the view's
// condition.
func TestReadCommittedLooksAgainThroughAView(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, c, "CREATE VIEW v AS SELECT id, n * 10 AS m FROM t WHERE n < 100")
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "UPDATE t SET n = 11 WHERE id = 1")
	mustQuery(t, a, "UPDATE t SET n = 111 WHERE id = 2")
	mustQuery(t, b, "BEGIN ISOLATION LEVEL READ COMMITTED")
	out := &transcript{s: b}
	wait := make(chan error, 1)
	go func() {
		wait <- b.Query(context.Background(), "SELECT m FROM v ORDER BY id FOR UPDATE",
			out)
	}()
	for n := ""; n != "[count]\n1\nSELECT 1\n"; {
		n = mustQuery(t, c, "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = "+pid(b))
	}
	mustQuery(t, a, "COMMIT")
	require.NoError(t, <-wait)
	require.Equal(t, "[m]\n110\nSELECT 1\n", out.b.String())
	mustQuery(t, b, "COMMIT")
}

// TestTheStatementThatTookTheLock is shown, whatever the blocker has run since, and of an index's
// key the row that has it.
func TestTheStatementThatTookTheLock(t *testing.T) {
	a, b, c := lockFixture(t)
	const view = "SELECT index_name, key, row_key, blocking_query FROM minidb_lock_waits"
	for _, x := range []struct{ hold, wait, want string }{
		{"UPDATE t SET n = 1 WHERE id = 1", "DELETE FROM t WHERE id = 1", "t_pkey|(1)|(1)"},
		{"UPDATE t SET u = 5 WHERE id = 2", "INSERT INTO t VALUES (3, 30, 2)", "t_u_key|(2)|(2)"},
		{"INSERT INTO t VALUES (4, 40, 4)", "INSERT INTO t VALUES (5, 50, 4)", "t_u_key|(4)|NULL"},
	} {
		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, x.hold)
		mustQuery(t, a, "SELECT 1")
		mustQuery(t, b, "BEGIN")
		wait := blocked(t, b, c, x.wait)
		require.Contains(t, mustQuery(t, c, view), "\n"+x.want+"|"+x.hold+"\n")
		mustQuery(t, a, "ROLLBACK")
		<-wait
		mustQuery(t, b, "ROLLBACK")
	}
	mustQuery(t, a, "SELECT pg_advisory_lock(7)")
	mustQuery(t, a, "SELECT 1")
	wait := blocked(t, b, c, "SELECT pg_advisory_lock(7)")
	require.Contains(t, mustQuery(t, c, "SELECT key, blocking_query FROM minidb_lock_waits"),
		"\n(7)|SELECT pg_advisory_lock(7)\n")
	mustQuery(t, a, "SELECT pg_advisory_unlock(7)")
	require.NoError(t, <-wait)
}
