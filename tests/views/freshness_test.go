package views

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/tests/served"
)

// client is a session, at the handle or over the wire.
type client interface {
	exec(text string) error
	number(query string) (int, error)
}

type embedded struct{ *minidb.Conn }

func (c embedded) exec(text string) error {
	_, err := c.Exec(context.Background(), text)
	return err
}

func (c embedded) number(query string) (n int, err error) {
	return n, c.QueryRow(context.Background(), query).Scan(&n)
}

type remote struct{ *pgx.Conn }

func (c remote) exec(text string) error {
	_, err := c.Exec(context.Background(), text)
	return err
}

func (c remote) number(query string) (n int, err error) {
	return n, c.QueryRow(context.Background(), query).Scan(&n)
}

// clients are one of each kind.
func clients(t *testing.T, db *minidb.DB) map[string]client {
	t.Helper()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	url, _ := served.DB(t, db)
	wire, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, wire.Close(ctx)) })
	return map[string]client{"embedded": embedded{conn}, "over the wire": remote{wire}}
}

// TestASessionReadsItsWritesThroughAView: of a view, of one over it, and together with its table.
func TestASessionReadsItsWritesThroughAView(t *testing.T) {
	db := open(t)
	for _, text := range []string{"CREATE TABLE t (id serial PRIMARY KEY, x int)",
		"CREATE MATERIALIZED VIEW sums WITH (incremental) AS SELECT count(*) AS n FROM t",
		"CREATE MATERIALIZED VIEW sums2 WITH (incremental) AS SELECT n * 2 AS n FROM sums"} {
		exec(t, db, text)
	}
	n := 0
	for name, c := range clients(t, db) {
		do := func(texts ...string) {
			t.Helper()
			for _, text := range texts {
				require.NoError(t, c.exec(text), "%s: %s", name, text)
			}
		}
		is := func(want int, query string) {
			t.Helper()
			got, err := c.number(query)
			require.NoError(t, err, "%s: %s", name, query)
			require.Equal(t, want, got, "%s: %s", name, query)
		}
		do("SET minidb.view_freshness = 'own writes'")
		for range 20 {
			do("INSERT INTO t (x) VALUES (1)")
			n++
			is(n, "SELECT n FROM sums")
			do("INSERT INTO t (x) VALUES (1)")
			n++
			is(2*n, "SELECT n FROM sums2")
			do("BEGIN", "INSERT INTO t (x) VALUES (1)", "COMMIT")
			n++
			is(0, "SELECT count(*) - (SELECT n FROM sums) FROM t")
			do("INSERT INTO t (x) VALUES (1)", "BEGIN ISOLATION LEVEL READ COMMITTED")
			n++
			is(n, "SELECT n FROM sums")
			do("COMMIT", "INSERT INTO t (x) VALUES (1)", "BEGIN ISOLATION LEVEL REPEATABLE READ")
			n++
			is(n, "SELECT count(*) FROM t")
			is(n, "SELECT n FROM sums")
			is(2*n, "SELECT n FROM sums2")
			do("COMMIT")
		}
		do("SET minidb.view_freshness = 'any'")
	}
}

// TestAWaitForAViewEnds: a table that is locked keeps its views from being advanced. What waits for
// one ends with statement_timeout, and goes on when it is free.
func TestAWaitForAViewEnds(t *testing.T) {
	db := open(t)
	for _, text := range []string{"CREATE TABLE a (id serial PRIMARY KEY)",
		"CREATE TABLE b (id int PRIMARY KEY)",
		"CREATE MATERIALIZED VIEW v WITH (incremental) AS TABLE a UNION ALL TABLE b",
	} {
		exec(t, db, text)
	}
	all := clients(t, db)
	for name, c := range all {
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		lock := embedded{conn}
		require.NoError(t, lock.exec("BEGIN"))
		require.NoError(t, lock.exec("LOCK TABLE b IN ACCESS EXCLUSIVE MODE"))
		for _, text := range []string{"SET minidb.view_freshness = 'own writes'",
			"INSERT INTO a DEFAULT VALUES", "SET statement_timeout = '30ms'"} {
			require.NoError(t, c.exec(text), "%s: %s", name, text)
		}
		_, err = c.number("SELECT count(*) FROM v")
		require.Equal(t, "57014", stateOf(err), "%s: %v", name, err)
		require.NoError(t, c.exec("BEGIN ISOLATION LEVEL REPEATABLE READ"))
		_, err = c.number("SELECT count(*) FROM v")
		require.Equal(t, "57014", stateOf(err), "%s: %v", name, err)
		require.NoError(t, c.exec("ROLLBACK"))
		require.NoError(t, c.exec("SET statement_timeout = 0"))
		require.NoError(t, lock.exec("COMMIT"))
		require.NoError(t, conn.Close())
		n, err := c.number("SELECT count(*) - (SELECT count(*) FROM a) FROM v")
		require.NoError(t, err, name)
		require.Zero(t, n, name)
	}
}
