package eval

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// generator makes random well-typed expressions over five columns.
type generator struct{ r *rand.Rand }

var columnTypes = []*types.Type{types.TInt4, types.TInt4, types.TInt8, types.TBool, types.TText}

func (g *generator) column(t *types.Type) expr.Expr {
	var fit []int
	for i, c := range columnTypes {
		if c.OID == t.OID {
			fit = append(fit, i)
		}
	}
	return &expr.Col{T: t, Index: fit[g.r.Intn(len(fit))]}
}

func (g *generator) value(t *types.Type) types.Datum {
	if g.r.Intn(5) == 0 {
		return types.Null
	}
	switch t.Family {
	case types.Bool:
		return types.NewBool(g.r.Intn(2) == 0)
	case types.String:
		return types.NewString([]string{"", "a", "ab", "b"}[g.r.Intn(4)])
	}
	return types.NewInt(int64(g.r.Intn(5) - 2))
}

func (g *generator) expr(t *types.Type, depth int) expr.Expr {
	if depth == 0 || g.r.Intn(6) == 0 {
		if g.r.Intn(3) == 0 {
			return &expr.Const{T: t, Value: g.value(t)}
		}
		return g.column(t)
	}
	switch g.r.Intn(8) {
	case 0:
		return &expr.Coalesce{T: t,
			Args: []expr.Expr{g.expr(t, depth-1), g.expr(t, depth-1), g.expr(t, depth-1)}}
	case 1:
		return g.caseExpr(t, depth)
	}
	switch {
	case t.Family == types.Bool:
		return g.boolean(depth)
	case t.Family == types.String:
		return g.call("||", t, g.expr(t, depth-1), g.expr(t, depth-1))
	case t.OID == types.OIDInt8 && g.r.Intn(3) == 0:
		return &expr.Cast{T: t, Arg: g.expr(types.TInt4, depth-1)}
	}
	op := []string{"+", "-", "*", "/", "%"}[g.r.Intn(5)]
	return g.call(op, t, g.expr(t, depth-1), g.expr(t, depth-1))
}

func (g *generator) call(op string, t *types.Type, left, right expr.Expr) expr.Expr {
	fn, _, err := builtin.ResolveOperator(op, left.Type(), right.Type())
	if err != nil {
		panic(err)
	}
	return &expr.Call{T: t, Func: fn, Args: []expr.Expr{left, right}}
}

func (g *generator) some() *types.Type {
	return []*types.Type{types.TInt4, types.TInt8, types.TText}[g.r.Intn(3)]
}

func (g *generator) caseExpr(t *types.Type, depth int) expr.Expr {
	c := &expr.Case{T: t}
	var left expr.Expr
	if g.r.Intn(2) == 0 {
		s := g.some()
		c.Operand = g.expr(s, depth-1)
		left = &expr.CaseOperand{T: s}
	}
	for range 1 + g.r.Intn(2) {
		cond := g.expr(types.TBool, depth-1)
		if left != nil {
			cond = g.call("=", types.TBool, left, g.expr(left.Type(), depth-1))
		}
		c.Whens = append(c.Whens, expr.When{Cond: cond, Result: g.expr(t, depth-1)})
	}
	if g.r.Intn(3) > 0 {
		c.Else = g.expr(t, depth-1)
	}
	return c
}

func (g *generator) boolean(depth int) expr.Expr {
	b := func() expr.Expr { return g.expr(types.TBool, depth-1) }
	switch g.r.Intn(8) {
	case 0:
		return &expr.And{Args: []expr.Expr{b(), b(), b()}}
	case 1:
		return &expr.Or{Args: []expr.Expr{b(), b(), b()}}
	case 2:
		return &expr.Not{Arg: b()}
	case 3:
		return &expr.IsNull{Arg: g.expr(g.some(), depth-1), Not: g.r.Intn(2) == 0}
	case 4:
		return &expr.IsBool{Arg: b(), Want: g.r.Intn(2) == 0, Not: g.r.Intn(2) == 0}
	case 5:
		t := g.some()
		in := &expr.InList{Arg: g.expr(t, depth-1), Not: g.r.Intn(2) == 0}
		in.Eq, _, _ = builtin.ResolveOperator("=", t, t)
		for range 1 + g.r.Intn(3) {
			in.List = append(in.List, g.expr(t, g.r.Intn(depth)))
		}
		return in
	}
	t := g.some()
	return g.call([]string{"=", "<>", "<", ">="}[g.r.Intn(4)], types.TBool, g.expr(t, depth-1),
		g.expr(t, depth-1))
}

// TestVectorsAgreeWithRows evaluates random expressions over random batches both as vectors and by
// rows. The batch must fail exactly if one of the selected rows does.
func TestVectorsAgreeWithRows(t *testing.T) {
	for seed := int64(0); seed < 4000; seed++ {
		g := &generator{r: rand.New(rand.NewSource(seed))}
		target := []*types.Type{types.TBool, types.TInt4, types.TText}[g.r.Intn(3)]
		e := g.expr(target, 1+g.r.Intn(4))
		b := types.NewBatch(columnTypes)
		var rows [][]types.Datum
		var sel []int32
		for i := range 1 + g.r.Intn(12) {
			var row []types.Datum
			for _, c := range columnTypes {
				row = append(row, g.value(c))
			}
			b.AppendRow(row)
			rows = append(rows, row)
			if g.r.Intn(4) > 0 {
				sel = append(sel, int32(i))
			}
		}
		compareWays(t, fmt.Sprintf("seed %d: %s", seed, expr.Format(e)), e, b, rows, sel)
	}
}

func compareWays(t *testing.T, name string, e expr.Expr, b *types.Batch, rows [][]types.Datum,
	sel []int32) {
	if sel == nil {
		sel = []int32{}
	}
	p, err := Compile(e)
	require.NoError(t, err, name)
	folded, err := Compile(Fold(e, testRuntime()))
	require.NoError(t, err, name)
	ctx := &Context{Runtime: testRuntime()}
	want := map[int32]types.Datum{}
	var failed error
	for _, i := range sel {
		d, err := p.EvalRow(ctx, rows[i])
		if err != nil {
			failed = err
			continue
		}
		want[i] = d
		f, err := folded.EvalRow(ctx, rows[i])
		require.NoError(t, err, name)
		require.Equal(t, d, f, "folded, %s", name)
	}
	for range 2 { // scratch memory of the first run must not affect the second
		var out types.Vec
		err = p.Eval(ctx, b, sel, &out)
		require.Equal(t, failed != nil, err != nil, name)
		if failed != nil {
			continue
		}
		for _, i := range sel {
			require.Equal(t, want[i], out.Get(int(i)), "row %d, %s", i, name)
		}
		if e.Type().Family != types.Bool {
			continue
		}
		got, err := p.EvalBool(ctx, b, sel, []int32{})
		require.NoError(t, err)
		kept := []int32{}
		for _, i := range sel {
			if want[i].Bool() {
				kept = append(kept, i)
			}
		}
		require.Equal(t, kept, got, name)
	}
}

func TestArmsThatAreNotReachedDoNotFail(t *testing.T) {
	b := types.NewBatch([]*types.Type{types.TInt4})
	for i := range 10 {
		b.AppendRow([]types.Datum{types.NewInt(int64(i % 3))})
	}
	g := &generator{}
	x := &expr.Col{T: types.TInt4}
	one, zero := &expr.Const{T: types.TInt4, Value: types.NewInt(1)}, &expr.Const{T: types.TInt4}
	inverse := g.call("/", types.TInt4, one, x)
	isZero := g.call("=", types.TBool, x, zero)
	positive := g.call(">", types.TBool, inverse, zero)
	for _, e := range []expr.Expr{
		&expr.Case{T: types.TInt4, Whens: []expr.When{{Cond: isZero, Result: zero}}, Else: inverse},
		&expr.Or{Args: []expr.Expr{isZero, positive}},
		&expr.And{Args: []expr.Expr{&expr.Not{Arg: isZero}, positive}},
		&expr.Coalesce{T: types.TInt4, Args: []expr.Expr{x, inverse}},
	} {
		p, err := Compile(e)
		require.NoError(t, err)
		var out types.Vec
		require.NoError(t, p.Eval(nil, b, nil, &out))
	}
	p, err := Compile(inverse)
	require.NoError(t, err)
	var out types.Vec
	require.ErrorContains(t, p.Eval(nil, b, nil, &out), "division by zero")
}

func TestFoldLeavesErrorsToRunTime(t *testing.T) {
	e, err := bindText("1 / 0")
	require.NoError(t, err)
	require.Equal(t, e, Fold(e, testRuntime()))
	e, err = bindText("(1 + 2) * 3")
	require.NoError(t, err)
	require.Equal(t, &expr.Const{T: types.TInt4, Value: types.NewInt(9)}, Fold(e, nil))
}

func BenchmarkEvalRow(b *testing.B) {
	e, err := bindText("(1 + 2) = 3")
	require.NoError(b, err)
	e = expr.Rewrite(e, func(n expr.Expr) expr.Expr {
		if k, ok := n.(*expr.Const); ok && k.Value.I == 1 {
			return &expr.Col{T: types.TInt4}
		}
		return n
	})
	p, err := Compile(e)
	require.NoError(b, err)
	ctx := &Context{Runtime: testRuntime()}
	row := []types.Datum{types.NewInt(1)}
	b.ReportAllocs()
	for b.Loop() {
		if d, err := p.EvalRow(ctx, row); err != nil || !d.Bool() {
			b.Fatal(d, err)
		}
	}
}

func benchmarkBatch() *types.Batch {
	b := types.NewBatch([]*types.Type{types.TInt4, types.TInt4})
	for i := range types.BatchSize {
		b.AppendRow([]types.Datum{types.NewInt(int64(i)), types.NewInt(int64(i * 7 % 100))})
	}
	return b
}

func BenchmarkIntArithmeticVector(b *testing.B) {
	g := &generator{}
	x, y := &expr.Col{T: types.TInt4}, &expr.Col{T: types.TInt4, Index: 1}
	e := g.call("+", types.TInt4, g.call("*", types.TInt4, x, y),
		&expr.Const{T: types.TInt4, Value: types.NewInt(3)})
	p, err := Compile(e)
	require.NoError(b, err)
	batch := benchmarkBatch()
	ctx := &Context{Runtime: testRuntime()}
	var out types.Vec
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Eval(ctx, batch, nil, &out); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(types.BatchSize)
}

func BenchmarkFilterVector(b *testing.B) {
	g := &generator{}
	x, y := &expr.Col{T: types.TInt4}, &expr.Col{T: types.TInt4, Index: 1}
	k := func(i int64) expr.Expr { return &expr.Const{T: types.TInt4, Value: types.NewInt(i)} }
	e := &expr.And{Args: []expr.Expr{g.call("<", types.TBool, x, k(500)),
		g.call(">=", types.TBool, y, k(50))}}
	p, err := Compile(e)
	require.NoError(b, err)
	batch := benchmarkBatch()
	ctx := &Context{Runtime: testRuntime()}
	dst := make([]int32, 0, types.BatchSize)
	b.ReportAllocs()
	for b.Loop() {
		if dst, err = p.EvalBool(ctx, batch, nil, dst); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(types.BatchSize)
}
