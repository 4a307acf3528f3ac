package sqllogic

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
	"github.com/minidb/minidb/internal/sqllogic"
)

// viewing runs each query as the text that the catalog shows of a view of it: what is printed must
// be read back, print as the same text again, and give the result that the query gives.
type viewing struct {
	sqllogic.Conn
	t        *testing.T
	inBlock  bool
	compared int
}

func (v *viewing) Run(ctx context.Context, sql string) (*sqllogic.Result, error) {
	head := strings.ToUpper(strings.TrimSpace(sql))
	switch word, _, _ := strings.Cut(strings.TrimSuffix(head, ";"), " "); word {
	case "BEGIN", "START":
		v.inBlock = true
	case "COMMIT", "ROLLBACK", "END", "ABORT":
		v.inBlock = v.inBlock && strings.Contains(head, "TO")
	case "SELECT", "WITH", "VALUES", "TABLE", "(SELECT":
		if !v.inBlock && !changes(head) {
			return v.query(ctx, sql)
		}
	}
	return v.Conn.Run(ctx, sql)
}

// changes reports whether a query must not run twice, or looks at the views themselves.
func changes(head string) bool {
	for _, word := range []string{"NEXTVAL", "SETVAL", "SET_CONFIG", "INTO ", "PG_", "LO_",
		"CURRENT_QUERY", "INFORMATION_SCHEMA", "RANDOM", "RETURNING",
		" ENCODING="} { // which xml is printed without
		if strings.Contains(head, word) {
			return true
		}
	}
	return false
}

func (v *viewing) query(ctx context.Context, sql string) (*sqllogic.Result, error) {
	plain, err := v.Conn.Run(ctx, sql)
	if err != nil || len(plain.Rows) == 0 {
		return plain, err
	}
	first, ok := v.printed(ctx, "minidb_first", sql, len(plain.Rows[0]))
	if !ok {
		return plain, nil
	}
	second, ok := v.printed(ctx, "minidb_second", first, len(plain.Rows[0]))
	require.True(v.t, ok, "%s\nis printed as\n%s\nwhich cannot be read", sql, first)
	if second != first { // a cast that is now written gives a column its name, in PostgreSQL too
		third, _ := v.printed(ctx, "minidb_third", second, len(plain.Rows[0]))
		require.Equal(v.t, second, third, sql)
	}
	v.compared++
	return v.Conn.Run(ctx, first)
}

// printed is the text of a view of a query; ok is false where there can be no such view. A view
// with a failure inside is none: only names, types and what is not supported are refused.
func (v *viewing) printed(ctx context.Context, view, sql string, columns int) (text string,
	ok bool) {
	names := make([]string, columns)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i+1)
	}
	defer func() { _, _ = v.Conn.Run(ctx, "DROP VIEW IF EXISTS "+view) }()
	sql = strings.TrimSuffix(strings.TrimSpace(sql), ";")
	if _, err := v.Conn.Run(ctx, "CREATE VIEW "+view+" ("+strings.Join(names, ", ")+") AS "+
		sql); err != nil {
		require.NotEqual(v.t, "XX000", sqllogic.Code(err), "%s: %v", sql, err)
		return "", false
	}
	res, err := v.Conn.Run(ctx, "SELECT pg_get_viewdef('"+view+"'::regclass)")
	require.NoError(v.t, err)
	return strings.TrimSuffix(res.Rows[0][0].Text, ";"), true
}

func TestOurScriptsThroughPrintedViews(t *testing.T) {
	conn := &viewing{Conn: sqllogic.Embedded(minidb.AnalyzeInterval(-1)), t: t}
	defer func() { require.NoError(t, conn.Close()) }()
	runScripts(t, conn, minidbLabel, nil, ownScripts(t)...)
	require.Greater(t, conn.compared, 300)
}
