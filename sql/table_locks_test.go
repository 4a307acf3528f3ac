package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// TestSchemaChangesWaitForTheirTable: ALTER, DROP, TRUNCATE and CREATE INDEX wait for transactions
// that use the table, and then see what those did.
func TestSchemaChangesWaitForTheirTable(t *testing.T) {
	a, b, c := lockFixture(t)
	for _, change := range []string{
		"ALTER TABLE t ADD COLUMN w int", "CREATE INDEX t_n ON t (n)", "TRUNCATE t",
		"DROP INDEX t_n", "DROP TABLE t",
	} {
		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, "INSERT INTO t (id, n, u) VALUES (30, 1, 30)")
		mustQuery(t, b, "BEGIN")
		wait := blocked(t, b, c, change)
		require.Contains(t, mustQuery(t, c, "SELECT pg_blocking_pids("+pid(b)+")"),
			"\n{"+pid(a)+"}\n")
		require.Contains(t, mustQuery(t, c, "SELECT locktype, table_name, mode, blocking_query "+
			"FROM minidb_lock_waits"), "relation|public.t|")
		mustQuery(t, a, "DELETE FROM t WHERE id = 30")
		mustQuery(t, a, "COMMIT")
		require.NoError(t, <-wait, change)
		mustQuery(t, b, "COMMIT")
	}
}

// TestAStatementThatWaitedSeesTheNewSchema: a plan made before the wait is made again.
func TestAStatementThatWaitedSeesTheNewSchema(t *testing.T) {
	a, b, c := lockFixture(t)
	for _, begin := range []string{"", "BEGIN; ", "BEGIN ISOLATION LEVEL READ COMMITTED; ",
		"BEGIN ISOLATION LEVEL SERIALIZABLE; "} {
		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, "ALTER TABLE t ADD COLUMN added text DEFAULT 'yes'")
		if begin != "" {
			mustQuery(t, b, begin)
		}
		wait := blocked(t, b, c, "SELECT added FROM t WHERE id = 1")
		mustQuery(t, a, "COMMIT")
		require.NoError(t, <-wait)
		if begin != "" {
			mustQuery(t, b, "COMMIT")
		}
		mustQuery(t, a, "ALTER TABLE t DROP COLUMN added")
	}
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "DROP TABLE t")
	wait := blocked(t, b, c, "UPDATE t SET n = 1")
	mustQuery(t, a, "COMMIT")
	require.Equal(t, sqlerr.UndefinedTable, codeOf(<-wait))
}

// TestLockTableThenRead: LOCK TABLE fixes no snapshot.
func TestLockTableThenRead(t *testing.T) {
	a, b, c := lockFixture(t)
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, "UPDATE t SET n = n + 1 WHERE id = 1")
		mustQuery(t, b, "BEGIN ISOLATION LEVEL "+level)
		wait := blocked(t, b, c, "LOCK TABLE t IN SHARE ROW EXCLUSIVE MODE")
		mustQuery(t, a, "COMMIT")
		require.NoError(t, <-wait)
		mustQuery(t, b, "UPDATE t SET n = n + 1 WHERE id = 1")
		blockedWrite := blocked(t, a, c, "DELETE FROM t WHERE id = 2")
		mustQuery(t, b, "COMMIT")
		require.NoError(t, <-blockedWrite, level)
		mustQuery(t, a, "INSERT INTO t VALUES (2, 20, 2)")
	}
	require.Contains(t, mustQuery(t, c, "SELECT n FROM t WHERE id = 1"), "\n16\n")
}

func TestLockTableNoWaitTimeoutAndDeadlock(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "LOCK TABLE t")
	mustQuery(t, b, "SET lock_timeout = '1ms'")
	mustQuery(t, b, "BEGIN")
	err := fails(t, b, "LOCK TABLE t IN ACCESS SHARE MODE NOWAIT", sqlerr.LockNotAvailable)
	require.ErrorContains(t, err, `could not obtain lock on relation "t"`)
	mustQuery(t, b, "ROLLBACK")
	require.ErrorContains(t, fails(t, b, "SELECT 1 FROM t", sqlerr.LockNotAvailable),
		"canceling statement due to lock timeout")
	mustQuery(t, b, "RESET lock_timeout")
	mustQuery(t, a, "ROLLBACK")

	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "UPDATE t SET n = 1 WHERE id = 1")
	mustQuery(t, b, "BEGIN")
	mustQuery(t, b, "UPDATE t SET n = 2 WHERE id = 2")
	wait := blocked(t, a, c, "LOCK TABLE t IN SHARE MODE")
	e := fails(t, b, "UPDATE t SET n = 4 WHERE id = 1", sqlerr.DeadlockDetected)
	require.Contains(t, e.Detail, "Process "+pid(a)+" waits for ShareLock on relation ")
	require.NoError(t, <-wait)
	mustQuery(t, a, "COMMIT")
}

// TestAnOpenReadKeepsItsTable: a cursor's table cannot be dropped under it, nor by its own
// session's neighbour in the fast path.
func TestAnOpenReadKeepsItsTable(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "SELECT 1 FROM t")
	require.Contains(t, mustQuery(t, c, "SELECT mode, fastpath FROM pg_locks WHERE pid = "+pid(a)),
		"AccessShareLock|t\n")
	wait := blocked(t, b, c, "DROP TABLE t")
	require.Contains(t, mustQuery(t, c, "SELECT mode, fastpath FROM pg_locks WHERE pid = "+pid(a)),
		"AccessShareLock|f\n")
	mustQuery(t, a, "ROLLBACK")
	require.NoError(t, <-wait)
	require.Contains(t, mustQuery(t, c, "SELECT count(*) FROM pg_locks"), "\n0\n")
}
