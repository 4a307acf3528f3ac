package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// runCommand runs a command line and returns its exit code and what it printed.
func runCommand(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	stdout, stderr := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	capture := func(to **os.File) func() string {
		f, err := os.Create(filepath.Join(t.TempDir(), "output"))
		require.NoError(t, err)
		*to = f
		return func() string {
			_, err := f.Seek(0, io.SeekStart)
			require.NoError(t, err)
			b, err := io.ReadAll(f)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			return string(b)
		}
	}
	readOut, readErr := capture(&os.Stdout), capture(&os.Stderr)
	code = run(context.Background(), args)
	return code, readOut(), readErr()
}

func TestEveryCommandHasHelp(t *testing.T) {
	for _, c := range commands {
		code, out, _ := runCommand(t, c.name, "--help")
		require.Zero(t, code, c.name)
		require.Contains(t, out, "Usage: minidb "+c.name)
	}
}

// TestTheReadmeListsTheCommands: each has a row, which for serve has all flags.
func TestTheReadmeListsTheCommands(t *testing.T) {
	page, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `minidb (\\w+)` \\|(.*)$").FindAllStringSubmatch(
		string(page), -1) {
		rows[m[1]] = m[2]
	}
	require.Len(t, rows, len(commands))
	for _, c := range commands {
		require.Contains(t, rows, c.name)
	}
	flags := func(text string) (out []string) {
		for _, m := range regexp.MustCompile(`(?m)(?:^  -|--)([a-z-]+)`).FindAllStringSubmatch(text,
			-1) {
			out = append(out, m[1])
		}
		return out
	}
	_, help, _ := runCommand(t, "serve", "--help")
	_, help, _ = strings.Cut(help, "\n\n  -")
	require.ElementsMatch(t, flags("\n  -"+help), flags(rows["serve"]))
}

func TestWrongCommandLinesAreRefusedWithoutEffects(t *testing.T) {
	for _, line := range []string{"", "nope", "serve --nope", "serve x",
		"serve --in-memory --data x", "serve --gc-retention 0", "serve --max-connections 0",
		"serve --max-connections 3 --reserved-connections 3", "serve --drain -1s",
		"serve --http 0.0.0.0:9187", "serve --http :9187", "serve --http 127.0.0.1",
		"check", "check --data x y",
		"dump", "sql --url x --data y", "sql -c 1 -f y", "sql --in-memory --data y", "sqllogictest",
		"bench x"} {
		code, _, errOut := runCommand(t, strings.Fields(line)...)
		require.Equal(t, 2, code, "%q: %s", line, errOut)
	}
}

func TestInspectionLeavesForeignDirectoriesAlone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"check", "dump", "sql"} {
		code, _, errOut := runCommand(t, name, "--data", dir)
		require.Equal(t, 1, code)
		require.Contains(t, errOut, "not a minidb store")
		code, _, _ = runCommand(t, name, "--data", filepath.Join(dir, "none"))
		require.Equal(t, 1, code)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestShellCheckAndDumpOnADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := minidb.Open(dir)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	code, out, errOut := runCommand(t, "sql", "--data", dir, "-c",
		"CREATE TABLE docs(id bigint PRIMARY KEY, url text UNIQUE); INSERT INTO docs VALUES (1, "+
			"'a'); \\dt\nSELECT url FROM docs")
	require.Zero(t, code, errOut)
	require.Contains(t, out, "INSERT 0 1")
	require.Contains(t, out, "public | docs")
	require.Contains(t, out, " url \n-----\n a\n")
	code, _, errOut = runCommand(t, "sql", "--data", dir, "-c", "SELECT nope FROM docs")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, "42703")

	code, out, _ = runCommand(t, "check", "--data", dir)
	require.Zero(t, code, out)
	code, out, _ = runCommand(t, "dump", "--data", dir, "--table", "docs")
	require.Zero(t, code)
	require.Regexp(t, `docs/row/\(1\)\n  \d+ +data: .* lock: .* write: → \d+ \(url=a\)`, out)
	code, _, errOut = runCommand(t, "dump", "--data", dir, "--table", "none")
	require.Equal(t, 1, code)
	require.Contains(t, errOut, `no table "none"`)
}

// TestTheShellTellsRowsFromTags: CREATE TABLE AS has a SELECT's tag and no rows, and a SELECT may
// have rows without columns.
func TestTheShellTellsRowsFromTags(t *testing.T) {
	_, out, _ := runCommand(t, "sql", "--in-memory", "-c", "CREATE TABLE t AS SELECT 1 AS a")
	require.Equal(t, "SELECT 1\n", out)
	_, out, _ = runCommand(t, "sql", "--in-memory", "-c", "SELECT FROM (VALUES (1), (2)) AS v")
	require.Contains(t, out, "(2 rows)\n")
	_, out, _ = runCommand(t, "sql", "--in-memory", "-c", "SELECT")
	require.Contains(t, out, "(1 row)\n")
}

func TestADirectoryInUseIsSaid(t *testing.T) {
	dir := t.TempDir()
	db, err := minidb.Open(dir)
	require.NoError(t, err)
	defer db.Close()
	for _, args := range [][]string{{"check", "--data", dir}, {"dump", "--data", dir},
		{"sql", "--data", dir, "-c", "SELECT 1"}} {
		code, _, errOut := runCommand(t, args...)
		require.Equal(t, 1, code)
		require.Contains(t, errOut, "directory "+dir+" is in use by this or another process")
	}
}
