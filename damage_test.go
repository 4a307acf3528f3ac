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
	exec(t, db, "CREATE TABLE large(id int PRIMARY KEY, v text); CREATE TABLE small(id int "+
		"PRIMARY KEY, v text UNIQUE)")
	exec(t, db, "INSERT INTO small SELECT i, 's' || i FROM generate_series(1, 10) i")
	exec(t, db, "INSERT INTO large SELECT i, repeat(md5(i::text), 4) FROM generate_series(1, "+
		"20000) i")
	exec(t, db, "CHECKPOINT")
	require.NoError(t, db.Close())
	return dir, largestTableFile(t, dir)
}

// largestTableFile returns the path of a closed database's largest table file.
func largestTableFile(t *testing.T, dir string) (file string) {
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	for _, f := range tables {
		if file == "" || size(t, f) > size(t, file) {
			file = f
		}
	}
	return file
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
	for _, part := range []string{filepath.Base(file), affects, "restore a backup"} {
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
	require.Regexp(t, `log=\d+\.log end=\d+ updates=\d+ closed=true commit_ts=\d+ time="20`,
		lines[0])
}

// TestCheckReadsWhatNoStatementDoes flips a byte in each part of a table file that holds mostly old
// versions: check names the file each time, also where every statement can do without the damaged
// block.
func TestCheckReadsWhatNoStatementDoes(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "data")
	db, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE t(id int PRIMARY KEY, v text)")
	exec(t, db, "INSERT INTO t SELECT i, repeat(md5(i::text), 2) FROM generate_series(1, 2000) i")
	for range 3 {
		exec(t, db, "UPDATE t SET v = repeat(md5(v), 10)")
	}
	exec(t, db, "DELETE FROM t WHERE id > 100; CHECKPOINT")
	require.NoError(t, db.Close())
	file := largestTableFile(t, dir)
	length, unread, tables := size(t, file), 0, 0
	for part := range int64(8) {
		at := min(length*part/7, length-1)
		flip(t, file, at)
		db, err := minidb.Open(dir, quiet)
		if err != nil { // what the store keeps about itself is damaged
			require.ErrorContains(t, err, filepath.Base(file))
			flip(t, file, at)
			continue
		}
		if _, err = db.Exec(ctx, "SELECT count(v) FROM t"); err == nil {
			unread++
		}
		problems, err := db.Check(ctx)
		if err != nil {
			require.ErrorIs(t, err, kv.ErrCorruption)
		}
		require.NotEmpty(t, problems, "byte %d of %d", at, length)
		require.Contains(t, problems[0], filepath.Base(file))
		require.Contains(t, problems[0], "damaged")
		if strings.Contains(problems[0], "table t") {
			tables++
		}
		require.NoError(t, db.Close())
		flip(t, file, at)
	}
	require.GreaterOrEqual(t, unread, 3)
	require.GreaterOrEqual(t, tables, 5)
}

func TestCheckOfFilesEndsWithItsContext(t *testing.T) {
	dir, _ := twoTables(t)
	db, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var done, total int64
	err = db.CheckEach(ctx, minidb.CheckReport{Progress: func(d, n int64) { done, total = d, n }})
	require.NoError(t, err)
	require.Equal(t, total, done)
	require.Positive(t, done)
	cancel()
	require.ErrorIs(t, db.CheckEach(ctx, minidb.CheckReport{}), context.Canceled)
	require.NoError(t, db.Close())
}
