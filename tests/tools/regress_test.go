package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/sql/parse"
)

// regressFiles are PostgreSQL's regression tests, which may be beside the repository.
const regressFiles = "../../../shared/suites/pgregress/sql"

// regressObjects is how many entries the dump of what these files make has. Each construct that
// minidb gets adds some.
const regressObjects = 613

// TestWhatTheRegressionTestsMakeIsDumpedAlike runs the statements of PostgreSQL's regression tests
// that change anything on both servers, each in a transaction that is rolled back where only one of
// them can do it, so that both have the same objects. Their dumps are equal but for the entries of
// testdata/regress_differs. So are the dumps after each was restored into both servers: PostgreSQL
// itself prints some expressions in another way once they were dumped and read again.
func TestWhatTheRegressionTestsMakeIsDumpedAlike(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(regressFiles, "*.sql"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("PostgreSQL's tests are not beside the repository: ../shared/suites/pgregress")
	}
	if testing.Short() {
		t.Skip("thousands of statements")
	}
	postgres, own := servers(t, "regression")
	defer postgres.dropRoles(t)
	p := &pair{t: t, conns: [2]*pgconn.PgConn{postgres.dial(t, "regression"),
		own.dial(t, "regression")}}
	i := slices.Index(files, filepath.Join(regressFiles, "test_setup.sql"))
	files = append([]string{files[i]}, slices.Delete(files, i, i+1)...)
	for _, f := range files {
		p.file(f)
	}
	t.Logf("%d statements on both servers, %d on one of them", p.both, p.one)
	p.close()
	dumps := [2]string{postgres.dumped(t, "regression"), own.dumped(t, "regression")}
	objects := len(dumpEntries(dumps[0]))
	t.Logf("%d entries in the dump", objects)
	require.GreaterOrEqual(t, objects, regressObjects)
	differ := listedEntries(t)
	equalEntries(t, "as they were made", differ, dumps)
	requireDifferent(t, differ, dumps)
	for i, from := range []server{postgres, own} {
		script := filepath.Join(t.TempDir(), "dump.sql")
		require.NoError(t, os.WriteFile(script, []byte(dumps[i]), 0o600))
		var again, said [2]string
		for k, to := range []server{postgres, own} {
			to.recreate(t, "regression")
			said[k], _ = to.try(t, "psql", "regression", "-f", script)
			again[k] = to.dumped(t, "regression")
		}
		assert.Equal(t, said[0], said[1], "what psql says of the dump of %s", from.name)
		equalEntries(t, "restored from "+from.name, differ, again)
	}
}

// dropRoles removes the roles that the statements made on a server that other tests use.
func (s server) dropRoles(t *testing.T) {
	s.run(t, "psql", "postgres", "-c", "DROP DATABASE IF EXISTS regression")
	for _, name := range strings.Fields(s.run(t, "psql", "postgres", "-Atc", "SELECT rolname "+
		"FROM pg_roles WHERE oid >= 16384 AND rolname !~ '^[Aa]pp'")) {
		s.run(t, "dropuser", "postgres", name)
	}
}

func (s server) dial(t *testing.T, database string) *pgconn.PgConn {
	t.Helper()
	u := *s.url
	u.Path = "/" + database
	q := u.Query()
	q.Set("sslmode", "disable")
	u.RawQuery = q.Encode()
	conn, err := pgconn.Connect(t.Context(), u.String())
	require.NoError(t, err)
	return conn
}

// dumped returns the dump of a database. The rows of a table are sorted: PostgreSQL's heap puts the
// new version of a row at its end.
func (s server) dumped(t *testing.T, database string) string {
	t.Helper()
	lines := strings.SplitAfter(comparable(s.run(t, "pg_dump", database)), "\n")
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], "COPY ") {
			continue
		}
		n := slices.Index(lines[i:], "\\.\n")
		slices.Sort(lines[i+1 : i+n])
		i += n
	}
	return strings.Join(lines, "")
}

// pair is a session on each of two servers.
type pair struct {
	t     *testing.T
	conns [2]*pgconn.PgConn
	// drops are statements that were put off: they run once a name is needed again.
	drops     []string
	both, one int
}

func (p *pair) close() {
	for _, c := range p.conns {
		require.NoError(p.t, c.Close(p.t.Context()))
	}
}

// file runs a file in a schema of its own.
func (p *pair) file(path string) {
	name := strings.TrimSuffix(filepath.Base(path), ".sql")
	text, err := os.ReadFile(path)
	require.NoError(p.t, err)
	p.drops = nil
	for _, s := range []string{"RESET ALL", "RESET ROLE", "RESET SESSION AUTHORIZATION",
		fmt.Sprintf("CREATE SCHEMA IF NOT EXISTS %q", "f_"+name),
		fmt.Sprintf("SET search_path = %q, public", "f_"+name)} {
		for _, c := range p.conns {
			_, err := c.Exec(p.t.Context(), s).ReadAll()
			require.NoError(p.t, err, s)
		}
	}
	for _, s := range statementsOf(string(text)) {
		switch {
		case dropping.MatchString(s.text) && !global.MatchString(s.text):
			p.drops = append(p.drops, s.text)
		case changing.MatchString(s.text) && !global.MatchString(s.text):
			p.statement(s)
		}
	}
}

var (
	// changing begins the statements that change what a dump shows, or how later ones are read.
	changing = regexp.MustCompile(`(?i)^(create|alter|comment|grant|revoke|insert|update|delete|` +
		`truncate|refresh|copy|set|reset|merge|do|select (pg_catalog\.)?(setval|nextval))\b`)
	dropping = regexp.MustCompile(`(?i)^drop\b`)
	// global are statements about the server, the session or the transaction alone.
	global = regexp.MustCompile(`(?i)^(create (or replace )?((global|local) )?temp|alter system|` +
		`drop (owned|role|user|database)|` +
		`set (local|constraints|transaction|session characteristics)|copy .* from '|` +
		`alter database|create database|create tablespace)`)
)

// scripted is a statement, with the data behind it if it is COPY FROM stdin.
type scripted struct{ text, data string }

// statementsOf splits a script of psql's. What has a variable, or ends with a backslash command, is
// left out.
func statementsOf(text string) (out []scripted) {
	var clean strings.Builder
	var data []string
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], `\`) {
			clean.WriteString(lines[i])
		}
		if copiesIn.MatchString(lines[i]) {
			n := slices.IndexFunc(lines[i:], func(l string) bool {
				return strings.TrimSpace(l) == `\.`
			})
			if n < 0 {
				continue
			}
			data = append(data, strings.Join(lines[i+1:i+n], ""))
			i += n
		}
	}
	all, _ := parse.Split(clean.String())
	for _, s := range all {
		s = strings.TrimSpace(leading.ReplaceAllString(s, ""))
		one := scripted{text: s}
		if copiesIn.MatchString(s) && len(data) > 0 {
			one.data, data = data[0], data[1:]
		}
		out = append(out, one)
	}
	return out
}

var (
	copiesIn = regexp.MustCompile(`(?i)\bfrom\s+stdin\b.*;`)
	leading  = regexp.MustCompile(`^(\s|--[^\n]*\n)+`)
)

// statement runs a statement on both servers, and once more where a name that it needs is still
// taken.
func (p *pair) statement(s scripted) {
	codes := p.attempt(s)
	if codes[0] == codes[1] && slices.Contains(taken, codes[0]) && len(p.drops) > 0 {
		for _, d := range p.drops {
			p.attempt(scripted{text: d})
		}
		p.drops = nil
		codes = p.attempt(s)
	}
	if codes[0] == "" && codes[1] == "" {
		p.both++
	} else if codes[0] == "" || codes[1] == "" {
		p.one++
	}
}

// taken are the codes of names that are taken.
var taken = []string{"42P07", "42710", "42P06", "42723", "42701"}

// attempt runs a statement in a transaction on both servers, which commits where both can. It
// returns the codes of their errors.
func (p *pair) attempt(s scripted) (codes [2]string) {
	var errs [2]error
	for i, c := range p.conns {
		if _, errs[i] = c.Exec(p.t.Context(), "BEGIN").ReadAll(); errs[i] != nil {
			require.NoError(p.t, errs[i])
		}
		if s.data != "" {
			_, errs[i] = c.CopyFrom(p.t.Context(), strings.NewReader(s.data), s.text)
		} else {
			_, errs[i] = c.Exec(p.t.Context(), s.text).ReadAll()
		}
		if errs[i] == nil {
			_, errs[i] = c.Exec(p.t.Context(), "SET CONSTRAINTS ALL IMMEDIATE").ReadAll()
		}
		codes[i] = codeOf(errs[i])
		require.NotEqual(p.t, "lost", codes[i], "%s: %v", s.text, errs[i])
	}
	end := "COMMIT"
	for i, c := range p.conns {
		if errs[0] != nil || errs[1] != nil {
			end = "ROLLBACK"
		}
		_, err := c.Exec(p.t.Context(), end).ReadAll()
		if i == 0 && err != nil {
			errs[0], codes[0] = err, codeOf(err)
			continue
		}
		require.NoError(p.t, err, "%s of %s", end, s.text)
	}
	return codes
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := err.(*pgconn.PgError); ok {
		return e.Code
	}
	return "lost"
}

// listedEntries returns the names of the entries that may differ.
func listedEntries(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/regress_differs")
	require.NoError(t, err)
	listed := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if name, _, ok := strings.Cut(line, " | "); ok {
			listed[name] = true
		}
	}
	return listed
}

// equalEntries compares the dumps of PostgreSQL and minidb entry by entry, but for those listed.
func equalEntries(t *testing.T, what string, listed map[string]bool, dumps [2]string) {
	t.Helper()
	var kept [2][]string
	for i, dump := range dumps {
		for _, e := range dumpEntries(dump) {
			if !listed[e.name] {
				kept[i] = append(kept[i], e.name+"\n"+e.text)
			}
		}
	}
	assert.Equal(t, strings.Join(kept[0], "\n"), strings.Join(kept[1], "\n"), what)
}

// requireDifferent requires that what is listed does differ.
func requireDifferent(t *testing.T, listed map[string]bool, dumps [2]string) {
	t.Helper()
	text := map[string]string{}
	for _, e := range dumpEntries(dumps[0]) {
		text[e.name] = e.text
	}
	for _, e := range dumpEntries(dumps[1]) {
		if listed[e.name] {
			assert.NotEqual(t, text[e.name], e.text, "listed, and equal: %s", e.name)
		}
	}
}

// dumpEntry is an entry of a dump: what its first line says, and the rest.
type dumpEntry struct{ name, text string }

func dumpEntries(dump string) (out []dumpEntry) {
	parts := entryStart.Split(dump, -1)
	for _, part := range parts[1:] {
		name, text, _ := strings.Cut(part, "\n")
		out = append(out, dumpEntry{name, text})
	}
	return out
}

var entryStart = regexp.MustCompile(`\n-- (?:Data for )?Name: `)
