package minidb_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

func TestAnIncrementalViewFollowsItsTable(t *testing.T) {
	db := open(t, minidb.InMemory())
	ctx := context.Background()
	exec := func(text string) {
		t.Helper()
		if _, err := db.Exec(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	exec("CREATE TABLE a (id int PRIMARY KEY, g int, x int)")
	exec("INSERT INTO a VALUES (1, 1, 10), (2, 1, 20)")
	exec("CREATE MATERIALIZED VIEW v WITH (incremental) AS " +
		"SELECT g, count(*) n, sum(x) s FROM a GROUP BY g")
	exec("INSERT INTO a VALUES (3, 2, 5)")
	if err := db.Settle(ctx, 0); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRow(ctx, "SELECT count(*) FROM v").Scan(&n); err != nil || n != 2 {
		t.Fatal(n, err)
	}
}

func TestCheckComparesIncrementalViews(t *testing.T) {
	db := open(t, minidb.InMemory())
	ctx := context.Background()
	for _, text := range []string{
		"CREATE TABLE a (id int PRIMARY KEY, g int, x int)",
		"CREATE MATERIALIZED VIEW v WITH (incremental) AS SELECT g, max(x) AS m FROM a GROUP BY g",
		"CREATE MATERIALIZED VIEW w WITH (incremental) AS SELECT a.id, v.m FROM a LEFT JOIN v ON " +
			"v.g = a.g",
		"INSERT INTO a SELECT i, i % 3, i FROM generate_series(1, 50) i",
		"UPDATE a SET g = g + 1 WHERE id % 2 = 0", "TRUNCATE a", "INSERT INTO a VALUES (1, 1, 1)",
	} {
		if _, err := db.Exec(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if problems, err := db.Check(ctx); err != nil || len(problems) > 0 {
			t.Fatalf("after %s: %q, %v", text, problems, err)
		}
	}
}

// TestRowsThatNeverMetDoNotBreakAView: the old row of one table and the new row of the other, for
// which the expression fails, were never there together.
func TestRowsThatNeverMetDoNotBreakAView(t *testing.T) {
	db := open(t, minidb.InMemory())
	ctx := context.Background()
	for _, text := range []string{
		"CREATE TABLE l (k int PRIMARY KEY, x int)", "CREATE TABLE r (k int PRIMARY KEY, y int)",
		"INSERT INTO l VALUES (1, 1)", "INSERT INTO r VALUES (1, 2)",
		"CREATE MATERIALIZED VIEW v WITH (incremental) AS " +
			"SELECT 10 / (l.x - r.y) AS z FROM l JOIN r ON r.k = l.k",
	} {
		if _, err := db.Exec(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	err := db.Update(ctx, func(tx *minidb.Tx) error {
		if _, err := tx.Exec(ctx, "UPDATE l SET x = 2"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE r SET y = 1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Settle(ctx, 0); err != nil {
		t.Fatal(err)
	}
	var z int
	if err := db.QueryRow(ctx, "SELECT z FROM v").Scan(&z); err != nil || z != 10 {
		t.Fatal(z, err)
	}
}

// A view that is created over a table that others use shows the same moment as they do, though
// nothing changes after it.
func TestViewsOfATableShowOneMoment(t *testing.T) {
	db := open(t, minidb.InMemory())
	ctx := context.Background()
	for _, text := range []string{"CREATE TABLE a (id int PRIMARY KEY, x int)",
		"CREATE MATERIALIZED VIEW v WITH (incremental) AS SELECT x FROM a",
		"INSERT INTO a VALUES (1, 1)",
		"CREATE MATERIALIZED VIEW w WITH (incremental) AS SELECT sum(x) FROM a"} {
		_, err := db.Exec(ctx, text)
		require.NoError(t, err, text)
	}
	require.NoError(t, db.Settle(ctx, 0))
	var one bool
	require.NoError(t, db.QueryRow(ctx,
		"SELECT minidb_view_timestamp('v') = minidb_view_timestamp('w')").Scan(&one))
	require.True(t, one)
}
