package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minidb/minidb"
	"github.com/stretchr/testify/require"
)

// everything is what both stores of a copy must show alike.
const everything = `SELECT * FROM doc ORDER BY id; SELECT id FROM doc WHERE hash = 'h77';
	SELECT * FROM lengths ORDER BY len; SELECT count(*) FROM pg_class`

// TestCopyThereAndBack: a directory is copied to a cluster, used there by gateways, and copied from
// there, while they are used, to another directory. At the end of each way both stores are checked
// and show the same.
func TestCopyThereAndBack(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	dir := t.TempDir()
	here, back := filepath.Join(dir, "here"), filepath.Join(dir, "back")
	db, err := minidb.Open(here)
	require.NoError(t, err)
	_, err = db.Exec(context.Background(), `
		CREATE TABLE doc (id serial PRIMARY KEY, hash text UNIQUE, body text);
		CREATE INDEX ON doc (body);
		CREATE MATERIALIZED VIEW lengths WITH (incremental) AS
			SELECT length(body) AS len, count(*) AS n FROM doc GROUP BY length(body);
		INSERT INTO doc (hash, body)
			SELECT 'h' || g, repeat('body ', g) FROM generate_series(1, 500) g;
		DELETE FROM doc WHERE id % 7 = 0`)
	require.NoError(t, errors.Join(err, db.Close()))
	there := strings.TrimSuffix(c.store, "/test") + "/copied"
	out := c.run(t, "copy", "--from", here, "--to", there)
	require.Contains(t, out, "both stores are the same")
	c.run(t, "check", "--store", there)
	require.Equal(t, c.shows(t, "--data", here), c.shows(t, "--store", there))

	gateway := c.gateways[0]
	gateway.kill()
	gateway.args[len(gateway.args)-1] = there
	gateway.start()
	url := "postgres://postgres@" + gateway.addr + "/postgres"
	c.run(t, "sql", "--url", url, "-c",
		"INSERT INTO doc (hash, body) SELECT 'n' || g, 'new' FROM generate_series(1, 50) g")
	out = c.run(t, "copy", "--from", there, "--to", "pebble:"+back)
	require.Contains(t, out, "both stores are the same")
	c.run(t, "check", "--data", back)
	c.run(t, "check", "--store", there)
	want := c.shows(t, "--url", url)
	require.Contains(t, want, "n50")
	require.Equal(t, want, c.shows(t, "--data", back))

	require.Contains(t, c.fails(t, "copy", "--from", back, "--to", there), "not empty")
}

// shows returns the everything of a store, with the view up to date.
func (c *cluster) shows(t *testing.T, where ...string) string {
	sql := append([]string{"sql"}, where...)
	c.run(t, append(sql, "-c", "REFRESH MATERIALIZED VIEW lengths")...)
	return c.run(t, append(sql, "-c", everything)...)
}

// fails runs a command of minidb, which must fail, and returns what it says.
func (c *cluster) fails(t *testing.T, args ...string) string {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childRole+"=minidb")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	return string(out)
}
