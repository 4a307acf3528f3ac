package minidb_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minidb/minidb"
	"github.com/stretchr/testify/require"
)

// copyOf copies a store. behind is called behind each page.
func copyOf(t *testing.T, from, to string, behind func()) (minidb.Copied, error) {
	t.Helper()
	return minidb.Copy(context.Background(), from, to, minidb.CopyOptions{
		Progress: func(string, int64, int64, float64) {
			if behind != nil {
				behind()
			}
		},
		Differs: func(line string) { t.Log(line) },
	}, minidb.Engine("memory", openMemory), minidb.Logger(slog.New(slog.DiscardHandler)))
}

// copyQueries are those of which each copy gives what its source gave at the timestamp.
var copyQueries = []string{
	"SELECT (d.*)::text FROM doc d ORDER BY id",
	"SELECT id::text FROM doc WHERE hash = 'h7'",
	"SELECT (v.*)::text FROM lengths v ORDER BY 1",
	"SELECT convert_from(lo_get(loid), 'UTF8') FROM attached",
	"SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
}

// copyState returns what they give, at a timestamp of the store or, without one, now.
func copyState(t *testing.T, db *minidb.DB, at uint64) (out []string) {
	t.Helper()
	ctx := context.Background()
	c, err := db.Conn(ctx)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	if at != 0 {
		_, err := c.Exec(ctx, fmt.Sprint("BEGIN AS OF SYSTEM TIME ", at))
		require.NoError(t, err)
	}
	for _, q := range copyQueries {
		rows, err := c.Query(ctx, q)
		require.NoError(t, err, q)
		var lines []string
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line), q)
			lines = append(lines, line)
		}
		require.NoError(t, rows.Err(), q)
		rows.Close()
		out = append(out, strings.Join(lines, "\n"))
	}
	return out
}

// count returns how many of the changes that were seen begin with a text.
func (w *watching) count(text string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, line := range w.seen {
		if strings.HasPrefix(line, text) {
			n++
		}
	}
	return n
}

func mustBeSound(t *testing.T, db *minidb.DB) {
	t.Helper()
	problems, err := db.Check(context.Background())
	require.NoError(t, err)
	require.Empty(t, problems)
}

// TestCopyOfAStoreInUse: from a store that processes go on writing to into a directory, and from
// there into another shared store.
func TestCopyOfAStoreInUse(t *testing.T) {
	ctx := context.Background()
	db := joinStore(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	for _, q := range []string{
		"CREATE TABLE doc (id serial PRIMARY KEY, hash text UNIQUE, body text)",
		"CREATE INDEX ON doc (body, id)",
		"CREATE TABLE attached (loid oid PRIMARY KEY)",
		"CREATE MATERIALIZED VIEW lengths WITH (incremental) AS " +
			"SELECT length(body) AS len, count(*) AS n FROM doc GROUP BY length(body)",
		"INSERT INTO doc (hash, body) SELECT 'h' || g, repeat('text ', g) " +
			"FROM generate_series(1, 80) g",
		"INSERT INTO attached SELECT lo_from_bytea(0, convert_to(repeat('large ', 900), 'UTF8'))",
	} {
		exec(t, db, q)
	}
	o := minidb.Observer{Name: "o", Table: "doc"}
	w := watch(t, db, o)
	exec(t, db, "UPDATE doc SET body = 'seen' WHERE id = 1")
	require.NoError(t, db.Settle(ctx, 0))
	w.stop()
	exec(t, db, "UPDATE doc SET body = 'pending' WHERE id = 2")
	exec(t, db, "DELETE FROM doc WHERE id = 3")

	dir := filepath.Join(t.TempDir(), "copy")
	started := false
	c, err := copyOf(t, "memory://127.0.0.1/"+t.Name(), dir, func() {
		exec(t, db, "INSERT INTO doc (hash, body) VALUES (gen_random_uuid(), 'after')")
		exec(t, db, "UPDATE doc SET body = 'after' WHERE id = 2")
		if !started { // it runs on what was pending, and acknowledges
			started = true
			w.start(o)
			require.NoError(t, db.Settle(ctx, 0))
		}
	})
	require.NoError(t, err)
	require.True(t, started)
	require.False(t, c.Resumed)
	w.stop()
	w.start(o) // it looks at what was held once more, and does not run on it again
	require.NoError(t, db.Settle(ctx, 0))
	w.stop()
	require.Equal(t, 1, w.count("[3] (3,"))

	here, err := minidb.Open(dir, minidb.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	mustBeSound(t, here)
	got := copyState(t, here, 0)
	require.Contains(t, got[0], `(2,h2,pending)`)
	require.NotContains(t, got[0], "after")
	require.Equal(t, copyState(t, db, c.Timestamp), copyState(t, here, c.Timestamp))
	watched := watch(t, here, o)
	watched.settles("[2] (2,h2,"+strings.Repeat("text ", 2)+")>(2,h2,pending)",
		"[3] (3,h3,"+strings.Repeat("text ", 3)+")>nil")
	exec(t, here, "INSERT INTO doc (hash, body) VALUES ('n', 'n')") // the sequence goes on
	mustBeSound(t, here)
	require.NoError(t, here.Settle(ctx, 0))
	watched.stop()
	want := copyState(t, here, 0)
	require.NoError(t, here.Close())

	second := t.Name() + "-second"
	t.Cleanup(func() { stores.Delete(second) })
	_, err = copyOf(t, dir, "memory://127.0.0.1/"+second, nil)
	require.NoError(t, err)
	there, err := minidb.Open("memory://127.0.0.1/"+second, minidb.Engine("memory", openMemory),
		minidb.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	require.Equal(t, want, copyState(t, there, 0))
	mustBeSound(t, there)
	mustBeSound(t, db)
	require.NoError(t, there.Close())
}

// TestCopyRefuses what it cannot copy from or to, and says what to do.
func TestCopyRefuses(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	used := filepath.Join(dir, "used")
	db, err := minidb.Open(used, quiet)
	require.NoError(t, err)
	_, err = copyOf(t, used, filepath.Join(dir, "new"), nil)
	require.ErrorContains(t, err, "stop it first")
	require.NoError(t, db.Close())
	_, err = copyOf(t, filepath.Join(dir, "missing"), filepath.Join(dir, "new"), nil)
	require.ErrorContains(t, err, "missing")
	require.NoDirExists(t, filepath.Join(dir, "missing"))
	_, err = copyOf(t, used, "pebble:"+used+"/.", nil)
	require.ErrorContains(t, err, "the same store")
	other := filepath.Join(dir, "other")
	db, err = minidb.Open(other, quiet)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = copyOf(t, used, other, nil)
	require.ErrorContains(t, err, "not empty")
	_, err = copyOf(t, used, "etcd://127.0.0.1:1/x", nil)
	require.ErrorContains(t, err, "no engine for etcd://")

	unfinished := filepath.Join(dir, "unfinished")
	ending, cancel := context.WithCancel(ctx)
	_, err = minidb.Copy(ending, used, unfinished, minidb.CopyOptions{
		Progress: func(string, int64, int64, float64) { cancel() }}, quiet)
	require.ErrorIs(t, err, context.Canceled)
	_, err = minidb.Open(unfinished, quiet)
	require.ErrorContains(t, err, "run the same minidb copy again")
	c, err := copyOf(t, used, unfinished, nil)
	require.NoError(t, err)
	require.True(t, c.Resumed)
	db, err = minidb.Open(unfinished, quiet)
	require.NoError(t, err)
	require.NoError(t, errors.Join(db.Close()))
}
