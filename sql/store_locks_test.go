package sql_test

import (
	"context"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// streamedOutEngine writes every change to the store at once, under locks there.
func streamedOutEngine(t *testing.T, wait time.Duration, kvs memkv.Options) *sql.Engine {
	ctx := context.Background()
	engine, quiet := memkv.New(kvs), slog.New(slog.DiscardHandler)
	store, err := txn.Open(ctx, engine, txn.Options{Logger: quiet, StreamBytes: 1, LockWait: wait})
	require.NoError(t, err)
	cat, err := catalog.Open(ctx, store)
	require.NoError(t, err)
	e := sql.NewEngine(store, cat, sql.Options{Logger: quiet})
	t.Cleanup(func() {
		e.Close()
		require.NoError(t, store.Close())
		require.NoError(t, engine.Close())
	})
	return e
}

// TestWhoseLockInTheStoreIsWaitedFor: the lock was streamed out by a transaction that takes no row locks.
func TestWhoseLockInTheStoreIsWaitedFor(t *testing.T) {
	e := streamedOutEngine(t, time.Minute, memkv.Options{})
	a, b, c := newSession(t, e), newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 10), (2, 20)")
	mustQuery(t, a, "SET minidb.write_locks = off")
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "UPDATE t SET n = n + 1")
	mustQuery(t, a, "SELECT 1")
	mustQuery(t, b, "BEGIN")
	wait := blocked(t, b, c, "DELETE FROM t WHERE id = 2")
	seen := func(query, want string) {
		t.Helper()
		for !strings.Contains(mustQuery(t, c, query), want) { // between two looks at the lock nobody is seen to wait
			runtime.Gosched()
		}
	}
	seen("SELECT table_name, key, blocking_pid, blocking_query, waiting_query FROM minidb_lock_waits",
		"public.t|(2)|"+pid(a)+"|UPDATE t SET n = n + 1|DELETE FROM t WHERE id = 2\n")
	seen("SELECT pg_blocking_pids("+pid(b)+")", "\n{"+pid(a)+"}\n")
	seen("SELECT locktype, pid, granted FROM pg_locks WHERE locktype = 'tuple' AND relation = 't'::regclass AND pid = "+pid(a), "tuple|"+pid(a)+"|t\n")
	mustQuery(t, a, "ROLLBACK")
	require.NoError(t, <-wait)
	mustQuery(t, b, "COMMIT")
}

// TestWhoWaitedInVainIsToldForWhat names row, session and statement. On an engine that others share the wait
// for a lock has an end: it may be part of a circle that nobody can see.
func TestWhoWaitedInVainIsToldForWhat(t *testing.T) {
	e := streamedOutEngine(t, time.Millisecond, memkv.Options{Shared: true})
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 10), (2, 20)")
	mustQuery(t, a, "SET minidb.write_locks = off")
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "UPDATE t SET n = n + 1")
	mustQuery(t, b, "BEGIN")
	err := b.Query(context.Background(), "DELETE FROM t WHERE id = 2", &transcript{s: b})
	var se *sqlerr.Error
	require.ErrorAs(t, b.NameConflict(context.Background(), err), &se)
	require.Equal(t, sqlerr.SerializationFailure, se.Code)
	require.Regexp(t, `^Key \(2\) of "t" is locked by a transaction \(session [\d.]+, process `+pid(a)+`, for "UPDATE t SET n = n \+ 1"\)\.$`, se.Detail)
	mustQuery(t, b, "ROLLBACK")
	mustQuery(t, a, "ROLLBACK")
}
