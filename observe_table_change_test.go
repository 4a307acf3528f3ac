package minidb_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/minidb/minidb"
	"github.com/stretchr/testify/require"
)

// watching runs an observer that writes down what it is given.
type watching struct {
	t    *testing.T
	db   *minidb.DB
	stop func()

	mu   sync.Mutex
	seen []string
}

func watch(t *testing.T, db *minidb.DB, o minidb.Observer) *watching {
	w := &watching{t: t, db: db}
	w.start(o)
	return w
}

func (w *watching) start(o minidb.Observer) {
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	require.NoError(w.t, w.db.Observe(ctx, o,
		func(_ context.Context, _ *minidb.Tx, c minidb.Change) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.seen = append(w.seen, fmt.Sprintf("%v %s>%s", c.Key, row(w.t, c.Before),
				row(w.t, c.Row)))
			return nil
		}))
}

// row is the text of a row: (1,a).
func row(t *testing.T, m *minidb.Image) string {
	if m == nil {
		return "nil"
	}
	var values []string
	for _, name := range m.Columns() {
		var v any
		require.NoError(t, m.Get(name, &v))
		values = append(values, fmt.Sprint(v))
	}
	return "(" + strings.Join(values, ",") + ")"
}

// settles holds that nothing is left to do, and that the observer was given all of want, in any
// order, since the last time.
func (w *watching) settles(want ...string) {
	w.t.Helper()
	require.NoError(w.t, w.db.Settle(context.Background(), 0))
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.seen)
	slices.Sort(want)
	require.Equal(w.t, want, w.seen)
	w.seen = nil
}

func TestTruncateOfAnObservedTable(t *testing.T) {
	db := openObserved(t, "CREATE TABLE t(k int PRIMARY KEY, v text)",
		"INSERT INTO t VALUES (0, 'before')")
	w := watch(t, db, minidb.Observer{Name: "o", Table: "t"})
	exec(t, db, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")
	w.settles("[1] nil>(1,a)", "[2] nil>(2,b)")
	exec(t, db, "TRUNCATE t")
	w.settles("[0] (0,before)>nil", "[1] (1,a)>nil", "[2] (2,b)>nil")
	exec(t, db, "INSERT INTO t VALUES (1, 'c'), (2, 'd')")
	w.settles("[1] nil>(1,c)", "[2] nil>(2,d)")
	exec(t, db, "BEGIN; SAVEPOINT s; TRUNCATE t; INSERT INTO t VALUES (3, 'x'); ROLLBACK TO s; "+
		"UPDATE t SET v = 'e' WHERE k = 1; COMMIT")
	w.settles("[1] (1,c)>(1,e)")
	exec(t, db, "BEGIN; TRUNCATE t; ROLLBACK")
	w.settles()
	exec(t, db, "BEGIN; TRUNCATE t; INSERT INTO t VALUES (2, 'f'), (3, 'g'); COMMIT")
	w.settles("[1] (1,e)>nil", "[2] (2,d)>(2,f)", "[3] nil>(3,g)")
	exec(t, db, "BEGIN; TRUNCATE t; INSERT INTO t VALUES (2, 'f'), (4, 'x'); TRUNCATE t; "+
		"INSERT INTO t VALUES (3, 'g'), (2, 'h'); COMMIT")
	w.settles("[2] (2,f)>(2,h)")

	// Changes that wait while nothing runs the observer, over several places.
	w.stop()
	awaitStop(t, db)
	exec(t, db, "UPDATE t SET v = 'i' WHERE k = 2")
	exec(t, db, "INSERT INTO t VALUES (5, 'y')")
	exec(t, db, "TRUNCATE t")
	exec(t, db, "INSERT INTO t VALUES (2, 'j')")
	require.ErrorContains(t, db.Settle(context.Background(), 0), "has changes pending")
	require.EqualValues(t, 1, scalar[int64](t, db, "SELECT table_changes FROM minidb_observers"))
	exec(t, db, "TRUNCATE t")
	exec(t, db, "INSERT INTO t VALUES (2, 'k'), (6, 'l')")
	w.start(minidb.Observer{Name: "o", Table: "t"})
	w.settles("[2] (2,h)>(2,k)", "[3] (3,g)>nil", "[6] nil>(6,l)")
	require.Zero(t, scalar[int64](t, db, "SELECT table_changes FROM minidb_observers"))
	checkObserved(t, db)
}

// checkObserved holds that the store is sound.
func checkObserved(t *testing.T, db *minidb.DB) {
	t.Helper()
	problems, err := db.Check(context.Background())
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestRewritesOfAnObservedTable(t *testing.T) {
	db := openObserved(t, "CREATE TABLE t(k int PRIMARY KEY, v text, n int DEFAULT 7)",
		"INSERT INTO t VALUES (1, '10'), (2, '20')")
	w := watch(t, db, minidb.Observer{Name: "o", Table: "t", Backfill: true})
	v := watch(t, db, minidb.Observer{Name: "of v", Table: "t", Columns: []string{"v"}})
	w.settles("[1] nil>(1,10,7)", "[2] nil>(2,20,7)")
	exec(t, db, "ALTER TABLE t ALTER n TYPE numeric USING n + 0.5")
	w.settles("[1] (1,10,7)>(1,10,7.5)", "[2] (2,20,7)>(2,20,7.5)")
	exec(t, db, "BEGIN; UPDATE t SET v = '11' WHERE k = 1; "+
		"ALTER TABLE t ALTER n TYPE text; INSERT INTO t VALUES (3, '30', 'n'); COMMIT")
	w.settles("[1] (1,10,7.5)>(1,11,7.5)", "[2] (2,20,7.5)>(2,20,7.5)", "[3] nil>(3,30,n)")
	exec(t, db, "ALTER TABLE t DROP n, ADD m int DEFAULT floor(random())::int + 2")
	w.settles("[1] (1,11,<nil>)>(1,11,2)", "[2] (2,20,<nil>)>(2,20,2)",
		"[3] (3,30,<nil>)>(3,30,2)")
	exec(t, db, "ALTER TABLE t ALTER k TYPE bigint")
	w.settles() // the rows are the same, byte for byte
	v.settles("[1] (1,10,7.5)>(1,11,7.5)", "[3] nil>(3,30,n)")

	// New keys: rows that are gone, and rows that are new.
	gone := []string{"[1] (1,11,2)>nil", "[2] (2,20,2)>nil", "[3] (3,30,2)>nil"}
	came := []string{"[] nil>(1,11,2)", "[] nil>(2,20,2)", "[] nil>(3,30,2)"}
	exec(t, db, "ALTER TABLE t DROP CONSTRAINT t_pkey")
	w.settles(slices.Concat(gone, came)...)
	v.settles(slices.Concat(gone, came)...)
	exec(t, db, "UPDATE t SET v = '12' WHERE k = 1")
	w.settles("[] (1,11,2)>(1,12,2)")
	v.settles("[] (1,11,2)>(1,12,2)")
	w.stop()
	v.stop()
	awaitStop(t, db)
	awaitStop(t, db)
	exec(t, db, "UPDATE t SET v = '13' WHERE k = 1")
	exec(t, db, "DELETE FROM t WHERE k = 2")
	exec(t, db, "ALTER TABLE t ADD PRIMARY KEY (k)")
	exec(t, db, "UPDATE t SET v = '31' WHERE k = 3")
	exec(t, db, "INSERT INTO t VALUES (4, '40')")
	w.start(minidb.Observer{Name: "o", Table: "t", Backfill: true})
	v.start(minidb.Observer{Name: "of v", Table: "t", Columns: []string{"v"}})
	want := []string{"[] (1,12,2)>nil", "[] (2,20,2)>nil", "[] (3,30,2)>nil",
		"[1] nil>(1,13,2)", "[3] nil>(3,31,2)", "[4] nil>(4,40,2)"}
	w.settles(want...)
	v.settles(want...)
	exec(t, db, "ALTER TABLE t ALTER k TYPE int USING k + 1")
	want = []string{"[1] (1,13,2)>nil", "[3] (3,31,2)>nil", "[4] (4,40,2)>nil",
		"[2] nil>(2,13,2)", "[4] nil>(4,31,2)", "[5] nil>(5,40,2)"}
	w.settles(want...)
	v.settles(want...)
	checkObserved(t, db)
}

// TestAnAggregateFollowsTruncatesAndRewrites beside writers.
func TestAnAggregateFollowsTruncatesAndRewrites(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, countTables...)
	exec(t, db, "INSERT INTO docs SELECT 'old' || i, repeat('x', i % 7) FROM "+
		"generate_series(1, 700) i")
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "lengths", Table: "docs",
		Columns: []string{"body"}, Workers: 2, Backfill: true}, wordCount))
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			for i := range 60 {
				_, err := db.Exec(ctx, `INSERT INTO docs(url, body) VALUES ($1, repeat('y', $2))
					ON CONFLICT (url) DO UPDATE SET body = docs.body || 'z'`,
					fmt.Sprintf("new%d-%d", w, i%20), i%5)
				require.NoError(t, err)
			}
		})
	}
	for i := range 4 {
		exec(t, db, fmt.Sprintf("ALTER TABLE docs ADD c%d float DEFAULT random()", i))
		exec(t, db, "DELETE FROM docs WHERE length(body) = 3")
		exec(t, db, "TRUNCATE docs")
		exec(t, db, "INSERT INTO docs SELECT 'old' || i, repeat('x', i % 5) FROM "+
			"generate_series(1, 30) i")
	}
	writers.Wait()
	exec(t, db, "ALTER TABLE docs DROP CONSTRAINT docs_pkey")
	exec(t, db, "ALTER TABLE docs ADD PRIMARY KEY (url)")
	require.NoError(t, db.Settle(ctx, 0))
	require.Zero(t, scalar[int64](t, db, countsBehind))
	checkObserved(t, db)
}
