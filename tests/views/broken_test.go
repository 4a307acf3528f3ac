package views

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

func open(t *testing.T) *minidb.DB {
	t.Helper()
	db, err := minidb.Open("", minidb.InMemory())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func exec(t *testing.T, db *minidb.DB, text string) {
	t.Helper()
	_, err := db.Exec(context.Background(), text)
	require.NoError(t, err, text)
}

func number(t *testing.T, db *minidb.DB, query string) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRow(context.Background(), query).Scan(&n), query)
	return n
}

// TestAFailingQueryBreaksItsViewAlone: the writer succeeds, views beside it and their readers go
// on, and those over it cannot be read either. It stays broken over a restart, whatever is changed,
// and until REFRESH.
func TestAFailingQueryBreaksItsViewAlone(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db, err := minidb.Open(dir, minidb.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	exec(t, db, `CREATE TABLE t (id int PRIMARY KEY, x int);
		INSERT INTO t VALUES (1, 1), (2, 2);
		CREATE MATERIALIZED VIEW shares WITH (incremental) AS SELECT id, 10 / x AS share FROM t;
		CREATE MATERIALIZED VIEW most WITH (incremental) AS SELECT max(share) AS most FROM shares;
		CREATE MATERIALIZED VIEW sums WITH (incremental) AS
			SELECT count(*) AS n, sum(x) AS x FROM t`)
	require.NoError(t, db.Settle(ctx, 0))
	require.Equal(t, 10, number(t, db, "SELECT most FROM most"))

	exec(t, db, "INSERT INTO t VALUES (3, 0)")
	err = db.Settle(ctx, 0)
	require.Equal(t, "55000", stateOf(err), "%v", err)
	require.ErrorContains(t, err, "shares")
	broken := func() {
		t.Helper()
		for query, reason := range map[string]string{
			"SELECT * FROM shares":                          "division by zero (for (3, 0) of t)",
			"SELECT count(*) FROM t JOIN shares USING (id)": "division by zero",
			"SELECT most FROM most":                         `"shares"`,
		} {
			_, err := db.Exec(ctx, query)
			require.Equal(t, "55000", stateOf(err), "%s: %v", query, err)
			require.ErrorContains(t, err, reason)
			var e *minidb.Error
			require.ErrorAs(t, err, &e)
			require.Contains(t, e.Hint, "REFRESH MATERIALIZED VIEW")
		}
	}
	broken()
	follows := func(n int) {
		t.Helper()
		_ = db.Settle(ctx, 0)
		require.Equal(t, n, number(t, db, "SELECT x FROM sums"))
	}
	follows(3)
	exec(t, db, "INSERT INTO t VALUES (4, 4)")
	follows(7)
	_, err = db.Exec(ctx, "REFRESH MATERIALIZED VIEW shares")
	require.Equal(t, "22012", stateOf(err), "the query still fails: %v", err)
	broken()

	require.NoError(t, db.Close())
	db, err = minidb.Open(dir, minidb.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	broken()
	exec(t, db, "UPDATE t SET x = 5 WHERE id = 3")
	follows(12)
	broken()
	exec(t, db, "REFRESH MATERIALIZED VIEW shares")
	require.NoError(t, db.Settle(ctx, 0))
	require.Equal(t, 4, number(t, db, "SELECT count(*) FROM shares"))
	exec(t, db, "DELETE FROM t WHERE id = 1")
	require.NoError(t, db.Settle(ctx, 0))
	require.Equal(t, 5, number(t, db, "SELECT most FROM most"))
	require.Equal(t, 3, number(t, db, "SELECT count(*) FROM shares"))
	require.NoError(t, checkAll(ctx, db))
}
