package sql_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// newEngineIn returns an engine whose sessions draw from a pool.
func newEngineIn(t *testing.T, pool *memory.Pool) *sql.Engine {
	t.Helper()
	store, err := txn.Open(t.Context(), memkv.New(memkv.Options{}), txn.Options{})
	require.NoError(t, err)
	cat, err := catalog.Open(t.Context(), store, catalog.WithPrograms(sql.Programs()))
	require.NoError(t, err)
	e := sql.NewEngine(store, cat, sql.Options{Memory: pool})
	t.Cleanup(func() {
		e.Close()
		require.NoError(t, cat.Close(context.Background()))
		require.NoError(t, store.Close())
	})
	return e
}

// TestTheLargestStatementPays: eight sorts that do not fit together draw from one pool. Some end
// with 53200, the others give their rows, and a session that looks rows up meanwhile sees no error.
func TestTheLargestStatementPays(t *testing.T) {
	pool := memory.NewPool(64 << 20)
	e := newEngineIn(t, pool)
	a := newSession(t, e)
	mustQuery(t, a, "CREATE TABLE t (id int PRIMARY KEY, v text)")
	mustQuery(t, a, "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(1, 90000) g")
	const sorts = 8
	var wg sync.WaitGroup
	codes := make([]string, sorts)
	for i := range sorts {
		s := newSession(t, e)
		wg.Go(func() {
			codes[i] = codeOf(query(s, "SELECT count(*) FROM (SELECT v, row_number() OVER (ORDER "+
				"BY v) FROM t ORDER BY v DESC OFFSET 1) x"))
		})
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	looks := newSession(t, e)
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		require.Contains(t, mustQuery(t, looks, "SELECT id FROM t WHERE id = 77"), "\n77\n")
		require.Contains(t, mustQuery(t, looks, "SELECT count(*) FROM pg_class WHERE relname = "+
			"'t'"), "\n1\n")
	}
	finished := 0
	for _, code := range codes {
		if code == "" {
			finished++
		} else {
			require.Equal(t, sqlerr.OutOfMemory, code)
		}
	}
	stats := pool.Stats()
	require.Positive(t, finished)
	require.Less(t, finished, sorts, "they fit: the test needs more rows")
	require.EqualValues(t, sorts-finished, stats.Ended)
	require.LessOrEqual(t, stats.Peak, stats.Share)
	require.Zero(t, stats.Taken)
}

// TestMemoryComesBack: whatever way a statement ends, its session holds nothing behind it.
func TestMemoryComesBack(t *testing.T) {
	pool := memory.NewPool(0)
	e := newEngineIn(t, pool)
	s := newSession(t, e)
	mustQuery(t, s, "CREATE TABLE t (id int PRIMARY KEY, v text)")
	mustQuery(t, s, "INSERT INTO t SELECT g, md5(g::text) FROM generate_series(1, 5000) g")
	zero := func(what string) {
		t.Helper()
		require.Zero(t, s.Memory().Used(), what)
		require.Zero(t, pool.Taken(), what)
	}
	zero("INSERT")
	for _, q := range []string{
		"SELECT * FROM t ORDER BY v",
		"SELECT a.v FROM t a JOIN t b ON a.v = b.v",
		"SELECT v, count(*) FROM t GROUP BY v",
		"SELECT v, row_number() OVER (ORDER BY v) FROM t",
		"WITH c AS MATERIALIZED (SELECT * FROM t) SELECT count(*) FROM c x, c y WHERE x.id = y.id",
		"UPDATE t SET v = v || 'x' RETURNING id",
		"SELECT id FROM t WHERE id IN (SELECT id FROM t WHERE v > 'a') UNION SELECT 1",
		"SELECT array_agg(v), string_agg(v, ',') FROM t",
		"SELECT length(repeat('x', 1000000))",
	} {
		mustQuery(t, s, q)
		zero(q)
	}
	fails(t, s, "SELECT 1 / (id - 4000) FROM (SELECT id FROM t ORDER BY v) x",
		sqlerr.DivisionByZero)
	zero("an error")
	fails(t, s, "SELECT pg_cancel_backend(pg_backend_pid()) FROM (SELECT id FROM t ORDER BY v) x",
		sqlerr.QueryCanceled)
	zero("a cancel")
	mustQuery(t, s, "SET minidb.statement_memory = '64kB'")
	fails(t, s, "SELECT * FROM t ORDER BY v", sqlerr.OutOfMemory)
	zero("the statement's own bound")
	mustQuery(t, s, "RESET minidb.statement_memory")

	holds := func(what string) {
		t.Helper()
		require.Greater(t, pool.Taken(), int64(100_000), what)
	}
	mustQuery(t, s, "BEGIN")
	mustQuery(t, s, "DECLARE c CURSOR FOR SELECT * FROM t ORDER BY v")
	mustQuery(t, s, "FETCH 1 FROM c")
	holds("an open cursor")
	mustQuery(t, s, "CLOSE c")
	zero("CLOSE")
	mustQuery(t, s, "DECLARE c SCROLL CURSOR FOR SELECT * FROM t")
	holds("a scrollable cursor")
	mustQuery(t, s, "ROLLBACK")
	zero("ROLLBACK")
	mustQuery(t, s, "BEGIN")
	mustQuery(t, s, "DECLARE c CURSOR FOR SELECT 1 / (id - 4000) FROM t ORDER BY v")
	fails(t, s, "FETCH ALL FROM c", sqlerr.DivisionByZero)
	zero("a cursor that failed in a block")
	mustQuery(t, s, "ROLLBACK")
	mustQuery(t, s, "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM t ORDER BY v")
	holds("a held cursor")
	require.Zero(t, s.Memory().Used(), "it is no statement's any more")
	mustQuery(t, s, "CLOSE c")
	zero("CLOSE of a held cursor")

	mustQuery(t, s, "BEGIN")
	mustQuery(t, s, "DECLARE c SCROLL CURSOR FOR SELECT * FROM t")
	s.Close(context.Background())
	zero("the session's end")
}

func TestTheViewOfMemory(t *testing.T) {
	pool := memory.NewPool(256 << 20)
	pool.Fix("block cache", 48<<20)
	e := newEngineIn(t, pool)
	s := newSession(t, e)
	mustQuery(t, s, "CREATE TABLE t AS SELECT g AS id FROM generate_series(1, 200000) g")
	mustQuery(t, s, "BEGIN")
	mustQuery(t, s, "DECLARE c SCROLL CURSOR FOR SELECT * FROM t")
	out := mustQuery(t, s, "SELECT consumer, pid = pg_backend_pid(), bytes > 1000000, "+
		"limit_bytes, ended, ending FROM minidb_memory")
	for _, row := range []string{"\nprocess||t|268435456||\n", "\nstatements||t|107347968|0|\n",
		"\nreserve||f|15335424||\n",
		"\nblock cache||t|50331648||\n", "\nsession|t|t|||f\n"} {
		require.Contains(t, strings.ReplaceAll(out, "NULL", ""), row)
	}
	mustQuery(t, s, "ROLLBACK")
	require.Contains(t, mustQuery(t, s, "SHOW minidb.memory"), "256MB")
	fails(t, s, "SET minidb.memory = '1GB'", sqlerr.CantChangeRuntimeParam)
}

// TestParserAndPlannerDraw: texts and plans that take more than there is are refused, and hold
// nothing behind them.
func TestParserAndPlannerDraw(t *testing.T) {
	pool := memory.NewPool(32 << 20)
	e := newEngineIn(t, pool)
	s := newSession(t, e)
	for name, text := range map[string]string{
		"tokens": "SELECT 1 WHERE 1 IN (1" + strings.Repeat(",1", 80_000) + ")",
		"nodes":  "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", 20_000),
	} {
		fails(t, s, text, sqlerr.OutOfMemory)
		_, err := s.Prepare(t.Context(), "p", text, nil, nil)
		require.Equal(t, sqlerr.OutOfMemory, codeOf(err), name)
		require.Zero(t, s.Memory().Used(), name)
		require.Zero(t, pool.Taken(), name)
	}
	text := "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", 1000)
	mustQuery(t, s, text)
	require.Zero(t, pool.Taken())
	_, err := s.Prepare(t.Context(), "p", text, nil, nil)
	require.NoError(t, err)
	require.Positive(t, pool.Taken(), "a long statement that is prepared is held")
	s.CloseStatement("p")
	require.Zero(t, pool.Taken())
}
