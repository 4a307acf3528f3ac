package planner_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/pgtest"
	"github.com/minidb/minidb/table/types"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestPostgreSQLAgrees runs the statements of the golden files on PostgreSQL, which must report the
// same error at the same position, and the same names and types. In cases marked "own" minidb's
// result differs from PostgreSQL's on purpose.
func TestPostgreSQLAgrees(t *testing.T) {
	ctx, conn := t.Context(), pgtest.Connect(t)
	files, err := filepath.Glob("bind/testdata/errors/*")
	require.NoError(t, err)
	var differ []string
	for _, path := range append(files, "bind/testdata/types") {
		pgtest.Empty(t, conn)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if !d.HasArg("own") {
				if got := askPostgreSQL(ctx, t, conn, d); got != d.Expected {
					differ = append(differ, d.Pos+": "+d.Input+"\nminidb: "+d.Expected+
						"PostgreSQL: "+got)
				}
			}
			return d.Expected
		})
	}
	assert.Empty(t, strings.Join(differ, "\n"))
}

// askPostgreSQL returns PostgreSQL's result in the form of the golden file.
func askPostgreSQL(ctx context.Context, t *testing.T, conn *pgconn.PgConn,
	d *datadriven.TestData) string {
	switch d.Cmd {
	case "ddl":
		require.NoError(t, conn.Exec(ctx, d.Input).Close(), d.Pos)
	case "error":
		desc, err := conn.Prepare(ctx, "", d.Input, nil)
		if err == nil && len(desc.ParamOIDs) == 0 { // errors at run time
			err = conn.Exec(ctx, "BEGIN; EXPLAIN "+d.Input).Close()
			require.NoError(t, conn.Exec(ctx, "ROLLBACK").Close())
		}
		return pgErrorText(err) + "\n"
	case "types":
		desc, err := conn.Prepare(ctx, "", d.Input, nil)
		if err != nil {
			return "error: " + pgErrorText(err) + "\n"
		}
		return pgTypesText(desc)
	}
	return d.Expected
}

func pgErrorText(err error) string {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return "no error"
	}
	return errorText(fromPostgreSQL(e))
}

func pgTypesText(desc *pgconn.StatementDescription) string {
	var b strings.Builder
	name := func(oid uint32, mod int32) string { return types.FormatType(types.OID(oid), mod) }
	for _, f := range desc.Fields {
		b.WriteString(f.Name + " " + name(f.DataTypeOID, f.TypeModifier) + "\n")
	}
	for i, oid := range desc.ParamOIDs {
		b.WriteString("$" + string(rune('1'+i)) + " " + name(oid, -1) + "\n")
	}
	return b.String()
}
