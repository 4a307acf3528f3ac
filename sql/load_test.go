package sql_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/kv/record"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// loading is a session on an engine that counts what is ingested, with files to copy from.
type loading struct {
	t     *testing.T
	on    *record.Engine
	store *txn.Store
	*sql.Session
	other *sql.Session
	dir   string
}

func newLoading(t *testing.T) *loading {
	l := &loading{t: t, on: record.New(memkv.New(memkv.Options{})), dir: t.TempDir()}
	// runs of 64 KiB, so that a few thousand rows come in several
	e, store := openEngine(t, l.on, txn.Options{StreamBytes: 1 << 16}, sql.Options{})
	l.store, l.Session, l.other = store, newSession(t, e), newSession(t, e)
	return l
}

func (l *loading) must(text string) string { return mustQuery(l.t, l.Session, text) }

// ingests returns how many runs came in as files during f.
func (l *loading) ingests(f func()) int64 {
	before := l.on.Counts()
	f()
	return l.on.Since(before).Ingests
}

// file writes lines to copy from, each made by line of its number.
func (l *loading) file(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
		b.WriteByte('\n')
	}
	name := filepath.Join(l.dir, "rows")
	require.NoError(l.t, os.WriteFile(name, []byte(b.String()), 0o600))
	return name
}

func (l *loading) check() {
	l.t.Helper()
	require.NoError(l.t, catalog.Check(context.Background(), l.store,
		func(p catalog.Problem) { l.t.Error(p) }))
}

const sumOfT = "SELECT count(*), sum(a), sum(b), count(distinct c) FROM t"

// TestWhatIsNewIsLoaded: an index, a table of a query, and COPY into a table that the transaction
// has made or truncated come in as files; other sessions see all of it after COMMIT, and nothing
// before or after ROLLBACK.
func TestWhatIsNewIsLoaded(t *testing.T) {
	l := newLoading(t)
	name := l.file(4000, func(i int) string {
		return fmt.Sprintf("%d\t%d\ttext %d", 4000-i, i%7, i)
	})
	const sums = "\n4000|8002000|11994|4000\nSELECT 1\n"
	create := "CREATE TABLE t (a int PRIMARY KEY, b int, c text UNIQUE); CREATE INDEX i ON t (b)"
	require.Greater(t, l.ingests(func() {
		l.must("BEGIN; " + create)
		require.Equal(t, "COPY 4000\n", l.must("COPY t FROM '"+name+"'"))
	}), int64(4))
	require.Contains(t, l.must(sumOfT), sums)
	l.check() // beside the transaction
	require.Equal(t, sqlerr.UndefinedTable, codeOf(query(l.other, sumOfT)))
	l.must("ROLLBACK")
	l.check()
	require.Equal(t, sqlerr.UndefinedTable, codeOf(query(l.Session, sumOfT)))

	l.must("BEGIN; " + create + "; SAVEPOINT s; COPY t FROM '" + name + "'; ROLLBACK TO s")
	require.Contains(t, l.must("SELECT count(*) FROM t"), "\n0\n")
	l.must("COPY t FROM '" + name + "'; UPDATE t SET b = b + 1 WHERE a <= 3; " +
		"UPDATE t SET b = b - 1 WHERE a <= 3; COMMIT")
	require.Contains(t, mustQuery(t, l.other, sumOfT), sums)
	l.check()

	require.Greater(t, l.ingests(func() {
		l.must("BEGIN; TRUNCATE t; COPY t FROM '" + name + "'; COMMIT")
	}), int64(4))
	require.Greater(t, l.ingests(func() {
		l.must("BEGIN; TRUNCATE t; INSERT INTO t SELECT 4001 - i, (i - 1) % 7, 'text ' || i - 1 " +
			"FROM generate_series(1, 4000) AS s (i)")
		e := fails(t, l.Session, "CREATE TABLE u (a int PRIMARY KEY); INSERT INTO u "+
			"SELECT i % 3999 FROM generate_series(0, 4000) AS s (i)", sqlerr.UniqueViolation)
		require.Equal(t, "Key (a)=(0) already exists.", e.Detail)
		require.NoError(t, e.Cause)
		l.must("ROLLBACK; BEGIN; TRUNCATE t; INSERT INTO t SELECT 4001 - i, (i - 1) % 7, " +
			"'text ' || i - 1 FROM generate_series(1, 4000) AS s (i); COMMIT")
	}), int64(8))
	require.Greater(t, l.ingests(func() { l.must("CREATE TABLE u AS SELECT * FROM t") }), int64(2))
	require.Greater(t, l.ingests(func() { l.must("CREATE INDEX ON u (c, b)") }), int64(1))
	require.Greater(t, l.ingests(func() {
		l.must("ALTER TABLE u ADD d float DEFAULT random()")
	}), int64(2))
	require.Greater(t, l.ingests(func() {
		l.must("CREATE MATERIALIZED VIEW v AS SELECT * FROM t")
		l.must("REFRESH MATERIALIZED VIEW v")
		l.must("REINDEX TABLE u")
	}), int64(5))
	for _, name := range []string{"t", "u", "v"} {
		of := strings.Replace(sumOfT, "FROM t", "FROM "+name, 1)
		require.Contains(t, mustQuery(t, l.other, of), sums)
	}
	require.Contains(t, mustQuery(t, l.other, "SELECT a FROM u WHERE c = 'text 39' AND b = 4"),
		"\n3961\n")
	l.check()
}

// TestWhatIsKnownIsNotLoaded: rows of a table that others know of are written one by one.
func TestWhatIsKnownIsNotLoaded(t *testing.T) {
	l := newLoading(t)
	name := l.file(4000, func(i int) string { return fmt.Sprint(i) })
	l.must("CREATE TABLE t (a int PRIMARY KEY)")
	l.must("CREATE TABLE d (a int UNIQUE DEFERRABLE)")
	require.Zero(t, l.ingests(func() {
		l.must("COPY t FROM '" + name + "'")
		l.must("BEGIN; INSERT INTO t VALUES (-1); COMMIT")
		l.must("BEGIN; TRUNCATE d; COPY d FROM '" + name + "'; COMMIT")
		l.must("BEGIN; TRUNCATE t; INSERT INTO t VALUES (-1); COPY t FROM '" + name + "'; COMMIT")
		l.must("CREATE TEMP TABLE x AS SELECT * FROM t")
	}))
	require.Contains(t, l.must("SELECT count(*) FROM t"), "\n4001\n")
	l.check()
}

// TestADuplicateThatIsLoaded is the error of the line that has it, as where rows are written one by
// one.
func TestADuplicateThatIsLoaded(t *testing.T) {
	l := newLoading(t)
	for _, x := range []struct {
		rows, second int
		key          string
	}{{10, 7, "a"}, {4000, 3999, "a"}, {4000, 20, "a"}, {4000, 3000, "c"}} {
		name := l.file(x.rows, func(i int) string {
			a, c := i, i
			if i >= x.second && x.key == "a" {
				a = i - x.second + 2 // and those behind it too
			} else if i == x.second {
				c = 2
			}
			return fmt.Sprintf("%d\t1\ttext %d", a, c)
		})
		const create = "CREATE TABLE t (a int PRIMARY KEY, b int, c text UNIQUE)"
		l.must(create)
		one := query(l.Session, "COPY t FROM '"+name+"'")
		l.must("DROP TABLE t")
		l.must("BEGIN; " + create)
		many := query(l.Session, "COPY t FROM '"+name+"'")
		require.Equal(t, sqlerr.UniqueViolation, codeOf(many))
		require.Equal(t, one, many)
		l.must("ROLLBACK")
		l.must("CREATE TABLE t (a int, b int, c text)")
		l.must("COPY t FROM '" + name + "'")
		e := fails(t, l.Session, "CREATE UNIQUE INDEX i ON t ("+x.key+")", sqlerr.UniqueViolation)
		require.Contains(t, e.Detail, "is duplicated")
		l.check()
		l.must("DELETE FROM t; CREATE UNIQUE INDEX i ON t (" + x.key + ")")
		require.Contains(t, l.must("SELECT count(*) FROM t WHERE "+x.key+" IS NOT NULL"), "\n0\n")
		l.must("DROP TABLE t")
		l.check()
	}
}
