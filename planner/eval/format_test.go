package eval

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

func TestExpressionsAreShownAsPostgreSQLShowsThem(t *testing.T) {
	g := &generator{}
	a := &expr.Col{T: types.TInt4, Name: "a"}
	s := &expr.Col{T: types.TText, Name: "s", Index: 1}
	num := func(i int64) expr.Expr { return &expr.Const{T: types.TInt4, Value: types.NewInt(i)} }
	x := &expr.Const{T: types.TText, Value: types.NewString("it's")}
	lower, _, err := builtin.ResolveFunction("lower", []*types.Type{types.TText})
	require.NoError(t, err)
	gt := g.call(">", types.TBool, a, num(5))
	eq := g.call("=", types.TBool, &expr.Call{T: types.TText, Func: lower, Args: []expr.Expr{s}}, x)
	for want, e := range map[string]expr.Expr{
		"((a > 5) AND (lower(s) = 'it''s'::text))": &expr.And{Args: []expr.Expr{gt, eq}},
		"(NOT (a > 5))":                &expr.Not{Arg: gt},
		"(a IS NOT NULL)":              &expr.IsNull{Arg: a, Not: true},
		"(a = ANY (1, '-2'::integer))": &expr.InList{Arg: a, List: []expr.Expr{num(1), num(-2)}},
		"CASE a WHEN 1 THEN s ELSE NULL::text END": &expr.Case{T: types.TText, Operand: a,
			Whens: []expr.When{{Cond: g.call("=", types.TBool, &expr.CaseOperand{T: types.TInt4},
				num(1)), Result: s}},
			Else: &expr.Const{T: types.TText, Value: types.Null}},
		"(a)::numeric(5,2)": &expr.Cast{T: types.TNumeric.WithMod(5<<16 | 2 + 4), Arg: a},
		"COALESCE(a, $1)": &expr.Coalesce{T: types.TInt4,
			Args: []expr.Expr{a, &expr.Param{T: types.TInt4, N: 1}}},
	} {
		require.Equal(t, want, expr.Format(e))
	}
}
