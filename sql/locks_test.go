package sql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

// blocked starts a statement that has to wait for a lock, and returns when it does.
func blocked(t *testing.T, s, watcher *sql.Session, text string) <-chan error {
	t.Helper()
	done := start(s, text)
	for {
		waits := mustQuery(t, watcher, "SELECT EXISTS (SELECT FROM minidb_lock_waits "+
			"WHERE waiting_pid = "+pid(s)+")")
		if strings.Contains(waits, "\nt\n") {
			return done
		}
		select {
		case err := <-done:
			t.Fatalf("%s did not wait: %v", text, err)
		default:
		}
	}
}

// start runs a text in the background.
func start(s *sql.Session, text string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- query(s, text) }()
	return done
}

// lockFixture returns three sessions and a table.
func lockFixture(t *testing.T) (a, b, c *sql.Session) {
	e := newEngine(t)
	return lockFixtureOf(t, e, e)
}

// sharedFixture returns a session here and two in another process.
func sharedFixture(t *testing.T) (a, b, c *sql.Session) {
	here, there := twoProcesses(t)
	return lockFixtureOf(t, here, there)
}

func lockFixtureOf(t *testing.T, here, there *sql.Engine) (a, b, c *sql.Session) {
	a, b, c = newSession(t, here), newSession(t, there), newSession(t, there)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int, u int UNIQUE)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 10, 1), (2, 20, 2)")
	return a, b, c
}

// inOneProcessAndTwo runs a test of what is the same wherever session a is.
func inOneProcessAndTwo(t *testing.T, test func(t *testing.T, a, b, c *sql.Session)) {
	for name, fixture := range map[string]func(*testing.T) (a, b,
		c *sql.Session){"one": lockFixture, "two": sharedFixture} {
		t.Run(name, func(t *testing.T) {
			a, b, c := fixture(t)
			test(t, a, b, c)
		})
	}
}

// TestTheFirstUpdaterWins: the second one waits, and then decides by the row as it is.
func TestTheFirstUpdaterWins(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		for _, x := range []struct{ level, end, code, want string }{
			{"READ COMMITTED", "COMMIT", "", "22"}, {"READ COMMITTED", "ROLLBACK", "", "20"},
			{"REPEATABLE READ", "COMMIT", sqlerr.SerializationFailure, "11"}, {"REPEATABLE READ",
				"ROLLBACK", "", "20"},
		} {
			mustQuery(t, a, "UPDATE t SET n = 10 WHERE id = 1")
			mustQuery(t, a, "BEGIN ISOLATION LEVEL "+x.level)
			mustQuery(t, a, "UPDATE t SET n = n + 1 WHERE id = 1")
			mustQuery(t, b, "BEGIN ISOLATION LEVEL "+x.level)
			mustQuery(t, b, "SELECT 1 FROM t")
			wait := blocked(t, b, c, "UPDATE t SET n = n * 2 WHERE id = 1")
			mustQuery(t, a, x.end)
			require.Equal(t, x.code, codeOf(<-wait), "%s, %s", x.level, x.end)
			mustQuery(t, b, "COMMIT") // of a block that has failed a rollback
			require.Contains(t, mustQuery(t, a, "SELECT n FROM t WHERE id = 1"), "\n"+x.want+"\n",
				"%s, %s", x.level, x.end)
		}
	})
}

func TestReadCommittedLooksAgain(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, "UPDATE t SET n = n + 1 WHERE id = 1")
		mustQuery(t, a, "UPDATE t SET n = 0 WHERE id = 2") // no longer matches
		mustQuery(t, b, "BEGIN ISOLATION LEVEL READ COMMITTED")
		wait := blocked(t, b, c, "UPDATE t SET n = n * 2 WHERE n > 5")
		mustQuery(t, a, "COMMIT")
		require.NoError(t, <-wait)
		require.Equal(t, "[id n]\n1|22\n2|0\nSELECT 2\n",
			mustQuery(t, b, "SELECT id, n FROM t ORDER BY id"))
		mustQuery(t, b, "COMMIT")
	})
}

// TestACursorThatRunsAgainUndoesNothingElse: a join that finds a row changed is run again as a
// whole. What the transaction wrote after it declared the cursor is not the cursor's.
func TestACursorThatRunsAgainUndoesNothingElse(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, c, "CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE child (id int "+
		"PRIMARY KEY REFERENCES parent DEFERRABLE INITIALLY DEFERRED)")
	mustQuery(t, a, "BEGIN ISOLATION LEVEL READ COMMITTED")
	mustQuery(t, a, "DECLARE c CURSOR FOR SELECT t.n FROM t JOIN t x USING (id) ORDER BY id "+
		"LIMIT 5 FOR UPDATE OF t")
	mustQuery(t, a, "UPDATE t SET u = 20 WHERE id = 2")
	mustQuery(t, a, "INSERT INTO child VALUES (1)")
	mustQuery(t, b, "UPDATE t SET n = 11 WHERE id = 1")
	require.Equal(t, "[n]\n11\n20\nFETCH 2\n", mustQuery(t, a, "FETCH ALL FROM c"))
	require.Contains(t, mustQuery(t, a, "SELECT u FROM t WHERE id = 2"), "\n20\n")
	// the check of the row that was inserted in between
	fails(t, a, "COMMIT", sqlerr.ForeignKeyViolation)
}

func TestAnImplicitStatementStealsNoLockedRow(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, "SELECT * FROM t WHERE id = 1 FOR UPDATE")
		wait := blocked(t, b, c, "UPDATE t SET n = n + 1 WHERE id = 1")
		mustQuery(t, a, "UPDATE t SET n = n + 100 WHERE id = 1")
		mustQuery(t, a, "COMMIT")
		require.NoError(t, <-wait)
		require.Contains(t, mustQuery(t, a, "SELECT n FROM t WHERE id = 1"), "\n111\n")
	})
}

// TestTheSecondInserterWaits until it is known which of the two has the unique key.
func TestTheSecondInserterWaits(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		for end, code := range map[string]string{"ROLLBACK": "", "COMMIT": sqlerr.UniqueViolation} {
			mustQuery(t, a, "BEGIN")
			mustQuery(t, a, "INSERT INTO t VALUES (3, 0, 3)")
			mustQuery(t, b, "BEGIN")
			wait := blocked(t, b, c, "INSERT INTO t VALUES (4, 0, 3)")
			mustQuery(t, a, end)
			require.Equal(t, code, codeOf(<-wait), end)
			mustQuery(t, b, "ROLLBACK")
			mustQuery(t, a, "DELETE FROM t WHERE id = 3")
		}
	})
}

func TestDeadlockNamesBothStatements(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "UPDATE t SET n = 1 WHERE id = 1")
	mustQuery(t, b, "BEGIN")
	mustQuery(t, b, "UPDATE t SET n = 2 WHERE id = 2")
	wait := blocked(t, a, c, "UPDATE t SET n = 3 WHERE id = 2")
	e := fails(t, b, "UPDATE t SET n = 4 WHERE id = 1", sqlerr.DeadlockDetected)
	require.Equal(t, "deadlock detected", e.Message)
	require.Contains(t, e.Detail, "Process "+pid(b)+" waits for ShareLock on transaction ")
	require.Contains(t, e.Detail, "Process "+pid(a)+": UPDATE t SET n = 3 WHERE id = 2")
	require.Contains(t, e.Detail, "Process "+pid(b)+": UPDATE t SET n = 4 WHERE id = 1")
	require.NoError(t, <-wait) // a failed block holds no lock
	mustQuery(t, a, "COMMIT")
	require.Contains(t, mustQuery(t, c, "SELECT kind FROM minidb_conflicts"), "deadlock")
}

func TestWhoBlocksMe(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "SELECT FROM t WHERE id = 1 FOR SHARE")
	mustQuery(t, a, "UPDATE t SET n = 1 WHERE id = 1")
	mustQuery(t, a, "UPDATE t SET n = 2 WHERE id IN (1, 2)") // that locks nothing more of row 1
	mustQuery(t, b, "BEGIN")
	wait := blocked(t, b, c, "DELETE FROM t WHERE id = 1")
	require.Contains(t, mustQuery(t, c, "SELECT pg_blocking_pids("+pid(b)+")"), "\n{"+pid(a)+"}\n")
	require.Contains(t, mustQuery(t, c, "SELECT table_name, key, row_key, blocking_query, "+
		"waiting_query FROM minidb_lock_waits"),
		"public.t|(1)|(1)|UPDATE t SET n = 1 WHERE id = 1|DELETE FROM t WHERE id = 1\n")
	require.Contains(t, mustQuery(t, c, "SELECT wait_event_type, wait_event FROM "+
		"pg_stat_activity WHERE pid = "+pid(b)), "\nLock|tuple\n")
	mustQuery(t, a, "ROLLBACK")
	require.NoError(t, <-wait)
	for args, key := range map[string]string{"7": "(7)", "-1": "(-1)", "3, -4": "(3, -4)"} {
		mustQuery(t, a, "SELECT pg_advisory_lock("+args+")")
		wait = blocked(t, b, c, "SELECT pg_advisory_lock("+args+")")
		require.Contains(t, mustQuery(t, c, "SELECT locktype, key FROM minidb_lock_waits"),
			"advisory|"+key+"\n")
		mustQuery(t, a, "SELECT pg_advisory_unlock("+args+")")
		require.NoError(t, <-wait)
	}
}

func TestLockTimeout(t *testing.T) {
	a, b, _ := lockFixture(t)
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "UPDATE t SET n = 1 WHERE id = 1")
	mustQuery(t, b, "SET lock_timeout = '1ms'")
	mustQuery(t, b, "BEGIN")
	err := fails(t, b, "UPDATE t SET n = 2 WHERE id = 1", sqlerr.LockNotAvailable)
	require.ErrorContains(t, err, "canceling statement due to lock timeout")
	lost := mustQuery(t, a, "SELECT kind, table_name, key, detail FROM minidb_conflicts")
	require.Contains(t, lost, "lock timeout|public.t|(1)|Process "+pid(b)+
		" waits for ShareLock on transaction ")
	require.Contains(t, lost, "; blocked by process "+pid(a)+".")
	require.Contains(t, lost, "Process "+pid(b)+": UPDATE t SET n = 2 WHERE id = 1\nProcess "+
		pid(a)+": ")
	err = fails(t, b, "ROLLBACK; SELECT * FROM t WHERE id = 1 FOR SHARE NOWAIT",
		sqlerr.LockNotAvailable)
	require.ErrorContains(t, err, `could not obtain lock on row in relation "t"`)
	require.Contains(t, mustQuery(t, b, "SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP "+
		"LOCKED"), "\n2\n")
}

// TestAnInsertAfterADeletion: a row whose key another transaction has given up while the statement
// waited goes in with all its entries, those of indexes that are not unique too. In REPEATABLE READ
// it does if the snapshot has no row of that key either. If it has one, the two would stand side by
// side: an index would find the new row by the values of the old one. So it is a conflict.
func TestAnInsertAfterADeletion(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, a, "CREATE INDEX t_n ON t (n)")
	mustQuery(t, b, "BEGIN ISOLATION LEVEL READ COMMITTED")
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "DELETE FROM t WHERE id = 1")
	wait := blocked(t, b, c, "INSERT INTO t VALUES (1, 10, 1)")
	mustQuery(t, a, "COMMIT")
	require.NoError(t, <-wait)
	mustQuery(t, b, "COMMIT")

	for _, insert := range []string{"INSERT INTO t VALUES (1, 10, 1)",
		"UPDATE t SET id = 1, n = 10 WHERE id = 2"} {
		mustQuery(t, b, "BEGIN ISOLATION LEVEL REPEATABLE READ")
		mustQuery(t, b, "SELECT 1")
		mustQuery(t, a, "DELETE FROM t WHERE id = 1")
		require.ErrorContains(t, fails(t, b, insert, sqlerr.SerializationFailure),
			"could not serialize access due to concurrent delete")
		mustQuery(t, b, "ROLLBACK")

		mustQuery(t, b, "BEGIN ISOLATION LEVEL REPEATABLE READ")
		mustQuery(t, b, "SELECT 1")
		mustQuery(t, a, "INSERT INTO t VALUES (1, 11, 77)")
		mustQuery(t, a, "DELETE FROM t WHERE id = 1")
		mustQuery(t, b, insert)
		mustQuery(t, b, "COMMIT")
		require.Contains(t, mustQuery(t, a, "SELECT id FROM t WHERE n = 10"), "\n1\n")
		require.NotContains(t, mustQuery(t, a, "SELECT id FROM t WHERE n = 11"), "\n1\n")
	}
}

// TestAnInsertAfterOneThatWasTakenBack: a session inserts a row while another block has inserted
// one of the same key, and that block deletes it again, commits as if it had never been: the
// entries of the row, of indexes that are not unique too, leave no conflict. PostgreSQL 15 does the
// same.
func TestAnInsertAfterOneThatWasTakenBack(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, a, "CREATE INDEX t_n ON t (n)")
	for _, rival := range []string{
		"INSERT INTO t VALUES (5, 50, 5)",
		"INSERT INTO t VALUES (5, 49, 5); UPDATE t SET n = 50 WHERE id = 5",
		"INSERT INTO t VALUES (5, 50, NULL); UPDATE t SET u = 5 WHERE id = 5",
	} {
		for _, level := range []string{"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
			mustQuery(t, a, "BEGIN")
			mustQuery(t, a, rival)
			mustQuery(t, b, "BEGIN ISOLATION LEVEL "+level)
			mustQuery(t, b, "SELECT 1")
			wait := blocked(t, b, c, "INSERT INTO t VALUES (5, 50, 5)")
			mustQuery(t, a, "DELETE FROM t WHERE id = 5")
			// so that there is something to commit
			mustQuery(t, a, "UPDATE t SET n = n + 1 WHERE id = 2")
			mustQuery(t, a, "COMMIT")
			require.NoError(t, <-wait, "%s in %s", rival, level)
			mustQuery(t, b, "COMMIT")
			require.Contains(t, mustQuery(t, a, "SELECT id, u FROM t WHERE n = 50"), "\n5|5\n")
			mustQuery(t, a, "DELETE FROM t WHERE id = 5")
			require.NotContains(t, mustQuery(t, a, "SELECT id, u FROM t WHERE n = 50"), "5|5")
		}
	}
}
