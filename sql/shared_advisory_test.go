package sql_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/txn"
)

// said returns what the first column of a statement's only row is.
func said(t *testing.T, s *sql.Session, expr string) string {
	t.Helper()
	lines := strings.Split(mustQuery(t, s, "SELECT "+expr), "\n")
	return lines[len(lines)-3] // above SELECT 1, behind notices
}

// TestAdvisoryLocks are the same in one process and in two that share a store.
func TestAdvisoryLocks(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		try := func(s *sql.Session, what, want string) {
			t.Helper()
			require.Equal(t, want, said(t, s, "pg_try_advisory_"+what), what)
		}
		mustQuery(t, a, "SELECT pg_advisory_lock(1), pg_advisory_lock(1)")
		try(b, "lock(1)", "f")
		try(b, "lock_shared(1)", "f")
		try(b, "xact_lock(1)", "f")
		try(b, "lock(2)", "t")
		try(b, "lock(1, 1)", "t") // another key
		try(a, "lock(2)", "f")
		mustQuery(t, a, "SELECT pg_advisory_unlock(1)")
		try(b, "lock(1)", "f") // it was taken twice
		mustQuery(t, a, "SELECT pg_advisory_unlock(1)")
		try(b, "lock(1)", "t")
		require.Equal(t, "f", said(t, a, "pg_advisory_unlock(1)"))
		mustQuery(t, b, "SELECT pg_advisory_unlock_all()")

		mustQuery(t, a, "SELECT pg_advisory_lock_shared(3)")
		try(b, "lock_shared(3)", "t")
		try(c, "lock(3)", "f")
		try(a, "lock(3)", "f")
		mustQuery(t, b, "SELECT pg_advisory_unlock_shared(3)")
		try(a, "lock(3)", "t") // it is exclusive now, and shared
		try(b, "lock_shared(3)", "f")
		mustQuery(t, a, "SELECT pg_advisory_unlock(3)")
		try(b, "lock_shared(3)", "t")
		mustQuery(t, b, "SELECT pg_advisory_unlock_all()")
		mustQuery(t, a, "SELECT pg_advisory_unlock_all()")
		try(c, "lock(3)", "t")

		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, "SELECT pg_advisory_xact_lock(4), pg_advisory_lock(5)")
		mustQuery(t, a, "SAVEPOINT s")
		mustQuery(t, a, "SELECT pg_advisory_xact_lock(6), pg_advisory_xact_lock(4)")
		try(b, "lock(6)", "f")
		mustQuery(t, a, "ROLLBACK TO s")
		try(b, "lock(6)", "t")
		try(b, "lock(4)", "f")
		mustQuery(t, a, "COMMIT")
		try(b, "lock(4)", "t")
		try(b, "lock(5)", "f") // the session's
		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, "SELECT pg_advisory_xact_lock(7), pg_advisory_xact_lock(5)")
		fails(t, a, "SELECT 1 / 0", sqlerr.DivisionByZero)
		mustQuery(t, a, "ROLLBACK")
		try(b, "lock(7)", "t")
		try(b, "lock(5)", "f")
		mustQuery(t, a, "SELECT pg_advisory_xact_lock(8)") // ends with its statement
		try(b, "lock(8)", "t")
		mustQuery(t, a, "DISCARD ALL")
		try(b, "lock(5)", "t")
		b.Close(context.Background())
		try(a, "lock(5)", "t")
	})
}

// TestAdvisoryLocksAreWaitedFor until they are given back, or the wait is bounded or ended.
func TestAdvisoryLocksAreWaitedFor(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, c *sql.Session) {
		mustQuery(t, a, "SELECT pg_advisory_lock(1)")
		wait := blocked(t, b, c, "SELECT pg_advisory_lock(1)")
		require.Contains(t, mustQuery(t, c, "SELECT locktype, key FROM minidb_lock_waits"),
			"\nadvisory|(1)\n")
		mustQuery(t, a, "SELECT pg_advisory_unlock(1)")
		require.NoError(t, <-wait)
		require.Equal(t, "f", said(t, a, "pg_try_advisory_lock(1)"))

		mustQuery(t, a, "SET lock_timeout = '5ms'")
		fails(t, a, "SELECT pg_advisory_lock(1)", sqlerr.LockNotAvailable)
		fails(t, a, "SELECT pg_advisory_xact_lock(1)", sqlerr.LockNotAvailable)
		mustQuery(t, a, "SET lock_timeout = 0; SET statement_timeout = '5ms'")
		fails(t, a, "SELECT pg_advisory_lock_shared(1)", sqlerr.QueryCanceled)
		mustQuery(t, a, "RESET statement_timeout")
		mustQuery(t, b, "SELECT pg_advisory_unlock(1)")
		// what did not get the lock has left nothing
		require.Equal(t, "t", said(t, c, "pg_try_advisory_lock(1)"))
	})
}

// TestADeadlockThroughAnAdvisoryLock: one session holds a row and wants the lock, which the other
// one holds over its transactions while it wants the row.
func TestADeadlockThroughAnAdvisoryLock(t *testing.T) {
	inOneProcessAndTwo(t, func(t *testing.T, a, b, watcher *sql.Session) {
		for _, s := range []*sql.Session{a, b} {
			mustQuery(t, s, "SET deadlock_timeout = '1ms'; SET lock_timeout = '20s'")
		}
		mustQuery(t, b, "SELECT pg_advisory_lock(1)")
		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, "UPDATE t SET n = n + 1 WHERE id = 1")
		mustQuery(t, b, "BEGIN")
		first := blocked(t, b, watcher, "UPDATE t SET n = n + 1 WHERE id = 1")
		second := query(a, "SELECT pg_advisory_xact_lock(1)")
		if second != nil {
			require.Equal(t, sqlerr.DeadlockDetected, codeOf(second), second)
			mustQuery(t, a, "ROLLBACK")
			require.NoError(t, <-first)
			return
		}
		require.Equal(t, sqlerr.DeadlockDetected, codeOf(<-first))
	})
}

// TestTwoAdvisoryLocksInADeadlock of two processes.
func TestTwoAdvisoryLocksInADeadlock(t *testing.T) {
	a, b, watcher := sharedFixture(t)
	for i, s := range []*sql.Session{a, b} {
		mustQuery(t, s, "SET deadlock_timeout = '1ms'; SET lock_timeout = '20s'")
		mustQuery(t, s, "SELECT pg_advisory_lock("+[]string{"1", "2"}[i]+")")
	}
	waits := []<-chan error{nil, blocked(t, b, watcher, "SELECT pg_advisory_lock(1)")}
	waits[0] = start(a, "SELECT pg_advisory_lock(2)")
	var err error
	select { // as in PostgreSQL, the victim keeps what its session has locked
	case err = <-waits[0]:
		mustQuery(t, a, "SELECT pg_advisory_unlock(1)")
		require.NoError(t, <-waits[1])
	case err = <-waits[1]:
		mustQuery(t, b, "SELECT pg_advisory_unlock(2)")
		require.NoError(t, <-waits[0])
	}
	var se *sqlerr.Error
	require.ErrorAs(t, err, &se)
	require.Equal(t, sqlerr.DeadlockDetected, se.Code)
	require.Regexp(t, `^Process \d+ waits for ExclusiveLock on advisory lock \[\d+,0,[12],1\]; `+
		`blocked by process \d+ of another server.
Process \d+ of another server waits for ExclusiveLock on advisory lock \[\d+,0,[12],1\]; `+
		`blocked by process \d+.
`, se.Detail)
}

// TestAdvisoryLocksEndWithTheirProcess: once its lease is over others have them. Should it come
// back, its session is ended, and what its transaction has written is not committed.
func TestAdvisoryLocksEndWithTheirProcess(t *testing.T) {
	on := memkv.New(memkv.Options{Shared: true, HashGroups: 3})
	t.Cleanup(func() { require.NoError(t, on.Close()) })
	now := time.Now().UnixMilli()
	clock := func() int64 { return now }
	opts := txn.Options{LeaseRenewal: -1, Clock: clock}
	here, store := openEngine(t, on, opts, sql.Options{})
	opts.Oracle = store.Oracle()
	there, other := openEngine(t, on, opts, sql.Options{})
	a, b := newSession(t, here), newSession(t, there)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY)")
	mustQuery(t, a, "SELECT pg_advisory_lock(1)")
	mustQuery(t, a, "BEGIN; INSERT INTO t VALUES (1)")
	require.Equal(t, "f", said(t, b, "pg_try_advisory_lock(1)"))
	now += time.Hour.Milliseconds()
	require.NoError(t, other.RenewLease(context.Background()))
	require.Equal(t, "t", said(t, b, "pg_try_advisory_lock(1)"))
	fails(t, a, "COMMIT", sqlerr.SerializationFailure)
	require.NoError(t, store.RenewLease(context.Background()))
	e := fails(t, a, "SELECT 1", sqlerr.AdminShutdown)
	require.Contains(t, e.Message, "advisory locks were lost")
	require.True(t, a.Terminated())
}

// TestAdvisoryLocksHoldNoSafepoint: a leader that is elected by one keeps it for weeks.
func TestAdvisoryLocksHoldNoSafepoint(t *testing.T) {
	engines, stores := processes(t, 2, memkv.New(memkv.Options{Shared: true}))
	a, b := newSession(t, engines[0]), newSession(t, engines[1])
	mustQuery(t, a, "SELECT pg_advisory_lock(1)")
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY)")
	last, err := stores[0].Oracle().Next(context.Background())
	require.NoError(t, err)
	for range 2 {
		for _, s := range stores {
			require.NoError(t, s.RenewLease(context.Background()))
		}
	}
	_, err = stores[1].CollectGarbage(context.Background())
	require.NoError(t, err)
	require.Greater(t, stores[1].Safepoint(), last)
	require.Equal(t, "f", said(t, b, "pg_try_advisory_lock(1)"))
}
