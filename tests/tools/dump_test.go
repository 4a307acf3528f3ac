package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// objects is how many objects pg_dump writes of the schema.
const objects = 202

// TestDumpsAreEqual: pg_dump writes the same of both servers, with each of these options.
func TestDumpsAreEqual(t *testing.T) {
	postgres, own := servers(t, "dumped")
	postgres.fill(t, "dumped")
	own.fill(t, "dumped")
	for _, options := range []string{"", "-s --no-comments -x", "-a --inserts", "-n app",
		"--column-inserts -N app", "-t app.parent -t kinds.*", "-T app.p* -O", "-c --if-exists -C",
		"--inserts --rows-per-insert 2 --on-conflict-do-nothing -a", "--disable-triggers -a",
		"--section=pre-data --no-toast-compression", "--section=post-data --disable-dollar-quoting",
		"-C --exclude-table-data app.* --use-set-session-authorization", "-e pg_trgm",
		"-a --no-unlogged-table-data --extra-float-digits 0 --enable-row-security"} {
		args := strings.Fields(options)
		want := comparable(postgres.run(t, "pg_dump", "dumped", args...))
		got := comparable(own.run(t, "pg_dump", "dumped", args...))
		require.Equal(t, want, got, "pg_dump %s", options)
		if options == "" {
			require.Equal(t, objects, strings.Count(got, "\n-- Name: ")+
				strings.Count(got, "\n-- Data for Name: "), "objects in the dump")
		}
	}
}

// TestDumpsRestoreCrosswise: the dump of each server, as SQL and as an archive, loads into the
// other one, whose dump is then the same.
func TestDumpsRestoreCrosswise(t *testing.T) {
	postgres, own := servers(t, "restored")
	for _, pair := range [][2]server{{postgres, own}, {own, postgres}} {
		from, to := pair[0], pair[1]
		from.recreate(t, "restored")
		to.recreate(t, "restored")
		from.fill(t, "restored")
		want := from.run(t, "pg_dump", "restored")
		script := filepath.Join(t.TempDir(), "dump.sql")
		require.NoError(t, os.WriteFile(script, []byte(want), 0o600))
		to.run(t, "psql", "restored", "-v", "ON_ERROR_STOP=1", "-f", script)
		require.Equal(t, comparable(want), comparable(to.run(t, "pg_dump", "restored")),
			"dump of %s in %s", from.name, to.name)

		archive := filepath.Join(t.TempDir(), "archive")
		from.run(t, "pg_dump", "restored", "-Fc", "-f", archive)
		for _, options := range []string{"-1", "-j 2"} {
			args := append(strings.Fields(options), "-c", "--if-exists", "-d", "restored", archive)
			to.run(t, "pg_restore", "restored", args...)
			require.Equal(t, comparable(want), comparable(to.run(t, "pg_dump", "restored")),
				"archive of %s in %s, pg_restore %s", from.name, to.name, options)
		}
	}
}

// TestPartsOfAnArchiveRestoreCrosswise: the archive of each server lists the same entries. It loads
// into the other one in parts: section by section, and by a list that has been edited.
func TestPartsOfAnArchiveRestoreCrosswise(t *testing.T) {
	postgres, own := servers(t, "parts")
	dir := t.TempDir()
	lists := map[string]string{}
	for _, s := range []server{postgres, own} {
		s.fill(t, "parts")
		s.run(t, "pg_dump", "parts", "-Fc", "-f", filepath.Join(dir, s.name))
		lists[s.name] = entries(s.run(t, "pg_restore", "parts", "-l", filepath.Join(dir, s.name)))
	}
	require.Equal(t, lists[postgres.name], lists[own.name])
	for _, pair := range [][2]server{{postgres, own}, {own, postgres}} {
		archive, to := filepath.Join(dir, pair[0].name), pair[1]
		want := comparable(pair[0].run(t, "pg_dump", "parts"))
		to.recreate(t, "parts")
		for _, section := range []string{"pre-data", "data", "post-data"} {
			to.run(t, "pg_restore", "parts", "--section", section, "-d", "parts", archive)
		}
		require.Equal(t, want, comparable(to.run(t, "pg_dump", "parts")),
			"sections of %s in %s", pair[0].name, to.name)
		to.recreate(t, "parts")
		for i, part := range halves(pair[0].run(t, "pg_restore", "parts", "-l", archive)) {
			list := filepath.Join(dir, fmt.Sprintf("list%d", i))
			require.NoError(t, os.WriteFile(list, []byte(part), 0o600))
			to.run(t, "pg_restore", "parts", "-L", list, "-d", "parts", archive)
		}
		require.Equal(t, want, comparable(to.run(t, "pg_dump", "parts")),
			"lists of %s in %s", pair[0].name, to.name)
	}
}

// entries returns the list of an archive without what numbers its entries.
func entries(list string) string {
	var out []string
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 3 && !strings.HasPrefix(line, ";") {
			out = append(out, strings.Join(words[3:], " "))
		}
	}
	return strings.Join(out, "\n")
}

// halves splits the list of an archive in two that are restored one after the other.
func halves(list string) (parts [2]string) {
	lines := strings.SplitAfter(list, "\n")
	n := len(lines) / 2
	return [2]string{strings.Join(lines[:n], ""), strings.Join(lines[n:], "")}
}

// TestDumpsOfAllDatabasesAreEqual: pg_dumpall writes the same roles and databases.
func TestDumpsOfAllDatabasesAreEqual(t *testing.T) {
	postgres, own := servers(t, "everything")
	postgres.fill(t, "everything")
	own.fill(t, "everything")
	const most = "--exclude-database template1 " // it is not a database of minidb's
	for _, options := range []string{"-c -g", "-r", "-t", most, most + "-s -x -O --no-comments",
		most + "-c --if-exists --no-role-passwords -s"} {
		args := strings.Fields(options)
		require.Equal(t, comparable(postgres.run(t, "pg_dumpall", "postgres", args...)),
			comparable(own.run(t, "pg_dumpall", "postgres", args...)), "pg_dumpall %s", options)
	}
}

// TestProgramsMaintainADatabase runs the programs that send maintenance statements.
func TestProgramsMaintainADatabase(t *testing.T) {
	_, own := servers(t, "kept")
	own.fill(t, "kept")
	for _, line := range []string{"createuser -s -d -r boss", "dropuser boss", "createdb more",
		"dropdb more", "vacuumdb kept", "vacuumdb -z kept", "vacuumdb -f kept",
		"vacuumdb -Z -j 2 kept", "vacuumdb --analyze-in-stages kept", "vacuumdb -a",
		"reindexdb kept", "reindexdb -t app.parent kept", "reindexdb -S app kept",
		"reindexdb -i app.i_lower kept",
		"reindexdb --concurrently -t app.parent kept", "reindexdb -a",
		"pg_dumpall", "pg_dumpall -g"} {
		words := strings.Fields(line)
		own.run(t, words[0], "postgres", words[1:]...)
	}
	own.run(t, "pg_dump", "kept", "-Fd", "-j", "2", "-f", filepath.Join(t.TempDir(), "parallel"))
}
