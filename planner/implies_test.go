package planner_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// What a condition implies, "condition → predicate" in each line, and what it does not.
const implications = `
a > 5 → a > 5
a > 5 → a > 4
a > 5 → a >= 5
a > 5 → a <> 5
a > 5 → a IS NOT NULL
a >= 6 → a > 5
5 < a → a > 4
a = 7 → a > 5
a = 7 → a <> 8
a = 7 → a IN (7, 8)
a = 7 → a = 7 OR b = 'x'
a IN (7, 8) → a > 6
a IN (7, 8) → a IN (6, 7, 8)
a = ANY ('{7,8}') → a > 6
a > 5 AND b = 'x' → b = 'x'
b = 'x' AND a > 5 → a > 5 AND b IS NOT NULL
a = 1 OR a = 2 → a < 3
a < 1 OR b = 'x' → b = 'x' OR a < 2
a BETWEEN 2 AND 3 → a > 1
lower(b) = 'x' → b IS NOT NULL
b LIKE 'x%' → b IS NOT NULL
a + 1 > 3 → a IS NOT NULL
b IN ('x', 'y') → b IS NOT NULL
a = $1 → a IS NOT NULL
d → d IS TRUE
d = true → d
NOT d → d IS FALSE
d <> true → NOT d
d IS FALSE → NOT d
d → d IS NOT FALSE
NOT d → d = false
d IS TRUE → d IS NOT NULL
d IS FALSE → d IS NOT NULL
(a > 1) IS FALSE → a IS NOT NULL
NOT (a > 1) → a IS NOT NULL
(a > 1) IS NOT NULL → a IS NOT NULL
a IN (7, NULL) → a IS NOT NULL
false → a = 1
`

const nonImplications = `
a > 5 → a > 6
a >= 5 → a > 5
a <> 5 → a > 5
a < 5 → a > 5
a = 7 → a IN (8, 9)
a IN (7, 8) → a > 7
a NOT IN (1, 2) → a IN (1, 2)
a = $1 → a = 7
a > $1 → a > 5
a = 1 OR b = 'x' → a = 1
a IS NULL → a IS NOT NULL
coalesce(a, 1) = 1 → a IS NOT NULL
a IS NOT DISTINCT FROM 1 → a IS NOT NULL
d IS NOT FALSE → d
d IS NOT TRUE → NOT d
d IS NOT TRUE → d IS NOT NULL
a > 5 → b > 5::text
a <> ALL ('{1,2}') → a IS NULL
a > ALL ('{}') → a IS NOT NULL
c > 5 → a > 4
NOT (d IS TRUE) → d IS NOT NULL
NOT (a IS NOT NULL) → a IS NOT NULL
(a IS NOT NULL) = false → a IS NOT NULL
NOT (a = ANY ('{}')) → a IS NOT NULL
((a > 1) IS TRUE) IS FALSE → a IS NOT NULL
e = 'a ' → e <> 'a'
`

func TestConditionsImplyPredicates(t *testing.T) {
	d := &table.Desc{Name: "t", Columns: []table.Column{
		{ID: 1, Name: "a", Type: types.TInt4}, {ID: 2, Name: "b", Type: types.TText},
		{ID: 3, Name: "c", Type: types.TNumeric}, {ID: 4, Name: "d", Type: types.TBool},
		{ID: 5, Name: "e", Type: types.TBPChar}}}
	env := &planner.Env{ParseExpr: parse.ParseExpr}
	bound := func(text string) expr.Expr {
		text = strings.ReplaceAll(text, "$1", "length(b)") // unknown, as a parameter is
		e, err := parse.ParseExpr(text)
		require.NoError(t, err, text)
		x, err := planner.BindRowExpr(context.Background(), env, d, e, types.TBool)
		require.NoError(t, err, text)
		return x
	}
	for want, list := range map[bool]string{true: implications, false: nonImplications} {
		for line := range strings.Lines(strings.TrimSpace(list)) {
			cond, predicate, _ := strings.Cut(strings.TrimSpace(line), " → ")
			require.Equal(t, want, logical.Implies([]expr.Expr{bound(cond)}, bound(predicate)),
				line)
		}
	}
}
