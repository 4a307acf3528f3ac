package pgcatalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
)

// columnFacts describes the columns of pg_catalog's tables and views, a line for each.
const columnFacts = `SELECT c.relname || '.' || attname || ' ' ||
	replace(format_type(atttypid, atttypmod), 'pg_catalog.', '') ||
	CASE WHEN attnotnull THEN ' not null' ELSE '' END || CASE attcollation WHEN 0 THEN '' ELSE
	' collation ' || attcollation END || coalesce(' ' || attacl::text, '')
	FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid
	WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v') AND attnum > 0
	AND c.relname NOT LIKE 'minidb%' ORDER BY 1`

// otherTypes are the types of columns of PostgreSQL that are another one here: those of values of
// any type, and of extended statistics.
var otherTypes = []string{" anyarray", " pg_dependencies", " pg_mcv_list", " pg_ndistinct",
	" pg_statistic[]"}

// TestColumnsOfCatalogsArePostgreSQLs compares types, NOT NULL, collations and privileges.
func TestColumnsOfCatalogsArePostgreSQLs(t *testing.T) {
	conn, s := pgtest.Connect(t), newEngine(t)()
	ours := strings.Split(run(t.Context(), s, columnFacts), "\n")
	for i, line := range strings.Split(ask(t.Context(), conn, columnFacts), "\n") {
		if !slices.ContainsFunc(otherTypes, func(of string) bool {
			return strings.Contains(line, of)
		}) {
			assert.Equal(t, line, ours[i])
		}
	}
}

// relationFacts describes the tables and views of PostgreSQL's schemas.
const relationFacts = `SELECT c.relname || ' ' || relkind || ' ' || relreplident || ' ' ||
	coalesce(relacl::text, 'no list')
	FROM pg_class c WHERE c.relnamespace IN ('pg_catalog'::regnamespace,
	'information_schema'::regnamespace) AND c.relkind IN ('r', 'v')
	AND c.relname NOT LIKE 'minidb%' ORDER BY 1`

// TestRelationsHavePostgreSQLsPrivileges compares their kinds and access lists.
func TestRelationsHavePostgreSQLsPrivileges(t *testing.T) {
	conn, s := pgtest.Connect(t), newEngine(t)()
	assert.Equal(t, ask(t.Context(), conn, relationFacts), run(t.Context(), s, relationFacts))
}

// TestCatalogsHoldNoNullWhereTheyMayNot reads every column that is NOT NULL.
func TestCatalogsHoldNoNullWhereTheyMayNot(t *testing.T) {
	s := newEngine(t)()
	out := run(t.Context(), s, "CREATE TABLE t (a int PRIMARY KEY DEFAULT 1 CHECK (a > 0)); "+
		"CREATE VIEW v AS SELECT a FROM t; CREATE TYPE e AS ENUM ('x'); CREATE SEQUENCE q; "+
		"CREATE DOMAIN d AS int CHECK (value > 0); CREATE POLICY p ON t; "+
		"CREATE INDEX ON t ((a + 1)); "+
		"CREATE ROLE r; ALTER ROLE r SET work_mem = '8MB'; COMMENT ON TABLE t IS 'x'; "+
		"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO r; SELECT lo_create(0) > 0")
	require.NotContains(t, out, "ERROR")
	checks := run(t.Context(), s, `SELECT format('SELECT %L FROM pg_catalog.%I ' ||
		'WHERE %I::text IS NULL LIMIT 1', relname || '.' || attname, relname, attname)
		FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE attnotnull AND attnum > 0
		AND relkind = 'r' AND relnamespace = 'pg_catalog'::regnamespace`)
	for check := range strings.Lines(checks) {
		assert.Empty(t, run(t.Context(), s, check), check)
	}
}
