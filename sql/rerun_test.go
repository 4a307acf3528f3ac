package sql_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/txn"
)

// runAsAWhole are statements that run again as a whole when the row with id 1 has changed from n =
// 10 to 11, and the n that they leave.
var runAsAWhole = map[string]struct {
	text string
	n    int
}{
	"on conflict": {"INSERT INTO t VALUES (1, 5, 1) ON CONFLICT (id) DO UPDATE SET n = t.n + " +
		"10", 21},
	"update from": {"UPDATE t SET n = t.n + o.n FROM o WHERE o.id = t.id AND t.id = 1", 111},
	"subquery": {"UPDATE t SET n = n + (SELECT n FROM o WHERE o.id = t.id) WHERE id = 1",
		111},
	"delete using": {"DELETE FROM t USING o WHERE o.id = t.id AND t.n >= 10 AND t.id = 1", 0},
	"modifying CTE": {"WITH w AS (UPDATE t SET n = n + 10 WHERE id = 1 RETURNING n) INSERT " +
		"INTO o SELECT n, n FROM w", 21},
	"another key": {"UPDATE t SET n = n + 10 WHERE u = 1", 21},
	"for update": {"INSERT INTO o SELECT t.n, 0 FROM t JOIN o ON o.id = t.id WHERE t.id = 1 " +
		"FOR UPDATE OF t", 11},
	"explain analyze": {"EXPLAIN ANALYZE UPDATE t SET n = t.n + o.n FROM o WHERE o.id = t.id AND " +
		"t.id = 1", 111},
}

// TestAChangeOfTheSchemaDoesNotEndAStatementThatWaits (S5): what was committed while it waited
// concerns other tables, or its own in a way that its locks let through. READ COMMITTED answers as
// if it had not been.
func TestAChangeOfTheSchemaDoesNotEndAStatementThatWaits(t *testing.T) {
	for name, x := range runAsAWhole {
		for change, ddl := range map[string]string{
			"another table":      "CREATE TABLE zz (i int); DROP TABLE zz",
			"another database":   "CREATE DATABASE zz",
			"its own table":      "COMMENT ON TABLE t IS 'changed'",
			"its own index":      "ALTER INDEX t_u_key RENAME TO renamed",
			"its own constraint": "ALTER TABLE t VALIDATE CONSTRAINT positive",
		} {
			t.Run(name+", "+change, func(t *testing.T) {
				a, b, c := lockFixture(t)
				mustQuery(t, a, "CREATE TABLE o (id int PRIMARY KEY, n int)")
				mustQuery(t, a, "INSERT INTO o VALUES (1, 100)")
				mustQuery(t, a, "ALTER TABLE t ADD CONSTRAINT positive CHECK (n > 0) NOT VALID")
				mustQuery(t, a, "BEGIN")
				mustQuery(t, a, "UPDATE t SET n = n + 1 WHERE id = 1")
				mustQuery(t, b, "BEGIN")
				waiting := blocked(t, b, c, x.text)
				mustQuery(t, c, ddl)
				mustQuery(t, a, "COMMIT")
				require.NoError(t, <-waiting)
				mustQuery(t, b, "COMMIT")
				require.Equal(t, "[n]\n"+strconv.Itoa(x.n)+"\nSELECT 1\n",
					mustQuery(t, c, "SELECT coalesce(sum(n), 0) AS n FROM t WHERE id = 1"))
			})
		}
	}
}

// TestASchemaThatAStatementWaitedForIsItsOwn: it is planned again for the columns that there are
// now.
func TestASchemaThatAStatementWaitedForIsItsOwn(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, a, "BEGIN; ALTER TABLE t ADD COLUMN extra int DEFAULT 7; UPDATE t SET n = n + 1")
	mustQuery(t, b, "BEGIN")
	waiting := blocked(t, b, c, "INSERT INTO t VALUES (1, 5, 1) ON CONFLICT (id) DO UPDATE SET n "+
		"= t.n + 10")
	mustQuery(t, a, "COMMIT")
	require.NoError(t, <-waiting)
	mustQuery(t, b, "COMMIT")
	require.Equal(t, "[n extra]\n21|7\nSELECT 1\n",
		mustQuery(t, c, "SELECT n, extra FROM t WHERE id = 1"))
}

// TestAStatementThatRunsAgainKeepsItsRowLocks, and is counted.
func TestAStatementThatRunsAgainKeepsItsRowLocks(t *testing.T) {
	e := newEngine(t)
	a, b, c := lockFixtureOf(t, e, e)
	d := newSession(t, e)
	mustQuery(t, a, "CREATE TABLE o (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO o VALUES (1, 100), (2, 100)")
	mustQuery(t, a, "BEGIN; UPDATE t SET n = n + 1 WHERE id = 1")
	mustQuery(t, d, "BEGIN; UPDATE t SET n = n + 1 WHERE id = 2")
	mustQuery(t, b, "BEGIN")
	waiting := blocked(t, b, c, "UPDATE t SET n = t.n + o.n FROM o WHERE o.id = t.id")
	mustQuery(t, a, "COMMIT") // b runs again, and waits for the second row
	for mustQuery(t, c, "SELECT reruns FROM minidb_progress WHERE pid = "+
		pid(b)) != "[reruns]\n1\nSELECT 1\n" {
	}
	for mustQuery(t, c, "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = "+
		pid(b)) != "[count]\n1\nSELECT 1\n" {
	}
	fails(t, c, "SELECT FROM t WHERE id = 1 FOR UPDATE NOWAIT", sqlerr.LockNotAvailable)
	mustQuery(t, d, "COMMIT")
	require.NoError(t, <-waiting)
	mustQuery(t, b, "COMMIT")
	require.Equal(t, "[n]\n111\n121\nSELECT 2\n", mustQuery(t, c, "SELECT n FROM t ORDER BY id"))
	require.Equal(t, "[datname statements reruns most refused]\npostgres|1|2|2|0\nSELECT 1\n",
		mustQuery(t, c, "SELECT datname, statements, reruns, most, refused FROM minidb_reruns"))
}

// TestAStatementRunsAgainABoundedNumberOfTimes: then it is 40001, and counted too.
func TestAStatementRunsAgainABoundedNumberOfTimes(t *testing.T) {
	on := memkv.New(memkv.Options{})
	t.Cleanup(func() { require.NoError(t, on.Close()) })
	e, _ := openEngine(t, on, txn.Options{}, sql.Options{MaxReruns: 1})
	a, b, c := lockFixtureOf(t, e, e)
	d := newSession(t, e)
	mustQuery(t, a, "CREATE TABLE o (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO o VALUES (1, 100), (2, 100)")
	mustQuery(t, a, "BEGIN; UPDATE t SET n = n + 1 WHERE id = 1")
	mustQuery(t, d, "BEGIN; UPDATE t SET n = n + 1 WHERE id = 2")
	mustQuery(t, b, "BEGIN")
	waiting := blocked(t, b, c, "UPDATE t SET n = t.n + o.n FROM o WHERE o.id = t.id")
	mustQuery(t, a, "COMMIT")
	for mustQuery(t, c, "SELECT count(*) FROM minidb_progress p JOIN pg_locks l USING (pid) "+
		"WHERE reruns = 1 AND NOT granted") !=
		"[count]\n1\nSELECT 1\n" {
	}
	mustQuery(t, d, "COMMIT")
	require.Equal(t, sqlerr.SerializationFailure, codeOf(<-waiting))
	mustQuery(t, b, "ROLLBACK")
	require.Equal(t, "[statements reruns most refused]\n1|1|1|1\nSELECT 1\n",
		mustQuery(t, c, "SELECT statements, reruns, most, refused FROM minidb_reruns"))
}
