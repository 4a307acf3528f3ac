package minidb_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/minidb/minidb"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/tests/served"
	"github.com/stretchr/testify/require"
)

// past is a connection of the handle to a database that keeps nothing past a collection of garbage.
type past struct {
	t  *testing.T
	db *minidb.DB
	*minidb.Conn
}

func openPast(t *testing.T) *past {
	t.Helper()
	db := open(t, minidb.GCInterval(-1), minidb.Retention(time.Nanosecond))
	c, err := db.Conn(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return &past{t, db, c}
}

// connect is a connection by the wire.
func (p *past) connect() *pgx.Conn {
	p.t.Helper()
	url, _ := served.DB(p.t, p.db)
	wire, err := pgx.Connect(context.Background(), url)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { require.NoError(p.t, wire.Close(context.Background())) })
	return wire
}

func (p *past) run(text string) {
	p.t.Helper()
	_, err := p.Exec(context.Background(), text)
	require.NoError(p.t, err, text)
}

func (p *past) value(text string) (v string) {
	p.t.Helper()
	require.NoError(p.t, p.QueryRow(context.Background(), text).Scan(&v), text)
	return v
}

// moment is a time at which what was done is there, and what is done next is not.
func (p *past) moment() (at time.Time) {
	ctx := context.Background()
	require.NoError(p.t, p.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&at))
	for over := false; !over; {
		require.NoError(p.t, p.QueryRow(ctx, "SELECT clock_timestamp() > $1::timestamptz + "+
			"interval '2 ms'", at).Scan(&over))
	}
	return at
}

// refused runs a statement that has an error of the given code.
func (p *past) refused(text, code string) (e *sqlerr.Error) {
	p.t.Helper()
	_, err := p.Exec(context.Background(), text)
	require.ErrorAs(p.t, err, &e, text)
	require.Equal(p.t, code, e.Code, "%s: %v", text, err)
	return e
}

// forget collects what is past, so that a statement of then is outside the window.
func (p *past) forget(text string) {
	p.t.Helper()
	_, err := p.db.Store().CollectGarbage(context.Background())
	require.NoError(p.t, err)
	require.ErrorContains(p.t, p.refused(text, "22023"), "before the oldest time that is kept")
}

// TestReadsOfThePast: a transaction AS OF SYSTEM TIME sees rows and schema as they were, writes
// nothing, and is refused outside the window.
func TestReadsOfThePast(t *testing.T) {
	p := openPast(t)
	p.run("CREATE TABLE t (id int PRIMARY KEY, v text)")
	p.run("INSERT INTO t VALUES (1, 'old')")
	then := p.moment().Format(time.RFC3339Nano)
	p.run("UPDATE t SET v = 'new'")
	p.run("ALTER TABLE t ADD COLUMN w int")
	p.moment()

	for _, begin := range []string{
		"BEGIN AS OF SYSTEM TIME '" + then + "'",
		"BEGIN READ ONLY AS OF TIMESTAMP '" + then + "'",
		"BEGIN ISOLATION LEVEL READ COMMITTED; SET TRANSACTION AS OF SYSTEM TIME '" + then + "'",
	} {
		p.run(begin)
		require.Equal(t, "old", p.value("SELECT v FROM t"), begin)
		require.Equal(t, "old", p.value("SELECT v FROM t"), begin)
		e := p.refused("SELECT w FROM t", "42703") // the column was not there
		require.Contains(t, e.Detail, "The query reads the database as it was at "+then[:4])
		p.run("ROLLBACK")
	}
	p.run("BEGIN AS OF SYSTEM TIME '-0.000001s'")
	require.Equal(t, "new", p.value("SELECT v FROM t"))
	p.refused("DELETE FROM t", "25006")
	p.run("ROLLBACK")

	p.refused("BEGIN AS OF SYSTEM TIME '2999-01-01'", "22023")
	p.run("ROLLBACK")
	p.refused("BEGIN READ WRITE AS OF SYSTEM TIME '-1s'", "22023")
	p.run("ROLLBACK")
	p.run("BEGIN")
	p.value("SELECT v FROM t")
	p.refused("SET TRANSACTION AS OF SYSTEM TIME '-1s'", "25001")
	p.run("ROLLBACK")

	p.forget("BEGIN AS OF SYSTEM TIME '" + then + "'")
	p.run("ROLLBACK")
}

// TestStatementsOfThePast: AS OF behind a FROM entry makes the statement, or the transaction that
// it begins, read there, by every protocol.
func TestStatementsOfThePast(t *testing.T) {
	ctx, p := context.Background(), openPast(t)
	wire := p.connect()
	p.run("CREATE TABLE t (id int PRIMARY KEY, v text)")
	p.run("CREATE TABLE gone (id int PRIMARY KEY)")
	p.run("INSERT INTO t VALUES (1, 'old')")
	p.run("INSERT INTO gone VALUES (1)")
	then := p.moment().Format(time.RFC3339Nano)
	p.run("UPDATE t SET v = 'new'")
	p.run("ALTER TABLE t ADD COLUMN w int")
	p.run("DROP TABLE gone")
	p.moment()

	for _, query := range []string{
		"SELECT v FROM t AS OF SYSTEM TIME '%s'",
		"SELECT v FROM t AS OF TIMESTAMP '%s' WHERE id = 1",
		"SELECT x.v FROM t AS x AS OF SYSTEM TIME timestamptz '%s' ORDER BY id LIMIT 1",
		"SELECT v FROM t AS OF SYSTEM TIME '%s'::timestamptz + interval '1 ms' - interval '1 ms'",
		"SELECT v FROM t JOIN gone USING (id) AS OF SYSTEM TIME '%s'",
		"SELECT v FROM gone g AS OF TIMESTAMP '%[1]s' JOIN t AS OF TIMESTAMP '%[1]s' ON t.id = " +
			"g.id",
		"SELECT (SELECT v FROM t WHERE t.id = gone.id) FROM gone AS OF SYSTEM TIME '%s'",
		"SELECT * FROM (SELECT v FROM t AS OF SYSTEM TIME '%s') AS s",
		"WITH s AS (SELECT v FROM t) SELECT v FROM s AS OF SYSTEM TIME '%s'",
		"SELECT v FROM t, generate_series(1, 1) AS OF SYSTEM TIME '%s'",
		// Of all tables, wherever they stand.
		"WITH s AS (SELECT v FROM t AS OF SYSTEM TIME '%s'), r AS (SELECT v FROM s) SELECT r.v " +
			"FROM r, s",
		"SELECT v FROM t AS OF SYSTEM TIME '%[1]s' WHERE 1 IN (SELECT id FROM gone AS OF SYSTEM " +
			"TIME '%[1]s')",
		"SELECT v FROM t AS OF SYSTEM TIME '%[1]s' INTERSECT (SELECT v FROM t x, gone AS OF " +
			"SYSTEM TIME '%[1]s')",
		"SELECT (SELECT v FROM (t JOIN gone USING (id)) AS OF SYSTEM TIME '%s')",
		"(WITH t AS (SELECT v FROM t AS OF SYSTEM TIME '%s') TABLE t)",
	} {
		query = fmt.Sprintf(query, then)
		require.Equal(t, "old", p.value(query), query)
		var v string
		require.NoError(t, wire.QueryRow(ctx, query).Scan(&v), query)
		require.Equal(t, "old", v, query)
		require.NoError(t, wire.QueryRow(ctx, query, pgx.QueryExecModeSimpleProtocol).Scan(&v),
			query)
		require.Equal(t, "old", v, query)
	}
	require.Equal(t, "new", p.value("SELECT v FROM t AS OF SYSTEM TIME '-0.000001s'"))
	require.Equal(t, "new", p.value("SELECT v FROM t AS OF SYSTEM TIME interval '-1 microsecond'"))
	require.Equal(t, "new", p.value("SELECT of.v FROM t AS of"),
		"OF is a name where no time follows")
	var v string
	require.NoError(t, wire.QueryRow(ctx, "SELECT v FROM t AS OF SYSTEM TIME '"+then+
		"' WHERE id = $1", 1).Scan(&v))
	require.Equal(t, "old", v)

	// The first statement of a block says where the whole block reads.
	for _, begin := range []string{"BEGIN", "BEGIN ISOLATION LEVEL READ COMMITTED",
		"BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"} {
		p.run(begin)
		require.Equal(t, "old", p.value("SELECT v FROM t AS OF SYSTEM TIME '"+then+"'"), begin)
		require.Equal(t, "old", p.value("SELECT v FROM t"), begin)
		p.refused("UPDATE t SET v = 'never'", "25006")
		p.run("ROLLBACK")
	}
	p.run("BEGIN")
	p.run("DECLARE k CURSOR FOR SELECT v FROM t AS OF SYSTEM TIME '" + then + "'")
	require.Equal(t, "old", p.value("FETCH k"))
	p.run("COMMIT")
	p.run("PREPARE p AS SELECT v FROM t AS OF SYSTEM TIME '" + then + "'")
	require.Equal(t, "old", p.value("EXECUTE p"))
	require.Contains(t, p.value("EXPLAIN SELECT 1 FROM gone AS OF SYSTEM TIME '"+then+"'"), "Scan")
	require.Equal(t, "new", p.value("SELECT v FROM t"))

	for _, refused := range []struct{ before, text, code, message string }{
		{"BEGIN; SELECT 1 FROM t", "SELECT v FROM t AS OF SYSTEM TIME '-1s'", "25001",
			"must be set before any query"},
		{"BEGIN AS OF SYSTEM TIME '" + then + "'", "SELECT v FROM t AS OF SYSTEM TIME '-1s'",
			"25001", "must be set before any query"},
		{"", "INSERT INTO t SELECT 2, v FROM t AS OF SYSTEM TIME '-1s'", "0A000",
			"only allowed in SELECT"},
		{"", "CREATE VIEW w AS SELECT 2, v FROM t AS OF SYSTEM TIME '-1s'", "0A000",
			"only allowed in SELECT"},
		{"", "UPDATE t SET v = 1 FROM t x AS OF SYSTEM TIME '-1s'", "0A000",
			"only allowed in SELECT"},
		{"", "SELECT 1 INTO y FROM t AS OF SYSTEM TIME '-1s'", "0A000", "only allowed in SELECT"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME '-1s', t y AS OF SYSTEM TIME '-2s'", "0A000",
			"several times"},
		// What is asked of a part alone is not given to the whole in silence.
		{"", "SELECT (SELECT count(*) FROM t) - (SELECT count(*) FROM t AS OF SYSTEM TIME '-1s')",
			"0A000", "part of a statement"},
		{"", "WITH old AS (SELECT v FROM t AS OF SYSTEM TIME '-1s') SELECT * FROM t EXCEPT " +
			"SELECT * FROM old", "0A000", "part of a statement"},
		{"", "WITH old AS (SELECT v FROM t AS OF SYSTEM TIME '-1s') SELECT * FROM public.old",
			"0A000", "part of a statement"},
		{"", "WITH a AS (WITH b AS (SELECT 1) SELECT v FROM t AS OF SYSTEM TIME '-1s') SELECT * " +
			"FROM a, b", "0A000", "part of a statement"},
		{"", "SELECT v FROM t EXCEPT SELECT v FROM t AS OF SYSTEM TIME '-1s'", "0A000",
			"part of a statement"},
		{"", "(SELECT v FROM t AS OF SYSTEM TIME '-1s') UNION TABLE t", "0A000",
			"part of a statement"},
		{"", "SELECT 1 FROM t, (SELECT v FROM t AS OF SYSTEM TIME '-1s') s", "0A000",
			"part of a statement"},
		{"", "SELECT 1 FROM t JOIN t y AS OF SYSTEM TIME '-1s' ON t.id = y.id", "0A000",
			"part of a statement"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME '-1s', t y", "0A000", "part of a statement"},
		{"", "SELECT 1 FROM t WHERE EXISTS (SELECT FROM t AS OF SYSTEM TIME '-1s')", "0A000",
			"part of a statement"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME (SELECT now())", "0A000",
			"cannot use subquery in AS OF SYSTEM TIME"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME clock_timestamp()", "0A000", "constant"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME 5", "42804", "integer"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME NULL::timestamptz", "22023", "null"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME '1s'::interval", "22023", "future"},
		{"", "SELECT 1 FROM t AS OF SYSTEM TIME 'soon'", "22007", "soon"},
		{"", "SELECT v FROM t AS OF SYSTEM TIME '" + then + "' FOR UPDATE", "25006", "FOR UPDATE"},
		{"", "BEGIN AS OF SYSTEM TIME $1", "0A000", "parameter"},
	} {
		if refused.before != "" {
			p.run(refused.before)
		}
		e := p.refused(refused.text, refused.code)
		require.ErrorContains(t, e, refused.message)
		if refused.code != "25006" {
			require.NotZero(t, e.Position, refused.text)
		}
		p.run("ROLLBACK")
	}

	p.forget("SELECT v FROM t AS OF SYSTEM TIME '" + then + "'")
}
