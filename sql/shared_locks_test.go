package sql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
)

func TestRowLocksOfAnotherProcessAreSeen(t *testing.T) {
	a, b, watcher := sharedFixture(t)
	mustQuery(t, a, "BEGIN ISOLATION LEVEL READ COMMITTED")
	mustQuery(t, a, "SELECT * FROM t WHERE id = 1 FOR UPDATE")

	mustQuery(t, b, "BEGIN ISOLATION LEVEL READ COMMITTED")
	mustQuery(t, b, "SAVEPOINT s")
	fails(t, b, "SELECT * FROM t WHERE id = 1 FOR KEY SHARE NOWAIT", sqlerr.LockNotAvailable)
	mustQuery(t, b, "ROLLBACK TO s")
	require.Contains(t, mustQuery(t, b, "SELECT id FROM t ORDER BY id FOR UPDATE SKIP LOCKED"),
		"[id]\n2\nSELECT 1")
	mustQuery(t, b, "ROLLBACK TO s")
	mustQuery(t, b, "SET LOCAL lock_timeout = '5ms'")
	fails(t, b, "UPDATE t SET n = n + 1 WHERE id = 1", sqlerr.LockNotAvailable)
	mustQuery(t, b, "ROLLBACK TO s")
	require.Regexp(t,
		`lock timeout\|Process \d+ waits for .*; blocked by process \d+ of another server`,
		mustQuery(t, b, "SELECT kind, detail FROM minidb_conflicts"))
	mustQuery(t, b, "SET LOCAL statement_timeout = '5ms'")
	fails(t, b, "UPDATE t SET n = n + 1 WHERE id = 1", sqlerr.QueryCanceled)
	mustQuery(t, b, "ROLLBACK TO s")

	wait := blocked(t, b, watcher, "SELECT * FROM t WHERE id = 1 FOR UPDATE")
	mustQuery(t, a, "UPDATE t SET n = 11 WHERE id = 1")
	mustQuery(t, a, "COMMIT")
	require.NoError(t, <-wait)
	require.Contains(t, mustQuery(t, b, "SELECT n FROM t WHERE id = 1"), "\n11\n")
	mustQuery(t, b, "COMMIT")
}

func TestShareLocksOfTwoProcessesGoTogether(t *testing.T) {
	a, b, c := sharedFixture(t)
	mustQuery(t, a, "BEGIN")
	mustQuery(t, b, "BEGIN")
	mustQuery(t, a, "SELECT * FROM t WHERE id = 1 FOR SHARE")
	mustQuery(t, b, "SELECT * FROM t WHERE id = 1 FOR SHARE NOWAIT")
	mustQuery(t, a, "COMMIT")
	mustQuery(t, c, "BEGIN")
	fails(t, c, "SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT", sqlerr.LockNotAvailable)
	mustQuery(t, b, "COMMIT")
}

// TestASavepointGivesBackLocksElsewhere, and a failed block all of them.
func TestASavepointGivesBackLocksElsewhere(t *testing.T) {
	a, b, _ := sharedFixture(t)
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "SELECT * FROM t WHERE id = 1 FOR UPDATE")
	mustQuery(t, a, "SAVEPOINT s")
	mustQuery(t, a, "SELECT * FROM t WHERE id = 2 FOR UPDATE")
	mustQuery(t, a, "ROLLBACK TO s")
	require.Contains(t, mustQuery(t, b, "SELECT id FROM t ORDER BY id FOR UPDATE SKIP LOCKED"),
		"[id]\n2\nSELECT 1")
	mustQuery(t, a, "RELEASE s")
	fails(t, a, "SELECT 1 / 0", sqlerr.DivisionByZero)
	require.Contains(t, mustQuery(t, b, "SELECT count(*) FROM (SELECT id FROM t FOR UPDATE SKIP "+
		"LOCKED) x"), "\n2\n")
	mustQuery(t, a, "ROLLBACK")
}

// TestADeadlockOfTwoProcesses ends for one of them, whose error names the other one and its
// statement.
func TestADeadlockOfTwoProcesses(t *testing.T) {
	a, b, watcher := sharedFixture(t)
	for i, s := range []*sql.Session{a, b} {
		mustQuery(t, s, "SET deadlock_timeout = '1ms'")
		mustQuery(t, s, "BEGIN")
		mustQuery(t, s, "UPDATE t SET n = n + 1 WHERE id = "+[]string{"1", "2"}[i])
	}
	wait := blocked(t, b, watcher, "UPDATE t SET n = n + 1 WHERE id = 1")
	mustQuery(t, a, "UPDATE t SET n = n + 1 WHERE id = 2") // b is the younger one
	var se *sqlerr.Error
	require.ErrorAs(t, <-wait, &se)
	require.Equal(t, sqlerr.DeadlockDetected, se.Code)
	require.Regexp(t, `^Process \d+ waits for ShareLock on transaction \d+; `+
		`blocked by process \d+ of another server.
Process \d+ of another server waits for ShareLock on transaction \d+; blocked by process \d+.
Process \d+: UPDATE t SET n = n \+ 1 WHERE id = 1
Process \d+ of another server: UPDATE t SET n = n \+ 1 WHERE id = 2$`, se.Detail)
	mustQuery(t, b, "ROLLBACK")
	mustQuery(t, a, "COMMIT")
	require.Contains(t, mustQuery(t, b, "SELECT n FROM t ORDER BY id"), "[n]\n11\n21\n")
}

// TestWhoInAnotherProcessIsWaitedFor: the views show its statement; its number is zero, as
// PostgreSQL shows a holder that has no session there.
func TestWhoInAnotherProcessIsWaitedFor(t *testing.T) {
	a, b, watcher := sharedFixture(t)
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "SELECT * FROM t WHERE id = 2 FOR SHARE")
	mustQuery(t, b, "BEGIN")
	wait := blocked(t, b, watcher, "DELETE FROM t WHERE id = 2")
	require.Contains(t, mustQuery(t, watcher, "SELECT table_name, key, mode, blocking_pid, "+
		"blocking_query, waiting_query FROM minidb_lock_waits"),
		"public.t|(2)|AccessExclusiveLock|0|SELECT * FROM t WHERE id = 2 FOR SHARE|DELETE FROM t "+
			"WHERE id = 2\n")
	fails(t, watcher, "SELECT pg_blocking_pids("+pid(b)+")", sqlerr.FeatureNotSupported)
	fails(t, watcher, "SELECT pid, mode, granted FROM pg_locks", sqlerr.FeatureNotSupported)
	mustQuery(t, a, "COMMIT")
	require.NoError(t, <-wait)
	mustQuery(t, b, "ROLLBACK")
}

// TestCountersOfTwoProcesses: no update is lost, at any level, with row locks that both see.
func TestCountersOfTwoProcesses(t *testing.T) {
	here, there := twoProcesses(t)
	setup := newSession(t, here)
	mustQuery(t, setup, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	mustQuery(t, setup, "INSERT INTO t VALUES (1, 0)")
	const clients, rounds = 4, 10
	done := make(chan error, clients)
	for i := range clients {
		s := newSession(t, []*sql.Engine{here, there}[i%2])
		go func() { done <- count(s, rounds) }()
	}
	for range clients {
		require.NoError(t, <-done)
	}
	require.Contains(t, mustQuery(t, setup, "SELECT n FROM t"), "\n40\n")
}

func count(s *sql.Session, rounds int) error {
	for range rounds {
		text := "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT n FROM t WHERE id = 1 FOR UPDATE; " +
			"UPDATE t SET n = n + 1 WHERE id = 1; COMMIT"
		for _, q := range strings.Split(text, "; ") {
			if err := query(s, q); err != nil {
				return err
			}
		}
	}
	return nil
}
