package exec

import (
	"context"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

func numbers(n int) *physical.Values {
	var rows [][]any
	for i := range n {
		rows = append(rows, []any{i})
	}
	return valuesOf([]*types.Type{i8}, rows...)
}

func TestFilterProjectLimit(t *testing.T) {
	src := numbers(3000)
	even := &physical.Filter{Base: join(src), Child: src,
		Cond: call("=", call("%", col(0, i8), lit(2)), lit(0))}
	twice := &physical.Project{Base: cols(i8, i8), Child: even,
		Exprs: []expr.Expr{col(0, i8), call("*", col(0, i8), lit(2))}}
	lim := &physical.Limit{Base: join(twice), Child: twice, Count: lit(3), Offset: lit(600)}
	require.Equal(t, "1200 2400 | 1202 2404 | 1204 2408", plain(t, lim))

	for _, c := range []struct {
		count, offset expr.Expr
		code          string
	}{
		{lit(-1), nil, sqlerr.InvalidRowCountInLimit},
		{nil, lit(-1), sqlerr.InvalidRowCountInOffset},
	} {
		err := plainErr(&physical.Limit{Base: join(src), Child: src, Count: c.count,
			Offset: c.offset})
		var e *sqlerr.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, c.code, e.Code)
	}
	null := &expr.Const{T: i8, Value: types.Null}
	all := plain(t, &physical.Limit{Base: join(src), Child: src, Count: null, Offset: null})
	require.Equal(t, plain(t, src), all)
}

func TestSortOrdersNullsAndKeepsTies(t *testing.T) {
	src := valuesOf([]*types.Type{text, i8}, []any{"b", 1}, []any{nil, 2}, []any{"a", 3},
		[]any{"b", 4}, []any{"abcdefghi", 5}, []any{"abcdefgh", 6})
	sort := func(desc, nullsFirst bool) string {
		return plain(t, &physical.Sort{Base: join(src), Child: src,
			Keys: []opt.SortKey{{Expr: col(0, text), Desc: desc, NullsFirst: nullsFirst}}})
	}
	require.Equal(t, "a 3 | abcdefgh 6 | abcdefghi 5 | b 1 | b 4 | ~ 2", sort(false, false))
	require.Equal(t, "~ 2 | a 3 | abcdefgh 6 | abcdefghi 5 | b 1 | b 4", sort(false, true))
	require.Equal(t, "~ 2 | b 1 | b 4 | abcdefghi 5 | abcdefgh 6 | a 3", sort(true, true))
	require.Equal(t, "b 1 | b 4 | abcdefghi 5 | abcdefgh 6 | a 3 | ~ 2", sort(true, false))
}

func TestSortOfEachFamily(t *testing.T) {
	for _, ty := range []*types.Type{i8, f8, dec} {
		var rows [][]any
		rng := rand.New(rand.NewSource(4))
		for range 300 {
			v := rng.Intn(2000) - 1000
			if ty == f8 {
				rows = append(rows, []any{float64(v) / 8})
			} else {
				rows = append(rows, []any{v})
			}
		}
		src := valuesOf([]*types.Type{ty}, rows...)
		out := plain(t, &physical.Sort{Base: join(src), Child: src,
			Keys: []opt.SortKey{{Expr: col(0, ty), Desc: true}}})
		last := 1e9
		for _, s := range strings.Split(out, " | ") {
			v, err := strconv.ParseFloat(s, 64)
			require.NoError(t, err)
			require.LessOrEqual(t, v, last)
			last = v
		}
	}
}

// A bounded sort returns what a limit over a full sort returns. Each row has a number, which is the
// last key: SQL does not say which of several equal rows are first.
func TestTopNIsSortAndLimit(t *testing.T) {
	rng := rand.New(rand.NewSource(5))
	for range 12 {
		src := randomRows(rng, 9000, 1+rng.Intn(3000))
		keys := []opt.SortKey{{Expr: col(0, i8), Desc: rng.Intn(2) == 0,
			NullsFirst: rng.Intn(2) == 0}}
		if rng.Intn(2) == 0 {
			keys = append(keys, opt.SortKey{Expr: call("%", col(1, i8), lit(7))})
		}
		keys = append(keys, opt.SortKey{Expr: col(1, i8)})
		top := lit(rng.Intn(40))
		full := &physical.Sort{Base: join(src), Child: src, Keys: keys}
		want := plain(t, &physical.Limit{Base: join(src), Child: full, Count: top})
		got := plain(t, &physical.Sort{Base: join(src), Child: src, Keys: keys, Top: top})
		require.Equal(t, want, got)
	}
}

func TestDistinctAndSetOperations(t *testing.T) {
	l := valuesOf([]*types.Type{i8}, []any{1}, []any{2}, []any{2}, []any{nil}, []any{nil}, []any{3})
	r := valuesOf([]*types.Type{i8}, []any{2}, []any{nil}, []any{4}, []any{2})
	require.Equal(t, "1 | 2 | ~ | 3", plain(t, &physical.Distinct{Base: join(l), Child: l}))
	set := func(except, all bool) string {
		return plain(t, &physical.SetOp{Base: join(l), Left: l, Right: r, Except: except, All: all})
	}
	require.Equal(t, "2 | ~", set(false, false))
	require.Equal(t, "2 | 2 | ~", set(false, true))
	require.Equal(t, "1 | 3", set(true, false))
	require.Equal(t, "1 | ~ | 3", set(true, true))
	require.Equal(t, "1 | 2 | 2 | ~ | ~ | 3 | 2 | ~ | 4 | 2",
		plain(t, &physical.Append{Base: join(l), Inputs: []physical.Node{l, r}}))
	pairs := valuesOf([]*types.Type{i8, i8}, []any{1, 10}, []any{1, 11}, []any{2, 20}, []any{1, 12})
	require.Equal(t, "1 10 | 2 20",
		plain(t, &physical.Distinct{Base: join(pairs), Child: pairs, On: []expr.Expr{col(0, i8)}}))
}

func TestNumericKeysIgnoreScale(t *testing.T) {
	one, err := types.ParseText(dec, "1.00", &types.DefaultFormat)
	require.NoError(t, err)
	l := valuesOf([]*types.Type{dec}, []any{1}, []any{2})
	l.Rows = append(l.Rows, []expr.Expr{&expr.Const{T: dec, Value: one}})
	require.Equal(t, "1 | 2", plain(t, &physical.Distinct{Base: join(l), Child: l}))
}

func TestAggregates(t *testing.T) {
	src := valuesOf([]*types.Type{text, i8}, []any{"a", 1}, []any{"b", 2}, []any{"a", 1},
		[]any{nil, 7}, []any{"b", nil}, []any{"a", 3})
	distinct := agg("count", col(1, i8))
	distinct.Distinct = true
	filtered := agg("count")
	filtered.Filter = call("<", col(1, i8), lit(3))
	aggs := []opt.Agg{agg("count"), agg("sum", col(1, i8)), agg("min", col(1, i8)), distinct,
		filtered}
	n := &physical.Aggregate{Base: cols(text, i8, dec, i8, i8, i8), Child: src,
		GroupBy: []expr.Expr{col(0, text)}, Aggs: aggs}
	require.Equal(t, "a 3 5 1 2 2 | b 2 2 2 1 1 | ~ 1 7 7 1 0", plain(t, n))

	empty := valuesOf([]*types.Type{text, i8})
	one := &physical.Aggregate{Base: cols(i8, dec, i8, i8, i8), Child: empty, Aggs: aggs}
	require.Equal(t, "0 ~ ~ 0 0", plain(t, one))
	require.Equal(t, "", plain(t,
		&physical.Aggregate{Base: n.Base, Child: empty, GroupBy: n.GroupBy, Aggs: aggs}))
}

func TestGroupingSets(t *testing.T) {
	src := valuesOf([]*types.Type{text, i8}, []any{"a", 1}, []any{"b", 1}, []any{"a", 2})
	n := &physical.Aggregate{Base: cols(text, i8, i8), Child: src,
		GroupBy: []expr.Expr{col(0, text), col(1, i8)}, Sets: [][]int{{0}, {1},
			{}}, Aggs: []opt.Agg{agg("count")}}
	require.Equal(t, "a ~ 2 | b ~ 1 | ~ 1 2 | ~ 2 1 | ~ ~ 3", plain(t, n))
}

func TestOrderedAggregates(t *testing.T) {
	src := valuesOf([]*types.Type{i8, text}, []any{1, "c"}, []any{2, "x"}, []any{1, "a"},
		[]any{1, "c"}, []any{1, "b"})
	ordered := agg("array_agg", col(1, text))
	ordered.OrderBy = []opt.SortKey{{Expr: col(1, text), Desc: true}}
	once := agg("array_agg", col(1, text))
	once.Distinct = true
	arr := types.ArrayOf(text)
	n := &physical.Aggregate{Base: cols(i8, arr, arr), Child: src, GroupBy: []expr.Expr{col(0, i8)},
		Aggs: []opt.Agg{ordered, once}}
	require.Equal(t, "1 {c,c,b,a} {a,b,c} | 2 {x} {x}", plain(t, n))
}

// Grouped states over batches give what accumulators give row by row.
func TestAggregatesAgreeWithAccumulators(t *testing.T) {
	src := randomRows(rand.New(rand.NewSource(6)), 5000, 60)
	key := call("%", col(1, i8), lit(37))
	for _, name := range []string{"count", "sum", "avg", "min", "max"} {
		call := agg(name, col(0, i8))
		accs := map[int64]expr.Accumulator{}
		var order []int64
		rt := &expr.Runtime{Format: types.DefaultFormat}
		for _, row := range src.Rows {
			g := row[1].(*expr.Const).Value.I % 37
			if accs[g] == nil {
				accs[g] = call.Func.New([]*types.Type{i8})
				order = append(order, g)
			}
			if d := row[0].(*expr.Const).Value; !d.Null {
				require.NoError(t, accs[g].Add(rt, []types.Datum{d}))
			}
		}
		result := builtin.AggregateType(call.Func, []*types.Type{i8})
		var want []string
		for _, g := range order {
			d, err := accs[g].Result(rt)
			require.NoError(t, err)
			want = append(want,
				strconv.FormatInt(g, 10)+" "+types.Text(result, d, &types.DefaultFormat))
		}
		got := plain(t, &physical.Aggregate{Base: cols(i8, result), Child: src,
			GroupBy: []expr.Expr{key}, Aggs: []opt.Agg{call}})
		require.Equal(t, strings.Join(want, " | "), got, name)
	}
}

func TestManyGroups(t *testing.T) {
	src := numbers(20000)
	n := &physical.Aggregate{Base: cols(i8, i8), Child: src,
		GroupBy: []expr.Expr{call("%", col(0, i8), lit(7001))},
		Aggs:    []opt.Agg{agg("count")}}
	c, err := Open(context.Background(), &Env{}, &physical.Plan{Root: n}, nil)
	require.NoError(t, err)
	defer c.Close()
	groups, rows := 0, int64(0)
	for {
		b, err := c.Next(context.Background())
		require.NoError(t, err)
		if b == nil {
			break
		}
		for i := range b.Rows() {
			groups++
			rows += b.Cols[1].I[b.Row(i)]
		}
	}
	require.Equal(t, 7001, groups)
	require.EqualValues(t, 20000, rows)
}

func set(name string, args ...expr.Expr) (*expr.Func, []expr.Expr) {
	fn, _, err := builtin.ResolveFunction(name, argTypes(args))
	if err != nil {
		panic(err)
	}
	return fn, args
}

func TestSetReturningFunctions(t *testing.T) {
	fn, args := set("generate_series", lit(1), lit(3))
	scan := &physical.FuncScan{Base: cols(i8, i8), Ordinality: true,
		Funcs: []opt.TableFunc{{Func: fn, Args: args, Width: 1}}}
	require.Equal(t, "1 1 | 2 2 | 3 3", plain(t, scan))
	// A limit ends an endless series.
	long, largs := set("generate_series", lit(1), lit(1<<60))
	endless := &physical.FuncScan{Base: cols(i8),
		Funcs: []opt.TableFunc{{Func: long, Args: largs, Width: 1}}}
	require.Equal(t, "1 | 2", plain(t,
		&physical.Limit{Base: join(endless), Child: endless, Count: lit(2)}))
	src := numbers(3)
	n := &physical.ProjectSet{Base: cols(i8, i8, i8), Child: src, Items: []physical.SetItem{
		{Expr: col(0, i8)},
		{Func: fn, Args: []expr.Expr{lit(1), col(0, i8)}},
		{Func: fn, Args: []expr.Expr{lit(5), lit(6)}},
	}}
	require.Equal(t, "0 ~ 5 | 0 ~ 6 | 1 1 5 | 1 ~ 6 | 2 1 5 | 2 2 6", plain(t, n))
}

func TestOperatorsKeepTheirMemoryBound(t *testing.T) {
	src := numbers(20000)
	key := []expr.Expr{col(0, i8)}
	list := agg("array_agg", col(0, i8))
	for name, n := range map[string]physical.Node{
		"sort": &physical.Sort{Base: join(src), Child: src,
			Keys: []opt.SortKey{{Expr: col(0, i8)}}},
		"distinct": &physical.Distinct{Base: join(src), Child: src},
		"groups": &physical.Aggregate{Base: cols(i8, i8), Child: src, GroupBy: key,
			Aggs: []opt.Agg{agg("count")}},
		"array_agg": &physical.Aggregate{Base: cols(types.ArrayOf(i8)), Child: src,
			Aggs: []opt.Agg{list}},
		"except":    &physical.SetOp{Base: join(src), Left: src, Right: src, Except: true},
		"nest loop": &physical.NestLoop{Base: join(src, src), Left: src, Right: src},
	} {
		_, _, err := runPlan(&Env{MemoryLimit: 100 << 10}, &physical.Plan{Root: n})
		var e *sqlerr.Error
		require.ErrorAs(t, err, &e, name)
		require.Equal(t, sqlerr.OutOfMemory, e.Code, name)
		require.Contains(t, e.Hint, "minidb.statement_memory", name)
	}
	// A bounded sort needs no more than its bound.
	top := &physical.Sort{Base: join(src), Child: src,
		Keys: []opt.SortKey{{Expr: col(0, i8), Desc: true}}, Top: lit(2)}
	out, _, err := runPlan(&Env{MemoryLimit: 400 << 10}, &physical.Plan{Root: top})
	require.NoError(t, err)
	require.Equal(t, "19999 | 19998", out)
}

func TestStatsCountRowsAndLoops(t *testing.T) {
	l, r := numbers(3), numbers(2)
	n := &physical.Apply{Base: join(l, r), Left: l, Right: r}
	c, err := Open(context.Background(), &Env{Stats: true}, &physical.Plan{Root: n}, nil)
	require.NoError(t, err)
	defer c.Close()
	for b, err := c.Next(context.Background()); b != nil; b, err = c.Next(context.Background()) {
		require.NoError(t, err)
	}
	s, ok := c.NodeStats(r)
	require.True(t, ok)
	require.EqualValues(t, 6, s.Rows)
	require.EqualValues(t, 3, s.Loops)
	require.Positive(t, s.Startup)
	require.GreaterOrEqual(t, s.Elapsed, s.Startup)
}
