package sql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUpkeepExcludesItself: VACUUM and ANALYZE wait for schema changes and for each other, or skip
// the table, and hinder no reader and no writer.
func TestUpkeepExcludesItself(t *testing.T) {
	a, b, c := lockFixture(t)
	mustQuery(t, a, "BEGIN")
	mustQuery(t, a, "ANALYZE t")
	for _, text := range []string{"VACUUM (SKIP_LOCKED) t", "ANALYZE (SKIP_LOCKED) t"} {
		require.Contains(t, mustQuery(t, b, text), "--- lock not available")
	}
	mustQuery(t, b, "UPDATE t SET n = 3")
	for _, text := range []string{"VACUUM t", "ANALYZE t", "ALTER TABLE t ADD COLUMN w int"} {
		wait := blocked(t, b, c, text)
		mustQuery(t, a, "COMMIT")
		require.NoError(t, <-wait, text)
		mustQuery(t, a, "BEGIN")
		mustQuery(t, a, "ANALYZE t")
	}
	mustQuery(t, a, "ROLLBACK")
	require.Contains(t, mustQuery(t, c, "SELECT count(*) FROM pg_locks WHERE relation = "+
		"'t'::regclass AND mode LIKE 'ShareUpdate%'"), "\n0\n")
	require.NotContains(t, mustQuery(t, b, "VACUUM (SKIP_LOCKED, ANALYZE) t"), "not available")
}

// TestVerboseTellsWhatWasDone: INFO lines, whatever client_min_messages is.
func TestVerboseTellsWhatWasDone(t *testing.T) {
	s := newSession(t, newEngine(t))
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, a int); CREATE INDEX t_a ON t (a)")
	mustQuery(t, s, "INSERT INTO t SELECT i, i FROM generate_series(1, 10) i")
	mustQuery(t, s, "UPDATE t SET a = 0 WHERE id < 4")
	mustQuery(t, s, "SET client_min_messages = error")
	out := mustQuery(t, s, "VACUUM (VERBOSE, ANALYZE) t")
	require.Contains(t, out, "INFO 00000: vacuuming \"postgres.public.t\"\n")
	require.Contains(t, out, "row and index versions: 9 removed, 0 are dead but not yet "+
		"removable\n")
	require.Contains(t, out, "INFO 00000: \"postgres.public.t\": 10 rows remain\n")
	require.Contains(t, out, "INFO 00000: \"t\": scanned all rows, 10 of them live; 10 rows in "+
		"sample\n")
	require.Equal(t, "INFO 00000: index \"t_pkey\" was reindexed\nINFO 00000: index \"t_a\" was "+
		"reindexed\nREINDEX\n",
		mustQuery(t, s, "REINDEX (VERBOSE) TABLE t"))
}

// TestVacuumNamesWhoHoldsItBack: the oldest snapshot is found by pg_stat_activity, and VACUUM
// VERBOSE names its session.
func TestVacuumNamesWhoHoldsItBack(t *testing.T) {
	e := newEngine(t)
	a, b, c := newSnapshotSession(t, e), newSession(t, e), newSession(t, e)
	mustQuery(t, c, "CREATE TABLE t (id int PRIMARY KEY, a int); INSERT INTO t VALUES (1, 0)")
	const oldest = "SELECT pid, backend_xid IS NOT NULL AS writes FROM pg_stat_activity " +
		"WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() ORDER BY " +
		"backend_xmin::text::bigint, pid"
	require.Equal(t, "[pid writes]\nSELECT 0\n", mustQuery(t, c, oldest))
	mustQuery(t, a, "BEGIN; SELECT * FROM t")
	a.Idle()
	snapshot := mustQuery(t, a, "SELECT (txid_current() >> 18) % (1::bigint << 32)")
	a.Idle()
	mustQuery(t, b, "BEGIN; UPDATE t SET a = 1")
	b.Idle()
	require.Equal(t, "[pid writes]\n"+pid(a)+"|f\n"+pid(b)+"|t\nSELECT 2\n",
		mustQuery(t, c, oldest))
	require.Equal(t, strings.Split(snapshot, "\n")[1],
		strings.Split(mustQuery(t, c, "SELECT backend_xmin FROM pg_stat_activity WHERE pid = "+
			pid(a)), "\n")[1])
	mustQuery(t, b, "COMMIT")
	b.Idle()
	told := mustQuery(t, c, "VACUUM VERBOSE t")
	require.Contains(t, told, "0 removed, 1 are dead but not yet removable")
	require.Contains(t, told, ", held back by process "+pid(a)+
		", which is idle in transaction, with a transaction of ")
	mustQuery(t, a, "COMMIT")
	a.Idle()
	told = mustQuery(t, c, "VACUUM VERBOSE t")
	require.Contains(t, told, "1 removed, 0 are dead")
	require.NotContains(t, told, "held back")
}
