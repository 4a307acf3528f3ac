package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const scripts = "../../../../tests/sqllogic/scripts"

// some are the scripts that are run unless MINIDB_SCRIPTS is "all".
var some = []string{"aggregates", "constraints", "current_of", "deferrable", "merge", "sequences"}

// refusing use what is refused on a store that several processes share (sql/shared.go), or ask for
// VACUUM FULL and CHECKPOINT.
var refusing = []string{"maintenance", "properties", "roles", "storage", "system_columns",
	"table_locks", "view_functions"}

// TestScripts runs minidb's own sqllogictest scripts on gateways, one script on one after the
// other: each sees what those before it have left.
func TestScripts(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	files, err := filepath.Glob(scripts + "/*.slt")
	require.NoError(t, err)
	ran := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".slt")
		if os.Getenv("MINIDB_SCRIPTS") != "all" && !slices.Contains(some, name) ||
			slices.Contains(refusing, name) {
			continue
		}
		gateway := c.gateways[ran%len(c.gateways)]
		out := c.run(t, "sqllogictest", "--url", "postgres://postgres@"+gateway.addr+"/postgres",
			file)
		t.Log(name, strings.TrimSpace(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]))
		ran++
	}
	require.Greater(t, ran, 3)
	moves(t, c)
}

// moves dumps a database on one gateway and restores it on another, by PostgreSQL's own programs
// where they are installed.
func moves(t *testing.T, c *cluster) {
	if _, err := exec.LookPath("pg_dump"); err != nil {
		t.Log("pg_dump is not installed")
		return
	}
	here, there := c.gateways[0].addr, c.gateways[1].addr
	url := func(addr, database string) string {
		return "postgres://postgres@" + addr + "/" + database
	}
	program := func(name string, args ...string) {
		out, err := exec.Command(name, args...).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
	}
	file := filepath.Join(t.TempDir(), "dump")
	program("psql", "-Xqd", url(here, "postgres"), "-c", `
		CREATE DATABASE old`, "-c", "CREATE DATABASE new")
	program("psql", "-Xqd", url(here, "old"), "-c", `
		CREATE TABLE doc (id serial PRIMARY KEY, hash text UNIQUE, next int REFERENCES doc);
		INSERT INTO doc (hash, next) SELECT 'h' || g, 1 FROM generate_series(1, 300) g;
		CREATE VIEW hashes AS SELECT hash FROM doc`)
	program("pg_dump", "-Fc", "-f", file, url(here, "old"))
	program("pg_restore", "--exit-on-error", "-d", url(there, "new"), file)
	out, err := exec.Command("psql", "-XAtqd", url(here, "new"), "-c",
		"INSERT INTO doc (hash) VALUES ('new') RETURNING id",
		"-c", "SELECT count(*) FROM hashes").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "301\n301\n", string(out))
}
