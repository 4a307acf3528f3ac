package sql_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
)

// TestCopyFiles: COPY writes and reads files of the server in each format, with PostgreSQL's errors
// for those that it cannot open.
func TestCopyFiles(t *testing.T) {
	s := newSession(t, newEngine(t))
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	mustQuery(t, s, "CREATE TABLE t (a int, b text)")
	mustQuery(t, s, "INSERT INTO t VALUES (1, 'x'), (2, NULL)")
	for _, with := range []string{"", " (FORMAT csv, HEADER)", " (FORMAT binary)"} {
		require.Equal(t, "COPY 2\n", mustQuery(t, s, "COPY t TO '"+file("all")+"'"+with))
		mustQuery(t, s, "CREATE TABLE u (LIKE t)")
		require.Equal(t, "COPY 2\n", mustQuery(t, s, "COPY u FROM '"+file("all")+"'"+with))
		require.Equal(t, "[a b]\n1|x\n2|NULL\nSELECT 2\n", mustQuery(t, s, "SELECT * FROM u"))
		mustQuery(t, s, "DROP TABLE u")
	}
	require.Equal(t, "COPY 1\n",
		mustQuery(t, s, "COPY (SELECT b FROM t WHERE a = 1) TO '"+file("b")+"'"))
	got, err := os.ReadFile(file("b"))
	require.NoError(t, err)
	require.Equal(t, "x\n", string(got))

	require.NoError(t, os.WriteFile(file("bad"), []byte("3\ty\nz\ty\n"), 0o600))
	require.NoError(t, syscall.Mkfifo(file("pipe"), 0o600))
	for _, x := range []struct{ query, code, message string }{
		{"COPY t TO 'relative'", sqlerr.InvalidName, "relative path not allowed for COPY to file"},
		{"COPY t FROM 'relative'", sqlerr.InvalidName,
			"relative path not allowed for COPY from file"},
		{"COPY t FROM '" + file("none") + "'", sqlerr.UndefinedFile, "could not open file \"" +
			file("none") + "\" for reading: No such file or directory"},
		{"COPY t TO '" + file("no/such") + "'", sqlerr.UndefinedFile, "could not open file \"" +
			file("no/such") + "\" for writing: No such file or directory"},
		{"COPY t FROM '" + dir + "'", sqlerr.WrongObjectType, "\"" + dir + "\" is a directory"},
		{"COPY t TO '" + dir + "'", sqlerr.WrongObjectType, "could not open file \"" + dir +
			"\" for writing: Is a directory"},
		{"COPY t FROM '" + file("pipe") + "'", sqlerr.WrongObjectType,
			"\"" + file("pipe") + "\" is not a regular file"},
		{"COPY none TO '" + file("b") + "'", sqlerr.UndefinedTable,
			"relation \"none\" does not exist"},
		{"COPY t FROM '" + file("bad") + "'", sqlerr.InvalidTextRepresentation,
			"invalid input syntax for type integer: \"z\""},
		{"COPY t FROM PROGRAM 'true'", sqlerr.FeatureNotSupported,
			"COPY with PROGRAM is not supported"},
	} {
		err := query(s, x.query)
		require.Equal(t, x.code, codeOf(err), x.query)
		require.ErrorContains(t, err, x.message)
	}
	got, err = os.ReadFile(file("b"))
	require.NoError(t, err)
	require.Equal(t, "x\n", string(got), "the file of a COPY that does not begin stays")
	require.Equal(t, "[count]\n2\nSELECT 1\n", mustQuery(t, s, "SELECT count(*) FROM t"))
}
