package views

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestViewTimestampIsThatOfTheStatement: it is of the snapshot that the statement's rows are of,
// and the way to the rows of its tables at that time.
func TestViewTimestampIsThatOfTheStatement(t *testing.T) {
	ctx, db := context.Background(), open(t)
	for _, text := range []string{"CREATE TABLE t (id int PRIMARY KEY)", "INSERT INTO t VALUES (1)",
		"CREATE MATERIALIZED VIEW v WITH (incremental) AS SELECT count(*) AS n FROM t",
		"CREATE MATERIALIZED VIEW later WITH (incremental) AS SELECT id FROM t WITH NO DATA"} {
		exec(t, db, text) // each in a transaction: a view shows what was committed before it
	}
	old, err := db.Conn(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, old.Close()) }()
	_, err = old.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	require.NoError(t, err)
	var before, n int64
	require.NoError(t, old.QueryRow(ctx, "SELECT minidb_view_timestamp('v')").Scan(&before))
	exec(t, db, "INSERT INTO t VALUES (2)")
	require.NoError(t, db.Settle(ctx, 0))

	const both = "SELECT minidb_view_timestamp('public.v'), n FROM v"
	var at int64
	require.NoError(t, old.QueryRow(ctx, both).Scan(&at, &n))
	require.Equal(t, []int64{before, 1}, []int64{at, n}, "the snapshot is the old one")
	_, err = old.Exec(ctx, "COMMIT")
	require.NoError(t, err)
	require.NoError(t, db.QueryRow(ctx, both).Scan(&at, &n))
	require.Greater(t, at, before)
	require.EqualValues(t, 2, n)
	for ts, want := range map[int64]int{before: 1, at: 2} {
		require.Equal(t, want, number(t, db,
			fmt.Sprintf("SELECT count(*) FROM t AS OF SYSTEM TIME %d", ts)))
	}

	var none *int64
	require.NoError(t, db.QueryRow(ctx, "SELECT minidb_view_timestamp('later')").Scan(&none))
	require.Nil(t, none)
	exec(t, db, "CREATE MATERIALIZED VIEW plain AS SELECT id FROM t")
	for name, code := range map[string]string{"t": "42809", "plain": "42809", "nothing": "42P01",
		"12345678": "42P01"} {
		_, err = db.Exec(ctx, fmt.Sprintf("SELECT minidb_view_timestamp('%s')", name))
		require.Equal(t, code, stateOf(err), "%s: %v", name, err)
	}
}

// TestAViewIsServedAsSoonAsItIsThere: between its CREATE and the next statement nothing has to
// become ready.
func TestAViewIsServedAsSoonAsItIsThere(t *testing.T) {
	ctx, db := context.Background(), open(t)
	exec(t, db, "CREATE TABLE t (id int PRIMARY KEY)")
	for i := range 50 {
		exec(t, db, "CREATE MATERIALIZED VIEW v WITH (incremental) AS SELECT count(*) AS n FROM t")
		exec(t, db, fmt.Sprintf("INSERT INTO t VALUES (%d)", i))
		require.NoError(t, db.Settle(ctx, 0), i)
		require.Equal(t, i+1, number(t, db, "SELECT n FROM v"))
		exec(t, db, "DROP MATERIALIZED VIEW v")
	}
}
