package sql_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/pebblekv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// cost is what one operation may cost: what it asks of the store, what it makes durable, and what
// it allocates. Counts are means over many operations, among which the background does something
// now and then: the bounds leave room for that, and for what the race detector allocates.
type cost struct {
	reads   float64 // gets and iterators
	updates float64 // of the store, each one batch
	syncs   float64 // of the log
	cells   float64 // set or deleted
	bytes   float64 // of keys and values that were set
	objects float64 // allocated
	heap    float64 // bytes allocated
}

// hotPath is an operation that programs do all the time.
type hotPath struct {
	name string
	// texts are prepared once and run in their order; a transaction block where they say so.
	texts  []string
	params func(i int) [][]types.Datum
	atMost cost
}

func ints(values ...int) []types.Datum {
	d := make([]types.Datum, len(values))
	for i, v := range values {
		d[i] = types.NewInt(int64(v))
	}
	return d
}

const hotRows = 600

// background is what it adds to an operation, on average.
const background = 0.05

// each gives every text the same parameters.
func each(texts int, params func(i int) []types.Datum) func(i int) [][]types.Datum {
	return func(i int) [][]types.Datum {
		all := make([][]types.Datum, texts)
		for n := range all {
			all[n] = params(i)
		}
		return all
	}
}

func anyHotRow(i int) []types.Datum { return ints(i*7%(hotRows-100) + 1) }

var hotPaths = []hotPath{
	{name: "select by primary key", texts: []string{"SELECT v FROM t WHERE id = $1"},
		params: each(1, anyHotRow),
		atMost: cost{reads: 0.1, objects: 9, heap: 1500}},
	{name: "select by secondary index", texts: []string{"SELECT v FROM t WHERE h = $1"},
		params: each(1, anyHotRow),
		atMost: cost{reads: 1.1, objects: 46, heap: 12_800}},
	{name: "range of 100 rows", texts: []string{"SELECT v FROM t WHERE id >= $1 AND id < $1 + 100"},
		params: each(1, anyHotRow),
		atMost: cost{reads: 1.1, objects: 49, heap: 20_900}},
	{name: "insert with a secondary index", texts: []string{"INSERT INTO t VALUES ($1, $1, 'new')"},
		params: each(1, func(i int) []types.Datum { return ints(100_000 + i) }),
		atMost: cost{reads: 1.1, updates: 1, syncs: 1, cells: 2.1, bytes: 85, objects: 90,
			heap: 10_400}},
	{name: "update of an indexed column", texts: []string{"UPDATE t SET h = h + 1 WHERE id = $1"},
		params: each(1, anyHotRow),
		atMost: cost{reads: 0.1, updates: 1, syncs: 1, cells: 3.1, bytes: 120, objects: 128,
			heap: 14_900}},
	{name: "delete", texts: []string{"DELETE FROM t WHERE id = $1"},
		params: each(1, func(i int) []types.Datum { return ints(100_000 + i) }),
		atMost: cost{reads: 0.1, updates: 1, syncs: 1, cells: 2.1, bytes: 75, objects: 92,
			heap: 12_300}},
	{name: "TPC-B", texts: []string{"BEGIN",
		"UPDATE accounts SET n = n + 1 WHERE id = $1", "SELECT n FROM accounts WHERE id = $1",
		"UPDATE tellers SET n = n + 1 WHERE id = $1", "UPDATE branches SET n = n + 1 WHERE id = $1",
		"INSERT INTO history VALUES ($1, $1, $1, 1)", "COMMIT"},
		params: func(i int) [][]types.Datum {
			return [][]types.Datum{nil, ints(i%hotRows + 1), ints(i%hotRows + 1), ints(i%10 + 1),
				ints(1), ints(i), nil}
		},
		atMost: cost{reads: 1.1, updates: 1, syncs: 1, cells: 4.1, bytes: 150, objects: 331,
			heap: 41_300}},
}

// TestHotPathsCostLittle bounds what the statements that programs run all the time cost, by counts:
// what one asks of the store, writes, syncs and allocates, once it was run before.
func TestHotPathsCostLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector, which runs short tests, lets pools forget: objects are many")
	}
	engine, err := pebblekv.Open(t.TempDir(), pebblekv.Options{})
	require.NoError(t, err)
	on := record.New(engine)
	t.Cleanup(func() { require.NoError(t, on.Close()) })
	s := newSession(t, bareEngine(t, on))
	mustQuery(t, s, fmt.Sprintf(`CREATE TABLE t (id int PRIMARY KEY, h int, v text);
		INSERT INTO t SELECT i, i, 'value ' || i FROM generate_series(1, %[1]d) AS s (i);
		CREATE INDEX ON t (h);
		CREATE TABLE accounts (id int PRIMARY KEY, n int);
		INSERT INTO accounts SELECT i, 0 FROM generate_series(1, %[1]d) AS s (i);
		CREATE TABLE tellers (id int PRIMARY KEY, n int);
		INSERT INTO tellers SELECT i, 0 FROM generate_series(1, 10) AS s (i);
		CREATE TABLE branches (id int PRIMARY KEY, n int); INSERT INTO branches VALUES (1, 0);
		CREATE TABLE history (t int, b int, a int, d int);
		ANALYZE`, hotRows))
	for i := range hotPaths {
		path := &hotPaths[i]
		t.Run(path.name, func(t *testing.T) { path.measure(t, s, on) })
	}
}

// bareEngine returns an engine on a store with nothing between them that allocates by itself.
func bareEngine(t *testing.T, on kv.Engine) *sql.Engine {
	store, err := txn.Open(t.Context(), on, txn.Options{})
	require.NoError(t, err)
	cat, err := catalog.Open(t.Context(), store, catalog.WithPrograms(sql.Programs()))
	require.NoError(t, err)
	e := sql.NewEngine(store, cat, sql.Options{Memory: memory.NewPool(256 << 20)})
	t.Cleanup(func() {
		e.Close()
		require.NoError(t, cat.Close(context.Background()))
		require.NoError(t, store.Close())
	})
	return e
}

// measure runs the operation often, after it was run often enough for what is kept from one to the
// next to be there.
func (p *hotPath) measure(t *testing.T, s *sql.Session, on *record.Engine) {
	const warm, times = 2 * hotRows, 1000
	statements := make([]*sql.Prepared, len(p.texts))
	for i, text := range p.texts {
		var err error
		statements[i], err = s.Prepare(t.Context(), fmt.Sprint(p.name, i), text, nil, nil)
		require.NoError(t, err)
	}
	require.NoError(t, s.Sync(t.Context()))
	var n nowhere
	run := func(i int) {
		for j, params := range p.params(i) {
			portal, err := s.Bind(context.Background(), "", statements[j], params)
			require.NoError(t, err)
			_, err = s.Execute(context.Background(), portal, 0, &n)
			require.NoError(t, err)
			require.NoError(t, s.Sync(context.Background()))
		}
	}
	for i := range warm {
		run(i)
	}
	var m, was runtime.MemStats
	before := on.Counts()
	runtime.ReadMemStats(&was)
	for i := range times {
		run(warm + i)
	}
	runtime.ReadMemStats(&m)
	c := on.Since(before)
	per := func(n int64) float64 { return float64(n) / times }
	got := cost{reads: per(c.Gets + c.Iters), updates: per(c.Updates + c.Lazy),
		syncs: per(int64(c.Syncs)), cells: per(c.Sets + c.Deletes), bytes: per(c.Bytes),
		objects: per(int64(m.Mallocs - was.Mallocs)),
		heap:    per(int64(m.TotalAlloc - was.TotalAlloc))}
	t.Logf("%+v", got)
	require.LessOrEqual(t, got.reads, p.atMost.reads, "reads of the store")
	require.LessOrEqual(t, got.updates, p.atMost.updates+background, "updates of the store")
	require.LessOrEqual(t, got.syncs, p.atMost.syncs+background, "syncs of the log")
	require.LessOrEqual(t, got.cells, p.atMost.cells+background, "cells written")
	require.LessOrEqual(t, got.bytes, p.atMost.bytes+100*background, "bytes written")
	require.LessOrEqual(t, got.objects, p.atMost.objects, "objects allocated")
	require.LessOrEqual(t, got.heap, p.atMost.heap, "bytes allocated")
}
