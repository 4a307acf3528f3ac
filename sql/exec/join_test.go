package exec

import (
	"context"
	"math/rand"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

func TestHashJoinKinds(t *testing.T) {
	l := valuesOf([]*types.Type{i8, text}, []any{1, "a"}, []any{2, "b"}, []any{nil, "n"},
		[]any{2, "c"}, []any{4, "d"})
	r := valuesOf([]*types.Type{i8, i8}, []any{2, 20}, []any{nil, 0}, []any{4, 40}, []any{2, 21},
		[]any{9, 90})
	two, left := join(l, r), join(l)
	for kind, want := range map[opt.JoinKind]string{
		opt.Inner: "2 b 2 20 | 2 b 2 21 | 2 c 2 20 | 2 c 2 21 | 4 d 4 40",
		opt.Left:  "1 a ~ ~ | 2 b 2 20 | 2 b 2 21 | ~ n ~ ~ | 2 c 2 20 | 2 c 2 21 | 4 d 4 40",
		opt.Right: "2 b 2 20 | 2 b 2 21 | 2 c 2 20 | 2 c 2 21 | 4 d 4 40 | ~ ~ ~ 0 | ~ ~ 9 90",
		opt.Full: "1 a ~ ~ | 2 b 2 20 | 2 b 2 21 | ~ n ~ ~ | 2 c 2 20 | 2 c 2 21 | 4 d 4 40" +
			" | ~ ~ ~ 0 | ~ ~ 9 90",
		opt.Semi:     "2 b | 2 c | 4 d",
		opt.Anti:     "1 a | ~ n",
		opt.NullAnti: "",
	} {
		base := two
		if kind >= opt.Semi {
			base = left
		}
		got := plain(t, &physical.HashJoin{Base: base, Kind: kind, Left: l, Right: r,
			LeftKeys: []expr.Expr{col(0, i8)}, RightKeys: []expr.Expr{col(0, i8)}})
		require.Equal(t, want, got, kind.String())
	}
}

func TestNotInAndNulls(t *testing.T) {
	l := valuesOf([]*types.Type{i8}, []any{1}, []any{nil}, []any{2})
	notIn := func(r physical.Node, cond expr.Expr) string {
		return plain(t, &physical.HashJoin{Base: join(l), Kind: opt.NullAnti, Left: l, Right: r,
			Cond:     cond,
			LeftKeys: []expr.Expr{col(0, i8)}, RightKeys: []expr.Expr{col(0, i8)}})
	}
	require.Equal(t, "1", notIn(valuesOf([]*types.Type{i8}, []any{2}), nil))
	require.Equal(t, "", notIn(valuesOf([]*types.Type{i8}, []any{nil}), nil))
	require.Equal(t, "1 | ~ | 2", notIn(valuesOf([]*types.Type{i8}), nil))
	// The condition says which rows are in the list: those below the left row. For NULL, none is.
	less := call("<", col(1, i8), col(0, i8))
	require.Equal(t, "1 | ~ | 2", notIn(valuesOf([]*types.Type{i8}, []any{2}, []any{nil}), less))
	nest := plain(t, &physical.NestLoop{Base: join(l), Kind: opt.NullAnti, Left: l,
		Right: valuesOf([]*types.Type{i8}, []any{2}), Cond: call("=", col(0, i8), col(1, i8))})
	require.Equal(t, "1", nest)
}

// randomRows makes rows (key, payload) with few distinct keys, some NULL.
func randomRows(rng *rand.Rand, n, keys int) *physical.Values {
	var rows [][]any
	for i := range n {
		var k any = rng.Intn(keys)
		if rng.Intn(10) == 0 {
			k = nil
		}
		rows = append(rows, []any{k, i})
	}
	return valuesOf([]*types.Type{i8, i8}, rows...)
}

func sorted(s string) string {
	rows := strings.Split(s, " | ")
	sort.Strings(rows)
	return strings.Join(rows, " | ")
}

// Every kind of join, with and without a further condition, gives the same rows by hashing, by
// testing every pair, and by running the right side again for each left row.
func TestJoinMethodsAgree(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 60 {
		l := randomRows(rng, rng.Intn(60), 1+rng.Intn(12))
		r := randomRows(rng, rng.Intn(60), 1+rng.Intn(12))
		if rng.Intn(8) == 0 {
			l = randomRows(rng, 2500, 40)
		}
		equal := call("=", col(0, i8), col(2, i8))
		var cond expr.Expr
		full := equal
		if rng.Intn(2) == 0 {
			cond = call("<", col(1, i8), call("+", col(3, i8), lit(5)))
			full = &expr.And{Args: []expr.Expr{equal, cond}}
		}
		for kind := opt.Inner; kind <= opt.Anti; kind++ {
			base := join(l, r)
			if kind >= opt.Semi {
				base = join(l)
			}
			hash := plain(t, &physical.HashJoin{Base: base, Kind: kind, Left: l, Right: r,
				Cond:     cond,
				LeftKeys: []expr.Expr{col(0, i8)}, RightKeys: []expr.Expr{col(0, i8)}})
			nest := plain(t, &physical.NestLoop{Base: base, Kind: kind, Left: l, Right: r,
				Cond: full})
			require.Equal(t, sorted(nest), sorted(hash), "%s join", kind)
			if kind == opt.Right || kind == opt.Full {
				continue
			}
			if kind != opt.Inner || cond == nil {
				require.Equal(t, nest, hash, "%s join: order of the left side", kind)
			}
			inner := &physical.Filter{Base: join(r), Child: r,
				Cond: call("=", &expr.Var{T: i8, Slot: 0}, col(0, i8))}
			out, _, err := runPlan(&Env{},
				&physical.Plan{Slots: 1, Root: &physical.Apply{Base: base, Kind: kind,
					Left: l, Right: inner, Slots: []int{0}, Args: []expr.Expr{col(0, i8)},
					Cond: cond}})
			require.NoError(t, err)
			require.Equal(t, nest, out, "%s apply", kind)
		}
	}
}

func TestIndexJoinAgreesWithHashJoin(t *testing.T) {
	f := newFixture(t)
	d := accounts()
	var rows [][]any
	rng := rand.New(rand.NewSource(2))
	for i := range 400 {
		var owner any = string(rune('a' + rng.Intn(20)))
		if rng.Intn(9) == 0 {
			owner = nil
		}
		rows = append(rows, []any{i, owner, i * 10})
	}
	f.must(insertInto(d, valuesOf(types3(), rows...)))
	l := valuesOf([]*types.Type{text, i8}, []any{"a", 5}, []any{nil, 1}, []any{"zz", 2},
		[]any{"b", 50}, []any{"a", 7})
	inner := scanOf(d)
	cond := call("<", col(1, i8), col(2, i8))
	for _, kind := range []opt.JoinKind{opt.Inner, opt.Left, opt.Semi, opt.Anti} {
		base := join(l, inner)
		if kind >= opt.Semi {
			base = join(l)
		}
		hash := f.must(&physical.HashJoin{Base: base, Kind: kind, Left: l, Right: inner, Cond: cond,
			LeftKeys: []expr.Expr{col(0, text)}, RightKeys: []expr.Expr{col(1, text)}})
		byIndex := scanOf(d)
		byIndex.Index = &d.Indexes[1]
		index := f.must(&physical.IndexJoin{Base: base, Kind: kind, Left: l, Inner: byIndex,
			Cond: cond,
			Keys: []expr.Expr{col(0, text)}})
		require.Equal(t, hash, index, kind.String())
		require.NotEmpty(t, index)
	}
}

func TestJoinWithinItsMemory(t *testing.T) {
	r := randomRows(rand.New(rand.NewSource(3)), 5000, 5000)
	n := &physical.HashJoin{Base: join(r, r), Kind: opt.Inner, Left: r, Right: r,
		LeftKeys: []expr.Expr{col(0, i8)}, RightKeys: []expr.Expr{col(0, i8)}}
	_, _, err := runPlan(&Env{MemoryLimit: 64 << 10}, &physical.Plan{Root: n})
	require.ErrorContains(t, err, "out of memory")
	_, _, err = runPlan(&Env{MemoryLimit: 16 << 20}, &physical.Plan{Root: n})
	require.NoError(t, err)
}

func TestMemoryIsGivenBack(t *testing.T) {
	r := randomRows(rand.New(rand.NewSource(3)), 500, 50)
	key := []expr.Expr{col(0, i8)}
	hash := &physical.HashJoin{Base: join(r, r), Kind: opt.Full, Left: r, Right: r, LeftKeys: key,
		RightKeys: key}
	count := agg("count")
	nodes := map[string]physical.Node{
		"hash join": hash,
		"nest loop": &physical.NestLoop{Base: join(r, r), Left: r, Right: r},
		"sort": &physical.Sort{Base: join(r), Child: r,
			Keys: []opt.SortKey{{Expr: col(1, i8)}}},
		"top": &physical.Sort{Base: join(hash), Child: hash,
			Keys: []opt.SortKey{{Expr: col(1, i8)}}, Top: lit(3)},
		"distinct": &physical.Distinct{Base: join(r), Child: r},
		"aggregate": &physical.Aggregate{Base: cols(i8, i8), Child: r, GroupBy: key,
			Aggs: []opt.Agg{count}},
		"set": &physical.SetOp{Base: join(r), Left: r, Right: r, All: true},
	}
	for name, n := range nodes {
		ctx := context.Background()
		c, err := Open(ctx, &Env{MemoryLimit: 64 << 20}, &physical.Plan{Root: n}, nil)
		require.NoError(t, err)
		for range 3 { // run it again: nothing adds up
			require.NoError(t, c.root.Open(ctx))
			for b, err := c.Next(ctx); b != nil; b, err = c.Next(ctx) {
				require.NoError(t, err)
			}
			require.Positive(t, c.run.mem.used, name)
		}
		require.NoError(t, c.Close())
		require.Zero(t, c.run.mem.used, name)
	}
}

func TestCancelStopsAJoin(t *testing.T) {
	r := randomRows(rand.New(rand.NewSource(3)), 3000, 3)
	never := call("<", col(1, i8), lit(-1))
	n := &physical.NestLoop{Base: join(r, r), Left: r, Right: r, Cond: never}
	ctx, cancel := context.WithCancel(context.Background())
	c, err := Open(ctx, &Env{}, &physical.Plan{Root: n}, nil)
	require.NoError(t, err)
	defer c.Close()
	cancel()
	_, err = c.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
}
