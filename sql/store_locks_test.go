package sql_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/txn"
)

// streamedOut returns a session that has written all rows of a table, and whose changes are in the
// store, under locks there alone; and one that has begun a block, and one that watches.
func streamedOut(t *testing.T, wait time.Duration, kvs memkv.Options) (a, b, c *sql.Session) {
	e := newEngineOn(t, memkv.New(kvs), txn.Options{StreamBytes: 1, LockWait: wait})
	a, b, c = newSnapshotSession(t, e), newSnapshotSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 10), (2, 20)")
	mustQuery(t, a, "SET minidb.write_locks = off")
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "UPDATE t SET n = n + 1")
	mustQuery(t, b, "BEGIN")
	return a, b, c
}

// TestWhoseLockInTheStoreIsWaitedFor: the lock was streamed out by a transaction that takes no row
// locks.
func TestWhoseLockInTheStoreIsWaitedFor(t *testing.T) {
	a, b, c := streamedOut(t, time.Minute, memkv.Options{})
	mustQuery(t, a, "SELECT 1")
	wait := blocked(t, b, c, "DELETE FROM t WHERE id = 2")
	seen := func(query, want string) {
		t.Helper()
		// between two looks at the lock no session is seen to wait
		for !strings.Contains(mustQuery(t, c, query), want) {
			runtime.Gosched()
		}
	}
	seen("SELECT table_name, key, blocking_pid, blocking_query, waiting_query FROM "+
		"minidb_lock_waits",
		"public.t|(2)|"+pid(a)+"|UPDATE t SET n = n + 1|DELETE FROM t WHERE id = 2\n")
	seen("SELECT pg_blocking_pids("+pid(b)+")", "\n{"+pid(a)+"}\n")
	seen("SELECT locktype, pid, granted FROM pg_locks WHERE locktype = 'tuple' AND relation = "+
		"'t'::regclass AND pid = "+pid(a), "tuple|"+pid(a)+"|t\n")
	mustQuery(t, a, "ROLLBACK")
	require.NoError(t, <-wait)
	mustQuery(t, b, "COMMIT")
}

// TestWhoWaitedInVainIsToldForWhat: the error of a wait that took too long names the row, and the
// session and statement that hold it. On an engine that several processes share each wait for a
// lock ends, because it may be part of a cycle that no process sees as a whole.
func TestWhoWaitedInVainIsToldForWhat(t *testing.T) {
	a, b, _ := streamedOut(t, time.Millisecond, memkv.Options{Shared: true})
	var se *sqlerr.Error
	require.ErrorAs(t, b.NameConflict(context.Background(), query(b, "DELETE FROM t WHERE id = 2")),
		&se)
	require.Equal(t, sqlerr.SerializationFailure, se.Code)
	require.Regexp(t, `^Key \(2\) of "t" is locked by a transaction \(session [\d.]+, process `+
		pid(a)+`, for "UPDATE t SET n = n \+ 1"\)\.$`, se.Detail)
	mustQuery(t, b, "ROLLBACK")
	mustQuery(t, a, "ROLLBACK")
}

// TestAFailedBlockHoldsNoLockInTheStore: as in PostgreSQL, a block that has failed keeps no session
// waiting until its client says ROLLBACK; but what was locked before a savepoint stays so, for
// ROLLBACK TO goes on from there.
func TestAFailedBlockHoldsNoLockInTheStore(t *testing.T) {
	for name, kvs := range map[string]memkv.Options{"exclusive": {}, "shared": {Shared: true}} {
		t.Run(name, func(t *testing.T) {
			lock := "SELECT FROM t WHERE id = 1 FOR UPDATE NOWAIT"
			a, b, c := streamedOut(t, time.Minute, kvs)
			fails(t, a, "SELECT 1 / 0", sqlerr.DivisionByZero)
			mustQuery(t, b, lock)
			mustQuery(t, b, "ROLLBACK")
			mustQuery(t, a, "ROLLBACK; BEGIN; UPDATE t SET n = n + 1; SAVEPOINT s")
			fails(t, a, "SELECT 1 / 0", sqlerr.DivisionByZero)
			fails(t, c, lock, sqlerr.LockNotAvailable)
			mustQuery(t, a, "ROLLBACK TO s; COMMIT")
			require.Equal(t, "[n]\n11\n21\nSELECT 2\n",
				mustQuery(t, c, "SELECT n FROM t ORDER BY id"))
		})
	}
}
