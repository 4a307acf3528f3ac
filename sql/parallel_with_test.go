package sql_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/txn"
)

// TestAWithQueryIsReadBySeveral if its readers ask for all its rows, and else no further than they
// ask.
func TestAWithQueryIsReadBySeveral(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		before := runtime.GOMAXPROCS(2)
		t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	}
	on := record.New(memkv.New(memkv.Options{}))
	s := newSession(t, newEngineOn(t, on, txn.Options{SectionCacheBytes: -1}))
	mustQuery(t, s, `CREATE TABLE t (id int PRIMARY KEY); CREATE SEQUENCE n;
		INSERT INTO t SELECT i FROM generate_series(1, 40000) AS s (i); ANALYZE t`)
	run := func(text, result string) int64 {
		t.Helper()
		before := on.Counts()
		require.Contains(t, mustQuery(t, s, text), result, text)
		return on.Since(before).Snapshots
	}
	const with = "WITH w AS MATERIALIZED (SELECT * FROM t) "
	require.Greater(t, run(with+"SELECT (SELECT count(*) FROM w), (SELECT sum(id) FROM w)",
		"\n40000|800020000\n"), int64(1), "several readers")
	// Further than a scan reads before others help it.
	require.LessOrEqual(t, run(with+"SELECT id FROM w OFFSET 20000 LIMIT 1", "\n20001\n"), int64(1),
		"one reader")
	require.LessOrEqual(t, run(with+`SELECT id, (SELECT count(*) FROM w) FROM w LIMIT 1`,
		"\n1|40000\n"), int64(1), "one of two readers stops")

	// What no reader asks for is not computed, though one that asked would ask for all.
	run(`WITH w AS MATERIALIZED (SELECT id, nextval('n') AS n FROM t)
		SELECT n, CASE WHEN id < 0 THEN (SELECT count(*) FROM w) END FROM w LIMIT 1`, "\n1|NULL\n")
	run("SELECT nextval('n')", "\n2\n")
}
