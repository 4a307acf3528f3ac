package sql_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

func TestTemporaryTablesOfTwoSessionsAreApart(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'all')")
	mustQuery(t, a, "CREATE TEMP TABLE t (id int PRIMARY KEY, v text)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 'a')")
	mustQuery(t, b, "CREATE TEMP TABLE t (id serial PRIMARY KEY, w int)")
	mustQuery(t, b, "INSERT INTO t (w) VALUES (7)")

	require.Contains(t, mustQuery(t, a, "SELECT v FROM t"), "a\n")
	require.Contains(t, mustQuery(t, b, "SELECT w FROM t"), "7\n")
	require.Contains(t, mustQuery(t, b, "SELECT v FROM public.t"), "all\n")
	const mine = "SELECT count(*) FROM pg_class WHERE relpersistence = 't'"
	require.Contains(t, mustQuery(t, a, mine), "2\n")
	require.Contains(t, mustQuery(t, b, mine), "3\n")
	require.NotEqual(t, mustQuery(t, a, "SELECT 't'::regclass::oid, relnamespace::regnamespace"+
		" FROM pg_class WHERE oid = 't'::regclass"), mustQuery(t, b,
		"SELECT 't'::regclass::oid, relnamespace::regnamespace FROM pg_class"+
			" WHERE oid = 't'::regclass"))
	fails(t, b, "SELECT * FROM pg_temp_1.t", sqlerr.UndefinedTable)
	mustQuery(t, b, "DROP TABLE t")
	require.Contains(t, mustQuery(t, b, "SELECT v FROM t"), "all\n")
	require.Contains(t, mustQuery(t, a, "SELECT v FROM t"), "a\n")
}

// What one session does to its temporary objects costs another no plan, and no 40001.
func TestTemporaryObjectsOfOneSessionReplanNothingOfAnother(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, b, "CREATE TABLE t (id int PRIMARY KEY, v int)")
	mustQuery(t, b, "PREPARE q AS SELECT v FROM t WHERE id = $1")
	mustQuery(t, b, "EXECUTE q(1)")
	mustQuery(t, b, "SELECT v FROM t")
	mustQuery(t, b, "BEGIN ISOLATION LEVEL SERIALIZABLE; INSERT INTO t VALUES (1, 1)")
	for i := range 3 {
		mustQuery(t, a, "CREATE TEMP TABLE t (id serial PRIMARY KEY, x int)")
		mustQuery(t, a, "INSERT INTO t (x) SELECT generate_series(1, 1000); ANALYZE t")
		mustQuery(t, a, "ALTER TABLE t ADD COLUMN y int")
		mustQuery(t, a, "BEGIN; CREATE TEMP TABLE d (i int) ON COMMIT DROP; COMMIT")
		before := e.Planned()
		mustQuery(t, b, "EXECUTE q(1)")
		mustQuery(t, b, "SELECT v FROM t")
		require.Equal(t, before, e.Planned(), "round %d", i)
		mustQuery(t, a, "SELECT x FROM t WHERE id = 1; DROP TABLE t")
	}
	mustQuery(t, b, "COMMIT")
}

// A statement on a temporary table of the transaction itself is planned once.
func TestPlansOnTemporaryTablesAreKept(t *testing.T) {
	e := newEngine(t)
	s := newSession(t, e)
	mustQuery(t, s, "BEGIN; CREATE TEMP TABLE t (id int PRIMARY KEY, v int) ON COMMIT DROP")
	mustQuery(t, s, "PREPARE ins AS INSERT INTO t VALUES ($1, 1)")
	mustQuery(t, s, "EXECUTE ins(0)")
	mustQuery(t, s, "SELECT count(*) FROM t")
	before := e.Planned()
	for i := range 50 {
		mustQuery(t, s, fmt.Sprintf("EXECUTE ins(%d)", i+1))
	}
	require.Contains(t, mustQuery(t, s, "SELECT count(*) FROM t"), "51\n")
	require.Equal(t, before, e.Planned())
	mustQuery(t, s, "COMMIT")
	// Without temporary objects the plans of all sessions serve again.
	mustQuery(t, newSession(t, e), "SELECT relname FROM pg_class WHERE oid = 1")
	before = e.Planned()
	mustQuery(t, s, "SELECT relname FROM pg_class WHERE oid = 1")
	require.Equal(t, before, e.Planned())
}

// A plan bound to one session's temporary table serves no other session, nor does a plan bound to
// the table that it hides serve that session.
func TestPlansDoNotPassBetweenTemporaryAndPermanentTables(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	const q = "SELECT v FROM t WHERE id = 1"
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'all')")
	require.Contains(t, mustQuery(t, a, q), "all\n")
	mustQuery(t, a, "CREATE TEMP TABLE t (id int PRIMARY KEY, v text)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 'a')")
	require.Contains(t, mustQuery(t, a, q), "a\n")
	require.Contains(t, mustQuery(t, b, q), "all\n")
	mustQuery(t, b, "CREATE TEMP TABLE t (id int PRIMARY KEY, v text)")
	require.NotContains(t, mustQuery(t, b, q), "a")
	mustQuery(t, a, "BEGIN; DROP TABLE t")
	require.Contains(t, mustQuery(t, a, q), "all\n")
	mustQuery(t, a, "ROLLBACK")
	require.Contains(t, mustQuery(t, a, q), "a\n")
	mustQuery(t, a, "DISCARD TEMP")
	require.Contains(t, mustQuery(t, a, q), "all\n")
}

// A prepared statement reads the temporary table that hides the one it was planned for.
func TestPreparedStatementsFollowTemporaryTables(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, "CREATE TABLE t (v text); INSERT INTO t VALUES ('all')")
	mustQuery(t, s, "CREATE TEMP TABLE other (i int)")
	mustQuery(t, s, "PREPARE q AS SELECT v FROM t")
	require.Contains(t, mustQuery(t, s, "EXECUTE q"), "all\n")
	mustQuery(t, s, "CREATE TEMP TABLE t (v text); INSERT INTO t VALUES ('temporary')")
	require.Contains(t, mustQuery(t, s, "EXECUTE q"), "temporary\n")
	mustQuery(t, s, "DROP TABLE t")
	require.Contains(t, mustQuery(t, s, "EXECUTE q"), "all\n")
}

// A transaction over both kinds of tables that has a conflict leaves nothing in either.
func TestATransactionOverBothKindsIsAllOrNone(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE p (id int PRIMARY KEY, v int); INSERT INTO p VALUES (1, 0)")
	mustQuery(t, a, "CREATE TEMP TABLE t (id int PRIMARY KEY)")
	mustQuery(t, a, "BEGIN ISOLATION LEVEL SERIALIZABLE; INSERT INTO t VALUES (1)")
	mustQuery(t, a, "SELECT sum(v) FROM p; INSERT INTO p VALUES (2, 0)")
	mustQuery(t, b, "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT sum(v) FROM p")
	mustQuery(t, b, "INSERT INTO p VALUES (3, 0); COMMIT")
	fails(t, a, "COMMIT", sqlerr.SerializationFailure)
	require.Contains(t, mustQuery(t, a, "SELECT count(*) FROM t"), "0\n")
	require.Contains(t, mustQuery(t, a, "SELECT count(*) FROM p"), "2\n")
	mustQuery(t, a, "BEGIN; INSERT INTO t VALUES (1); INSERT INTO p VALUES (4, 0); COMMIT")
	require.Contains(t, mustQuery(t, a, "SELECT count(*) FROM t"), "1\n")
}

// A session without temporary objects has nothing for them, and neither has one whose objects are
// discarded; what was theirs is gone.
func TestTemporaryObjectsEndWithTheirSession(t *testing.T) {
	ctx := context.Background()
	opened := 0
	besideKV := memkv.New(memkv.Options{})
	beside, err := txn.Open(ctx, besideKV, txn.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, beside.Close()) })
	e := newEngineOn(t, memkv.New(memkv.Options{}), txn.Options{
		Companion: func() (*txn.Store, error) { opened++; return beside, nil }})
	s := newSession(t, e)
	mustQuery(t, s, "CREATE TABLE p (i int); INSERT INTO p VALUES (1); SELECT * FROM p")
	require.False(t, s.HasTemporary())
	require.Zero(t, opened)

	mustQuery(t, s, "CREATE TEMP TABLE t (i serial PRIMARY KEY, v text)")
	mustQuery(t, s, "INSERT INTO t (v) SELECT 'x' FROM generate_series(1, 100)")
	mustQuery(t, s, "BEGIN; CREATE TEMP TABLE u AS SELECT * FROM t")
	s.Close(ctx)
	require.False(t, s.HasTemporary())
	for range 2 { // an entry of the list of dropped spans goes with the second pass
		_, err = beside.CollectGarbage(ctx)
		require.NoError(t, err)
	}
	tx, err := beside.Begin(ctx, txn.BeginOptions{})
	require.NoError(t, err)
	it, err := tx.Scan(ctx, kv.Span{}, txn.ScanOptions{KeysOnly: true})
	require.NoError(t, err)
	for it.Next() {
		t.Errorf("%q is left", it.Key())
	}
	require.NoError(t, errors.Join(it.Err(), it.Close(), tx.Rollback(ctx)))
}

// Nothing that concerns temporary objects alone is written to the store that all sessions share.
func TestTemporaryObjectsWriteNothingToTheSharedStore(t *testing.T) {
	rec := record.New(memkv.New(memkv.Options{}))
	// On a clock that does not move the oracle extends its range in no update.
	e := newEngineOn(t, rec, txn.Options{Clock: func() int64 { return 1000 }})
	s := newSession(t, e)
	mustQuery(t, s, "CREATE TABLE p (i int); INSERT INTO p VALUES (1); SELECT * FROM p")
	before := rec.Counts()
	mustQuery(t, s, "CREATE TEMP TABLE t (i serial PRIMARY KEY, v text UNIQUE)"+
		" ON COMMIT DELETE ROWS")
	mustQuery(t, s, "CREATE TEMP TABLE c AS SELECT generate_series(1, 1000) AS i")
	mustQuery(t, s, "INSERT INTO t (v) VALUES ('a'); UPDATE c SET i = i + 1; ANALYZE c")
	mustQuery(t, s, "CREATE INDEX ON c (i); CREATE TEMP VIEW w AS SELECT c.i FROM c, p")
	mustQuery(t, s, "BEGIN; SAVEPOINT a; DELETE FROM c; ROLLBACK TO a; TRUNCATE c; COMMIT")
	mustQuery(t, s, "DISCARD TEMP")
	require.Zero(t, rec.Since(before).Updates)
}
