package drivers

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// client is what the tour needs; each driver has one.
type client interface {
	exec(t *testing.T, sql string, args ...any) error
	// one scans the first row.
	one(t *testing.T, dest []any, sql string, args ...any) error
	// column returns the first column of all rows as text.
	column(t *testing.T, sql string, args ...any) []string
}

func sqlState(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return coded.SQLState()
	}
	return ""
}

func tour(t *testing.T, c client) {
	t.Helper()
	t.Run("schema", func(t *testing.T) {
		require.NoError(t, c.exec(t, `CREATE TABLE people (
			id bigserial PRIMARY KEY, name text NOT NULL, email varchar(40) UNIQUE,
			born date, score numeric(6,2) DEFAULT 0, active boolean DEFAULT true,
			payload bytea, seen timestamptz, ratio double precision, tag uuid, doc jsonb)`))
		require.NoError(t, c.exec(t, `CREATE INDEX people_name ON people (name, born DESC)`))
	})
	t.Run("insert with parameters of every type", func(t *testing.T) {
		seen := time.Date(2024, 2, 29, 12, 34, 56, 789000000, time.UTC)
		require.NoError(t, c.exec(t, `INSERT INTO people (name, email, born, score, payload, seen,
			ratio, tag, doc)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			"Ada", "ada@example.org", time.Date(1815, 12, 10, 0, 0, 0, 0,
				time.UTC), "12.5", []byte{0, 1, 255}, seen, 0.25,
			"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", `{"k": [1, 2]}`))
		require.NoError(t, c.exec(t, `INSERT INTO people (name, email) VALUES ($1, $2), ($3, $4)`,
			"Bob", "bob@example.org", "Cy", nil))
		var (
			name, email, score, tag, doc string
			payload                      []byte
			ratio                        float64
			got                          time.Time
			active                       bool
		)
		require.NoError(t, c.one(t,
			[]any{&name, &email, &score, &payload, &ratio, &got, &active, &tag, &doc},
			`SELECT name, email, score::text, payload, ratio, seen, active, tag::text, doc::text
				FROM people WHERE id = $1`, 1))
		require.Equal(t, "Ada", name)
		require.Equal(t, "ada@example.org", email)
		require.Equal(t, "12.50", score)
		require.Equal(t, []byte{0, 1, 255}, payload)
		require.InDelta(t, 0.25, ratio, 0)
		require.True(t, seen.Equal(got), got)
		require.True(t, active)
		require.Equal(t, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", tag)
		require.Equal(t, `{"k": [1, 2]}`, doc)
	})
	t.Run("null", func(t *testing.T) {
		var email sql.NullString
		require.NoError(t, c.one(t, []any{&email}, `SELECT email FROM people WHERE name = $1`,
			"Cy"))
		require.False(t, email.Valid)
	})
	t.Run("queries", func(t *testing.T) { tourQueries(t, c) })
	t.Run("errors", func(t *testing.T) { tourErrors(t, c) })
	t.Run("transactions", func(t *testing.T) { tourTransactions(t, c) })
}

func tourQueries(t *testing.T, c client) {
	require.Equal(t, []string{"Ada", "Bob", "Cy"},
		c.column(t, `SELECT name FROM people ORDER BY name`))
	require.Equal(t, []string{"Bob"},
		c.column(t, `SELECT name FROM people WHERE name LIKE $1`, "B%"))
	require.Equal(t, []string{"Ada", "Cy"}, c.column(t,
		`SELECT p.name FROM people p LEFT JOIN people q ON q.id = p.id + 1 WHERE q.name IS NOT NULL
			AND q.name <> $1 OR p.id = 3 ORDER BY p.id`, "Cy"))
	var n int64
	require.NoError(t, c.one(t, []any{&n},
		`SELECT count(*) FROM people WHERE id IN (SELECT id FROM people WHERE id > $1)`, 1))
	require.EqualValues(t, 2, n)
	require.NoError(t, c.one(t, []any{&n},
		`WITH x AS (SELECT id FROM people) SELECT sum(id)::bigint FROM x`))
	require.EqualValues(t, 6, n)
	require.NoError(t, c.one(t, []any{&n}, `INSERT INTO people (name) VALUES ('Dee') RETURNING id`))
	require.EqualValues(t, 4, n)
	require.NoError(t, c.one(t, []any{&n}, `INSERT INTO people (name, email)
		VALUES ('x', 'bob@example.org')
		ON CONFLICT (email) DO UPDATE SET name = 'Bobby' RETURNING id`))
	require.EqualValues(t, 2, n)
	require.NoError(t, c.exec(t, `UPDATE people SET score = score + $1 WHERE name = $2`, 1.5,
		"Bobby"))
	require.Equal(t, []string{"1.50"},
		c.column(t, `SELECT score::text FROM people WHERE name = 'Bobby'`))
	require.NoError(t, c.exec(t, `DELETE FROM people WHERE name = $1`, "Dee"))
	require.Equal(t, []string{"3"}, c.column(t, `SELECT count(*)::text FROM people`))
}

func tourErrors(t *testing.T, c client) {
	for _, e := range []struct{ code, sql string }{
		{"42P01", `SELECT * FROM nowhere`},
		{"42703", `SELECT nothing FROM people`},
		{"42601", `SELEC 1`},
		{"22012", `SELECT 1 / 0`},
		{"23505", `INSERT INTO people (name, email) VALUES ('x', 'ada@example.org')`},
		{"23502", `INSERT INTO people (name) VALUES (NULL)`},
		{"22001", `INSERT INTO people (name, email) VALUES ('x', repeat('y', 41))`},
		{"22P02", `SELECT 'x'::int`},
		{"42P07", `CREATE TABLE people (a int)`},
	} {
		require.Equal(t, e.code, sqlState(c.exec(t, e.sql)), e.sql)
	}
	require.Equal(t, []string{"1"}, c.column(t, `SELECT '1'`),
		"the connection is usable after errors")
}

func tourTransactions(t *testing.T, c client) {
	for _, s := range []string{
		`BEGIN`, `INSERT INTO people (name) VALUES ('gone')`, `SAVEPOINT s`,
		`INSERT INTO people (name) VALUES ('too')`,
		`ROLLBACK TO SAVEPOINT s`, `RELEASE SAVEPOINT s`, `CREATE TABLE gone (a int)`, `ROLLBACK`,
	} {
		require.NoError(t, c.exec(t, s), s)
	}
	require.Equal(t, []string{"0"},
		c.column(t, `SELECT count(*)::text FROM people WHERE name IN ('gone', 'too')`))
	require.Equal(t, "42P01", sqlState(c.exec(t, `SELECT * FROM gone`)))
	require.NoError(t, c.exec(t, `BEGIN`))
	require.Equal(t, "22012", sqlState(c.exec(t, `SELECT 1 / 0`)))
	require.Equal(t, "25P02", sqlState(c.exec(t, `SELECT 1`)))
	require.NoError(t, c.exec(t, `ROLLBACK`))
	require.NoError(t, c.exec(t, `BEGIN`))
	require.NoError(t, c.exec(t, `UPDATE people SET active = false WHERE name = 'Cy'`))
	require.NoError(t, c.exec(t, `COMMIT`))
	require.Equal(t, []string{"Cy"}, c.column(t, `SELECT name FROM people WHERE NOT active`))
}
