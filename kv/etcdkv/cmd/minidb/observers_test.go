package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

const (
	loaders     = 8
	takers      = 2
	urlsOfEach  = 6  // documents of each loader, which no other one writes
	contents    = 12 // hashes
	lengthMax   = 5
	changesEach = 10 // changes that a client takes at once, at most
)

// crawl is clients that store, replace and remove documents on all gateways, and clients that take
// the changes, beside the observers and the views of the gateways.
type crawl struct {
	c             *cluster
	loading, rest sync.WaitGroup
	end, settled  chan struct{} // of the loaders, of the takers
	tally
	taken atomic.Int64

	urls sync.Mutex
	may  map[int][]document // what each may be: the last known state and what is unknown since
}

// document is the row of a URL; the zero value is none.
type document struct{ hash, length int }

// TestObserversUnderKills kills gateways, which run observers and views, the one that serves
// timestamps, members and the leader, under a load of documents. At the end each derived table is
// what the documents make: no change was lost, and none was dealt with twice.
func TestObserversUnderKills(t *testing.T) {
	t.Parallel()
	c := startClusterOf(t, "observing")
	l := startCrawl(t, c)
	l.more(30)
	for round := range rounds(t, 3) {
		for _, v := range c.victims(t, round) {
			v.kill()
			t.Logf("round %d, %s: 15 commits after %s", round, v.what, l.more(15))
			v.start()
			l.more(15)
		}
	}
	l.finish(t)
}

func startCrawl(t *testing.T, c *cluster) *crawl {
	l := &crawl{c: c, end: make(chan struct{}), settled: make(chan struct{}),
		may: map[int][]document{}}
	for i := range loaders {
		l.loading.Go(func() {
			c.client(i, l.end, func(conn *pgx.Conn, r *rand.Rand) { l.load(i, conn, r) })
		})
	}
	for i := range takers {
		l.rest.Go(func() { c.client(i, l.settled, l.take) })
	}
	return l
}

// load changes one or two documents of a loader in one transaction.
func (l *crawl) load(loader int, conn *pgx.Conn, r *rand.Rand) {
	next := map[int]document{}
	var texts []string
	for range 1 + r.IntN(2) {
		url := loader*urlsOfEach + r.IntN(urlsOfEach)
		if r.IntN(5) == 0 {
			next[url] = document{}
			texts = append(texts, fmt.Sprintf("DELETE FROM documents WHERE url = %d", url))
			continue
		}
		d := document{hash: r.IntN(contents), length: 1 + r.IntN(lengthMax)}
		next[url] = d
		texts = append(texts, fmt.Sprintf(`INSERT INTO documents VALUES (%d, %d, %d)
			ON CONFLICT (url) DO UPDATE SET hash = excluded.hash, length = excluded.length`,
			url, d.hash, d.length))
	}
	out, err := l.change(conn, r, texts)
	l.note(strings.Join(texts, "; "), out, err)
	l.urls.Lock()
	defer l.urls.Unlock()
	for url, d := range next {
		switch out {
		case acknowledged:
			l.may[url] = []document{d}
		case unknown:
			if l.may[url] == nil {
				l.may[url] = []document{{}}
			}
			l.may[url] = append(l.may[url], d)
		}
	}
}

// change runs one statement by itself, or several in a block.
func (l *crawl) change(conn *pgx.Conn, r *rand.Rand, texts []string) (outcome, error) {
	if len(texts) == 1 {
		return ended(execute(conn, texts[0]))
	}
	level := []string{"read committed", "repeatable read", "serializable"}[r.IntN(3)]
	for _, text := range append([]string{"BEGIN ISOLATION LEVEL " + level}, texts...) {
		if err := execute(conn, text); err != nil {
			return refused, undo(conn, err)
		}
	}
	return ended(execute(conn, "COMMIT"))
}

// take takes changes and counts the documents by their lengths, in one transaction: a run of the
// observer "lengths".
func (l *crawl) take(conn *pgx.Conn, _ *rand.Rand) {
	n, out, err := l.takeSome(conn)
	if out != acknowledged {
		l.note("take", out, err)
		return
	}
	l.taken.Add(int64(n))
}

// takeSome returns how many changes it has taken.
func (l *crawl) takeSome(conn *pgx.Conn) (n int, out outcome, err error) {
	if err := execute(conn, "BEGIN"); err != nil {
		return 0, refused, undo(conn, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), stuck)
	defer cancel()
	rows, err := conn.Query(ctx, fmt.Sprintf(`SELECT before ->> 'length', row ->> 'length'
		FROM minidb_take('lengths', %d, '200 milliseconds')`, changesEach))
	if err != nil {
		return 0, refused, undo(conn, err)
	}
	by := map[string]int{}
	var before, after *string
	if _, err := pgx.ForEachRow(rows, []any{&before, &after}, func() error {
		n++
		if before != nil {
			by[*before]--
		}
		if after != nil {
			by[*after]++
		}
		return nil
	}); err != nil {
		return 0, refused, undo(conn, err)
	}
	for _, length := range slices.Sorted(maps.Keys(by)) {
		if err := execute(conn, fmt.Sprintf(`INSERT INTO lengths AS l VALUES (%s, %d)
			ON CONFLICT (length) DO UPDATE SET n = l.n + excluded.n`, length,
			by[length])); err != nil {
			return 0, refused, undo(conn, err)
		}
	}
	out, err = ended(execute(conn, "COMMIT"))
	return n, out, err
}

// finish ends the loaders, waits until all is derived, and proves that it is right.
func (l *crawl) finish(t *testing.T) {
	close(l.end)
	l.loading.Wait()
	ctx := context.Background()
	conn, err := connect(ctx, l.c.gateways[0].addr)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(ctx)) }()
	begun := time.Now()
	settle(t, conn)
	t.Logf("settled after %s", time.Since(begun))
	close(l.settled)
	l.rest.Wait()
	require.NoError(t, l.anything)
	require.NotZero(t, l.taken.Load())
	l.compareDocuments(t, conn)
	for name, query := range derived {
		var n, differences int
		require.NoError(t, conn.QueryRow(ctx, fmt.Sprintf(`
			WITH want AS MATERIALIZED (%s), got AS MATERIALIZED (SELECT * FROM %s)
			SELECT (SELECT count(*) FROM got), count(*)
			FROM ((TABLE want EXCEPT ALL TABLE got)
				UNION ALL (TABLE got EXCEPT ALL TABLE want)) d`,
			query, name)).Scan(&n, &differences))
		require.Zero(t, differences, "%s differs from what the documents make", name)
		require.NotZero(t, n, name)
		t.Logf("%s: %d rows, no differences", name, n)
	}
	t.Logf("%d transactions of loaders, %d changes taken: %v", l.commits.Load(), l.taken.Load(),
		l.refused)
	t.Log(l.c.run(t, "check", "--store", l.c.store))
}

// derived is what each derived table must be.
var derived = map[string]string{
	"clusters": "SELECT hash, count(*), sum(length), min(url) FROM documents GROUP BY hash",
	"totals":   "SELECT hash, count(*), sum(length), max(url) FROM documents GROUP BY hash",
	"counts": `SELECT n, count(*) FROM (SELECT count(*) AS n FROM documents GROUP BY hash) c
		GROUP BY n`,
	"sizes WHERE n <> 0": `SELECT n, count(*) FROM (SELECT count(*) AS n
		FROM documents GROUP BY hash) c GROUP BY n`,
	"lengths WHERE n <> 0": `SELECT length, count(*) FROM documents
		GROUP BY length`,
}

// settle waits until no observer and no view has anything pending.
func settle(t *testing.T, conn *pgx.Conn) {
	for {
		var pending, given int64
		err := conn.QueryRow(context.Background(), `SELECT sum(pending + table_changes)::bigint,
			sum(dead_letters)::bigint FROM minidb_observers`).Scan(&pending, &given)
		var pg *pgconn.PgError
		if errors.As(err, &pg) && pg.Code == "57P03" {
			continue
		}
		require.NoError(t, err)
		require.Zero(t, given, "rows that were given up")
		if pending == 0 {
			return
		}
		pause()
	}
}

// compareDocuments holds that each document is what was acknowledged last, or what was tried since
// with an unknown end.
func (l *crawl) compareDocuments(t *testing.T, conn *pgx.Conn) {
	rows, err := conn.Query(context.Background(), "SELECT url, hash, length FROM documents")
	require.NoError(t, err)
	there := map[int]document{}
	var url int
	var d document
	_, err = pgx.ForEachRow(rows, []any{&url, &d.hash, &d.length}, func() error {
		there[url] = d
		return nil
	})
	require.NoError(t, err)
	for url, may := range l.may {
		require.Contains(t, may, there[url], "document %d", url)
	}
	for url := range there {
		require.Contains(t, l.may, url, "a document that was refused is there")
	}
}
