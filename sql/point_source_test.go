package sql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/types"
)

// TestReadsByKeyOverlap: reads by key whose portals are open at the same time give their own rows,
// though the session keeps the memory of only one of them.
func TestReadsByKeyOverlap(t *testing.T) {
	ctx := context.Background()
	s := newSession(t, newEngine(t))
	mustQuery(t, s, `CREATE TABLE t (id int PRIMARY KEY, v text, n int);
		INSERT INTO t VALUES (1, 'one', 10), (2, 'two', 20), (3, NULL, 30)`)
	prepare := func(name, text string) *sql.Prepared {
		ps, err := s.Prepare(ctx, name, text, nil, nil)
		require.NoError(t, err)
		return ps
	}
	v := prepare("v", "SELECT v FROM t WHERE id = $1")
	both := prepare("both", "SELECT n, v FROM t WHERE id = $1")
	require.NoError(t, s.Sync(ctx))
	bind := func(name string, ps *sql.Prepared, id int) *sql.Portal {
		p, err := s.Bind(ctx, name, ps, []types.Datum{types.NewInt(int64(id))})
		require.NoError(t, err)
		return p
	}
	run := func(p *sql.Portal, limit int64) string {
		w := transcript{s: s}
		_, err := s.Execute(ctx, p, limit, &w)
		require.NoError(t, err)
		return strings.Join(strings.Fields(w.b.String()), " ")
	}
	for range 3 {
		a := bind("a", v, 1)
		require.Equal(t, "one", run(a, 1))
		b := bind("b", both, 2)
		require.Equal(t, "20|two", run(b, 1))
		require.Equal(t, "two SELECT 1", run(bind("c", v, 2), 0))
		require.Equal(t, "SELECT 0", run(a, 1))
		require.Equal(t, "NULL SELECT 1", run(bind("d", v, 3), 0))
		require.Equal(t, "SELECT 0", run(b, 0))
		require.Equal(t, "SELECT 0", run(bind("e", v, 4), 0))
		require.NoError(t, s.Sync(ctx))
		require.Equal(t, "one SELECT 1", run(bind("", v, 1), 0))
		require.NoError(t, s.Sync(ctx))
	}
	mustQuery(t, s, "ALTER TABLE t DROP COLUMN n; ALTER TABLE t ADD COLUMN n int DEFAULT 7")
	require.Equal(t, "7|two SELECT 1", run(bind("", both, 2), 0))
	require.NoError(t, s.Sync(ctx))
}
