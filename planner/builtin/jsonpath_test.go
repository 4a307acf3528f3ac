package builtin

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/ctxtest"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

// explosivePaths are calls whose work or memory grows much faster than their arguments.
func explosivePaths() map[string][]types.Datum {
	nested := types.NewString(strings.Repeat(`[`, 60) + "1" + strings.Repeat("]", 60))
	numbers := types.NewString("[" + strings.Repeat("1,", 3000) + "1]")
	path := func(doc types.Datum, p string) []types.Datum {
		return []types.Datum{doc, types.NewString(p)}
	}
	return map[string][]types.Datum{
		"levels of levels":    path(nested, "$"+strings.Repeat(".**", 12)),
		"pairs of numbers":    path(numbers, "$[*] ? (@ < $[*])[*] ? (@ < $[*] || @ > $[*])"),
		"lists of lists":      path(numbers, "$[*] ? (($[*] < 1) is unknown || $[*] > 2)"),
		"repeated subscripts": path(numbers, "$["+strings.Repeat("0 to last,", 400)+"0]"),
		"objects of an object": path(types.NewString(`{"a":1,"b":2,"c":3}`),
			"$"+strings.Repeat(".keyvalue()", 16)),
	}
}

func TestExplosivePathsAreCancelled(t *testing.T) {
	for name, args := range explosivePaths() {
		ctx := &ctxtest.Ending{N: 3}
		rt := &expr.Runtime{Ctx: ctx, Memory: &account{limit: 1 << 40}}
		_, err := pathCall{}.queryArray(rt, args)
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

func TestExplosivePathsAreBounded(t *testing.T) {
	for _, name := range []string{"levels of levels", "repeated subscripts",
		"objects of an object"} {
		acc := &account{limit: 2 << 20}
		rt := &expr.Runtime{Memory: acc}
		_, err := pathCall{}.queryArray(rt, explosivePaths()[name])
		require.Error(t, err, name)
		require.Equal(t, sqlerr.OutOfMemory, err.(interface{ SQLState() string }).SQLState(), name)
		require.LessOrEqual(t, acc.most, acc.limit, name)
		held := rt.Taken()
		rt.Release(&held)
		require.Zero(t, acc.used, name)
	}
}

// A path is walked recursively: by the printer and by the evaluation.
func TestPathsHaveABoundedDepth(t *testing.T) {
	for _, p := range []string{"$" + strings.Repeat(".a", 10_000), strings.Repeat("(", 10_000),
		"1" + strings.Repeat("+1", 10_000), strings.Repeat("-", 10_000) + "$",
		"1 == 1" + strings.Repeat(" && 1 == 1", 10_000), strings.Repeat("$[", 10_000),
		strings.Repeat("$ ? (@ == ", 10_000), strings.Repeat("exists((", 10_000)} {
		_, err := types.ParsePath(p, nil)
		require.Error(t, err, p[:10])
		require.Equal(t, sqlerr.StatementTooComplex,
			err.(interface{ SQLState() string }).SQLState(), p[:10])
	}
}

// queryHolds evaluates a query of a GIN index on the keys of a document.
func queryHolds(q *gin.Query, keys map[string]bool) bool {
	switch q.Op {
	case gin.Key:
		return keys[string(q.Key)]
	case gin.And:
		return !slices.ContainsFunc(q.Args, func(a *gin.Query) bool { return !queryHolds(a, keys) })
	case gin.Or:
		return slices.ContainsFunc(q.Args, func(a *gin.Query) bool { return queryHolds(a, keys) })
	}
	return q.Op == gin.Every
}

// The query that an index answers for a path includes every document for which the path is true,
// and excludes others.
func TestIndexesFindTheDocumentsOfAPath(t *testing.T) {
	docs := []string{`{"a": 1}`, `{"a": [1, "x"]}`, `[{"a": {"b": "x"}}, 2]`, `"x"`, `["x"]`,
		`null`, `{"a": null}`, `{"b": {"a": true}}`, `{"a": {"b": [[1, {"c": 1.0}]]}}`, `[]`, `{}`,
		`{"a": "x", "b": "y"}`, `{"value": 1}`, `{"key": "a"}`}
	paths := []string{`$.a`, `strict $.a`, `$.a == 1`, `1 == $.a`, `$.a[*] == "x"`, `$ == "x"`,
		`strict $[*] == "x"`, `$.a.b`, `$.*.a == true`, `$.**.c == 1`, `$.a ? (@.b == "x")`,
		`$ ? (@.a == 1 || @.b == "y")`, `$ ? (@.a == "x" && @.b == "y")`, `!($.a == 1)`,
		`($.a == 1) is unknown`, `exists($.a.b[*].c ? (@ > 0))`, `$.a == null`, `$.a != 1`,
		`$.keyvalue().value == 1`, `$.keyvalue().key == "a"`, `$.a.type() == "number"`, `$.a > 0`,
		`$.a.b[*][1].c == 1`, `$ ? (exists(@.b.a ? (@ == true)))`, `$.a + 1 == 2`, `true`}
	useful := 0
	for _, class := range []string{"jsonb_ops", "jsonb_path_ops"} {
		c := gin.NewColumn(1, class, types.TJSONB)
		for _, doc := range docs {
			d, err := types.ParseText(types.TJSONB, doc, nil)
			require.NoError(t, err)
			list, err := c.AppendKeys(nil, d)
			require.NoError(t, err)
			keys := map[string]bool{}
			for _, k := range list {
				keys[string(k)] = true
			}
			for _, p := range paths {
				for op, fn := range map[string]scalar{"@?": pathOperator.exists,
					"@@": pathOperator.match} {
					arg := types.NewString(p)
					require.True(t, c.Serves(op, types.TJSONPath))
					q, err := c.Query(op, arg, 0)
					require.NoError(t, err)
					is, err := fn(&expr.Runtime{}, []types.Datum{d, arg})
					require.NoError(t, err)
					if !is.Null && is.Bool() {
						require.True(t, queryHolds(q, keys), "%s %s %s by %s", doc, op, p, class)
					} else if !queryHolds(q, keys) {
						useful++
					}
				}
			}
		}
	}
	require.Greater(t, useful, 300)
}
