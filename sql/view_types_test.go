package sql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
)

// typedViews are queries over values of a type, each kept by another operator: states and rows of
// the views have them in keys, in extremes and beside.
func typedViews(ty typeSamples) []string {
	queries := []string{"SELECT v, count(*) AS n, sum(g) AS s FROM a GROUP BY v",
		"SELECT DISTINCT v, g FROM b", "SELECT a.id, b.id AS bid, b.v FROM a JOIN b ON b.v = a.v",
		"SELECT a.v, b.g FROM a LEFT JOIN b ON b.v = a.v AND b.g > 1",
		"SELECT g, count(DISTINCT v) AS n FROM a GROUP BY g",
		"SELECT id, v FROM a WHERE v >= " + ty.literal(1),
		"SELECT v FROM a UNION SELECT v FROM b WHERE v IS NOT NULL",
		"SELECT q.v, a.id FROM (SELECT v, max(id) AS m FROM b GROUP BY v) q JOIN a ON a.id = q.m"}
	if ty.extremes {
		queries = append(queries, "SELECT g, min(v) AS lo, max(v) AS hi FROM b GROUP BY g")
	}
	return queries
}

// TestViewsOfEachType: the views over values of each type are their queries, whatever changes, and
// so are their states and the indexes of the views.
func TestViewsOfEachType(t *testing.T) {
	for _, ty := range sampledTypes {
		t.Run(ty.name, func(t *testing.T) {
			f := newDeltaFixture(t)
			mustQuery(t, f.s, "DROP TABLE a, b, c; "+sampledDefinitions)
			f.tables = []string{"a", "b"}
			mustQuery(t, f.s, fmt.Sprintf("CREATE TABLE a (id int PRIMARY KEY, v %s, g int); "+
				"CREATE TABLE b (id int PRIMARY KEY, v %[1]s, g int); CREATE INDEX ON b (v)",
				ty.typ))
			rnd := rand.New(rand.NewPCG(1, 10))
			change := func() {
				table, id := []string{"a", "b"}[rnd.IntN(2)], rnd.IntN(12)
				if rnd.IntN(4) == 0 {
					mustQuery(t, f.s, fmt.Sprintf("DELETE FROM %s WHERE id = %d", table, id))
					return
				}
				mustQuery(t, f.s, fmt.Sprintf("INSERT INTO %s VALUES (%d, %s, %d) ON CONFLICT "+
					"(id) DO UPDATE SET v = excluded.v, g = excluded.g", table, id,
					ty.literal(rnd.IntN(20)), rnd.IntN(3)))
			}
			for range 20 {
				change()
			}
			for i, q := range typedViews(ty) {
				f.create(fmt.Sprintf("v%d", i), q)
			}
			mustQuery(t, f.s, "CREATE UNIQUE INDEX ON v0 (v) NULLS NOT DISTINCT; "+
				"CREATE INDEX ON v2 ((v = v), id) WHERE v IS NOT NULL")
			for round := range 6 {
				for range 1 + rnd.IntN(8) {
					change()
				}
				f.advance()
				f.check(round == 5)
			}
			require.Empty(t, f.verify())
			checkKeptViews(t, f)
		})
	}
}

// checkKeptViews is `minidb check` of views that a test brings up to date by hand.
func checkKeptViews(t *testing.T, f *deltaFixture) {
	t.Helper()
	require.NoError(t, catalog.Check(context.Background(), f.store, func(p catalog.Problem) {
		if p.What != "it was filled and has no state" {
			t.Error(p)
		}
	}, catalog.WithPrograms(sql.Programs())))
}

// TestIndexesOfViewsAndTheirTables: partial indexes, those on expressions and GIN indexes, of the
// tables that a view reads and of the view itself, give the rows that a scan gives.
func TestIndexesOfViewsAndTheirTables(t *testing.T) {
	f := newDeltaFixture(t)
	mustQuery(t, f.s, `DROP TABLE a, b, c; CREATE EXTENSION pg_trgm;
		CREATE TABLE a (id int PRIMARY KEY, s text, n int[], j jsonb);
		CREATE TABLE b (id int PRIMARY KEY, s text, live bool);
		CREATE INDEX a_j ON a USING gin (j); CREATE INDEX a_n ON a USING gin (n);
		CREATE INDEX b_s ON b (lower(s)) WHERE live`)
	f.tables = []string{"a", "b"}
	f.create("joined", "SELECT a.id, a.n, a.j, a.s || '-' || b.s AS s FROM a JOIN b "+
		"ON lower(b.s) = a.s WHERE b.live")
	f.create("held", "SELECT id, s FROM a WHERE n @> '{1}' OR j ? 'k'")
	f.create("total", "SELECT s, count(*) AS n FROM a WHERE n && '{1,2}' GROUP BY s")
	require.Contains(t, f.plans("joined"), "b_s", "by its expression and predicate")
	mustQuery(t, f.s, `CREATE INDEX joined_n ON joined USING gin (n);
		CREATE INDEX joined_j ON joined USING gin (j jsonb_path_ops) WHERE id > 3;
		CREATE INDEX joined_s ON joined USING gin (s gin_trgm_ops);
		CREATE INDEX joined_u ON joined (upper(s), id); CREATE UNIQUE INDEX held_id ON held (id);
		CREATE UNIQUE INDEX total_s ON total (md5(s)) WHERE s IS NOT NULL`)
	rnd := rand.New(rand.NewPCG(2, 10))
	word := func() string { return []string{"'abc'", "'bcd'", "'xabcx'", "NULL"}[rnd.IntN(4)] }
	change := func() {
		id := rnd.IntN(12)
		switch rnd.IntN(5) {
		case 0:
			mustQuery(t, f.s, fmt.Sprintf("DELETE FROM a WHERE id = %d", id))
		case 1, 2:
			mustQuery(t, f.s, fmt.Sprintf("INSERT INTO a VALUES (%d, %s, '{%d,%d}', '{%q: %d}') "+
				"ON CONFLICT (id) DO UPDATE SET s = excluded.s, n = excluded.n, j = excluded.j",
				id, word(), rnd.IntN(4), rnd.IntN(4), []string{"k", "l"}[rnd.IntN(2)], rnd.IntN(3)))
		default:
			mustQuery(t, f.s, fmt.Sprintf("INSERT INTO b VALUES (%d, upper(%s), %v) ON CONFLICT "+
				"(id) DO UPDATE SET s = excluded.s, live = excluded.live", id, word(),
				rnd.IntN(3) > 0))
		}
	}
	for range 10 {
		for range 1 + rnd.IntN(12) {
			change()
		}
		f.advance()
		f.check(false)
		for _, cond := range []string{"n @> '{1}'", "n && '{2,3}'", "s LIKE '%bcx%'",
			`id > 3 AND j @> '{"k": 1}'`, "upper(s) = 'ABC-ABC'"} {
			q := "SELECT id, s FROM joined WHERE " + cond
			mustQuery(t, f.s, "SET enable_seqscan = off")
			require.Contains(t, mustQuery(t, f.s, "EXPLAIN "+q), "joined_", cond)
			byIndex := f.sorted(q)
			mustQuery(t, f.s, "RESET enable_seqscan; SET enable_bitmapscan = off; "+
				"SET enable_indexscan = off; SET enable_indexonlyscan = off")
			require.NotContains(t, mustQuery(t, f.s, "EXPLAIN "+q), "joined_", cond)
			require.Equal(t, f.sorted(q), byIndex, cond)
			mustQuery(t, f.s, "RESET ALL")
		}
	}
	require.NotEmpty(t, strings.TrimSpace(f.sorted("SELECT * FROM joined")))
	require.Empty(t, f.verify())
	checkKeptViews(t, f)
}
