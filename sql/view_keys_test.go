package sql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// A view whose GROUP BY rests on a primary key goes with that key, or keeps it.
func TestAViewHoldsTheKeyOfItsGroups(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, `CREATE TABLE t (k int PRIMARY KEY, d int);
		CREATE VIEW v AS SELECT k, d FROM t GROUP BY k;
		CREATE VIEW w AS SELECT k, d FROM t GROUP BY k, d`)
	err := fails(t, s, "ALTER TABLE t DROP CONSTRAINT t_pkey", sqlerr.DependentObjectsStillExist)
	require.Equal(t, "view v depends on constraint t_pkey on table t", err.Detail)
	mustQuery(t, s, "ALTER TABLE t DROP CONSTRAINT t_pkey CASCADE")
	mustQuery(t, s, "SELECT * FROM w")
	fails(t, s, "SELECT * FROM v", sqlerr.UndefinedTable)
}

// Views on views are relations to the one that reads them: making a deep stack takes no longer for
// its last view than for its first, which would be bound once for each view above it.
func TestDeepStacksOfViews(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, "CREATE TABLE t (a int); INSERT INTO t VALUES (1); CREATE VIEW v0 AS SELECT "+
		"a FROM t")
	for i := 1; i <= 200; i++ {
		mustQuery(t, s, fmt.Sprintf("CREATE VIEW v%d AS SELECT a FROM v%d", i, i-1))
	}
	require.True(t, strings.Contains(mustQuery(t, s, "SELECT a FROM v200"), "\n1\n"))
	require.Contains(t, mustQuery(t, s, "SELECT pg_get_viewdef('v200'::regclass)"), "FROM v199;")
	err := fails(t, s, "CREATE OR REPLACE VIEW v0 AS SELECT a FROM v200",
		sqlerr.InvalidObjectDefinition)
	require.Contains(t, err.Message, "infinite recursion")
}

// The names of what a view reads may change, and the view goes on to read it.
func TestViewsFollowNames(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, `CREATE SCHEMA other; CREATE SEQUENCE seq;
		CREATE TABLE t (a int, b text DEFAULT 'x', n int DEFAULT nextval('seq'), CHECK (t.a > 0));
		CREATE TABLE u (a int, c int);
		INSERT INTO t (a) VALUES (1); INSERT INTO u VALUES (1, 2);
		CREATE VIEW v AS SELECT * FROM t JOIN u USING (a) WHERE t.a IN (SELECT a FROM u t)
		ORDER BY b;
		CREATE VIEW w AS SELECT v.b AS label, (SELECT max(a) FROM t) FROM v`)
	const want = "1|x|1|2"
	for _, change := range []string{
		"ALTER TABLE t RENAME b TO \"Order\"", "ALTER TABLE u RENAME c TO a2",
		"ALTER TABLE t RENAME TO \"table\"",
		"ALTER TABLE u SET SCHEMA other", "ALTER VIEW v RENAME COLUMN b TO \"user\"",
		"ALTER VIEW v RENAME TO v2",
		"ALTER SEQUENCE seq RENAME TO \"select\"", "ALTER SEQUENCE \"select\" SET SCHEMA other",
		"SET search_path = other",
	} {
		mustQuery(t, s, change)
		name := "public.v2"
		if strings.Contains(mustQuery(t, s, "SELECT count(*) FROM pg_class WHERE relname = 'v'"),
			"\n1\n") {
			name = "public.v"
		}
		require.Contains(t, mustQuery(t, s, "SELECT * FROM "+name), "\n"+want+"\n", change)
		require.Contains(t, mustQuery(t, s, "SELECT * FROM public.w"), "\nx|1\n", change)
	}
	mustQuery(t, s, `INSERT INTO public."table" (a) VALUES (2)`)
	fails(t, s, `DROP SEQUENCE other."select"`, sqlerr.DependentObjectsStillExist)
	fails(t, s, `INSERT INTO public."table" (a) VALUES (0)`, sqlerr.CheckViolation)
}
