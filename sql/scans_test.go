package sql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// O9: pg_stat_user_tables and pg_stat_user_indexes count scans, what they read, and what of that
// was fetched from the table.
func TestScansAreCounted(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, `CREATE TABLE t (id int PRIMARY KEY, v int, w int)`)
	mustQuery(t, s, `CREATE INDEX t_v ON t (v)`)
	mustQuery(t, s, `CREATE TABLE few (id int PRIMARY KEY)`)
	mustQuery(t, s, `INSERT INTO t SELECT g, g % 10, g FROM generate_series(1, 100) g`)
	mustQuery(t, s, `INSERT INTO few VALUES (1), (2), (300)`)
	mustQuery(t, s, `ANALYZE t, few`)
	counted := func() string {
		out := mustQuery(t, s, `SELECT concat_ws(' ', seq_scan, seq_tup_read, idx_scan,
				idx_tup_fetch, (SELECT string_agg(concat_ws(' ', indexrelname, i.idx_scan,
					idx_tup_read, i.idx_tup_fetch), ', ' ORDER BY indexrelname)
				FROM pg_stat_user_indexes i WHERE i.relid = r.relid))
			FROM pg_stat_user_tables r WHERE relname = 't'`)
		return strings.Split(out, "\n")[1]
	}
	mustQuery(t, s, `SELECT pg_stat_reset()`)
	require.Equal(t, "0 0 0 0 t_pkey 0 0 0, t_v 0 0 0", counted())
	for range 3 {
		mustQuery(t, s, `SELECT w FROM t WHERE id = 7`)
	}
	mustQuery(t, s, `SELECT w FROM t WHERE id = 700`)
	require.Equal(t, "0 0 4 3 t_pkey 4 3 3, t_v 0 0 0", counted())
	mustQuery(t, s, `SELECT count(w) FROM t`)
	mustQuery(t, s, `SELECT count(w) FROM t WHERE w > 50`)
	require.Equal(t, "2 200 4 3 t_pkey 4 3 3, t_v 0 0 0", counted())
	mustQuery(t, s, `SELECT w FROM t WHERE id BETWEEN 11 AND 20`)
	mustQuery(t, s, `SELECT w FROM t WHERE id IN (1, 2, 3)`)
	require.Equal(t, "2 200 8 16 t_pkey 8 16 16, t_v 0 0 0", counted())
	mustQuery(t, s, `SELECT w FROM t WHERE v = 3`)
	require.Equal(t, "2 200 9 26 t_pkey 8 16 16, t_v 1 10 10", counted())
	mustQuery(t, s, `SELECT v FROM t WHERE v = 3`)
	require.Equal(t, "2 200 10 26 t_pkey 8 16 16, t_v 2 20 10", counted())
	mustQuery(t, s, `SELECT w FROM few JOIN t USING (id)`)
	require.Equal(t, "2 200 13 28 t_pkey 11 18 18, t_v 2 20 10", counted())
	mustQuery(t, s, `UPDATE t SET w = 0 WHERE id = 1`)
	mustQuery(t, s, `BEGIN`)
	mustQuery(t, s, `SELECT w FROM t WHERE id = 7`)
	mustQuery(t, s, `ROLLBACK`)
	require.Equal(t, "2 200 15 30 t_pkey 13 20 20, t_v 2 20 10", counted())
	require.Contains(t, mustQuery(t, s, `SELECT pg_stat_get_numscans(r.oid),
		pg_stat_get_tuples_returned(r.oid), pg_stat_get_numscans('t_v'::regclass),
		pg_stat_get_tuples_fetched('t_v'::regclass), pg_stat_get_numscans(0)
		FROM pg_class r WHERE relname = 't'`), "\n2|200|2|10|0\n")
	mustQuery(t, s, `DROP INDEX t_v`)
	require.Equal(t, "2 200 13 20 t_pkey 13 20 20", counted())
}
