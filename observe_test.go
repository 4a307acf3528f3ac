package minidb_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

func openObserved(t *testing.T, setup ...string) *minidb.DB {
	db, err := minidb.Open("", minidb.InMemory(), quiet)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, q := range setup {
		exec(t, db, q)
	}
	return db
}

// wordCount keeps the number of documents of each length up to date.
func wordCount(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
	add := func(m *minidb.Image, n int) error {
		if m == nil {
			return nil
		}
		var body string
		if err := m.Get("body", &body); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO counts VALUES ($1, $2)
			ON CONFLICT (len) DO UPDATE SET n = counts.n + $2`, len(body), n)
		return err
	}
	return errors.Join(add(c.Before, -1), add(c.Row, 1))
}

const countsBehind = `SELECT count(*) FROM
	(SELECT length(body) AS len, count(*) AS n FROM docs GROUP BY 1) d
	FULL JOIN (SELECT * FROM counts WHERE n <> 0) c USING (len) WHERE d.n IS DISTINCT FROM c.n`

var countTables = []string{"CREATE TABLE docs(url text PRIMARY KEY, body text, read int DEFAULT 0)",
	"CREATE TABLE counts(len int PRIMARY KEY, n int)"}

func TestObserveKeepsAnAggregate(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, countTables...)
	exec(t, db, "INSERT INTO docs SELECT 'old' || i, repeat('x', i % 7) FROM generate_series(1, "+
		"100) i")
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "lengths", Table: "docs",
		Columns: []string{"body"}, Workers: 2, Backfill: true}, wordCount))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 25 {
				_, err := db.Exec(ctx, "INSERT INTO docs VALUES ($1, repeat('y', $2))",
					fmt.Sprintf("new%d-%d", w, i), i%5)
				require.NoError(t, err)
				_, err = db.Exec(ctx, "UPDATE docs SET body = body || 'z' WHERE url = $1",
					fmt.Sprintf("old%d", 1+(w*25+i)%60))
				require.NoError(t, err)
			}
		})
	}
	wg.Wait()
	exec(t, db, "DELETE FROM docs WHERE url LIKE 'old1%'")
	exec(t, db, "UPDATE docs SET url = 'moved-' || url WHERE url LIKE 'old2%'")
	require.NoError(t, db.Settle(ctx, 0))
	require.Zero(t, scalar[int64](t, db, countsBehind))
}

func TestObserveSeesWhatChanged(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, countTables...)
	var mu sync.Mutex
	var seen []string
	look := func(_ context.Context, _ *minidb.Tx, c minidb.Change) error {
		mu.Lock()
		defer mu.Unlock()
		body := func(m *minidb.Image) string {
			if m == nil {
				return "nil"
			}
			var url, body string
			var read int
			require.NoError(t, m.Scan(&url, &body, &read))
			require.Equal(t, []string{"url", "body", "read"}, m.Columns())
			return body
		}
		require.Positive(t, c.Origin)
		seen = append(seen, fmt.Sprintf("%v %s>%s", c.Key, body(c.Before), body(c.Row)))
		return nil
	}
	settle := func(want ...string) {
		t.Helper()
		require.NoError(t, db.Settle(ctx, 0))
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, want, seen)
		seen = nil
	}
	exec(t, db, "INSERT INTO docs VALUES ('before', 'b')")
	observeCtx, stop := context.WithCancel(ctx)
	o := minidb.Observer{Name: "looks", Table: "public.docs", Columns: []string{"body"}}
	require.NoError(t, db.Observe(observeCtx, o, look))
	settle()
	exec(t, db, "INSERT INTO docs VALUES ('a', 'one')")
	settle("[a] nil>one")
	exec(t, db, "UPDATE docs SET read = read + 1")
	settle()
	exec(t, db, "UPDATE docs SET body = 'two' WHERE url = 'a'")
	settle("[a] one>two")
	exec(t, db, "BEGIN; UPDATE docs SET body = 'three'; UPDATE docs SET body = 'b' WHERE url = "+
		"'before'; COMMIT")
	settle("[a] two>three")
	exec(t, db, "BEGIN; INSERT INTO docs VALUES ('gone', 'x'); DELETE FROM docs WHERE url = "+
		"'gone'; COMMIT")
	exec(t, db, "BEGIN; DELETE FROM docs; ROLLBACK")
	settle()
	exec(t, db, "UPDATE docs SET url = 'c' WHERE url = 'a'")
	require.NoError(t, db.Settle(ctx, 0))
	mu.Lock()
	require.ElementsMatch(t, []string{"[a] three>nil", "[c] nil>three"}, seen)
	seen = nil
	mu.Unlock()

	stop()
	awaitStop(t, db)
	exec(t, db, "INSERT INTO docs VALUES ('came', 'and')")
	exec(t, db, "DELETE FROM docs WHERE url = 'came'")
	exec(t, db, "BEGIN; INSERT INTO docs VALUES ('at', 'once'); "+
		"DELETE FROM docs WHERE url = 'at'; COMMIT")
	exec(t, db, "UPDATE docs SET body = 'four' WHERE url = 'c'")
	exec(t, db, "DELETE FROM docs WHERE url = 'before'")
	err := db.Settle(ctx, 0)
	require.ErrorContains(t, err, `observer "looks" has changes pending and does not run`)
	require.NoError(t, db.Observe(ctx, o, look), "the same definition again")
	require.NoError(t, db.Settle(ctx, 0))
	mu.Lock()
	require.ElementsMatch(t, []string{"[came] nil>nil", "[c] three>four", "[before] b>nil"}, seen)
	mu.Unlock()
}

// TestARunKeepsItsSnapshot: the first statement of a function, on a table whose schema changed
// since the run began, does not get another snapshot than the one in which the change was found.
func TestARunKeepsItsSnapshot(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, countTables...)
	runs := 0
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "lengths", Table: "docs"},
		func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
			if runs++; runs == 1 {
				exec(t, db, "ALTER TABLE counts ADD COLUMN more int")
			}
			return wordCount(ctx, tx, c)
		}))
	exec(t, db, "INSERT INTO docs VALUES ('a', 'one')")
	require.NoError(t, db.Settle(ctx, 0))
	require.Zero(t, scalar[int64](t, db, countsBehind))
	require.Zero(t, scalar[int64](t, db, "SELECT failures FROM minidb_observers"))
}

// TestSettleSeesAChainWhole: work that passes from one observer to another, which Settle has looked
// at before, is waited for.
func TestSettleSeesAChainWhole(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, "CREATE TABLE a(id int PRIMARY KEY)",
		"CREATE TABLE b(id int PRIMARY KEY)", "CREATE TABLE c(id int PRIMARY KEY)")
	for i, to := range []string{"c", "b"} { // Settle looks at the end of the chain first
		from := []string{"b", "a"}[i]
		require.NoError(t, db.Observe(ctx, minidb.Observer{Name: fmt.Sprint(i), Table: from},
			func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
				_, err := tx.Exec(ctx, "INSERT INTO "+to+" VALUES ($1)", c.Key[0])
				return err
			}))
	}
	for i := range 300 {
		exec(t, db, fmt.Sprintf("INSERT INTO a VALUES (%d)", i))
		require.NoError(t, db.Settle(ctx, 0))
		require.EqualValues(t, i+1, scalar[int64](t, db, "SELECT count(*) FROM c"))
	}
}

func TestObserversThatFail(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, countTables...)
	release := make(chan struct{})
	observe := func(name string, timeout time.Duration, f minidb.ObserverFunc) {
		require.NoError(t, db.Observe(ctx, minidb.Observer{Name: name, Table: "docs", Attempts: 2,
			Timeout: timeout}, f))
	}
	observe("panics", 0, func(context.Context, *minidb.Tx, minidb.Change) error { panic("poison") })
	observe("ignores an error", 0,
		func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
			_, _ = tx.Exec(ctx, "SELECT 1/0")
			return nil
		})
	observe("waits", 0, func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
		select {
		case <-release:
			return nil
		default:
			return errors.New("not yet")
		}
	})
	late := make(chan error, 2)
	observe("never returns", time.Millisecond,
		func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
			<-release
			_, err := tx.Exec(context.Background(), "INSERT INTO counts VALUES (1, 1)")
			late <- err
			return err
		})
	exec(t, db, "INSERT INTO docs VALUES ('a', 'one')")
	err := db.Settle(ctx, 0)
	names := []string{"ignores an error", "never returns", "panics", "waits"}
	var rows []string
	for _, name := range names {
		require.ErrorContains(t, err, `observer "`+name+`" has given up 1 rows`)
		rows = append(rows, name+" public.docs(a) 2")
	}
	require.Contains(t, detail(err), "docs(a): not yet")
	require.Equal(t, strings.Join(rows, ", "), scalar[string](t, db,
		"SELECT string_agg(observer || ' ' || tablename || key || ' ' || attempts, ', ' ORDER BY "+
			"observer) FROM minidb_dead_letters"))
	require.EqualValues(t, 4, scalar[int64](t, db, "SELECT sum(dead_letters)::int8 FROM "+
		"minidb_observers WHERE running AND pending = 1 AND failures = 2 AND runs = 0"))

	close(release)
	for range 2 {
		require.Error(t, <-late, "its transaction is lost")
	}
	require.Zero(t, scalar[int64](t, db, "SELECT count(*) FROM counts"))
	for query, want := range map[string]int64{
		"SELECT minidb_drop_dead_letters('panics')":                1,
		"SELECT minidb_drop_dead_letters('never returns', '(a)')":  1,
		"SELECT minidb_retry_dead_letters('waits', '(b)')":         0,
		"SELECT minidb_retry_dead_letters('ignores an error', '')": 0,
	} {
		require.Equal(t, want, scalar[int64](t, db, query), query)
	}
	require.EqualValues(t, 1, scalar[int64](t, db, "SELECT minidb_retry_dead_letters('waits')"))
	err = db.Settle(ctx, 0)
	require.ErrorContains(t, err, "ignores an error")
	for _, name := range []string{"never returns", "panics", "waits"} {
		require.NotContains(t, err.Error(), name)
	}
	require.EqualValues(t, 1, scalar[int64](t, db,
		"SELECT runs FROM minidb_observers WHERE name = 'waits'"))
}

// detail joins the details of errors.
func detail(err error) string {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []string
		for _, e := range many.Unwrap() {
			all = append(all, detail(e))
		}
		return strings.Join(all, "\n")
	}
	var e *minidb.Error
	errors.As(err, &e)
	return e.Detail
}

func TestChainsOfObservers(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, "CREATE TABLE a(id int PRIMARY KEY, v int)",
		"CREATE TABLE b(id int PRIMARY KEY, v int)", "CREATE TABLE c(id int PRIMARY KEY, v int)")
	var mu sync.Mutex
	origins := map[string][]int64{}
	copyTo := func(to string) minidb.ObserverFunc {
		return func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
			var id, v int
			if err := c.Row.Scan(&id, &v); err != nil {
				return err
			}
			mu.Lock()
			origins[to] = append(origins[to], c.Origin, int64(c.Generation))
			mu.Unlock()
			_, err := tx.Exec(ctx, "INSERT INTO "+to+" VALUES ($1, $2) ON CONFLICT (id) DO "+
				"UPDATE SET v = excluded.v", id, v)
			return err
		}
	}
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "ab", Table: "a"}, copyTo("b")))
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "bc", Table: "b"}, copyTo("c")))
	exec(t, db, "INSERT INTO a VALUES (1, 5)")
	require.NoError(t, db.Settle(ctx, 0))
	require.EqualValues(t, 5, scalar[int64](t, db, "SELECT v::int8 FROM c"))
	require.Equal(t, []int64{origins["b"][0], 0}, origins["b"])
	require.Equal(t, []int64{origins["b"][0], 1}, origins["c"], "the change from outside")
}

func TestRefusedObservers(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, countTables...)
	f := func(context.Context, *minidb.Tx, minidb.Change) error { return nil }
	refused := func(code string, o minidb.Observer) {
		t.Helper()
		var e *minidb.Error
		require.ErrorAs(t, db.Observe(ctx, o, f), &e)
		require.Equal(t, code, e.Code, e.Message)
	}
	refused("42P01", minidb.Observer{Name: "o", Table: "nothing"})
	refused("42703", minidb.Observer{Name: "o", Table: "docs", Columns: []string{"nothing"}})
	refused("42809", minidb.Observer{Name: "o", Table: "pg_class"})
	refused("22023", minidb.Observer{Table: "docs"})
	refused("22023", minidb.Observer{Name: "o", Table: "docs", Workers: -1})
	require.Error(t, db.Observe(ctx, minidb.Observer{Name: "o", Table: "docs"}, nil))
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "o", Table: "docs", Version: 2}, f))
	refused("55006", minidb.Observer{Name: "o", Table: "docs", Version: 2})
	refused("55000", minidb.Observer{Name: "o", Table: "docs", Version: 1})
	refused("42710", minidb.Observer{Name: "o", Table: "docs", Version: 2, Backfill: true})
	refused("42710", minidb.Observer{Name: "o", Table: "counts", Version: 3})
	require.NoError(t, db.DropObserver(ctx, "o"))
	var e *minidb.Error
	require.ErrorAs(t, db.DropObserver(ctx, "o"), &e)
	require.Equal(t, "42704", e.Code)
}

func TestObserversOutliveTheirProcess(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for round := range 3 {
		db, err := minidb.Open(dir, quiet)
		require.NoError(t, err)
		if round == 0 {
			for _, q := range countTables {
				exec(t, db, q)
			}
		}
		if round != 1 { // in between no program runs it
			require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "lengths", Table: "docs"},
				wordCount))
		}
		exec(t, db, fmt.Sprintf("INSERT INTO docs SELECT %d || '-' || i, repeat('x', i %% 3) "+
			"FROM generate_series(1, 20) i; UPDATE docs SET body = body || 'y'", round))
		if round == 2 {
			require.NoError(t, db.Settle(ctx, 0))
			require.Zero(t, scalar[int64](t, db, countsBehind))
		}
		require.NoError(t, db.Close())
	}
}

// awaitStop waits until no observer runs: the end of a context stops it in the background.
func awaitStop(t *testing.T, db *minidb.DB) {
	for scalar[int64](t, db, "SELECT count(*) FROM minidb_observers WHERE running") > 0 {
		runtime.Gosched()
	}
}

// left counts the cells of the notify column.
func left(t *testing.T, db *minidb.DB) (n int) {
	require.NoError(t, db.Store().Notifications(context.Background(), kv.Span{},
		func([]byte, *txn.Notification) error {
			n++
			return nil
		}))
	return n
}

func TestANewVersionBeginsAnewOrGoesOn(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, "CREATE TABLE t(id int PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)")
	var mu sync.Mutex
	seen := map[int64]int{}
	run := func(version int64, backfill bool) {
		observeCtx, stop := context.WithCancel(ctx)
		require.NoError(t, db.Observe(observeCtx, minidb.Observer{Name: "o", Table: "t",
			Version: version, Backfill: backfill},
			func(context.Context, *minidb.Tx, minidb.Change) error {
				mu.Lock()
				defer mu.Unlock()
				seen[version]++
				return nil
			}))
		require.NoError(t, db.Settle(ctx, 0))
		stop()
		awaitStop(t, db)
	}
	run(1, true)
	exec(t, db, "INSERT INTO t VALUES (3)")
	run(2, false)
	exec(t, db, "INSERT INTO t VALUES (4)")
	run(3, true)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, map[int64]int{1: 2, 2: 1, 3: 4}, seen)
	for left(t, db) > 0 {
		runtime.Gosched() // the sweeper is at what version 2 did not see
	}
}

func TestADroppedObserverLeavesNothing(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, "CREATE TABLE t(id int PRIMARY KEY)")
	exec(t, db, "SELECT minidb_create_observer('o', 't', 1, NULL, false)")
	exec(t, db, "INSERT INTO t SELECT generate_series(1, 1200)")
	require.Equal(t, 1200, left(t, db))
	require.NoError(t, db.DropObserver(ctx, "o"))
	exec(t, db, "INSERT INTO t VALUES (0)")
	for left(t, db) > 0 {
		runtime.Gosched()
	}
}

// TestARunReadsOneSnapshot: what the function reads is what the change says.
func TestARunReadsOneSnapshot(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, "CREATE TABLE t(id int PRIMARY KEY, v int)")
	began, changed := make(chan struct{}, 1), make(chan struct{})
	var got []int
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "o", Table: "t"},
		func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
			var told, read int
			if err := c.Row.Get("v", &told); err != nil {
				return err
			}
			select {
			case began <- struct{}{}:
			default:
			}
			<-changed
			if err := tx.QueryRow(ctx, "SELECT v FROM t").Scan(&read); err != nil {
				return err
			}
			got = append(got, told, read)
			return nil
		}))
	exec(t, db, "INSERT INTO t VALUES (1, 1)")
	<-began
	exec(t, db, "UPDATE t SET v = 2")
	close(changed)
	require.NoError(t, db.Settle(ctx, 0))
	require.Equal(t, []int{1, 1, 2, 2}, got)
}

func TestAChainThatFeedsItselfEnds(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, "CREATE TABLE t(id int PRIMARY KEY, v int)")
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "o", Table: "t", Attempts: 1},
		func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
			_, err := tx.Exec(ctx, "UPDATE t SET v = v + 1")
			return err
		}))
	exec(t, db, "INSERT INTO t VALUES (1, 0)")
	require.ErrorContains(t, db.Settle(ctx, 0), `observer "o" has given up 1 rows`)
	require.EqualValues(t, 100, scalar[int64](t, db, "SELECT v::int8 FROM t"))
	require.Contains(t, scalar[string](t, db, "SELECT error FROM minidb_dead_letters"),
		"does one of them observe what it writes?")
}

// The dead letter of a chain that feeds itself, and Settle, name the observers that it went
// through.
func TestTheChainThatFeedsItselfIsNamed(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, "CREATE TABLE a(id int PRIMARY KEY, v int)",
		"CREATE TABLE b(id int PRIMARY KEY, v int)")
	for name, to := range map[string]string{"a": "b", "b": "a"} {
		require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "of " + name, Table: name,
			Attempts: 1}, func(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
			_, err := tx.Exec(ctx, "INSERT INTO "+to+" VALUES ($1, 0) ON CONFLICT (id) DO UPDATE "+
				"SET v = excluded.v + 1 + "+to+".v", c.Key[0])
			return err
		}))
	}
	exec(t, db, "INSERT INTO a VALUES (1, 0)")
	path := strings.Repeat("of a → of b → ", 4) + "of a: does one of them"
	require.Contains(t, detail(db.Settle(ctx, 0)), path)
	require.Contains(t, scalar[string](t, db, "SELECT error FROM minidb_dead_letters"), path)

	// A client that takes leaves the dead letter, too.
	require.EqualValues(t, 1, scalar[int64](t, db, "SELECT minidb_drop_dead_letters('of a')"))
	require.NoError(t, db.DropObserver(ctx, "of a"))
	exec(t, db, "SELECT minidb_create_observer('client', 'a', 0, NULL, false)")
	exec(t, db, "UPDATE a SET v = 0")
	const work = `INSERT INTO b SELECT (key->>'id')::int, 0 FROM minidb_take('client', 5)
		ON CONFLICT (id) DO UPDATE SET v = b.v + 1 RETURNING id`
	for runs := 0; ; runs++ {
		rows, err := db.Query(ctx, work)
		require.NoError(t, err)
		more := rows.Next()
		require.NoError(t, rows.Close())
		if !more {
			require.Equal(t, 50, runs)
			break
		}
		for scalar[int64](t, db, "SELECT pending FROM minidb_observers WHERE name = 'of b'") > 0 {
			continue
		}
	}
	path = strings.Repeat("client → of b → ", 4) + "client: does one of them"
	require.Contains(t, scalar[string](t, db, "SELECT error FROM minidb_dead_letters"), path)
}

// TestAFullDiskIsNoFailureOfTheFunction: a row is not given up for what another row would meet too.
func TestAFullDiskIsNoFailureOfTheFunction(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, "CREATE TABLE t(id int PRIMARY KEY)")
	calls := 0
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "o", Table: "t", Attempts: 2},
		func(context.Context, *minidb.Tx, minidb.Change) error {
			if calls++; calls < 5 {
				return fmt.Errorf("not now: %w", &minidb.Error{Code: "53100", Message: "disk full"})
			}
			return nil
		}))
	exec(t, db, "INSERT INTO t VALUES (1)")
	require.NoError(t, db.Settle(ctx, 0))
	require.Equal(t, 5, calls)
	require.EqualValues(t, 1, scalar[int64](t, db,
		"SELECT count(*) FROM minidb_observers WHERE runs = 1 AND failures = 4 AND dead_letters "+
			"= 0"))
}
