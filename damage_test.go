package minidb_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/kv"
)

// logged is a log that a test reads.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) lines(part string) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range strings.Split(l.buf.String(), "\n") {
		if strings.Contains(line, part) {
			out = append(out, line)
		}
	}
	return out
}

// twoTables makes a directory with a table of 20,000 rows and a small one, in one table file.
func twoTables(t *testing.T) (dir, file string) {
	dir = filepath.Join(t.TempDir(), "data")
	db, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE large(id int PRIMARY KEY, v text); CREATE TABLE small(id int PRIMARY KEY, v text UNIQUE)")
	exec(t, db, "INSERT INTO small SELECT i, 's' || i FROM generate_series(1, 10) i")
	exec(t, db, "INSERT INTO large SELECT i, repeat(md5(i::text), 4) FROM generate_series(1, 20000) i")
	exec(t, db, "CHECKPOINT")
	require.NoError(t, db.Close())
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	for _, f := range tables {
		if file == "" || size(t, f) > size(t, file) {
			file = f
		}
	}
	return dir, file
}

func size(t *testing.T, file string) int64 {
	s, err := os.Stat(file)
	require.NoError(t, err)
	return s.Size()
}

func flip(t *testing.T, file string, at int64) {
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	b[at] ^= 0x10
	require.NoError(t, os.WriteFile(file, b, 0o600))
}

func TestADamagedTableFileIsNamedAndTheRestIsReadable(t *testing.T) {
	testDamagedTableFile(t, 95, `table large`) // among the rows
	testDamagedTableFile(t, 50, `table large`) // among locks that were settled long ago
}

func testDamagedTableFile(t *testing.T, part int64, affects string) {
	ctx := context.Background()
	dir, file := twoTables(t)
	flip(t, file, size(t, file)*part/100)
	log := &logged{}
	db, err := minidb.Open(dir, minidb.Logger(slog.New(slog.NewTextHandler(log, nil))))
	require.NoError(t, err)
	_, err = db.Exec(ctx, "SELECT count(v) FROM large")
	require.ErrorIs(t, err, kv.ErrCorruption)
	require.ErrorContains(t, err, filepath.Base(file))
	var state interface{ SQLState() string }
	require.ErrorAs(t, err, &state)
	require.Equal(t, "XX001", state.SQLState())
	require.EqualValues(t, 10, scalar[int64](t, db, "SELECT count(*) FROM small"))
	exec(t, db, "INSERT INTO small VALUES (11, 'eleven')")
	minidb.AwaitDamageReports(db)
	require.NoError(t, db.Close())
	lines := log.lines("level=ERROR")
	require.Len(t, lines, 1)
	for _, part := range []string{filepath.Base(file), affects, "restore a copy"} {
		require.Contains(t, lines[0], part)
	}
}

func TestTheLogTellsHowFarItWasReplayed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	log := &logged{}
	logger := minidb.Logger(slog.New(slog.NewTextHandler(log, nil)))
	db, err := minidb.Open(dir, logger)
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE t(id int PRIMARY KEY)")
	require.NoError(t, db.Close())
	require.Empty(t, log.lines("recovered"))
	db, err = minidb.Open(dir, logger)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	lines := log.lines("recovered")
	require.Len(t, lines, 1)
	require.Regexp(t, `log=\d+\.log end=\d+ updates=\d+ closed=true commit_ts=\d+ time="20`, lines[0])
}
