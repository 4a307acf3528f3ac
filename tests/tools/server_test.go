package tools

import (
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
	"github.com/minidb/minidb/tests/served"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// server is one of the two that are compared.
type server struct {
	name string
	url  *url.URL
}

// servers returns PostgreSQL and minidb, each with an empty database of this name.
func servers(t *testing.T, database string) (postgres, own server) {
	theirs, err := url.Parse(pgtest.Server(t))
	require.NoError(t, err)
	ours, err := url.Parse(served.InMemory(t))
	require.NoError(t, err)
	postgres, own = server{"PostgreSQL", theirs}, server{"minidb", ours}
	for _, name := range strings.Fields(postgres.run(t, "psql", "postgres", "-Atc",
		"SELECT datname FROM pg_database WHERE datname <> 'postgres' AND NOT datistemplate")) {
		postgres.run(t, "dropdb", "postgres", name) // of another test
	}
	for _, s := range []server{postgres, own} {
		s.recreate(t, database)
		s.run(t, "psql", "postgres", "-v", "ON_ERROR_STOP=1", "-f", "testdata/roles.sql")
	}
	return postgres, own
}

// recreate makes a database anew.
func (s server) recreate(t *testing.T, database string) {
	t.Helper()
	s.run(t, "psql", "postgres", "-c", "DROP DATABASE IF EXISTS "+database, "-c",
		"CREATE DATABASE "+database)
}

// run runs a program on a database of the server and returns what it printed; it must succeed.
func (s server) run(t *testing.T, program, database string, args ...string) string {
	t.Helper()
	out, err := s.try(t, program, database, args...)
	require.NoError(t, err, "%s on %s: %s", program, s.name, out)
	return out
}

// try runs a program, which may fail.
func (s server) try(t *testing.T, program, database string, args ...string) (string, error) {
	t.Helper()
	if program == "psql" {
		args = append([]string{"-X", "-q"}, args...)
	}
	cmd := exec.CommandContext(t.Context(), pgtest.Program(t, program), args...)
	password, _ := s.url.User.Password()
	cmd.Env = append(os.Environ(), "PGHOST="+s.host(), "PGPORT="+s.url.Port(),
		"PGUSER="+s.url.User.Username(), "PGPASSWORD="+password, "PGDATABASE="+database,
		"PGSSLMODE=disable")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s server) host() string {
	if h := s.url.Query().Get("host"); h != "" {
		return h
	}
	return s.url.Hostname()
}

// fill runs the schema's script in a database.
func (s server) fill(t *testing.T, database string) {
	t.Helper()
	out := s.run(t, "psql", database, "-v", "ON_ERROR_STOP=1", "-f", "testdata/schema.sql")
	require.NotContains(t, out, "ERROR")
}

// comparable leaves out the lines of a dump that name the server, or are drawn at random.
func comparable(dump string) string {
	var kept []string
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, `\restrict`) && !strings.HasPrefix(line, `\unrestrict`) &&
			!strings.HasPrefix(line, "-- Dumped from database version") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
