package sql_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/txn"
)

// TestKeptColumnsFollowTheTable reads a table so often that its columns are in memory, after each
// statement that changes it as a whole.
func TestKeptColumnsFollowTheTable(t *testing.T) {
	engine, err := pebblekv.Open("", pebblekv.Options{InMemory: true})
	require.NoError(t, err)
	s := newSession(t, newEngineOn(t, engine, txn.Options{}))
	read := func(query string, want ...string) {
		t.Helper()
		for range 4 { // cuts, keeps, finds
			_, rows, _ := strings.Cut(mustQuery(t, s, query), "\n")
			require.Equal(t, strings.Join(want, "|")+"\nSELECT 1\n", rows, query)
		}
	}
	const all = "SELECT count(*), sum(id), sum(a), min(b), count(DISTINCT b) FROM t"
	mustQuery(t, s, `BEGIN; CREATE TABLE t (id int PRIMARY KEY, x text, a int, b text); SAVEPOINT s;
		INSERT INTO t SELECT i, repeat('x', 20), i % 7, 'text ' || i % 3
		FROM generate_series(1, 60000) AS s (i)`)
	read(all, "60000", "1800030000", "179997", "text 0", "3")
	mustQuery(t, s, "ROLLBACK TO s")
	read(all, "0", "NULL", "NULL", "NULL", "0")
	mustQuery(t, s, `INSERT INTO t SELECT i, repeat('x', 20), 1, 'text ' || i
		FROM generate_series(1, 60000) AS s (i); COMMIT`)
	read(all, "60000", "1800030000", "60000", "text 1", "60000")
	require.Contains(t, mustQuery(t, s, "EXPLAIN (ANALYZE, TIMING off) SELECT sum(a) FROM t"),
		"Sections: 8  In Memory: 8\n")
	mustQuery(t, s, "UPDATE t SET a = 5 WHERE id = 30000")
	require.Contains(t, mustQuery(t, s, "EXPLAIN (ANALYZE, TIMING off) SELECT sum(a) FROM t"),
		"Sections: 8  In Memory: 7\n", "one row was changed")
	read(all, "60000", "1800030000", "60004", "text 1", "60000")
	mustQuery(t, s, "ALTER TABLE t DROP COLUMN x; ALTER TABLE t ADD COLUMN c int DEFAULT 3")
	read(all, "60000", "1800030000", "60004", "text 1", "60000")
	read("SELECT sum(c), max(a) FROM t", "180000", "5")
	mustQuery(t, s, "ALTER TABLE t ALTER COLUMN a TYPE text USING 'a' || a")
	read("SELECT max(a), min(a), count(*) FROM t", "a5", "a1", "60000")
	mustQuery(t, s, "DELETE FROM t WHERE id % 2 = 0")
	read("SELECT count(*), sum(id), max(a) FROM t", "30000", "900000000", "a1")
	mustQuery(t, s, "BEGIN; DELETE FROM t WHERE id > 100")
	read("SELECT count(*), sum(id), max(a) FROM t", "50", "2500", "a1")
	mustQuery(t, s, "ROLLBACK")
	read("SELECT count(*), sum(id), max(a) FROM t", "30000", "900000000", "a1")
	mustQuery(t, s, "TRUNCATE t")
	read("SELECT count(*), sum(id), max(a) FROM t", "0", "NULL", "NULL")
}
