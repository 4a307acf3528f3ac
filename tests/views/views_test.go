package views

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/minidb/minidb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tables are those of the views: hosts with documents, which go with their host, and words without
// a primary key, of which several rows may be equal.
const tables = `
CREATE TABLE host (id int PRIMARY KEY, name text NOT NULL, tier int NOT NULL);
CREATE TABLE doc (id int PRIMARY KEY, host int NOT NULL REFERENCES host ON UPDATE CASCADE
	ON DELETE CASCADE, kind int NOT NULL, length int, price numeric, score float8, ok bool,
	url text);
CREATE INDEX ON doc (host);
CREATE INDEX ON doc (kind);
CREATE TABLE word (doc int NOT NULL, word text, n int);
CREATE INDEX ON word (doc)`

// view is one of the ten.
type view struct {
	name, query string
	// over is the query over the tables alone, where query has views.
	over string
	then string // what is made after it
}

func (v view) overTables() string {
	if v.over != "" {
		return v.over
	}
	return v.query
}

const placed = "SELECT d.id, h.name, d.kind, d.length FROM doc d JOIN host h ON h.id = d.host " +
	"WHERE h.tier < 3"

const totals = "SELECT kind, count(*) AS n, count(price) AS priced, sum(length) AS length, " +
	"avg(length) AS mean, sum(price) AS price, avg(price) AS even FROM doc GROUP BY kind"

const checked = "SELECT t.kind, t.n, bool_and(p.length > 20) AS long, bool_or(p.name < 'host 3') " +
	"AS early, every(t.n > 40) AS many FROM %s p JOIN %s t ON t.kind = p.kind GROUP BY t.kind, t.n"

const classes = "SELECT DISTINCT name, length %% 4 AS class FROM %s p"

// The scores of a host are eighths, 1e300, Infinity and NaN: their sum does not depend on the order
// in which they are added, and cannot be computed by subtracting what goes. No prices are grouped
// by or taken the largest of, for of equal ones that print differently any may be shown.
var views = []view{
	{name: "kept", query: "SELECT id, host, length * 2 + 1 AS twice, upper(url) AS url FROM doc " +
		"WHERE ok AND length > 50"},
	{name: "placed", query: placed, then: "CREATE INDEX ON placed (kind)"},
	{name: "worded", query: "SELECT d.id, d.kind, w.word, w.n FROM doc d LEFT JOIN word w ON " +
		"w.doc = d.id AND w.n > 1 WHERE d.kind % 2 = 0"},
	{name: "totals", query: totals, then: "CREATE UNIQUE INDEX ON totals (kind)"},
	{name: "extremes", query: "SELECT host, min(length) AS shortest, max(length) AS longest, " +
		"min(url) AS first, max(score) AS best FROM doc GROUP BY host"},
	{name: "checked", query: fmt.Sprintf(checked, "placed", "totals"),
		over: fmt.Sprintf(checked, "("+placed+")", "("+totals+")")},
	{name: "classes", query: fmt.Sprintf(classes, "placed"),
		over: fmt.Sprintf(classes, "("+placed+")")},
	{name: "busy", query: "SELECT host, count(*) AS n, sum(length) AS length FROM doc GROUP BY " +
		"host HAVING count(*) > 14 AND bool_or(ok)"},
	{name: "merged", query: "SELECT kind % 10 AS bucket, length FROM doc WHERE kind % 4 = 1 " +
		"UNION ALL SELECT n, char_length(word) FROM word"},
	{name: "scores", query: "SELECT host, sum(score) AS total, avg(score) AS mean FROM doc GROUP " +
		"BY host"},
}

// size is how many rows there are, and from which numbers their columns are drawn. A host has about
// fourteen documents, a kind fifty, however many there are.
type size struct{ hosts, docs, words, kinds int }

func sized(rows int) size {
	docs := max(rows*7/10, 20)
	return size{hosts: max(docs/14, 4), docs: docs, words: max(rows/4, 10), kinds: max(docs/50, 4)}
}

// docOf are the columns of a document behind its host, from a number i.
func (z size) docOf(i string) string {
	return strings.NewReplacer("$i", i, "$kinds", fmt.Sprint(z.kinds)).Replace(`($i * 13) % $kinds,
		CASE WHEN $i % 17 > 0 THEN ($i * 31) % 200 END,
		CASE WHEN $i % 97 = 0 THEN 'NaN' 
			WHEN $i % 7 > 0 THEN round(($i % 1000) / 100.0, $i % 4) END,
		CASE WHEN $i % 89 = 0 THEN 'Infinity' WHEN $i % 83 = 0 THEN 'NaN'
			WHEN $i % 79 = 0 THEN 1e300 WHEN $i % 11 > 0 THEN ($i % 800) / 8.0 END::float8,
		CASE WHEN $i % 19 > 0 THEN $i % 3 > 0 END, 'u' || ($i * 7) % 1000`)
}

// load adds all rows of which the part of the numbers in [from, to) thousandths has the keys.
func (z size) load(from, to int) (texts []string) {
	const most = 50_000 // rows of a statement
	add := func(n int, text string) {
		lo, hi := n*from/1000, n*to/1000
		for ; lo < hi; lo += most {
			texts = append(texts, text+fmt.Sprintf(" FROM generate_series(%d, %d) i", lo,
				min(lo+most, hi)-1))
		}
	}
	add(z.hosts, "INSERT INTO host SELECT i, 'host ' || i % 100, i % 5")
	add(z.docs, fmt.Sprintf("INSERT INTO doc SELECT i, i %% %d, ", z.hosts*to/1000)+z.docOf("i"))
	add(z.words, fmt.Sprintf("INSERT INTO word SELECT i * 3 %% %d, 'word ' || i %% 50, i %% 7",
		z.docs))
	return texts
}

// create makes tables and views over a part of the rows; the rest comes while the views follow.
func create(ctx context.Context, db *minidb.DB, z size, before int) error {
	texts := append([]string{tables}, z.load(0, before)...)
	for _, v := range views {
		texts = append(texts, fmt.Sprintf("CREATE MATERIALIZED VIEW %s WITH (incremental) AS %s",
			v.name, v.query))
		if v.then != "" {
			texts = append(texts, v.then)
		}
	}
	for _, text := range append(texts, z.load(before, 1000)...) {
		if _, err := db.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// multiset is what is left of some rows: two multisets of rows have the same one, and different
// ones do not.
type multiset struct {
	rows int
	sum  uint64 // of the rows' hashes
}

var seed = maphash.MakeSeed()

// eachRow runs a query and visits its rows, as bytes that are the same for the same row.
func eachRow(ctx context.Context, conn *minidb.Conn, query string, visit func([]byte)) error {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	n := len(rows.Columns())
	var row []byte
	for rows.Next() {
		row = row[:0]
		for i := range n {
			text, ok := rows.Text(i)
			if !ok {
				row = binary.AppendUvarint(row, 0)
				continue
			}
			row = append(binary.AppendUvarint(row, uint64(len(text)+1)), text...)
		}
		visit(row)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	return nil
}

func read(ctx context.Context, conn *minidb.Conn, query string) (m multiset, err error) {
	err = eachRow(ctx, conn, query, func(row []byte) {
		m.rows++
		m.sum += maphash.Bytes(seed, row)
	})
	return m, err
}

// counted are the rows of a query, with how often each of them is there.
func counted(ctx context.Context, conn *minidb.Conn, query string, by int,
	all map[string]int) error {
	return eachRow(ctx, conn, query, func(row []byte) {
		if all[string(row)] += by; all[string(row)] == 0 {
			delete(all, string(row))
		}
	})
}

// comparison is that of all views as of one snapshot.
type comparison struct {
	db       *minidb.DB
	snapshot int64 // at which the views were read
	of       map[string]shown
	at       int64 // the lowest frontier
	one      bool  // of all
}

// shown is what a view shows in a snapshot: rows of the tables at a timestamp.
type shown struct {
	multiset
	at int64
}

// look reads all views and their frontiers in one snapshot.
func look(ctx context.Context, db *minidb.DB) (c *comparison, err error) {
	c = &comparison{db: db, of: map[string]shown{}, one: true}
	const begin = "BEGIN ISOLATION LEVEL REPEATABLE READ"
	return c, within(ctx, db, begin, func(conn *minidb.Conn) error {
		err := conn.QueryRow(ctx, "SELECT minidb_snapshot_timestamp()").Scan(&c.snapshot)
		for _, v := range views {
			if err != nil {
				return err
			}
			if err = c.read(ctx, conn, v.name); err != nil {
				err = fmt.Errorf("%s: %w", v.name, err)
			}
		}
		return err
	})
}

func (c *comparison) read(ctx context.Context, conn *minidb.Conn, view string) (err error) {
	var s shown
	err = conn.QueryRow(ctx, "SELECT minidb_view_timestamp($1)", view).Scan(&s.at)
	if err != nil {
		return err
	}
	if s.at > c.snapshot {
		return fmt.Errorf("it shows its tables at %d, in the snapshot at %d", s.at, c.snapshot)
	}
	c.one = c.one && (c.at == 0 || c.at == s.at)
	if c.at == 0 || s.at < c.at {
		c.at = s.at
	}
	s.multiset, err = read(ctx, conn, "SELECT * FROM "+view)
	c.of[view] = s
	return err
}

// within runs a function in a block of a connection of its own.
func within(ctx context.Context, db *minidb.DB, begin string,
	f func(conn *minidb.Conn) error) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.Exec(ctx, begin); err != nil {
		return err
	}
	if err := f(conn); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "COMMIT")
	return err
}

// compare compares the views with their queries at their frontiers.
func (c *comparison) compare(ctx context.Context) error {
	var wrong []view
	by := map[int64][]view{}
	for _, v := range views {
		at := c.of[v.name].at
		by[at] = append(by[at], v)
	}
	for at, some := range by {
		begin := fmt.Sprintf("BEGIN AS OF SYSTEM TIME %d", at)
		err := within(ctx, c.db, begin, func(conn *minidb.Conn) error {
			for _, v := range some {
				want, err := read(ctx, conn, v.overTables())
				if err != nil {
					return err
				}
				if want != c.of[v.name].multiset {
					wrong = append(wrong, v)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	var err error
	for _, v := range wrong {
		err = errors.Join(err, c.difference(ctx, v))
	}
	return err
}

// difference describes what a view has too much and what it lacks.
func (c *comparison) difference(ctx context.Context, v view) error {
	all := map[string]int{}
	for _, side := range []struct {
		at    int64
		query string
		by    int
	}{{c.snapshot, "SELECT * FROM " + v.name, 1}, {c.of[v.name].at, v.overTables(), -1}} {
		begin := fmt.Sprintf("BEGIN AS OF SYSTEM TIME %d", side.at)
		if err := within(ctx, c.db, begin, func(conn *minidb.Conn) error {
			return counted(ctx, conn, side.query, side.by, all)
		}); err != nil {
			// %v: it differs, and is not what compare returns when the past is collected.
			return fmt.Errorf("%s, read at %d, differs from its query at %d: %v", v.name,
				c.snapshot, c.of[v.name].at, err)
		}
	}
	var lines []string
	for row, n := range all {
		lines = append(lines, fmt.Sprintf("%+d %q", n, row))
	}
	slices.Sort(lines)
	return fmt.Errorf("%s, read at %d, differs from its query at %d in %d rows (+: too many):\n%s",
		v.name, c.snapshot, c.of[v.name].at, len(all),
		strings.Join(lines[:min(len(lines), 20)], "\n"))
}

// requireEqual waits until the views have all that is committed, and compares them.
func requireEqual(t *testing.T, db *minidb.DB, what ...any) *comparison {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, db.Settle(ctx, 0), what...)
	c, err := look(ctx, db)
	require.NoError(t, err, what...)
	require.NoError(t, c.compare(ctx), what...)
	return c
}
