package pgcatalog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
)

// systemRelations lists the relations of PostgreSQL's two schemas.
const systemRelations = `SELECT n.nspname || '.' || c.relname FROM pg_class c
	JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v')
	AND c.relname NOT LIKE 'minidb%' ORDER BY 1`

// columnsOf lists a relation's columns.
const columnsOf = `SELECT attname FROM pg_attribute WHERE attnum > 0 AND attrelid = '`

// TestRelationsArePostgreSQLs: every relation of PostgreSQL's schemas is here and can be read, with
// the same columns in the same order, and no relation is here that PostgreSQL does not have.
func TestRelationsArePostgreSQLs(t *testing.T) {
	conn, s := pgtest.Connect(t), newEngine(t)()
	want := strings.Fields(ask(t.Context(), conn, systemRelations))
	require.Equal(t, want, strings.Fields(run(t.Context(), s, systemRelations)))
	for _, name := range want {
		text := columnsOf + name + "'::regclass ORDER BY attnum"
		assert.Equal(t, ask(t.Context(), conn, text), run(t.Context(), s, text), name)
		assert.NotContains(t, run(t.Context(), s, "SELECT * FROM "+name+" LIMIT 3"), "ERROR", name)
	}
}
