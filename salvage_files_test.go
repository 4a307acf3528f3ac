package minidb_test

import (
	"bytes"
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

// manyFiles makes a directory with several table files and logs, of which a copy is what a kill
// leaves. It holds rows 1 to 2,000 of a table, each changed, the last ones only in the log. Table
// files that compactions replaced meanwhile are kept in old.
func manyFiles(t *testing.T) (dir, old string) {
	dir, old = filepath.Join(t.TempDir(), "data"), t.TempDir()
	db, err := minidb.Open(dir, quiet, minidb.GCInterval(-1))
	require.NoError(t, err)
	exec(t, db, "CREATE TABLE t(id serial PRIMARY KEY, n int, v text UNIQUE)")
	for i := range 4 {
		exec(t, db, "INSERT INTO t(n, v) SELECT 0, 'a' || md5(i::text) FROM "+
			"generate_series($1::int, $1::int + 499) i", 500*i)
		exec(t, db, "CHECKPOINT")
		keepTableFiles(t, dir, old)
	}
	exec(t, db, "UPDATE t SET n = n + 1, v = 'b' || v; CHECKPOINT")
	keepTableFiles(t, dir, old)
	exec(t, db, "VACUUM")
	exec(t, db, "CHECKPOINT")
	exec(t, db, "UPDATE t SET n = n + 1 WHERE id > 1000")
	left := copied(t, dir)
	require.NoError(t, db.Close())
	return left, old
}

func keepTableFiles(t *testing.T, dir, to string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a compaction has taken its place meanwhile
		}
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, filepath.Base(f)), b, 0o600))
	}
}

// halfWritten returns the table files without an end, which the compactions that a kill interrupted
// leave.
func halfWritten(t *testing.T, dir string) (names []string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	require.NoError(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(t, err)
		if !bytes.HasSuffix(b, []byte("\xf0\x9f\xaa\xb3\xf0\x9f\xaa\xb3")) {
			names = append(names, f)
		}
	}
	return names
}

func theOne(t *testing.T, pattern string) string {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.Len(t, files, 1)
	return files[0]
}

// requireManyFiles requires that every row is there as it was last.
func requireManyFiles(t *testing.T, db *minidb.DB) {
	require.EqualValues(t, 2000, scalar[int64](t, db, "SELECT count(*) FROM t WHERE v LIKE 'ba%'"))
	require.EqualValues(t, 1000, scalar[int64](t, db, "SELECT count(*) FROM t WHERE id > 1000 "+
		"AND n = 2"))
	require.EqualValues(t, 1000, scalar[int64](t, db, "SELECT count(*) FROM t WHERE id <= 1000 "+
		"AND n = 1"))
	require.EqualValues(t, 2000, scalar[int64](t, db, "SELECT count(DISTINCT v) FROM t"))
	exec(t, db, "INSERT INTO t(n, v) VALUES (3, 'new')")
	require.Greater(t, scalar[int64](t, db, "SELECT id::int8 FROM t WHERE v = 'new'"), int64(2000))
}

// TestSalvageWithoutTheListOfFiles damages the list of live files, in each way, and lets
// files that were replaced lie about, all or some of them.
func TestSalvageWithoutTheListOfFiles(t *testing.T) {
	dir, old := manyFiles(t)
	damages := map[string]func(t *testing.T, dir string){
		"flipped": func(t *testing.T, dir string) {
			list := theOne(t, filepath.Join(dir, "MANIFEST-*"))
			flip(t, list, size(t, list)/2)
		},
		"cut": func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(theOne(t, filepath.Join(dir, "MANIFEST-*")), 10))
		},
		"missing": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(theOne(t, filepath.Join(dir, "MANIFEST-*"))))
		},
		"name missing": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(theOne(t, filepath.Join(dir, "marker.manifest.*"))))
		},
		"half a file": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(theOne(t, filepath.Join(dir, "MANIFEST-*"))))
			whole, err := os.ReadFile(largestTableFile(t, dir))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, "000999.sst"), whole[:len(whole)/2],
				0o600))
		},
		"format missing": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(theOne(t, filepath.Join(dir, "marker.format-version.*"))))
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			dir := copied(t, dir)
			damage(t, dir)
			_, err := minidb.Open(copied(t, dir), quiet)
			require.Error(t, err)
			db, lost := salvaged(t, dir)
			requireManyFiles(t, db)
			require.Contains(t, lost[0], "rows and tables that were deleted lately may be back")
			require.Len(t, lost[1:], len(halfWritten(t, dir)), "%v", lost)
		})
	}
	for some := range 3 {
		t.Run(fmt.Sprintf("old files %d", some), func(t *testing.T) {
			dir := copied(t, dir)
			damages["flipped"](t, dir)
			files, err := os.ReadDir(old)
			require.NoError(t, err)
			var missing []string
			for _, f := range files {
				if _, err := os.Stat(filepath.Join(dir, f.Name())); err != nil {
					missing = append(missing, f.Name())
				}
			}
			require.NotEmpty(t, missing)
			for i, f := range missing {
				if some > 0 && len(missing) > 1 && i%2 != some-1 {
					continue
				}
				require.NoError(t, os.Link(filepath.Join(old, f), filepath.Join(dir, f)))
			}
			db, _ := salvaged(t, dir)
			requireManyFiles(t, db)
		})
	}
}

// TestSalvageWithoutTheListAndATable damages table files as well.
func TestSalvageWithoutTheListAndATable(t *testing.T) {
	dir, _ := twoTables(t)
	file := largestTableFile(t, dir)
	flip(t, file, size(t, file)*95/100)
	require.NoError(t, os.Remove(theOne(t, filepath.Join(dir, "MANIFEST-*"))))
	db, lost := salvaged(t, dir)
	require.Greater(t, scalar[int64](t, db, "SELECT count(*) FROM large WHERE v = "+
		"repeat(md5(id::text), 4)"), int64(19000))
	require.EqualValues(t, 10, scalar[int64](t, db, "SELECT count(*) FROM small WHERE v = 's' || "+
		"id"))
	require.Contains(t, strings.Join(lost, "\n"), filepath.Base(file)+": ")
	require.Contains(t, strings.Join(lost, "\n"), "table large")
}
