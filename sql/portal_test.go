package sql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/minidb/minidb/table/types"
	"github.com/stretchr/testify/require"
)

// TestAPortalOutlivesTheContextOfItsFirstPiece: the rows of a suspended portal are taken under contexts
// of their own, whether it reads one row by its key or, planned anew since it was prepared, a table.
func TestAPortalOutlivesTheContextOfItsFirstPiece(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t)
	s, other := newSession(t, e), newSession(t, e)
	var w transcript
	require.NoError(t, s.Query(ctx, `CREATE TABLE t (id bigint CONSTRAINT key PRIMARY KEY, x bigint, y bigint)`, &w))
	require.NoError(t, s.Query(ctx, `INSERT INTO t SELECT g, g, g FROM generate_series(1, 3000) AS s (g)`, &w))
	ps, err := s.Prepare(ctx, "p", `SELECT y FROM t WHERE id = $1`, nil, nil)
	require.NoError(t, err)
	require.NoError(t, s.Sync(ctx))
	pieces := func(id int64) []string {
		p, err := s.Bind(ctx, "", ps, []types.Datum{{I: id}})
		require.NoError(t, err)
		var out []string
		for suspended := true; suspended; {
			piece, cancel := context.WithCancel(ctx)
			w := transcript{s: s}
			suspended, err = s.Execute(piece, p, 1, &w)
			require.NoError(t, err)
			cancel()
			out = append(out, strings.TrimSpace(w.b.String()))
		}
		require.NoError(t, s.Sync(ctx))
		return out
	}
	require.Equal(t, []string{"7", "SELECT 0"}, pieces(7))
	require.Equal(t, []string{"SELECT 0"}, pieces(-7))
	require.NoError(t, other.Query(ctx, `ALTER TABLE t DROP CONSTRAINT key; UPDATE t SET id = 7 WHERE x > 7`, &w))
	require.Len(t, pieces(7), 2995)
}
