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
	"github.com/minidb/minidb/sql/copyfmt"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// meddler is a result writer that does something when the first rows come.
type meddler struct {
	transcript
	do func()
}

func (m *meddler) Rows(b *types.Batch, from, to int) error {
	if m.do != nil {
		m.do()
		m.do = nil
	}
	return m.transcript.Rows(b, from, to)
}

func TestAnImplicitTransactionIsRepeatedAfterAConflict(t *testing.T) {
	e := newEngine(t)
	a, b := newSnapshotSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 0)")
	m := &meddler{do: func() { mustQuery(t, b, "UPDATE t SET n = 10") }}
	m.s = a
	require.NoError(t, a.Query(context.Background(), "UPDATE t SET n = n + 1 RETURNING n", m))
	require.Equal(t, "[n]\n11\nUPDATE 1\n", m.b.String(), "the second attempt alone is seen")
}

func TestATransactionIsNotRepeatedOnceTheClientHasSeenRows(t *testing.T) {
	e := newEngine(t)
	a, b := newSnapshotSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 0)")
	m := &meddler{do: func() { mustQuery(t, b, "UPDATE t SET n = 10") }}
	m.s, m.sent = a, true
	err := a.Query(context.Background(), "UPDATE t SET n = n + 1 RETURNING n", m)
	require.Equal(t, sqlerr.SerializationFailure, codeOf(err))
	require.Equal(t, "[n]\n10\nSELECT 1\n", mustQuery(t, a, "SELECT n FROM t"))
}

// TestReadCommittedRowsThatAreOutStay: a statement that gives its rows away before its commit has
// locked what it wrote, so that no conflict can take them back.
func TestReadCommittedRowsThatAreOutStay(t *testing.T) {
	for _, text := range []string{
		"UPDATE t SET n = n + 1 RETURNING n", "WITH w AS (UPDATE t SET n = n + 1 RETURNING n) " +
			"SELECT * FROM w",
		"UPDATE t SET n = n + 1; SELECT n FROM t",
	} {
		a, b, watcher := lockFixture(t)
		var other <-chan error
		m := &meddler{do: func() { other = blocked(t, b, watcher, "UPDATE t SET n = n + 100") }}
		m.s, m.sent = a, true
		require.NoError(t, a.Query(context.Background(), text, m))
		require.NoError(t, <-other)
		require.Contains(t, mustQuery(t, a, "SELECT n FROM t WHERE id = 1"), "\n111\n")
	}
}

// TestAStatementIsCancelledWhileItIsParsed: the context of a statement is there before its tree is.
func TestAStatementIsCancelledWhileItIsParsed(t *testing.T) {
	s := newSession(t, newEngine(t))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	text := strings.Repeat("BEGIN; ", 10_000) + "no statement"
	err := s.Query(ctx, text, &transcript{s: s})
	require.Equal(t, sqlerr.QueryCanceled, codeOf(err))
	_, err = s.Prepare(ctx, "p", text, nil, nil)
	require.Equal(t, sqlerr.QueryCanceled, codeOf(err))
	require.Equal(t, sqlerr.SyntaxError,
		codeOf(s.Query(context.Background(), text, &transcript{s: s})))
}

func TestABlockIsNeverRepeated(t *testing.T) {
	e := newEngine(t)
	a, b := newSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, n int)")
	mustQuery(t, a, "INSERT INTO t VALUES (1, 0)")
	m := &meddler{do: func() { mustQuery(t, b, "UPDATE t SET n = 10") }}
	m.s = a
	err := a.Query(context.Background(), "SET minidb.write_locks = off; BEGIN ISOLATION LEVEL "+
		"REPEATABLE READ; UPDATE t SET n = n + 1 RETURNING n; COMMIT", m)
	require.Equal(t, sqlerr.SerializationFailure, codeOf(err))
	require.EqualValues(t, 'I', a.Status())
}

func TestARaceForAUniqueKeyEndsAsAViolation(t *testing.T) {
	e := newEngine(t)
	a, b := newSnapshotSession(t, e), newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY)")
	m := &meddler{do: func() { mustQuery(t, b, "INSERT INTO t VALUES (1)") }}
	m.s = a
	err := a.Query(context.Background(), "INSERT INTO t VALUES (1) RETURNING id", m)
	require.Equal(t, sqlerr.UniqueViolation, codeOf(err))
}

func TestCancelEndsTheRunningStatement(t *testing.T) {
	e := newEngine(t)
	a := newSession(t, e)
	m := &meddler{do: func() {
		e.Cancel(a.PID(), a.Secret()+1)
		e.Cancel(a.PID(), a.Secret())
	}}
	m.s = a
	err := a.Query(context.Background(), "SELECT * FROM generate_series(1, 100000000)", m)
	require.Equal(t, sqlerr.QueryCanceled, codeOf(err))
	require.ErrorContains(t, err, "due to user request")
	e.Cancel(a.PID(), a.Secret()) // nothing runs: nothing happens
	require.Equal(t, "[?column?]\n1\nSELECT 1\n", mustQuery(t, a, "SELECT 1"))
}

func TestStatementTimeout(t *testing.T) {
	a := newSession(t, newEngine(t))
	err := fails(t, a, "SET statement_timeout = 1; SELECT count(*) FROM generate_series(1, "+
		"1000000000)", sqlerr.QueryCanceled)
	require.ErrorContains(t, err, "due to statement timeout")
	require.Equal(t, "[statement_timeout]\n0\nSHOW\n", mustQuery(t, a, "SHOW statement_timeout"),
		"the setting went with its transaction")
	require.Equal(t, "[?column?]\n1\nSELECT 1\n", mustQuery(t, a, "SELECT 1"))
}

func TestTheCallersContextEndsAStatement(t *testing.T) {
	a := newSession(t, newEngine(t))
	ctx, cancel := context.WithCancel(context.Background())
	m := &meddler{do: cancel}
	m.s = a
	err := a.Query(ctx, "SELECT * FROM generate_series(1, 100000000)", m)
	require.Equal(t, sqlerr.QueryCanceled, codeOf(err))
	require.ErrorIs(t, err, context.Canceled)
}

func TestAClosedEngineTakesNoSessions(t *testing.T) {
	e := newEngine(t)
	e.Close()
	_, err := e.NewSession(context.Background(), sql.SessionOptions{})
	require.Equal(t, sqlerr.AdminShutdown, codeOf(err))
}

func TestAnUnknownDatabase(t *testing.T) {
	_, err := newEngine(t).NewSession(context.Background(),
		sql.SessionOptions{User: "u", Database: "nope"})
	require.Equal(t, sqlerr.InvalidCatalogName, codeOf(err))
}

// Every virtual table can be read whole, so that no row has a wrong shape.
func TestEveryVirtualTableCanBeRead(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	a := newSession(t, newEngine(t))
	mustQuery(t, a, `CREATE TABLE t (id serial PRIMARY KEY, v varchar(10) UNIQUE DEFAULT 'x',
		n numeric(10,2) CHECK (n > 0),
		g int GENERATED ALWAYS AS IDENTITY, a int[])`)
	mustQuery(t, a, "CREATE INDEX ON t (n DESC, v); CREATE VIEW w AS SELECT id FROM t; COMMENT "+
		"ON TABLE t IS 'c'")
	names := strings.Split(strings.TrimSpace(mustQuery(t, a, `
		SELECT quote_ident(table_schema) || '.' || quote_ident(table_name)
		FROM information_schema.tables WHERE table_schema IN ('pg_catalog', 'information_schema')
		ORDER BY 1`)), "\n")
	require.Greater(t, len(names), 70)
	for _, name := range names[1 : len(names)-1] {
		mustQuery(t, a, "SELECT * FROM "+name)
	}
}

func TestADatabaseInUseIsNotDropped(t *testing.T) {
	ctx := context.Background()
	e, _ := openEngine(t, memkv.New(memkv.Options{}), txn.Options{}, sql.Options{DatabaseWait: 1})
	a := newSession(t, e)
	mustQuery(t, a, "CREATE DATABASE d")
	b, err := e.NewSession(ctx, sql.SessionOptions{User: "u", Database: "d"})
	require.NoError(t, err)
	mustQuery(t, b, "CREATE TABLE t (a int)")
	fails(t, a, "DROP DATABASE d", sqlerr.ObjectInUse)
	require.ErrorContains(t, query(b, "DROP DATABASE d"), "cannot drop the currently open database")
	b.Close(ctx)
	mustQuery(t, a, "DROP DATABASE d")
}

// DROP DATABASE and RENAME wait for sessions that are just ending, as in PostgreSQL.
func TestADatabaseIsDroppedWhenItsSessionsHaveEnded(t *testing.T) {
	ctx := context.Background()
	e, _ := openEngine(t, memkv.New(memkv.Options{}), txn.Options{},
		sql.Options{DatabaseWait: time.Hour})
	a := newSession(t, e)
	mustQuery(t, a, "CREATE DATABASE d")
	for _, text := range []string{"ALTER DATABASE d RENAME TO f", "DROP DATABASE f"} {
		name := strings.Fields(text)[2]
		b, err := e.NewSession(ctx, sql.SessionOptions{User: "u", Database: name})
		require.NoError(t, err)
		done := start(a, text)
		b.Close(ctx)
		require.NoError(t, <-done)
	}
}

// TestACopyThatLosesAKeyHasADuplicate: it takes no row locks at the default level, and finds at its
// commit that another transaction was first.
func TestACopyThatLosesAKeyHasADuplicate(t *testing.T) {
	for _, taken := range []struct{ row, constraint, detail string }{
		{"(3, 0, 9)", "t_pkey", "Key (id)=(3) already exists."}, {"(9, 0, 3)", "t_u_key",
			"Key (u)=(3) already exists."},
	} {
		a, b, _ := lockFixture(t)
		w := &transcript{s: a}
		first := &firstRead{transcript: w,
			do: func() { mustQuery(t, b, "INSERT INTO t VALUES "+taken.row) }}
		w.input = []string{"3\t30\t3\n"}
		err := a.Query(context.Background(), "COPY t FROM STDIN", first)
		var e *sqlerr.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, sqlerr.UniqueViolation, e.Code)
		require.Equal(t, taken.constraint, e.Constraint)
		require.Equal(t, taken.detail, e.Detail)
		require.Equal(t, "[n]\n0\nSELECT 1\n", mustQuery(t, b, "SELECT n FROM t WHERE n = 0"))
	}
}

// firstRead is a result writer of a COPY that does something once the statement has its snapshot,
// at the end of the data.
type firstRead struct {
	*transcript
	do func()
}

func (f *firstRead) CopyIn(columns int, binary bool) (copyfmt.Source, error) {
	if _, err := f.transcript.CopyIn(columns, binary); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *firstRead) Next() ([]byte, error) {
	piece, err := f.transcript.Next()
	if err != nil {
		f.do()
	}
	return piece, err
}

// TestACancelIsForAllThatItsClientWaitsFor: one that comes when a text has been parsed and does not
// run yet ends what runs next; one that comes when the client has its answer ends nothing.
func TestACancelIsForAllThatItsClientWaitsFor(t *testing.T) {
	e := newEngine(t)
	a := newSession(t, e)
	a.Idle()
	require.False(t, e.Cancel(a.PID(), a.Secret()), "it runs nothing")
	_, err := a.Prepare(t.Context(), "", "SELECT 1", nil, nil)
	require.NoError(t, err)
	require.True(t, e.Cancel(a.PID(), a.Secret()))
	require.Equal(t, sqlerr.QueryCanceled, codeOf(query(a,
		"SELECT count(*) FROM generate_series(1, 1000000)")))
	a.Idle()
	require.NoError(t, query(a, "SELECT pg_sleep(0)"))
	require.True(t, e.Cancel(a.PID(), a.Secret()))
	a.Idle()
	require.NoError(t, query(a, "SELECT pg_sleep(0)"))
}
