package exec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

func windowOf(src physical.Node, calls []opt.WindowCall, results ...*types.Type) *physical.Window {
	n := &physical.Window{Base: join(src), Child: src, Calls: calls,
		PartitionBy: []expr.Expr{col(0, text)}, OrderBy: []opt.SortKey{{Expr: col(1, i8)}}}
	n.Cols = append(n.Cols, cols(results...).Cols...)
	return n
}

func frame(mode, start string, from expr.Expr, end string, to expr.Expr, exclude string) opt.Frame {
	return opt.Frame{Mode: mode, StartKind: start, Start: from, EndKind: end, End: to,
		Exclude: exclude}
}

func windowSource() *physical.Values {
	return valuesOf([]*types.Type{text, i8}, []any{"b", 2}, []any{"a", 1}, []any{"a", 3},
		[]any{"b", nil},
		[]any{"a", 3}, []any{"a", 7}, []any{"b", 5})
}

// The expected rows are PostgreSQL's.
func TestWindowFunctions(t *testing.T) {
	x := col(1, i8)
	sum := agg("sum", x).Func
	count := agg("count").Func
	args := []expr.Expr{x}
	calls := []opt.WindowCall{
		{Name: "row_number"}, {Name: "rank"}, {Name: "dense_rank"},
		{Name: "lag", Args: args},
		{Name: "lead", Args: []expr.Expr{x, lit(1), lit(-1)}},
		{Name: "ntile", Args: []expr.Expr{lit(3)}},
		{Agg: sum, Args: args},
		{Agg: sum, Args: args, Frame: frame("rows", "preceding", lit(1), "following", lit(1), "")},
		{Agg: sum, Args: args, Frame: frame("range", "preceding", lit(2), "current row", nil, "")},
		{Name: "last_value", Args: args},
		{Agg: count, Frame: frame("groups", "preceding", lit(1), "following", lit(1),
			"current row")},
		{Agg: count, Frame: frame("rows", "unbounded preceding", nil, "unbounded following", nil,
			"ties")},
		{Name: "nth_value", Args: []expr.Expr{x, lit(2)}},
	}
	n := windowOf(windowSource(), calls, i8, i8, i8, i8, i8, types.TInt4, dec, dec, dec, i8, i8, i8,
		i8)
	want := []string{
		"a 1 1 1 1 ~ 3 1 1 4 1 1 2 4 ~",
		"a 3 2 2 2 1 3 1 7 7 7 3 3 3 3",
		"a 3 3 2 2 3 7 2 7 13 7 3 3 3 3",
		"a 7 4 4 3 3 -1 3 14 10 7 7 2 4 3",
		"b 2 1 1 1 ~ 5 1 2 7 2 2 1 3 ~",
		"b 5 2 2 2 2 ~ 2 7 7 5 5 2 3 5",
		"b ~ 3 3 3 5 -1 3 7 5 ~ ~ 1 3 5",
	}
	require.Equal(t, want, strings.Split(plain(t, n), " | "))
}

func TestWindowErrors(t *testing.T) {
	for _, c := range []struct {
		call opt.WindowCall
		code string
	}{
		{opt.WindowCall{Name: "ntile", Args: []expr.Expr{lit(0)}}, "22014"},
		{opt.WindowCall{Name: "nth_value", Args: []expr.Expr{col(1, i8), lit(0)}}, "22016"},
		{opt.WindowCall{Name: "first_value", Args: []expr.Expr{col(1, i8)},
			Frame: frame("rows", "preceding", lit(-1), "current row", nil, "")}, "22013"},
		{opt.WindowCall{Name: "no_such"}, sqlerr.FeatureNotSupported},
	} {
		code(t, plainErr(windowOf(windowSource(), []opt.WindowCall{c.call}, i8)), c.code)
	}
}
