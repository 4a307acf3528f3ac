package sql_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/scratch"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/sql/exec/spill"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// spillingEngine returns an engine whose statements write what does not fit memory to dir.
func spillingEngine(t *testing.T, pool *memory.Pool, dir *spill.Dir) *sql.Engine {
	t.Helper()
	store, err := txn.Open(t.Context(), memkv.New(memkv.Options{}), txn.Options{})
	require.NoError(t, err)
	cat, err := catalog.Open(t.Context(), store, catalog.WithPrograms(sql.Programs()))
	require.NoError(t, err)
	e := sql.NewEngine(store, cat, sql.Options{Memory: pool, Spill: dir})
	t.Cleanup(func() {
		e.Close()
		require.NoError(t, cat.Close(context.Background()))
		require.NoError(t, store.Close())
		require.Zero(t, dir.Open(), "temporary files are open")
	})
	return e
}

func spillDir(t *testing.T, o spill.Options) *spill.Dir {
	d, err := spill.NewDir(t.TempDir(), o)
	require.NoError(t, err)
	return d
}

// spillTables have NULLs, repeated and unique keys, values of several kinds, and one key of very
// many rows.
const spillTables = `
	CREATE TABLE a (id int PRIMARY KEY, k int, s text, n numeric, f float8, r int[]);
	INSERT INTO a SELECT g, nullif(g % 1000, 7), md5((g % 5000)::text),
		nullif((g % 3000) / 4.0, 5), g % 777, array[g % 10, g] FROM generate_series(1, 9000) g;
	CREATE TABLE b (id int PRIMARY KEY, k int, s text, big text);
	INSERT INTO b SELECT g, nullif(g * 7 % 1300, 9), md5((g % 6000)::text), repeat('x', g % 50)
		FROM generate_series(1, 8000) g;
	CREATE TABLE skew (k int, v int);
	INSERT INTO skew SELECT CASE WHEN g % 10 = 0 THEN g ELSE 1 END, g
		FROM generate_series(1, 7000) g`

// spillQueries give the same rows, in some order, however little memory there is. Those with ORDER
// BY give them in the same order.
var spillQueries = []string{
	"SELECT * FROM a ORDER BY s, id",
	"SELECT s, id FROM a ORDER BY n DESC NULLS LAST, f, k NULLS FIRST, id DESC",
	"SELECT * FROM a ORDER BY s || 'x', id LIMIT 6000",
	"SELECT id FROM a ORDER BY r",
	"SELECT DISTINCT s FROM a",
	"SELECT DISTINCT k, s, n FROM a",
	"SELECT DISTINCT ON (s) s, id FROM a ORDER BY s, id DESC",
	"SELECT DISTINCT ON (s) s FROM a",
	"SELECT s, count(*), sum(id), min(n), max(f), avg(n) FROM a GROUP BY s",
	"SELECT k, n, count(DISTINCT s), array_agg(DISTINCT f ORDER BY f) FROM a GROUP BY k, n",
	"SELECT count(DISTINCT s), count(DISTINCT id), sum(DISTINCT n) FROM a",
	"SELECT string_agg(s, ',' ORDER BY id DESC) FROM a",
	"SELECT k % 3, array_agg(id ORDER BY s, id) FROM a GROUP BY 1",
	"SELECT string_agg(DISTINCT s, ',' ORDER BY s DESC) FROM a",
	"SELECT k, s, count(*) FROM a GROUP BY GROUPING SETS ((k, s), (s), (k), ())",
	"SELECT k, s, f, count(*), sum(id) FROM a GROUP BY CUBE (k, s, f)",
	"SELECT k % 300, array_agg(s), string_agg(s, ','), count(*) FROM a GROUP BY 1",
	"SELECT k % 300, array_agg(r), json_agg(id), array_agg(DISTINCT n) FROM a GROUP BY 1",
	"SELECT id / 2, array_agg(s ORDER BY s), min(s) FROM a GROUP BY 1",
	"SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY s) FROM a",
	"SELECT s FROM a UNION SELECT s FROM b",
	"SELECT k, s FROM a INTERSECT SELECT k, s FROM b",
	"SELECT s FROM a EXCEPT SELECT s FROM b WHERE id > 100",
	"SELECT s FROM a WHERE id < 8000 EXCEPT SELECT s FROM b WHERE id = 1",
	"SELECT k FROM a INTERSECT ALL SELECT k FROM b",
	"SELECT k, s FROM a EXCEPT ALL SELECT k, s FROM b WHERE id % 3 = 0",
	"SELECT a.id, b.id FROM a JOIN b ON a.s = b.s",
	"SELECT a.id, b.id, b.big FROM a JOIN b ON a.k = b.k AND a.id % 5 < b.id % 7",
	"SELECT a.id, b.id FROM a LEFT JOIN b ON a.s = b.s AND b.id % 3 = 0",
	"SELECT a.id, b.id FROM a RIGHT JOIN b ON a.s = b.s AND a.id % 3 = 0",
	"SELECT a.id, b.id, a.r FROM a FULL JOIN b ON a.s = b.s",
	"SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.s = a.s AND b.id <> a.id)",
	"SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.s = a.s AND b.id > a.id)",
	"SELECT id FROM a WHERE s IN (SELECT s FROM b)",
	"SELECT id FROM a WHERE s NOT IN (SELECT s FROM b)",
	"SELECT id FROM a WHERE id NOT IN (SELECT id FROM b WHERE k > 3)",
	"SELECT x.id, b.id FROM (SELECT * FROM a ORDER BY id) x JOIN b ON x.s = b.s " +
		"ORDER BY x.id, b.id",
	"SELECT a.id FROM a JOIN b ON a.s = b.s ORDER BY a.id",
	"SELECT a.id FROM a WHERE s IN (SELECT s FROM b) ORDER BY a.id",
	"SELECT x.v, y.v FROM skew x JOIN skew y ON x.k = y.k AND x.v % 1000 = y.v % 997",
	"SELECT x.v, y.v FROM skew x LEFT JOIN skew y ON x.k = y.k AND x.v % 1000 = y.v % 997 + 3",
	"SELECT x.v, y.v FROM skew x FULL JOIN skew y ON x.k = y.k AND x.v % 1000 = y.v % 997 + 3",
	"SELECT v FROM skew x WHERE EXISTS (SELECT FROM skew y WHERE y.k = x.k AND y.v = x.v + 9)",
	"SELECT v FROM skew x WHERE NOT EXISTS " +
		"(SELECT FROM skew y WHERE y.k = x.k AND y.v = x.v + 9)",
	"SELECT id, row_number() OVER (ORDER BY s, id), rank() OVER (ORDER BY s) FROM a",
	"SELECT id, sum(id) OVER (PARTITION BY k ORDER BY id), " +
		"lag(s) OVER (PARTITION BY k ORDER BY id) FROM a",
	"SELECT id, ntile(7) OVER w, dense_rank() OVER w, lead(s, 3) OVER w, count(*) OVER w, " +
		"first_value(id) OVER w, percent_rank() OVER w, cume_dist() OVER w FROM a " +
		"WINDOW w AS (ORDER BY s, id)",
	"SELECT id, sum(n) OVER (ORDER BY id ROWS BETWEEN 5 PRECEDING AND 3 FOLLOWING), " +
		"max(s) OVER () FROM a",
	"WITH c AS MATERIALIZED (SELECT * FROM a) " +
		"SELECT x.id, y.s FROM c x JOIN c y ON x.id = y.id + 1",
	"WITH RECURSIVE c(i, s) AS (SELECT 1, md5('1') UNION ALL SELECT i + 1, md5(i::text) FROM c " +
		"WHERE i < 5000) SELECT * FROM c",
	"WITH RECURSIVE c(i) AS (SELECT id FROM a WHERE id < 9000 UNION SELECT i / 2 FROM c) " +
		"SELECT * FROM c",
}

// TestTheAnswerDoesNotDependOnMemory runs queries with little memory for each operator, and with
// enough.
func TestTheAnswerDoesNotDependOnMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	pool := memory.NewPool(0)
	dir := spillDir(t, spill.Options{})
	s := newSession(t, spillingEngine(t, pool, dir))
	mustQuery(t, s, spillTables)
	run := func(q, workMem string) []string {
		mustQuery(t, s, "SET work_mem = '"+workMem+"'")
		lines := strings.Split(mustQuery(t, s, q), "\n")
		if at := strings.LastIndex(q, "ORDER BY"); at < strings.LastIndex(q, ")") || at < 0 {
			slices.Sort(lines)
		}
		require.Zero(t, s.Memory().Used(), q)
		require.Zero(t, dir.Open(), q)
		return lines
	}
	for _, q := range spillQueries {
		want := run(q, "1GB")
		require.Greater(t, len(want), 2, q)
		files := temporaryFiles(t, s)
		got := run(q, "64kB")
		after := temporaryFiles(t, s)
		if files+1 != after {
			t.Errorf("%d files: %s", after-files, q)
		}
		if !slices.Equal(want, got) {
			t.Errorf("%s: %s", q, firstDifference(want, got))
		}
	}
}

// temporaryFiles is how many files statements of the database have made.
func temporaryFiles(t *testing.T, s *sql.Session) int {
	out := mustQuery(t, s, "SELECT temp_files FROM pg_stat_database WHERE datname = "+
		"current_database() AND (temp_files = 0) = (temp_bytes = 0)")
	n, err := strconv.Atoi(strings.Split(out, "\n")[1])
	require.NoError(t, err)
	return n
}

func firstDifference(want, got []string) string {
	for i := range want {
		if i >= len(got) || want[i] != got[i] {
			return fmt.Sprintf("row %d of %d: want %.200q, got %.200q", i, len(want), want[i],
				strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""))
		}
	}
	return fmt.Sprintf("%d rows, %d are wanted", len(got), len(want))
}

// TestGeneratedQueriesDoNotDependOnMemory joins, groups and sorts tables of a random number of rows
// with random keys.
func TestGeneratedQueriesDoNotDependOnMemory(t *testing.T) {
	dir := spillDir(t, spill.Options{})
	s := newSession(t, spillingEngine(t, memory.NewPool(0), dir))
	mustQuery(t, s, "SET enable_nestloop = off")
	mustQuery(t, s, "CREATE TABLE l (i int, k int, s text); CREATE TABLE r (i int, k int, s text)")
	dice := rand.New(rand.NewPCG(5, 6))
	one := func(of ...string) string { return of[dice.IntN(len(of))] }
	for range 40 {
		for _, table := range []string{"l", "r"} {
			mustQuery(t, s, fmt.Sprintf("TRUNCATE %s; INSERT INTO %s SELECT g, "+
				"nullif(g * 7919 %% %d, 3), repeat('x', g %% %d) || g %% %d "+
				"FROM generate_series(1, %d) g", table, table, 1+dice.IntN(4000),
				1+dice.IntN(40), 1+dice.IntN(3000), dice.IntN(4000)))
		}
		on := one("l.k = r.k", "l.s = r.s", "l.k = r.k AND l.s = r.s", "l.i = r.k",
			"l.k = r.k AND l.i < r.i + 50", "l.s = r.s AND l.i % 3 = r.i % 2")
		on += " AND l.i % 10 = 1"
		q := one("SELECT l.*, r.* FROM l "+one("", "LEFT ", "RIGHT ", "FULL ")+"JOIN r ON "+on,
			"SELECT * FROM l WHERE "+one("", "NOT ")+"EXISTS (SELECT FROM r WHERE "+on+")",
			"SELECT k, s, count(*), min(i), count(DISTINCT s) FROM l GROUP BY k, s",
			"SELECT "+one("k", "s", "i, k")+" FROM l "+one("UNION", "INTERSECT", "EXCEPT")+
				one("", " ALL")+" SELECT "+"k FROM r",
			"SELECT i, sum(k) OVER (PARTITION BY s ORDER BY i), rank() OVER (ORDER BY k) FROM l")
		if strings.Contains(q, "SELECT s FROM l") {
			q = strings.Replace(q, "SELECT k FROM r", "SELECT s FROM r", 1)
		} else if strings.Contains(q, "SELECT i, k FROM l") {
			q = strings.Replace(q, "SELECT k FROM r", "SELECT i, k FROM r", 1)
		}
		var answers [2][]string
		for i, m := range []string{"1GB", "64kB"} {
			mustQuery(t, s, "SET work_mem = '"+m+"'")
			answers[i] = strings.Split(mustQuery(t, s, q), "\n")
			slices.Sort(answers[i])
			require.Zero(t, s.Memory().Used(), q)
		}
		require.True(t, slices.Equal(answers[0], answers[1]), "%s: %s", q,
			firstDifference(answers[0], answers[1]))
	}
	require.Greater(t, temporaryFiles(t, s), 15)
}

// TestTheMemoryOfAQueryIsBounded: with little memory for the process, queries over tables that are
// larger by far end, within what operators may hold.
func TestTheMemoryOfAQueryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine at a time: the race detector, which runs short tests, sees nothing")
	}
	queries := []string{
		"SELECT * FROM t ORDER BY s",
		"SELECT s, count(*) FROM t GROUP BY s",
		"SELECT DISTINCT s FROM t",
		"SELECT id % 1000, array_agg(s) FROM t GROUP BY 1",
		"SELECT id % 1000, string_agg(s, ',' ORDER BY s) FROM t GROUP BY 1",
		"SELECT count(DISTINCT s) FROM t",
		"SELECT x.id FROM t x JOIN t y ON x.s = y.s",
		"SELECT s FROM t UNION SELECT s || 'x' FROM t",
		"SELECT s FROM t EXCEPT SELECT s || 'x' FROM t",
		"SELECT id, row_number() OVER (ORDER BY s) FROM t",
		"SELECT id, rank() OVER (ORDER BY s) FROM t",
		"WITH c AS MATERIALIZED (SELECT * FROM t) SELECT count(*) FROM c x, (SELECT 1) y",
	}
	for setting, pool := range map[string]*memory.Pool{
		"SET work_mem = '512kB'; SET minidb.statement_memory = '4MB'": memory.NewPool(0),
		"SET work_mem = '1GB'; SET minidb.statement_memory = '6MB'":   memory.NewPool(0),
		"SET work_mem = '1GB'; SET minidb.statement_memory = '1GB'":   memory.NewPool(32 << 20),
	} {
		s := newSession(t, spillingEngine(t, pool, spillDir(t, spill.Options{})))
		mustQuery(t, s, "CREATE TABLE t AS SELECT g AS id, md5(g::text) AS s "+
			"FROM generate_series(1, 150000) g")
		mustQuery(t, s, setting)
		for _, q := range queries {
			require.NoError(t, query(s, q), "%s: %s", setting, q)
			require.Zero(t, s.Memory().Used(), q)
		}
	}
}

// TestNoFileIsLeft: whatever way a statement ends, its temporary file is gone.
func TestNoFileIsLeft(t *testing.T) {
	dir := spillDir(t, spill.Options{})
	s := newSession(t, spillingEngine(t, memory.NewPool(0), dir))
	mustQuery(t, s, spillTables)
	mustQuery(t, s, "SET work_mem = '64kB'")
	fails(t, s, "SELECT 1 / (id - 4000) FROM (SELECT id FROM a ORDER BY s) x",
		sqlerr.DivisionByZero)
	require.Zero(t, dir.Open())
	fails(t, s, "SELECT pg_cancel_backend(pg_backend_pid()) FROM (SELECT id FROM a ORDER BY s) x",
		sqlerr.QueryCanceled)
	require.Zero(t, dir.Open())
	mustQuery(t, s, "BEGIN; DECLARE c CURSOR FOR SELECT a.id FROM a JOIN b ON a.s = b.s")
	mustQuery(t, s, "FETCH 10 FROM c")
	require.EqualValues(t, 1, dir.Open())
	mustQuery(t, s, "ROLLBACK")
	require.Zero(t, dir.Open())
	mustQuery(t, s, "SET temp_file_limit = '100kB'")
	e := fails(t, s, "SELECT * FROM a ORDER BY s", sqlerr.ConfigurationLimitExceeded)
	require.Equal(t, "temporary file size exceeds temp_file_limit (100kB)", e.Message)
	require.Zero(t, dir.Open())
	mustQuery(t, s, "RESET temp_file_limit")
	plan := mustQuery(t, s, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM a ORDER BY s")
	require.Regexp(t, "Sort Method: external merge  Disk: [0-9]+kB", plan)
	plan = mustQuery(t, s, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT DISTINCT s FROM a")
	require.Regexp(t, "Batches: [0-9]+  Disk Usage: [0-9]+kB", plan)
}

// fullDisk is a file on a disk that is full after so many bytes.
type fullDisk struct {
	*os.File
	room *int
}

func (f fullDisk) WriteAt(p []byte, offset int64) (int, error) {
	if *f.room -= len(p); *f.room < 0 {
		return 0, &os.PathError{Op: "write", Path: "spill", Err: syscall.ENOSPC}
	}
	return f.File.WriteAt(p, offset)
}

// TestADiskThatFillsUp: the statement ends with 53100 wherever the disk is full, and the next one
// runs.
func TestADiskThatFillsUp(t *testing.T) {
	room := 0
	dir := spillDir(t, spill.Options{Create: func() (scratch.Handle, error) {
		f, err := os.CreateTemp(t.TempDir(), "")
		return fullDisk{f, &room}, err
	}})
	s := newSession(t, spillingEngine(t, memory.NewPool(0), dir))
	mustQuery(t, s, spillTables)
	mustQuery(t, s, "SET work_mem = '64kB'")
	for _, q := range spillQueries {
		for _, room = range []int{0, 30_000, 90_000, 200_000} {
			err := query(s, q)
			if room >= 0 {
				require.NoError(t, err, q)
				break
			}
			require.Equal(t, sqlerr.DiskFull, codeOf(err), "%s: %v", q, err)
			require.Zero(t, dir.Open(), q)
			require.Zero(t, s.Memory().Used(), q)
		}
	}
	room = 1 << 30
	mustQuery(t, s, spillQueries[0])
}

// TestCursorsOnDisk: a cursor whose rows are on disk moves as one in memory does.
func TestCursorsOnDisk(t *testing.T) {
	dir := spillDir(t, spill.Options{})
	s := newSession(t, spillingEngine(t, memory.NewPool(0), dir))
	mustQuery(t, s, spillTables)
	dice := rand.New(rand.NewPCG(7, 8))
	moves := []string{"FETCH ALL FROM %s", "FETCH BACKWARD ALL FROM %s", "FETCH 3000 FROM %s",
		"FETCH BACKWARD 2500 FROM %s"}
	for range 100 {
		n := dice.IntN(19000) - 9500
		moves = append(moves, fmt.Sprintf([]string{"FETCH ABSOLUTE %d FROM %%s",
			"FETCH RELATIVE %d FROM %%s", "MOVE FORWARD %d FROM %%s", "FETCH PRIOR FROM %%s",
			"MOVE BACKWARD %d FROM %%s", "FETCH LAST FROM %%s", "FETCH FIRST FROM %%s",
			"FETCH NEXT FROM %%s", "FETCH 0 FROM %%s"}[dice.IntN(9)], n))
		at := len(moves) - 1
		moves[at], _, _ = strings.Cut(moves[at], "%!(EXTRA")
	}
	for _, declared := range []string{"SCROLL CURSOR", "CURSOR", "SCROLL CURSOR WITH HOLD",
		"CURSOR WITH HOLD"} {
		mustQuery(t, s, "BEGIN")
		files := 1
		for _, name := range []string{"many", "few"} {
			memory := map[string]string{"few": "64kB", "many": "1GB"}[name]
			mustQuery(t, s, "SET work_mem = '"+memory+"'")
			mustQuery(t, s, "DECLARE "+name+" "+declared+" FOR SELECT * FROM a")
			if declared == "CURSOR" {
				mustQuery(t, s, "FETCH PRIOR FROM "+name) // it keeps its rows from here on
			}
		}
		if strings.HasSuffix(declared, "HOLD") {
			mustQuery(t, s, "COMMIT")
		}
		if declared == "CURSOR WITH HOLD" {
			files = 2 // the commit reads both
		}
		require.EqualValues(t, files, dir.Open(), declared)
		for _, move := range moves {
			require.Equal(t, mustQuery(t, s, fmt.Sprintf(move, "many")),
				mustQuery(t, s, fmt.Sprintf(move, "few")), "%s: %s", declared, move)
		}
		mustQuery(t, s, "CLOSE ALL; ROLLBACK")
		require.Zero(t, dir.Open(), declared)
		require.Zero(t, s.Memory().Used(), declared)
	}
}
