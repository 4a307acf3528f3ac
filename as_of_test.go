package minidb_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/minidb/minidb"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/stretchr/testify/require"
)

// TestReadsOfThePast: a transaction AS OF SYSTEM TIME sees rows and schema as they were, writes
// nothing, and is refused outside the window.
func TestReadsOfThePast(t *testing.T) {
	ctx := context.Background()
	db, err := minidb.Open("", minidb.InMemory(), minidb.GCInterval(-1), minidb.Retention(time.Nanosecond))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	c, err := db.Conn(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	run := func(text string) {
		_, err := c.Exec(ctx, text)
		require.NoError(t, err, text)
	}
	value := func(text string) (v string) {
		require.NoError(t, c.QueryRow(ctx, text).Scan(&v), text)
		return v
	}
	clock := func() string { return value("SELECT clock_timestamp()::text") }
	run("CREATE TABLE t (id int PRIMARY KEY, v text)")
	run("INSERT INTO t VALUES (1, 'old')")
	pass := func(since string) {
		for value("SELECT (clock_timestamp() > '"+since+"'::timestamptz + interval '2 ms')::text") != "true" {
		}
	}
	then := clock()
	pass(then)
	run("UPDATE t SET v = 'new'")
	run("ALTER TABLE t ADD COLUMN w int")
	pass(clock())

	for _, begin := range []string{
		"BEGIN AS OF SYSTEM TIME '" + then + "'",
		"BEGIN READ ONLY AS OF TIMESTAMP '" + then + "'",
		"BEGIN ISOLATION LEVEL READ COMMITTED; SET TRANSACTION AS OF SYSTEM TIME '" + then + "'",
	} {
		run(begin)
		require.Equal(t, "old", value("SELECT v FROM t"), begin)
		require.Equal(t, "old", value("SELECT v FROM t"), begin)
		_, err = c.Exec(ctx, "SELECT w FROM t")
		require.Equal(t, "42703", state(err), "the column was not there")
		var se *sqlerr.Error
		require.ErrorAs(t, err, &se)
		require.Contains(t, se.Detail, "The query reads the database as it was at "+then[:4])
		run("ROLLBACK")
	}
	run("BEGIN AS OF SYSTEM TIME '-0.000001s'")
	require.Equal(t, "new", value("SELECT v FROM t"))
	_, err = c.Exec(ctx, "DELETE FROM t")
	require.Equal(t, "25006", state(err))
	run("ROLLBACK")

	_, err = c.Exec(ctx, "BEGIN AS OF SYSTEM TIME '2999-01-01'")
	require.Equal(t, "22023", state(err))
	run("ROLLBACK")
	_, err = c.Exec(ctx, "BEGIN READ WRITE AS OF SYSTEM TIME '-1s'")
	require.Equal(t, "22023", state(err))
	run("ROLLBACK")
	run("BEGIN")
	value("SELECT v FROM t")
	_, err = c.Exec(ctx, "SET TRANSACTION AS OF SYSTEM TIME '-1s'")
	require.Equal(t, "25001", state(err))
	run("ROLLBACK")

	_, err = db.Store().CollectGarbage(ctx)
	require.NoError(t, err)
	_, err = c.Exec(ctx, "BEGIN AS OF SYSTEM TIME '"+then+"'")
	require.Equal(t, "22023", state(err), "outside the window")
	require.ErrorContains(t, err, "before the oldest time that is kept")
	run("ROLLBACK")
}

// TestStatementsOfThePast: AS OF behind a FROM entry makes the statement, or the transaction that it
// begins, read there, by every protocol.
func TestStatementsOfThePast(t *testing.T) {
	ctx := context.Background()
	db, err := minidb.Open("", minidb.InMemory(), minidb.GCInterval(-1), minidb.Retention(time.Nanosecond))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- db.Serve(l) }()
	wire, err := pgx.Connect(ctx, "postgres://postgres@"+l.Addr().String()+"/postgres")
	require.NoError(t, err)
	defer func() { require.NoError(t, wire.Close(ctx)) }()
	c, err := db.Conn(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	run := func(text string) {
		_, err := c.Exec(ctx, text)
		require.NoError(t, err, text)
	}
	value := func(text string) (v string) {
		require.NoError(t, c.QueryRow(ctx, text).Scan(&v), text)
		return v
	}
	pass := func(since string) {
		for value("SELECT (clock_timestamp() > '"+since+"'::timestamptz + interval '2 ms')::text") != "true" {
		}
	}
	run("CREATE TABLE t (id int PRIMARY KEY, v text)")
	run("CREATE TABLE gone (id int PRIMARY KEY)")
	run("INSERT INTO t VALUES (1, 'old')")
	run("INSERT INTO gone VALUES (1)")
	then := value("SELECT clock_timestamp()::text")
	pass(then)
	run("UPDATE t SET v = 'new'")
	run("ALTER TABLE t ADD COLUMN w int")
	run("DROP TABLE gone")
	pass(value("SELECT clock_timestamp()::text"))

	for _, query := range []string{
		"SELECT v FROM t AS OF SYSTEM TIME '%s'",
		"SELECT v FROM t AS OF TIMESTAMP '%s' WHERE id = 1",
		"SELECT x.v FROM t AS x AS OF SYSTEM TIME timestamptz '%s' ORDER BY id LIMIT 1",
		"SELECT v FROM t AS OF SYSTEM TIME '%s'::timestamptz + interval '1 ms' - interval '1 ms'",
		"SELECT v FROM t JOIN gone USING (id) AS OF SYSTEM TIME '%s'",
		"SELECT v FROM gone g AS OF TIMESTAMP '%[1]s' JOIN t AS OF TIMESTAMP '%[1]s' ON t.id = g.id",
		"SELECT (SELECT v FROM t WHERE t.id = gone.id) FROM gone AS OF SYSTEM TIME '%s'",
		"SELECT * FROM (SELECT v FROM t AS OF SYSTEM TIME '%s') AS s",
		"WITH s AS (SELECT v FROM t) SELECT v FROM s AS OF SYSTEM TIME '%s'",
		"SELECT v FROM t, generate_series(1, 1) AS OF SYSTEM TIME '%s'",
		// Of all tables, wherever they stand.
		"WITH s AS (SELECT v FROM t AS OF SYSTEM TIME '%s'), r AS (SELECT v FROM s) SELECT r.v FROM r, s",
		"SELECT v FROM t AS OF SYSTEM TIME '%[1]s' WHERE 1 IN (SELECT id FROM gone AS OF SYSTEM TIME '%[1]s')",
		"SELECT v FROM t AS OF SYSTEM TIME '%[1]s' INTERSECT (SELECT v FROM t x, gone AS OF SYSTEM TIME '%[1]s')",
		"SELECT (SELECT v FROM (t JOIN gone USING (id)) AS OF SYSTEM TIME '%s')",
		"(WITH t AS (SELECT v FROM t AS OF SYSTEM TIME '%s') TABLE t)",
	} {
		query = fmt.Sprintf(query, then)
		require.Equal(t, "old", value(query), query)
		var v string
		require.NoError(t, wire.QueryRow(ctx, query).Scan(&v), query)
		require.Equal(t, "old", v, query)
		require.NoError(t, wire.QueryRow(ctx, query, pgx.QueryExecModeSimpleProtocol).Scan(&v), query)
		require.Equal(t, "old", v, query)
	}
	require.Equal(t, "new", value("SELECT v FROM t AS OF SYSTEM TIME '-0.000001s'"))
	require.Equal(t, "new", value("SELECT v FROM t AS OF SYSTEM TIME interval '-1 microsecond'"))
	require.Equal(t, "new", value("SELECT of.v FROM t AS of"), "OF is a name where no time follows")
	var v string
	require.NoError(t, wire.QueryRow(ctx, "SELECT v FROM t AS OF SYSTEM TIME '"+then+"' WHERE id = $1", 1).Scan(&v))
	require.Equal(t, "old", v)

	// The first statement of a block says where the whole block reads.
	for _, begin := range []string{"BEGIN", "BEGIN ISOLATION LEVEL READ COMMITTED", "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"} {
		run(begin)
		require.Equal(t, "old", value("SELECT v FROM t AS OF SYSTEM TIME '"+then+"'"), begin)
		require.Equal(t, "old", value("SELECT v FROM t"), begin)
		_, err = c.Exec(ctx, "UPDATE t SET v = 'never'")
		require.Equal(t, "25006", state(err))
		run("ROLLBACK")
	}
	run("BEGIN")
	run("DECLARE k CURSOR FOR SELECT v FROM t AS OF SYSTEM TIME '" + then + "'")
	require.Equal(t, "old", value("FETCH k"))
	run("COMMIT")
	run("PREPARE p AS SELECT v FROM t AS OF SYSTEM TIME '" + then + "'")
	require.Equal(t, "old", value("EXECUTE p"))
	require.Contains(t, value("EXPLAIN SELECT 1 FROM gone AS OF SYSTEM TIME '"+then+"'"), "Scan")
	require.Equal(t, "new", value("SELECT v FROM t"))

	for _, refused := range []struct{ before, text, code, message string }{
		{"BEGIN; SELECT 1 FROM t", "SELECT v FROM t AS OF SYSTEM TIME '-1s'", "25001", "must be set before any query"},
		{"BEGIN AS OF SYSTEM TIME '" + then + "'", "SELECT v FROM t AS OF SYSTEM TIME '-1s'", "25001", "must be set before any query"},
		{"", "INSERT INTO t SELECT 2, v FROM t AS OF SYSTEM TIME '-1s'", "0A000", "only allowed in SELECT"},
		{"", "CREATE VIEW w AS SELECT 2, v FROM t AS OF SYSTEM TIME '-1s'", "0A000", "only allowed in SELECT"},
		{"", "UPDATE t SET v = 1 FROM t x AS OF SYSTEM TIME '-1s'", "0A000", "only allowed in SELECT"},
		{"", "SELECT 1 INTO y FROM t AS OF SYSTEM TIME '-1s'", "0A000", "only allowed in SELECT"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME '-1s', t y AS OF SYSTEM TIME '-2s'", "0A000", "several times"},
		// What is asked of a part alone is not given to the whole in silence.
		{"", "SELECT (SELECT count(*) FROM t) - (SELECT count(*) FROM t AS OF SYSTEM TIME '-1s')", "0A000", "part of a statement"},
		{"", "WITH old AS (SELECT v FROM t AS OF SYSTEM TIME '-1s') SELECT * FROM t EXCEPT SELECT * FROM old", "0A000", "part of a statement"},
		{"", "WITH old AS (SELECT v FROM t AS OF SYSTEM TIME '-1s') SELECT * FROM public.old", "0A000", "part of a statement"},
		{"", "WITH a AS (WITH b AS (SELECT 1) SELECT v FROM t AS OF SYSTEM TIME '-1s') SELECT * FROM a, b", "0A000", "part of a statement"},
		{"", "SELECT v FROM t EXCEPT SELECT v FROM t AS OF SYSTEM TIME '-1s'", "0A000", "part of a statement"},
		{"", "(SELECT v FROM t AS OF SYSTEM TIME '-1s') UNION TABLE t", "0A000", "part of a statement"},
		{"", "SELECT 1 FROM t, (SELECT v FROM t AS OF SYSTEM TIME '-1s') s", "0A000", "part of a statement"},
		{"", "SELECT 1 FROM t JOIN t y AS OF SYSTEM TIME '-1s' ON t.id = y.id", "0A000", "part of a statement"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME '-1s', t y", "0A000", "part of a statement"},
		{"", "SELECT 1 FROM t WHERE EXISTS (SELECT FROM t AS OF SYSTEM TIME '-1s')", "0A000", "part of a statement"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME (SELECT now())", "0A000", "cannot use subquery in AS OF SYSTEM TIME"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME clock_timestamp()", "0A000", "constant"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME 5", "42804", "integer"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME NULL::timestamptz", "22023", "null"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME '1s'::interval", "22023", "future"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME 'soon'", "22007", "soon"},
		{"", "SELECT v FROM t AS OF SYSTEM TIME '" + then + "' FOR UPDATE", "25006", "FOR UPDATE"},
		{"", "BEGIN AS OF SYSTEM TIME $1", "0A000", "parameter"},
	} {
		if refused.before != "" {
			run(refused.before)
		}
		_, err = c.Exec(ctx, refused.text)
		require.Equal(t, refused.code, state(err), "%s: %v", refused.text, err)
		require.ErrorContains(t, err, refused.message)
		var e *sqlerr.Error
		require.ErrorAs(t, err, &e)
		if refused.code != "25006" {
			require.NotZero(t, e.Position, refused.text)
		}
		run("ROLLBACK")
	}

	_, err = db.Store().CollectGarbage(ctx)
	require.NoError(t, err)
	_, err = c.Exec(ctx, "SELECT v FROM t AS OF SYSTEM TIME '"+then+"'")
	require.Equal(t, "22023", state(err), "outside the window")
	require.ErrorContains(t, err, "before the oldest time that is kept")
	require.NoError(t, db.Shutdown(ctx))
	require.NoError(t, <-served)
}
