package builtin

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

func TestEveryOverloadIsComplete(t *testing.T) {
	c := load()
	seen := map[string]bool{}
	check := func(kind string, fn *expr.Func) {
		sig := kind + Signature(fn.Name, fn.Args)
		require.False(t, seen[sig], "%s is there twice", sig)
		seen[sig] = true
		require.True(t, fn.Scalar != nil != (fn.Set != nil), sig)
		require.True(t, (fn.Returns == nil) == (fn.ReturnType != nil), sig)
		if fn.Set != nil {
			require.NotEmpty(t, fn.Columns, sig)
		}
	}
	for _, fns := range c.functions {
		for _, fn := range fns {
			check("function ", fn)
		}
	}
	for _, fns := range c.binary {
		for _, fn := range fns {
			require.Len(t, fn.Args, 2)
			check("operator ", fn)
		}
	}
	for _, fns := range c.prefix {
		for _, fn := range fns {
			require.Len(t, fn.Args, 1)
			check("prefix ", fn)
		}
	}
	for _, aggs := range c.aggregates {
		for _, a := range aggs {
			sig := "aggregate " + Signature(a.Name, a.Args)
			require.False(t, seen[sig], sig)
			seen[sig] = true
			require.NotNil(t, a.New, sig)
		}
	}
}

func TestPolymorphicResults(t *testing.T) {
	fn, targets, err := ResolveFunction("array_append", []*types.Type{types.TUnknown, types.TInt4})
	require.NoError(t, err)
	require.Equal(t, "integer[]", ReturnType(fn, targets).String())
	fn, targets, err = ResolveOperator("||", types.ArrayOf(types.TInt4), types.TNumeric)
	require.NoError(t, err)
	require.Equal(t, "numeric[]", ReturnType(fn, targets).String())
	a, targets, err := ResolveAggregate("array_agg", []*types.Type{types.TText})
	require.NoError(t, err)
	require.Equal(t, "text[]", AggregateType(a, targets).String())
}
