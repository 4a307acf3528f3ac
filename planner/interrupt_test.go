package planner_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/ctxtest"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/sql/parse"
)

func unionAll(n int) string {
	return "SELECT n FROM t" + strings.Repeat(" UNION ALL SELECT n + 1 FROM t WHERE id = 3", n)
}

func fromMany(n int) string {
	var sb strings.Builder
	sb.WriteString("SELECT t.n FROM t")
	for i := range n {
		fmt.Fprintf(&sb, ", u u%d", i)
	}
	return sb.String()
}

func tree(t *testing.T, text string) ast.Statement {
	t.Helper()
	p, err := parse.ParseOne(context.Background(), text)
	require.NoError(t, err)
	return p.Stmt
}

// Planning that is cancelled at any of its checks ends there.
func TestPlanningEndsWhenItsContextDoes(t *testing.T) {
	env := benchSchema(t).env()
	for name, text := range map[string]string{
		"union all": unionAll(5000),
		"from":      fromMany(1000),
		"where": fromMany(300) + " WHERE u0.id = t.n" +
			strings.Repeat(" AND u1.t_id + u2.t_id = u3.id", 300),
		"values":    "SELECT * FROM (VALUES (1 + 1)" + strings.Repeat(", (1 + 1)", 10_000) + ") v",
		"operators": "SELECT 1" + strings.Repeat(" + 1", 4000),
		"or":        "SELECT n FROM t WHERE n = 1 + 1" + strings.Repeat(" OR n = 1 + 1", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			whole := &ctxtest.Ending{Context: t.Context()}
			_, err := planner.Plan(whole, env, tree(t, text), nil)
			require.NoError(t, err)
			require.GreaterOrEqual(t, whole.Checks, 4)
			for n := 1; n <= whole.Checks; n += 1 + whole.Checks/6 {
				ctx := &ctxtest.Ending{Context: t.Context(), N: n}
				_, err := planner.Plan(ctx, env, tree(t, text), nil)
				require.ErrorIs(t, err, context.Canceled, "look %d of %d", n, whole.Checks)
				require.LessOrEqual(t, ctx.Checks, n+2)
			}
		})
	}
}

// allocated returns the number of bytes that planning allocates.
func allocated(t *testing.T, env *planner.Env, stmt ast.Statement) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := planner.Plan(context.Background(), env, stmt, nil)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	return after.TotalAlloc - before.TotalAlloc
}

// A statement of ten times the size takes at most a little more than ten times the memory to plan.
func TestPlanningIsLinear(t *testing.T) {
	env := benchSchema(t).env()
	for name, text := range map[string]func(n int) string{"union all": unionAll, "from": fromMany} {
		few, many := allocated(t, env, tree(t, text(200))), allocated(t, env, tree(t, text(2000)))
		require.LessOrEqual(t, many, 20*few, "%s: %d bytes, then %d", name, few, many)
	}
}
