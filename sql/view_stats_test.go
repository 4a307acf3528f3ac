package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestObserversListViews: what waits for a view is what is later than its frontier, in all tables
// that it is computed from.
func TestObserversListViews(t *testing.T) {
	s := newSession(t, newEngine(t)) // nothing advances views but REFRESH
	for _, text := range []string{
		"CREATE TABLE a (id int PRIMARY KEY, g int)", "CREATE TABLE b (id int PRIMARY KEY)",
		"CREATE MATERIALIZED VIEW v WITH (incremental) AS SELECT g, count(*) AS n FROM a " +
			"GROUP BY g",
		"CREATE MATERIALIZED VIEW w WITH (incremental) AS SELECT n FROM v JOIN b ON b.id = v.n",
		"INSERT INTO a VALUES (1, 1), (2, 2)",
		"UPDATE a SET g = 3 WHERE id = 2", "INSERT INTO b VALUES (1)",
	} {
		mustQuery(t, s, text)
	}
	list := func() string {
		return mustQuery(t, s, "SELECT name, kind, tablename, version, pending, oldest_pending IS "+
			"NULL AS idle, table_changes, running FROM minidb_observers ORDER BY name")
	}
	require.Equal(t, "[name kind tablename version pending idle table_changes running]\n"+
		"public.v|view|public.a|NULL|2|f|0|f\n"+
		"public.w|view|public.a, public.b|NULL|3|f|0|f\nSELECT 2\n", list())
	mustQuery(t, s, "REFRESH MATERIALIZED VIEW w")
	mustQuery(t, s, "TRUNCATE b")
	require.Equal(t, "[name kind tablename version pending idle table_changes running]\n"+
		"public.v|view|public.a|NULL|0|t|0|f\n"+
		"public.w|view|public.a, public.b|NULL|0|t|1|f\nSELECT 2\n", list())
}
