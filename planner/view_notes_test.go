package planner_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/sql/parse"
)

// The notes on a view's query do not need the queries of the views that it reads: creating a view
// costs the same however many views are below it.
func TestNotesDoNotOpenViews(t *testing.T) {
	s := newSchema()
	s.define(t, "CREATE TABLE t (a int PRIMARY KEY, b text); CREATE VIEW v0 AS SELECT a, b FROM t")
	for i := 1; i <= 20; i++ {
		s.define(t, fmt.Sprintf("CREATE VIEW v%d AS SELECT a, b FROM v%d", i, i-1))
	}
	env := *s.env()
	opened := 0
	parseQuery := env.ParseQuery
	env.ParseQuery = func(text string) (*ast.Select, error) {
		opened++
		return parseQuery(text)
	}
	p, err := parse.ParseOne(context.Background(),
		"SELECT x.a, y.b FROM v20 x JOIN v19 y USING (a)")
	require.NoError(t, err)
	notes, err := bind.Query(context.Background(), &env, p.Stmt.(*ast.Select), nil)
	require.NoError(t, err)
	require.Zero(t, opened)
	require.Len(t, notes.Reads, 2)
}
