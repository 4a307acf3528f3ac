package builtin

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/gin"
	"github.com/minidb/minidb/table/types"
)

// ginCondition is a condition that an index of a class serves.
type ginCondition struct {
	class     string
	column    *types.Type
	operator  string
	arg       *types.Type
	condition *expr.Func
}

// ginConditions lists the conditions that depend on no setting.
func ginConditions() (list []ginCondition) {
	for _, c := range []struct {
		class  string
		column *types.Type
	}{{"jsonb_ops", types.TJSONB}, {"jsonb_path_ops", types.TJSONB},
		{"array_ops", types.ArrayOf(types.TInt4)}, {"array_ops", types.ArrayOf(types.TText)},
		{"gin_trgm_ops", types.TText}} {
		column := gin.NewColumn(1, c.class, c.column)
		for _, op := range []string{"@>", "<@", "&&", "=", "?", "?|", "?&", "@?", "@@", "~~", "~~*",
			"~", "~*"} {
			for _, arg := range []*types.Type{c.column, types.TText, types.ArrayOf(types.TText),
				types.TJSONPath} {
				if arg == c.column && arg == types.TText && op != "~~" && op[0] != '~' {
					continue
				}
				if fn := operatorOver(op, c.column, arg); fn != nil && column.Serves(op, arg) {
					list = append(list, ginCondition{c.class, c.column, op, arg, fn})
				}
			}
		}
	}
	return list
}

// operatorOver returns the operator for arguments of two types, nil if there is none.
func operatorOver(name string, left, right *types.Type) *expr.Func {
	takes := func(declared, t *types.Type) bool {
		return declared == t || declared == types.TAnyArray && t.Family == types.Array
	}
	for _, fn := range Operators(name, false) {
		if takes(fn.Args[0], left) && takes(fn.Args[1], right) {
			return fn
		}
	}
	return nil
}

// FuzzGINKeys: a value for which a condition is true has keys that the index looks for.
func FuzzGINKeys(f *testing.F) {
	conditions := ginConditions()
	require.Greater(f, len(conditions), 15)
	for i := range conditions {
		for _, s := range [][2]string{{`{"a": [1, {"b": null}], "c": "x"}`, `{"a": [{}]}`},
			{`{"a": {"b": 1.0}}`, `$.a.b == 1`}, {`["a", "b"]`, "a"}, {`["a", "b"]`, "{a,NULL}"},
			{"{1,NULL,2}", "{2}"}, {"{a,b}", "{b}"}, {"{}", "{}"}, {"The cat", "%cat"},
			{"two words", "two*w"}, {"Ärger", "ä_ger"}, {"foo bar", "fo+ (bar|baz)"}} {
			f.Add(i, s[0], s[1])
		}
	}
	f.Fuzz(func(t *testing.T, n int, value, arg string) {
		if len(value) > 200 || len(arg) > 40 || !utf8.ValidString(value+arg) {
			return
		}
		c := conditions[int(uint(n)%uint(len(conditions)))]
		v, err := types.ParseText(c.column, value, nil)
		if err != nil {
			return
		}
		a, err := types.ParseText(c.arg, arg, nil)
		if err != nil {
			return
		}
		rt := &expr.Runtime{Location: time.UTC, ArgTypes: []*types.Type{c.column, c.arg}}
		is, err := c.condition.Scalar(rt, []types.Datum{v, a})
		if err != nil || is.Null || !is.Bool() {
			return
		}
		column := gin.NewColumn(1, c.class, c.column)
		list, err := column.AppendKeys(nil, v)
		require.NoError(t, err)
		q, err := column.Query(c.operator, a, 0)
		require.NoError(t, err)
		keys := map[string]bool{}
		for _, k := range list {
			keys[string(k)] = true
			_, rest, err := gin.Describe([]*gin.Column{column}, k)
			require.NoError(t, err)
			require.Empty(t, rest)
		}
		require.True(t, queryHolds(q, keys), "%s %s %s by %s", value, c.operator, arg, c.class)
	})
}
