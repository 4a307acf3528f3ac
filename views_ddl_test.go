package minidb_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/tests/served"
)

// viewScripts are statements, one in each line, about incremental views of the tables
//
//	a (id int PRIMARY KEY, g int, x int, unused text)   b (id int PRIMARY KEY, y int)
//
// After each of them every view that has rows must equal its query. A line may begin with what is
// expected: "55000: " is the error of the statement, "= 3: " the value of the query, and "broken: "
// says that from now on a view does not follow its tables. A line that ends with \
// goes on in the next.
var viewScripts = map[string]string{
	"names": groups + `
		CREATE SCHEMA s
		ALTER MATERIALIZED VIEW v RENAME TO u
		INSERT INTO a VALUES (100, 1, 1)
		ALTER MATERIALIZED VIEW u RENAME COLUMN s TO total
		INSERT INTO a VALUES (101, 1, 1)
		ALTER MATERIALIZED VIEW u SET SCHEMA s
		INSERT INTO a VALUES (102, 9, 1)
		= 1: SELECT total FROM s.u WHERE g = 9
		42P01: SELECT * FROM v
		REFRESH MATERIALIZED VIEW s.u
		DELETE FROM a WHERE g = 1
		DROP SCHEMA s CASCADE
		42P01: SELECT * FROM w
		INSERT INTO a VALUES (103, 9, 1)`,
	"columns of the table": groups + `
		CREATE MATERIALIZED VIEW k WITH (incremental) AS SELECT id, unused FROM a
		ALTER TABLE a RENAME TO aa
		INSERT INTO aa VALUES (100, 1, 1)
		ALTER TABLE aa RENAME COLUMN x TO xx
		UPDATE aa SET xx = xx + 1
		ALTER TABLE aa ADD COLUMN more int DEFAULT 5
		INSERT INTO aa VALUES (101, 1, 1, 'u', 6)
		ALTER TABLE aa ALTER COLUMN more TYPE bigint
		INSERT INTO aa VALUES (102, 1, 1, 'u', 6)
		ALTER TABLE aa ADD COLUMN at timestamptz DEFAULT clock_timestamp()
		UPDATE aa SET xx = 7 WHERE id < 5
		ALTER TABLE aa DROP COLUMN more
		2BP01: ALTER TABLE aa DROP COLUMN xx
		0A000: ALTER TABLE aa ALTER COLUMN xx TYPE bigint
		2BP01: ALTER TABLE aa DROP COLUMN unused
		DROP MATERIALIZED VIEW k
		ALTER TABLE aa DROP COLUMN unused
		UPDATE aa SET xx = 8 WHERE id < 5
		ALTER TABLE aa DROP CONSTRAINT a_pkey
		UPDATE aa SET xx = 9, id = 4 WHERE id < 5
		ALTER TABLE aa DROP COLUMN xx CASCADE
		42P01: SELECT * FROM w
		INSERT INTO aa VALUES (200, 1)`,
	"truncate": groups + `
		BEGIN; INSERT INTO a VALUES (100, 1, 1); TRUNCATE a; INSERT INTO a VALUES (100, 2, 1); \
			COMMIT
		= 1: SELECT count(*) FROM v
		TRUNCATE a, b
		= 0: SELECT count(*) FROM w
		INSERT INTO a VALUES (1, 1, 1)
		INSERT INTO b VALUES (1, 1)
		BEGIN; TRUNCATE a; ROLLBACK
		= 1: SELECT y FROM w`,
	"drop": groups + `
		CREATE MATERIALIZED VIEW top WITH (incremental) AS SELECT count(*) AS c FROM w
		2BP01: DROP MATERIALIZED VIEW v
		2BP01: DROP TABLE b
		BEGIN; DROP MATERIALIZED VIEW v CASCADE; ROLLBACK
		INSERT INTO a VALUES (100, 7, 1)
		= 4: SELECT c FROM top
		DROP TABLE b CASCADE
		42P01: SELECT * FROM top
		INSERT INTO a VALUES (101, 7, 1)
		= 2: SELECT n FROM v WHERE g = 7
		CREATE MATERIALIZED VIEW w WITH (incremental) AS SELECT g FROM v
		DROP MATERIALIZED VIEW v CASCADE
		42P01: SELECT * FROM w
		INSERT INTO a VALUES (102, 7, 1)
		CREATE TABLE b (id int PRIMARY KEY, y int)` + groups + `
		INSERT INTO a VALUES (103, 7, 1)
		DROP TABLE a CASCADE
		42P01: SELECT * FROM w`,
	"indexes": groups + `
		CREATE INDEX ON v (n)
		CREATE UNIQUE INDEX vg ON v (g)
		CREATE MATERIALIZED VIEW k WITH (incremental) AS SELECT id, x FROM a
		INSERT INTO a VALUES (100, 7, 100)
		= 1: SELECT n FROM v WHERE g = 7
		UPDATE a SET g = 8 WHERE id = 100
		= 0: SELECT count(*) FROM v WHERE g = 7
		UPDATE a SET g = 1 - g WHERE g IN (0, 1)
		CREATE UNIQUE INDEX kx ON k (x)
		UPDATE a SET x = 21 - x WHERE id <= 20
		INSERT INTO a VALUES (101, 7, 101)
		23505: CREATE UNIQUE INDEX ON v (n)
		broken: INSERT INTO a VALUES (102, 7, 101)
		INSERT INTO a VALUES (103, 7, 103)
		55000: SELECT * FROM k
		= 3: SELECT n FROM v WHERE g = 7
		23505: REFRESH MATERIALIZED VIEW k
		DELETE FROM a WHERE id = 102
		REFRESH MATERIALIZED VIEW k
		= 1: SELECT count(*) FROM k WHERE x = 103
		DROP INDEX kx
		INSERT INTO a VALUES (104, 7, 103)
		REINDEX TABLE v
		= 3: SELECT n FROM v WHERE g = 7`,
	"refresh": groups + `
		REFRESH MATERIALIZED VIEW v
		INSERT INTO a VALUES (100, 7, 1)
		CREATE UNIQUE INDEX ON v (g)
		0A000: REFRESH MATERIALIZED VIEW CONCURRENTLY v
		broken: REFRESH MATERIALIZED VIEW v WITH NO DATA
		55000: SELECT * FROM v
		INSERT INTO a VALUES (101, 7, 1)
		REFRESH MATERIALIZED VIEW v
		= 2: SELECT n FROM v WHERE g = 7
		REFRESH MATERIALIZED VIEW w
		INSERT INTO a VALUES (102, 7, 1)
		= 3: SELECT n FROM w WHERE g = 7`,
	"no data": `
		CREATE MATERIALIZED VIEW n WITH (incremental) AS SELECT g FROM a WITH NO DATA
		CREATE MATERIALIZED VIEW IF NOT EXISTS n WITH (incremental) AS SELECT x FROM a
		42P07: CREATE MATERIALIZED VIEW n WITH (incremental) AS SELECT x FROM a
		55000: SELECT * FROM n
		INSERT INTO a VALUES (100, 7, 1)
		55000: SELECT * FROM n
		CREATE UNIQUE INDEX ON n (g)
		23505: REFRESH MATERIALIZED VIEW n
		55000: SELECT * FROM n
		DELETE FROM a WHERE id > 3
		REFRESH MATERIALIZED VIEW n
		INSERT INTO a VALUES (101, 7, 1)
		= 4: SELECT count(*) FROM n`,
	"blocks": groups + `
		BEGIN; INSERT INTO a VALUES (100, 7, 1); REFRESH MATERIALIZED VIEW v; INSERT INTO a \
			VALUES (101, 7, 1); COMMIT
		= 2: SELECT n FROM v WHERE g = 7
		BEGIN; DELETE FROM a WHERE id = 100; CREATE MATERIALIZED VIEW k WITH (incremental) AS \
			SELECT id, n FROM a JOIN v USING (g); DELETE FROM a WHERE id = 101; COMMIT
		= 0: SELECT count(*) FROM v WHERE g = 7
		= 0: SELECT count(*) FROM k WHERE id >= 100
		BEGIN; CREATE MATERIALIZED VIEW k2 WITH (incremental) AS SELECT id FROM a; INSERT INTO \
			a VALUES (102, 7, 1); ROLLBACK
		42P01: SELECT * FROM k2
		BEGIN; CREATE MATERIALIZED VIEW k2 WITH (incremental) AS SELECT id FROM a; INSERT INTO \
			a VALUES (103, 7, 1); COMMIT
		= 1: SELECT count(*) FROM k2 WHERE id = 103
		BEGIN; SAVEPOINT s; CREATE MATERIALIZED VIEW k3 WITH (incremental) AS SELECT id FROM \
			k2; ROLLBACK TO s; INSERT INTO a VALUES (104, 7, 1); COMMIT
		42P01: SELECT * FROM k3
		BEGIN; CREATE TABLE c (id int PRIMARY KEY); INSERT INTO c VALUES (1); CREATE \
			MATERIALIZED VIEW k3 WITH (incremental) AS SELECT id FROM c; INSERT INTO c VALUES (2); \
			COMMIT
		INSERT INTO c VALUES (3)
		= 3: SELECT count(*) FROM k3
		BEGIN; INSERT INTO c VALUES (4); DROP MATERIALIZED VIEW k3; CREATE MATERIALIZED VIEW k3 \
			WITH (incremental) AS SELECT -id AS m FROM c; COMMIT
		= -10: SELECT sum(m) FROM k3
		INSERT INTO c VALUES (5)
		= -15: SELECT sum(m) FROM k3`,
	"ordinary views": `
		CREATE VIEW o AS SELECT id, g FROM a WHERE x > 5
		CREATE VIEW oo AS SELECT g, id FROM o
		CREATE MATERIALIZED VIEW k WITH (incremental) AS SELECT g, count(*) AS n FROM oo GROUP \
			BY g
		0A000: CREATE OR REPLACE VIEW o AS SELECT id, g FROM a
		0A000: CREATE OR REPLACE VIEW oo AS SELECT g, id FROM o WHERE g > 1
		INSERT INTO a VALUES (100, 7, 100)
		ALTER VIEW oo RENAME TO p
		ALTER VIEW p RENAME COLUMN id TO i
		INSERT INTO a VALUES (101, 7, 1), (102, 7, 200)
		= 2: SELECT n FROM k WHERE g = 7
		2BP01: DROP VIEW o
		CREATE VIEW above AS SELECT * FROM k
		CREATE OR REPLACE VIEW above AS SELECT g, n, n + 1 AS m FROM k
		DROP VIEW o CASCADE
		42P01: SELECT * FROM k
		INSERT INTO a VALUES (103, 7, 100)`,
	// A change joins a new row with an old one that it was never together with.
	"failures": `
		CREATE MATERIALIZED VIEW k WITH (incremental) AS SELECT a.id, 10 / (a.x - b.y) AS q \
			FROM a JOIN b ON b.id = a.id
		CREATE MATERIALIZED VIEW l WITH (incremental) AS SELECT sum(q) AS s FROM k
		BEGIN; UPDATE a SET x = 20 WHERE id = 1; UPDATE b SET y = 21 WHERE id = 1; COMMIT
		= -10: SELECT q FROM k
		BEGIN; UPDATE b SET y = 22 WHERE id = 1; UPDATE a SET x = 21 WHERE id = 1; COMMIT
		= -10: SELECT s FROM l
		broken: UPDATE a SET x = 22 WHERE id = 1
		55000: SELECT * FROM k
		55000: SELECT * FROM l
		22012: REFRESH MATERIALIZED VIEW k
		UPDATE a SET x = 23 WHERE id = 1
		REFRESH MATERIALIZED VIEW k
		= 10: SELECT s FROM l`,
	"hidden": groups + `
		= a b v w: SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relkind \
			IN ('r', 'm', 't', 'S') AND oid >= 16384
		= a b: SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables WHERE \
			schemaname = 'public'
		= a b: SELECT string_agg(table_name, ' ' ORDER BY table_name) FROM \
			information_schema.tables WHERE table_schema = 'public'
		= g n s: SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE \
			attrelid = 'v'::regclass AND attnum > 0
		= v w: SELECT string_agg(matviewname, ' ' ORDER BY matviewname) FROM pg_matviews
		ALTER MATERIALIZED VIEW v SET (incremental, fillfactor = 70)
		ALTER MATERIALIZED VIEW v RESET (fillfactor)
		0A000: ALTER MATERIALIZED VIEW v RESET (incremental)
		0A000: ALTER MATERIALIZED VIEW v SET (incremental = false)
		CREATE MATERIALIZED VIEW plain AS SELECT * FROM v
		ALTER MATERIALIZED VIEW plain RESET (incremental)
		0A000: ALTER MATERIALIZED VIEW plain SET (incremental)
		0A000: CREATE MATERIALIZED VIEW k WITH (incremental) AS SELECT * FROM plain
		DROP MATERIALIZED VIEW plain
		42809: INSERT INTO v VALUES (1, 1, 1)
		42809: TRUNCATE v
		42703: SELECT image FROM v
		42703: CREATE INDEX ON v (image)
		42703: CREATE INDEX ON v (ordinal)
		42703: ALTER MATERIALIZED VIEW v RENAME COLUMN image TO i
		42703: COMMENT ON COLUMN v.image IS 'i'`,
}

// groups makes a view of groups, and a view on that.
const groups = `
		CREATE MATERIALIZED VIEW v WITH (incremental) AS SELECT g, count(*) AS n, sum(x) AS s \
			FROM a GROUP BY g
		CREATE MATERIALIZED VIEW w WITH (incremental) AS SELECT v.g, v.n, b.y FROM v LEFT JOIN \
			b ON b.id = v.g`

func TestSchemaChangesAndIncrementalViews(t *testing.T) {
	for name, script := range viewScripts {
		t.Run(name, func(t *testing.T) {
			s := newViewScript(t)
			for line := range strings.Lines(continued.ReplaceAllString(script, " ")) {
				if line = strings.TrimSpace(line); line != "" {
					s.run(line)
				}
			}
			problems, err := s.db.Check(context.Background())
			require.NoError(t, err)
			require.Empty(t, problems)
		})
	}
}

// TestADatabaseWithIncrementalViewsCanBeDropped: what advances its views is no other user of it.
func TestADatabaseWithIncrementalViewsCanBeDropped(t *testing.T) {
	ctx := context.Background()
	db := open(t)
	exec(t, db, "CREATE DATABASE other")
	url, _ := served.DB(t, db)
	in := func(database string, texts ...string) {
		t.Helper()
		config, err := pgx.ParseConfig(url)
		require.NoError(t, err)
		config.Database = database
		conn, err := pgx.ConnectConfig(ctx, config)
		require.NoError(t, err)
		for _, text := range texts {
			_, err = conn.Exec(ctx, text)
			require.NoError(t, err, text)
		}
		require.NoError(t, conn.Close(ctx))
	}
	in("other", "CREATE TABLE a (id int PRIMARY KEY, x int)",
		"CREATE MATERIALIZED VIEW v WITH (incremental) AS SELECT x FROM a",
		"CREATE MATERIALIZED VIEW w WITH (incremental) AS SELECT count(*) AS n FROM v",
		"INSERT INTO a VALUES (1, 1)", "SET minidb.view_freshness = 'own writes'",
		"SELECT 1 / n FROM w")
	in("postgres", "ALTER DATABASE other RENAME TO another")
	in("another", "INSERT INTO a VALUES (2, 1)", "SET minidb.view_freshness = 'own writes'",
		"SELECT 1 / (n - 1) FROM w")
	in("postgres", "DROP DATABASE another")
	require.NoError(t, db.Settle(ctx, 0))
	problems, err := db.Check(ctx)
	require.NoError(t, err)
	require.Empty(t, problems)
}

type viewScript struct {
	t      *testing.T
	db     *minidb.DB
	c      *minidb.Conn
	broken bool
}

func newViewScript(t *testing.T) *viewScript {
	s := &viewScript{t: t, db: open(t)}
	var err error
	s.c, err = s.db.Conn(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.c.Close()) })
	s.exec("CREATE TABLE a (id int PRIMARY KEY, g int, x int, unused text)")
	s.exec("CREATE TABLE b (id int PRIMARY KEY, y int)")
	s.exec("INSERT INTO a SELECT i, i % 3, i FROM generate_series(1, 20) i")
	s.exec("INSERT INTO b VALUES (0, 10), (1, 20)")
	return s
}

var (
	continued     = regexp.MustCompile(` \\\n\s*`)
	expectedCode  = regexp.MustCompile(`^([0-9A-Z]{5}): (.*)`)
	expectedValue = regexp.MustCompile(`^= ([^:]*): (.*)`)
)

// run runs a line of a script.
func (s *viewScript) run(line string) {
	s.t.Helper()
	if m := expectedCode.FindStringSubmatch(line); m != nil {
		_, err := s.c.Exec(context.Background(), m[2])
		require.Equal(s.t, m[1], state(err), "%s: %v", line, err)
	} else if m := expectedValue.FindStringSubmatch(line); m != nil {
		var value string
		require.NoError(s.t, s.c.QueryRow(context.Background(),
			"SELECT ("+m[2]+")::text").Scan(&value), line)
		require.Equal(s.t, m[1], value, line)
		return
	} else if text, ok := strings.CutPrefix(line, "broken: "); ok {
		s.exec(text)
		s.broken = true
	} else {
		s.exec(line)
	}
	s.compare(line)
}

func (s *viewScript) exec(text string) {
	s.t.Helper()
	_, err := s.c.Exec(context.Background(), text)
	require.NoError(s.t, err, text)
}

// compare verifies that each view which can be read equals its query, in one snapshot.
func (s *viewScript) compare(after string) {
	s.t.Helper()
	ctx := context.Background()
	if err := s.db.Settle(ctx, 0); err != nil {
		require.True(s.t, s.broken, "after %s: %v", after, err)
		require.Equal(s.t, "55000", state(err))
	}
	s.exec("BEGIN ISOLATION LEVEL REPEATABLE READ")
	defer s.exec("ROLLBACK")
	rows, err := s.c.Query(ctx, "SELECT c.oid::regclass::text, rtrim(pg_get_viewdef(c.oid), ';') "+
		"FROM pg_class c WHERE relkind = 'm' AND relispopulated")
	require.NoError(s.t, err)
	var views [][2]string
	for rows.Next() {
		var v [2]string
		require.NoError(s.t, rows.Scan(&v[0], &v[1]))
		views = append(views, v)
	}
	require.NoError(s.t, rows.Err())
	for _, v := range views {
		s.exec("SAVEPOINT view")
		var wrong int
		err := s.c.QueryRow(ctx, fmt.Sprintf(`SELECT count(*) FROM (
			(SELECT * FROM %[1]s EXCEPT ALL (%[2]s)) UNION ALL ((%[2]s) EXCEPT ALL
			SELECT * FROM %[1]s)
			) AS d`, v[0], v[1])).Scan(&wrong)
		if s.broken && (state(err) == "55000" || state(err) == "22012") {
			s.exec("ROLLBACK TO view")
			continue
		}
		require.NoError(s.t, err, "%s after %s", v[0], after)
		require.Zero(s.t, wrong, "%s after %s", v[0], after)
	}
}
