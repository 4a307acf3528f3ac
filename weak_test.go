package minidb_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/stretchr/testify/require"
)

var pageTables = []string{
	"CREATE TABLE visits(id int PRIMARY KEY, url text)",
	"CREATE TABLE pages(url text PRIMARY KEY, title text, visits int8 DEFAULT 0)",
}

// recount is the second half of what counts visits: it runs once for many of them.
func recount(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
	_, err := tx.Exec(ctx, `INSERT INTO pages (url, visits)
		SELECT $1, count(*) FROM visits WHERE url = $1
		ON CONFLICT (url) DO UPDATE SET visits = excluded.visits`, c.Key[0])
	return err
}

const visitsBehind = `SELECT count(*) FROM (SELECT url, count(*) FROM visits GROUP BY url) v
	FULL JOIN pages p USING (url) WHERE v.count IS DISTINCT FROM p.visits`

// notifyPage is the first half.
func notifyPage(ctx context.Context, tx *minidb.Tx, c minidb.Change) error {
	var url string
	if err := c.Row.Get("url", &url); err != nil {
		return err
	}
	return tx.Notify(ctx, "pages", url)
}

// Many runs notify of one row, none of them conflicts with another, and what they lead to is right.
func TestWeakNotificationsSplitAHotObserver(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, pageTables...)
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "pages", Table: "pages",
		Columns: []string{"title"}}, recount))
	require.NoError(t, db.Observe(ctx, minidb.Observer{Name: "visits", Table: "visits",
		Workers: 8}, notifyPage))
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				_, err := db.Exec(ctx, "INSERT INTO visits VALUES ($1, $2)", w*100+i,
					[]string{"hot", fmt.Sprint(i % 5)}[i%2])
				require.NoError(t, err)
			}
		})
	}
	wg.Wait()
	require.NoError(t, db.Settle(ctx, 0))
	require.Zero(t, scalar[int64](t, db, visitsBehind))
	require.Zero(t, scalar[int64](t, db,
		"SELECT conflicts FROM minidb_observers WHERE name = 'visits'"))
	require.LessOrEqual(t, scalar[int64](t, db,
		"SELECT runs FROM minidb_observers WHERE name = 'pages'"), int64(200+6))
	require.Zero(t, left(t, db))
	require.Zero(t, weakKeys(t, db))
}

// weakKeys counts the keys of weak notifications.
func weakKeys(t *testing.T, db *minidb.DB) (n int) {
	ctx := context.Background()
	tx, err := db.Store().Begin(ctx, txn.BeginOptions{ReadOnly: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(ctx)) }()
	span := kv.Span{Start: []byte{table.PrefixObserver}, End: []byte{table.PrefixObserver + 1}}
	it, err := tx.Scan(ctx, span, txn.ScanOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, it.Close()) }()
	for it.Next() {
		if _, kind, _, ok := table.DecodeObserverKey(it.Key()); ok && kind == table.ObserverWeak {
			n++
		}
	}
	return n
}

func TestWeakNotifications(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, pageTables...)
	exec(t, db, "SELECT minidb_create_observer('pages', 'pages', 0, '{title}', false)")
	exec(t, db, "INSERT INTO pages VALUES ('there', 'x')")
	require.EqualValues(t, 1, scalar[int64](t, db, "SELECT count(*) FROM minidb_take('pages', 9)"))

	// Delivered if and only if the transaction commits, also by a savepoint.
	exec(t, db, `BEGIN; SELECT minidb_notify('pages', '{"url": "no"}'); ROLLBACK`)
	exec(t, db, `BEGIN; SELECT minidb_notify('pages', '{"url": "there"}'); SAVEPOINT s;
		SELECT minidb_notify('pages', '{"url": "no"}'); ROLLBACK TO s; COMMIT`)
	require.NoError(t, db.Update(ctx, func(tx *minidb.Tx) error {
		return errors.Join(tx.Notify(ctx, "pages", "missing"), tx.Notify(ctx, "pages", "missing"))
	}))
	exec(t, db, `SELECT minidb_notify('pages', '{"url": "missing"}')`)
	require.EqualValues(t, 2, scalar[int64](t, db, "SELECT pending FROM minidb_observers"))
	require.ErrorContains(t, db.Settle(ctx, 0), "pages")

	type run struct {
		key         any
		row, before bool
		weak        bool
	}
	var mu sync.Mutex
	var runs []run
	fail := true
	o := minidb.Observer{Name: "pages", Table: "pages", Columns: []string{"title"}, Attempts: 1}
	require.NoError(t, db.Observe(ctx, o,
		func(_ context.Context, _ *minidb.Tx, c minidb.Change) error {
			mu.Lock()
			defer mu.Unlock()
			if fail && c.Key[0] == "poison" {
				return errors.New("poison")
			}
			runs = append(runs, run{c.Key[0], c.Row != nil, c.Before != nil, c.Weak})
			return nil
		}))
	settled := func(want ...run) {
		t.Helper()
		require.NoError(t, db.Settle(ctx, 0))
		mu.Lock()
		defer mu.Unlock()
		require.ElementsMatch(t, want, runs)
		runs = nil
		require.Zero(t, left(t, db))
		require.Zero(t, weakKeys(t, db))
	}
	settled(run{"there", true, true, true}, run{"missing", false, false, true})

	// A change and a weak notification are one run.
	exec(t, db, `BEGIN; UPDATE pages SET title = 'y'; SELECT minidb_notify('pages',
		'{"url": "there"}'); COMMIT`)
	require.NoError(t, db.Settle(ctx, 0))
	mu.Lock()
	require.Contains(t, runs, run{"there", true, true, true})
	runs = nil
	mu.Unlock()

	// Of a row that is given up they are kept.
	exec(t, db, `SELECT minidb_notify('pages', '{"url": "poison"}')`)
	require.ErrorContains(t, db.Settle(ctx, 0), "given up 1 rows")
	require.Equal(t, "(poison)", scalar[string](t, db, "SELECT key FROM minidb_dead_letters"))
	mu.Lock()
	fail = false
	mu.Unlock()
	require.EqualValues(t, 1, scalar[int64](t, db, "SELECT minidb_retry_dead_letters('pages')"))
	settled(run{"poison", false, false, true})

	mu.Lock()
	fail = true
	mu.Unlock()
	exec(t, db, `SELECT minidb_notify('pages', '{"url": "poison"}')`)
	require.ErrorContains(t, db.Settle(ctx, 0), "given up 1 rows")
	require.EqualValues(t, 1, scalar[int64](t, db, "SELECT minidb_drop_dead_letters('pages')"))
	require.NoError(t, db.Settle(ctx, 0))
	require.Zero(t, weakKeys(t, db))

	for q, code := range map[string]string{
		`SELECT minidb_notify('nobody', '{"url": "x"}')`:        "42704",
		`SELECT minidb_notify('pages', '{"title": "x"}')`:       "22023",
		`SELECT minidb_notify('pages', '{"url": "x", "a": 1}')`: "22023",
		`SELECT minidb_notify('pages', '[]')`:                   "22023",
	} {
		var e *minidb.Error
		_, err := db.Exec(ctx, q)
		require.ErrorAs(t, err, &e, q)
		require.Equal(t, code, e.Code, q)
	}
	require.Error(t, db.Update(ctx, func(tx *minidb.Tx) error {
		return tx.Notify(ctx, "pages")
	}))
}

// A client gets what was asked for by weak notifications, and its commit deals with them.
func TestTakesOfWeakNotifications(t *testing.T) {
	ctx := context.Background()
	db := openObserved(t, pageTables...)
	exec(t, db, "SELECT minidb_create_observer('pages', 'pages', 0, '{title}', false)")
	exec(t, db, `SELECT minidb_notify('pages', '{"url": "a"}')`)
	exec(t, db, `SELECT minidb_notify('pages', '{"url": "a"}')`)
	tx, err := db.Begin(ctx)
	require.NoError(t, err)
	take := "SELECT coalesce(string_agg(key->>'url', ' '), '') FROM minidb_take('pages', 9)"
	var keys string
	require.NoError(t, tx.QueryRow(ctx, take).Scan(&keys))
	require.Equal(t, "a", keys)
	require.NoError(t, tx.QueryRow(ctx, take).Scan(&keys))
	require.Empty(t, keys)
	require.NoError(t, tx.Rollback(ctx))
	require.Equal(t, "a", scalar[string](t, db, take))
	require.Empty(t, scalar[string](t, db, take))
	require.Zero(t, left(t, db))
	require.Zero(t, weakKeys(t, db))
}
