package pgcatalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"

	"github.com/minidb/minidb/internal/pgtest"
	"github.com/minidb/minidb/sql"
)

// TestBuiltinRowsArePostgreSQLs reads the catalogs of what is built in here and in PostgreSQL:
// every row is one of PostgreSQL's in all columns, but for the functions that PostgreSQL does not
// have. Names of functions are compared, not only their object IDs.
func TestBuiltinRowsArePostgreSQLs(t *testing.T) {
	conn := pgtest.Connect(t)
	begin := newEngine(t)
	for _, s := range sources {
		t.Run(s.catalog, func(t *testing.T) {
			text := "SELECT * FROM " + s.catalog
			switch s.catalog {
			case "pg_proc":
				text = strings.Replace(text, "*", procColumns, 1) +
					" WHERE NOT (oid BETWEEN 9000 AND 9999)"
			case "pg_type":
				text += " WHERE NOT " + byName
			}
			assert.Empty(t, onlyHere(t, conn, begin(), text))
		})
	}
	t.Run("types by name", func(t *testing.T) {
		assert.Empty(t, onlyHere(t, conn, begin(), typesByName))
	})
}

// Relations of the system have object IDs of their own here, and so have their row types. Those are
// compared by their names, and the one type with a default by what its node tree means.
const (
	byName = `(typrelid <> 0 OR typdefaultbin IS NOT NULL OR typtype = 'b' AND
		typelem IN (SELECT oid FROM pg_type WHERE typrelid <> 0))`
	typesByName = `SELECT typname, typnamespace::regnamespace, typowner, typlen, typbyval, typtype,
		typcategory, typispreferred, typisdefined, typdelim, typrelid::regclass, typsubscript,
		typelem::regtype, typarray::regtype, typinput, typoutput, typreceive, typsend, typmodin,
		typmodout, typanalyze, typalign, typstorage, typnotnull, typbasetype, typtypmod, typndims,
		typcollation, pg_get_expr(typdefaultbin, 0), typdefault
		FROM pg_type WHERE typname NOT LIKE '%minidb%' AND ` + byName
)

// onlyHere returns the rows of a query that PostgreSQL has not, in order.
func onlyHere(t *testing.T, conn *pgconn.PgConn, s *sql.Session, text string) string {
	theirs := map[string]bool{}
	for line := range strings.SplitAfterSeq(ask(t.Context(), conn, text), "\n") {
		theirs[line] = true
	}
	var differ []string
	for line := range strings.SplitAfterSeq(run(t.Context(), s, text), "\n") {
		if !theirs[line] {
			differ = append(differ, line)
		}
	}
	slices.Sort(differ)
	return strings.Join(differ, "")
}

// procColumns are the columns of pg_proc without the node trees: in the data they are SQL.
const procColumns = `oid, proname, pronamespace, proowner, prolang, procost, prorows, provariadic,
	prosupport, prokind, prosecdef, proleakproof, proisstrict, proretset, provolatile, proparallel,
	pronargs, pronargdefaults, prorettype, proargtypes, proallargtypes, proargmodes, proargnames,
	pg_get_expr(proargdefaults, 0), protrftypes, prosrc, probin, proconfig, proacl`
