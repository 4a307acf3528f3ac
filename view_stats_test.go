package minidb_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// TestObserversShowWhatViewsDo: minidb_observers counts the advances of a view, and shows why one
// is broken.
func TestObserversShowWhatViewsDo(t *testing.T) {
	db := open(t, minidb.InMemory())
	ctx := context.Background()
	exec(t, db, "CREATE TABLE a (id int PRIMARY KEY, x int)")
	exec(t, db, "CREATE MATERIALIZED VIEW v WITH (incremental) AS SELECT 10 / x AS y FROM a")
	exec(t, db, "CREATE MATERIALIZED VIEW w WITH (incremental) AS SELECT x FROM a")
	require.NoError(t, db.Settle(ctx, 0))
	exec(t, db, "INSERT INTO a VALUES (1, 1)")
	require.NoError(t, db.Settle(ctx, 0))
	require.EqualValues(t, 2, scalar[int64](t, db, "SELECT count(*) FROM minidb_observers WHERE "+
		"kind = 'view' AND running AND pending = 0 AND runs > 0 AND failures = 0 AND "+
		"last_error IS NULL"))
	exec(t, db, "INSERT INTO a VALUES (2, 0)")
	require.ErrorContains(t, db.Settle(ctx, 0), `materialized view "v" is broken`)
	require.Contains(t, scalar[string](t, db, "SELECT last_error FROM minidb_observers WHERE "+
		"name = 'public.v' AND running AND failures = 1 AND last_failed IS NOT NULL"),
		"division by zero")
	require.EqualValues(t, 1, scalar[int64](t, db, "SELECT count(*) FROM minidb_observers WHERE "+
		"name = 'public.w' AND pending = 0 AND last_error IS NULL"))

	var notes, problems []string
	require.NoError(t, db.CheckEach(ctx, minidb.CheckReport{
		Problem: func(line string) { problems = append(problems, line) },
		Note:    func(line string) { notes = append(notes, line) },
	}))
	require.Empty(t, problems)
	require.Equal(t, []string{"postgres.public.v is not compared with its query: it is broken: " +
		"division by zero (for (2, 0) of a)"}, notes)
}
