package sql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/minidb/minidb/table/types"
	"github.com/stretchr/testify/require"
)

// TestAPortalOutlivesTheContextOfItsFirstPiece: the rows of a suspended portal are taken under
// contexts of their own, whether it reads one row by its key or, planned anew since it was
// prepared, a table.
func TestAPortalOutlivesTheContextOfItsFirstPiece(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t)
	s, other := newSession(t, e), newSession(t, e)
	var w transcript
	require.NoError(t, s.Query(ctx,
		`CREATE TABLE t (id bigint CONSTRAINT key PRIMARY KEY, x bigint, y bigint)`, &w))
	require.NoError(t, s.Query(ctx,
		`INSERT INTO t SELECT g, g, g FROM generate_series(1, 3000) AS s (g)`, &w))
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
	require.NoError(t, other.Query(ctx,
		`ALTER TABLE t DROP CONSTRAINT key; UPDATE t SET id = 7 WHERE x > 7`, &w))
	require.Len(t, pieces(7), 2995)
}

// A portal of which the client takes some rows at a time locks the rows that it has given, and no
// others; a cursor too. A row that another transaction changed meanwhile is given as it is now.
func TestAPortalLocksTheRowsThatItGives(t *testing.T) {
	ctx := context.Background()
	for _, level := range []string{"READ COMMITTED", "REPEATABLE READ"} {
		e := newEngine(t)
		s, other := newSession(t, e), newSession(t, e)
		mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, n int); INSERT INTO t SELECT g, g "+
			"FROM generate_series(1, 10) g")
		free := func() string {
			return mustQuery(t, other, "SELECT string_agg(id::text, ',') FROM (SELECT id FROM t "+
				"ORDER BY id FOR UPDATE SKIP LOCKED) f")
		}
		ps, err := s.Prepare(ctx, "p", "SELECT n FROM t WHERE n > 0 ORDER BY id FOR UPDATE", nil,
			nil)
		require.NoError(t, err)
		require.NoError(t, s.Sync(ctx))
		mustQuery(t, s, "BEGIN ISOLATION LEVEL "+level)
		p, err := s.Bind(ctx, "", ps, nil)
		require.NoError(t, err)
		w := transcript{s: s}
		suspended, err := s.Execute(ctx, p, 3, &w)
		require.NoError(t, err)
		require.True(t, suspended)
		require.Contains(t, free(), "\n4,5,6,7,8,9,10\n", level)
		if level == "READ COMMITTED" {
			mustQuery(t, other, "UPDATE t SET n = -n WHERE id = 4; UPDATE t SET n = 50 WHERE id "+
				"= 5")
			w = transcript{s: s}
			_, err = s.Execute(ctx, p, 1, &w)
			require.NoError(t, err)
			require.Contains(t, w.b.String(), "50\n")
			// 4 was locked before it was found not to match
			require.Contains(t, free(), "\n6,7,8,9,10\n")
		}
		mustQuery(t, s, "ROLLBACK")

		mustQuery(t, s, "BEGIN ISOLATION LEVEL "+level+
			"; DECLARE c CURSOR FOR SELECT id FROM t ORDER BY id FOR UPDATE; FETCH 2 FROM c")
		require.Contains(t, free(), "\n3,4,5,6,7,8,9,10\n", level)
		mustQuery(t, s, "ROLLBACK")
	}
}
