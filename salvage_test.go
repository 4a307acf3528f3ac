package minidb_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// salvaged salvages a directory, opens what comes of it, and checks that. It returns the lines
// about what was lost. The damaged directory stays byte for byte as it is.
func salvaged(t *testing.T, dir string) (db *minidb.DB, lost []string) {
	ctx := context.Background()
	before := contents(t, dir)
	to := filepath.Join(t.TempDir(), "new")
	err := minidb.Salvage(ctx, dir, to,
		minidb.SalvageReport{Lost: func(line string) { lost = append(lost, line) }})
	require.NoError(t, err)
	require.Equal(t, before, contents(t, dir))
	db, err = minidb.Open(to, quiet)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	problems, err := db.Check(ctx)
	require.NoError(t, err)
	require.Empty(t, problems)
	return db, lost
}

func contents(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	}))
	return out
}

func TestSalvageOfADamagedTableFile(t *testing.T) {
	// What lies where depends on how many locks of the large commit were settled when the file was
	// written: behind rows there may be locks, and marks that they were deleted. One of some
	// damages meets rows.
	fewest := int64(20000)
	for _, part := range []int64{95, 50, 90, 85, 80, 75, 70, 65, 60, 55} {
		if fewest < 20000 && part != 50 {
			continue
		}
		t.Run(fmt.Sprint(part, " %"), func(t *testing.T) {
			dir, file := twoTables(t)
			flip(t, file, size(t, file)*part/100)
			db, lost := salvaged(t, dir)
			require.NotEmpty(t, lost)
			require.EqualValues(t, 10, scalar[int64](t, db,
				"SELECT count(*) FROM small WHERE v = 's' || id"))
			n := scalar[int64](t, db,
				"SELECT count(*) FROM large WHERE v = repeat(md5(id::text), 4)")
			require.Greater(t, n, int64(19000), "a block holds some hundred rows")
			require.Contains(t, strings.Join(lost, "\n"), "postgres.public.large: ")
			exec(t, db, "INSERT INTO small VALUES (11, 's11')")
			fewest = min(fewest, n)
		})
	}
	require.Less(t, fewest, int64(20000))
}

// TestSalvageMakesIndexesAnew damages each part of a table file in turn: rows, values that lie
// apart from their rows, and index entries.
func TestSalvageMakesIndexesAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := minidb.Open(dir, quiet)
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE first(id serial PRIMARY KEY, v text)")
	exec(t, db, "CREATE TABLE t(id serial PRIMARY KEY, k text UNIQUE, long text)")
	exec(t, db, "CREATE TABLE nokey(v int)")
	exec(t, db, "INSERT INTO t(k, long) SELECT md5(i::text), repeat(md5(i::text), 10) FROM "+
		"generate_series(1, 2000) i")
	exec(t, db, "INSERT INTO nokey SELECT i FROM generate_series(1, 2000) i")
	exec(t, db, "UPDATE t SET k = 'k' || k WHERE id % 100 = 7; DELETE FROM t WHERE id % 100 = 8")
	exec(t, db, "CHECKPOINT")
	require.NoError(t, db.Close())
	file := largestTableFile(t, dir)
	length, rows, schemas := size(t, file), int64(0), 0
	for part := int64(1); part < 20; part++ {
		// A test of its own for each, whose directories are removed before the next: each store
		// takes 100 MB.
		t.Run(fmt.Sprint("part ", part), func(t *testing.T) {
			flip(t, file, length*part/20)
			defer flip(t, file, length*part/20)
			to := filepath.Join(t.TempDir(), "new")
			err := minidb.Salvage(context.Background(), dir, to, minidb.SalvageReport{})
			if err != nil {
				require.ErrorContains(t, err, "cannot be read")
				require.NoDirExists(t, to)
				schemas++
				return
			}
			db, lost := salvaged(t, dir)
			n := scalar[int64](t, db, "SELECT count(*) FROM t WHERE k LIKE '%' || md5(id::text) "+
				"AND long = repeat(md5(id::text), 10)")
			all := n + scalar[int64](t, db, "SELECT count(*) FROM nokey WHERE v > 0")
			require.Greater(t, all, int64(3980-1000))
			if all < 3980 {
				require.NotEmpty(t, lost)
			}
			require.Zero(t, scalar[int64](t, db, "SELECT count(*) FROM t WHERE id % 100 = 8"),
				"deleted rows come back")
			exec(t, db, "INSERT INTO t(k) VALUES ('new'); INSERT INTO nokey VALUES (0)")
			rows += all
		})
	}
	require.Less(t, schemas, 5)
	require.Positive(t, rows)
}

// TestSalvageOfADamagedLog damages the first log of a directory, and a later one that others
// follow.
func TestSalvageOfADamagedLog(t *testing.T) {
	for name, checkpoint := range map[string]bool{"first log": false, "later log": true} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			db, err := minidb.Open(dir, quiet)
			require.NoError(t, err)
			exec(t, db, "CREATE TABLE t(id int PRIMARY KEY, v text UNIQUE)")
			for i := range 100 {
				exec(t, db, "INSERT INTO t SELECT i, 'v' || i FROM generate_series($1::int, "+
					"$1::int + 9) i", 10*i)
				if checkpoint && i == 50 {
					exec(t, db, "CHECKPOINT")
				}
			}
			left := copied(t, dir)
			require.NoError(t, db.Close())
			logs, err := filepath.Glob(filepath.Join(left, "*.log"))
			require.NoError(t, err)
			log := logs[len(logs)-1]
			flip(t, log, size(t, log)*6/10)
			_, err = minidb.Open(left, quiet)
			require.ErrorContains(t, err, "minidb check --salvage")
			db, lost := salvaged(t, left)
			require.NotEmpty(t, lost)
			require.True(t, strings.HasPrefix(lost[0],
				"log "+filepath.Base(log)+": damaged at byte"), lost[0])
			n := scalar[int64](t, db, "SELECT count(*) FROM t")
			require.Zero(t, n%10, "a transaction is there in part")
			require.Greater(t, n, int64(300))
			require.Less(t, n, int64(1000))
			require.EqualValues(t, n-1, scalar[int64](t, db, "SELECT max(id)::int8 FROM t"),
				"all before the damage is there")
		})
	}
}

// copied copies what a kill of the process would leave. A file that is removed meanwhile makes it
// begin anew.
func copied(t *testing.T, dir string) string {
	for range 100 {
		to := filepath.Join(t.TempDir(), "copy")
		err := os.CopyFS(to, os.DirFS(dir))
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
			return to
		}
	}
	t.Fatal("files are removed again and again")
	return ""
}

func TestSalvageRefusesADirectoryThatExists(t *testing.T) {
	dir, _ := twoTables(t)
	to := t.TempDir()
	err := minidb.Salvage(context.Background(), dir, to, minidb.SalvageReport{})
	require.ErrorIs(t, err, fs.ErrExist)
	require.DirExists(t, to)
}
