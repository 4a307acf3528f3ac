package drivers

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
	"github.com/minidb/minidb/tests/served"
)

// psql runs a script and returns what it printed, errors included.
func psql(t *testing.T, url string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), pgtest.Program(t, "psql"),
		append([]string{"-X", "-d", url}, args...)...)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

func TestPsqlTour(t *testing.T) {
	url := served.InMemory(t)
	out := psql(t, url, "-c", `CREATE TABLE docs (id serial PRIMARY KEY, url text UNIQUE,
		body text)`,
		"-c", `INSERT INTO docs (url, body) VALUES ('a', 'x'), ('b', NULL)`,
		"-c", `SELECT * FROM docs ORDER BY id`,
		"-c", `INSERT INTO docs (url) VALUES ('a')`,
		"-c", `SELECT nope FROM docs`,
		"-c", `BEGIN; UPDATE docs SET body = 'y'; ROLLBACK; SELECT count(body) FROM docs`)
	require.Equal(t, strings.TrimLeft(`
CREATE TABLE
INSERT 0 2
 id | url | body 
----+-----+------
  1 | a   | x
  2 | b   | 
(2 rows)

ERROR:  duplicate key value violates unique constraint "docs_url_key"
DETAIL:  Key (url)=(a) already exists.
ERROR:  column "nope" does not exist
LINE 1: SELECT nope FROM docs
               ^
BEGIN
UPDATE 2
ROLLBACK
 count 
-------
     1
(1 row)

`, "\n"), out)
}

func TestPsqlFetchesWithACursorAndRollsBackSingleStatements(t *testing.T) {
	url := served.InMemory(t)
	require.Equal(t, "3\n", psql(t, url, "-At", "-v", "FETCH_COUNT=1", "-c",
		`CREATE TABLE t (a int)`, "-c", `INSERT INTO t VALUES (1), (2), (3)`, "-c",
		`SELECT count(*) FROM t`)[len("CREATE TABLE\nINSERT 0 3\n"):])
	require.Equal(t, "1\n2\n3\n",
		psql(t, url, "-At", "-v", "FETCH_COUNT=2", "-c", `SELECT a FROM t ORDER BY a`))
	out := psql(t, url, "-At", "-v", "ON_ERROR_ROLLBACK=on", "-c", `BEGIN`, "-c", `SELECT 1/0`,
		"-c", `SELECT 'alive'`, "-c", `COMMIT`)
	require.Contains(t, out, "division by zero")
	require.Contains(t, out, "alive")
}

func TestPsqlDescribes(t *testing.T) {
	url := served.InMemory(t)
	psql(t, url, "-c", `CREATE TABLE docs (id serial PRIMARY KEY, url text NOT NULL,
		body text DEFAULT 'none')`,
		"-c", `CREATE INDEX docs_body ON docs (body DESC)`, "-c",
		`CREATE VIEW v AS SELECT id FROM docs`)
	out := psql(t, url, "-c", `\d docs`)
	require.Contains(t, out, `Table "public.docs"`)
	require.Contains(t, out, `nextval('docs_id_seq'::regclass)`)
	require.Contains(t, out, `"docs_pkey" PRIMARY KEY, btree (id)`)
	require.Contains(t, out, `"docs_body" btree (body DESC)`)
	out = psql(t, url, "-c", `\dt`)
	require.Contains(t, out, "docs")
	require.NotContains(t, out, "ERROR")
	require.Contains(t, psql(t, url, "-c", `\l`), "postgres")
	require.Contains(t, psql(t, url, "-c", `\dv`), "v")
	require.Contains(t, psql(t, url, "-c", `\di`), "docs_body")
	require.Contains(t, psql(t, url, "-c", `\dn`), "public")
}

func TestPsqlDatabases(t *testing.T) {
	url := served.InMemory(t)
	require.Equal(t, "CREATE DATABASE\n", psql(t, url, "-c", `CREATE DATABASE other`))
	other := strings.Replace(url, "/postgres?", "/other?", 1)
	require.Equal(t, "CREATE TABLE\n", psql(t, other, "-c", `CREATE TABLE only_here (a int)`))
	require.Contains(t, psql(t, url, "-c", `SELECT * FROM only_here`),
		`relation "only_here" does not exist`)
	nowhere := strings.Replace(url, "/postgres?", "/nowhere?", 1)
	require.Contains(t, psql(t, nowhere, "-c", `SELECT 1`), `database "nowhere" does not exist`)
	require.Equal(t, "DROP DATABASE\n", psql(t, url, "-c", `DROP DATABASE other`))
}
