package exec

import (
	"context"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

func drain(b *testing.B, env *Env, p *physical.Plan, params ...types.Datum) {
	ctx := context.Background()
	c, err := Open(ctx, env, p, params)
	if err != nil {
		b.Fatal(err)
	}
	for {
		batch, err := c.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if batch == nil {
			break
		}
	}
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkPointSelect(b *testing.B) {
	f, d := newFixture(b), accounts()
	f.must(insertInto(d, valuesOf(types3(), []any{1, "ann", 10}, []any{2, "bob", 20})))
	s := scanOf(d)
	s.Point, s.Ranges = true, []physical.Range{{Eq: []expr.Expr{&expr.Param{T: i8, N: 1}}}}
	plan := &physical.Plan{Root: s, ParamTypes: []*types.Type{i8}}
	tx := f.begin()
	defer tx.Rollback(context.Background())
	env := f.env(tx)
	b.ReportAllocs()
	for b.Loop() {
		drain(b, env, plan, types.NewInt(2))
	}
}

func BenchmarkOneRowInsert(b *testing.B) {
	f, d := newFixture(b), accounts()
	rt := f.env(nil).Runtime
	n := insertInto(d, &physical.Values{Base: cols(types3()...), Rows: [][]expr.Expr{{
		&expr.Param{T: i8, N: 1}, lit("x"), &expr.Param{T: i8, N: 1}}}})
	plan := &physical.Plan{Root: n, ParamTypes: []*types.Type{i8}}
	b.ReportAllocs()
	i := int64(0)
	for b.Loop() {
		tx := f.begin()
		env := f.env(tx)
		env.Runtime = rt
		drain(b, env, plan, types.NewInt(i))
		i++
		if err := tx.Rollback(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelectOne(b *testing.B) {
	plan := &physical.Plan{Root: &physical.Project{Base: cols(i8),
		Child: &physical.Values{Rows: [][]expr.Expr{{}}},
		Exprs: []expr.Expr{call("+", lit(1), lit(2))}}}
	env := &Env{Runtime: &expr.Runtime{Format: types.DefaultFormat}}
	b.ReportAllocs()
	for b.Loop() {
		drain(b, env, plan)
	}
}

// benchRows makes rows of a key with 1000 values and a number.
func benchRows(n int) *rowStore {
	s := newRowStore(&budget{}, []*types.Type{i8, i8})
	rng := rand.New(rand.NewSource(1))
	for i := range n {
		if err := s.addRow([]types.Datum{types.NewInt(rng.Int63n(1000)),
			types.NewInt(int64(i))}); err != nil {
			panic(err)
		}
	}
	return s
}

// stored is an operator over kept rows.
type stored struct {
	s    *rowStore
	at   int
	view types.Batch
}

func (s *stored) Open(context.Context) error { s.at = 0; return nil }
func (s *stored) Close() error               { return nil }
func (s *stored) Next(context.Context) (*types.Batch, error) {
	if !s.s.view(&s.view, s.at) {
		return nil, nil
	}
	s.at += s.view.Len
	return &s.view, nil
}

func benchOperator(b *testing.B, rows int, build func(r *run, in physical.Node) operator,
	swap func(op operator, in operator)) {
	in := &physical.Values{Base: cols(i8, i8)}
	s := benchRows(rows)
	ctx := context.Background()
	r := &run{}
	r.init(context.Background(), &Env{}, &physical.Plan{}, nil)
	op := build(r, in)
	swap(op, &stored{s: s})
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, op.Open(ctx))
		for {
			batch, err := op.Next(ctx)
			if err != nil {
				b.Fatal(err)
			}
			if batch == nil {
				break
			}
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func must(op operator, err error) operator {
	if err != nil {
		panic(err)
	}
	return op
}

func BenchmarkFilter(b *testing.B) {
	benchOperator(b, 1<<18, func(r *run, in physical.Node) operator {
		return must(r.build(&physical.Filter{Base: join(in), Child: in,
			Cond: call("<", col(0, i8), lit(500))}))
	}, func(op, in operator) { op.(*filter).child = in })
}

func BenchmarkHashAggregate(b *testing.B) {
	benchOperator(b, 1<<18, func(r *run, in physical.Node) operator {
		return must(r.build(&physical.Aggregate{Base: cols(i8, i8, dec), Child: in,
			GroupBy: []expr.Expr{col(0, i8)},
			Aggs:    []opt.Agg{agg("count"), agg("sum", col(1, i8))}}))
	}, func(op, in operator) { op.(*aggregate).child = in })
}

func BenchmarkSort(b *testing.B) {
	benchOperator(b, 1<<18, func(r *run, in physical.Node) operator {
		return must(r.build(&physical.Sort{Base: join(in), Child: in,
			Keys: []opt.SortKey{{Expr: col(0, i8)}}}))
	}, func(op, in operator) { op.(*sorter).child = in })
}

func BenchmarkTopN(b *testing.B) {
	benchOperator(b, 1<<18, func(r *run, in physical.Node) operator {
		return must(r.build(&physical.Sort{Base: join(in), Child: in,
			Keys: []opt.SortKey{{Expr: col(0, i8)}}, Top: lit(10)}))
	}, func(op, in operator) { op.(*sorter).child = in })
}

func BenchmarkHashJoin(b *testing.B) {
	var rows [][]any
	for i := range 1000 {
		rows = append(rows, []any{i, i})
	}
	right := valuesOf([]*types.Type{i8, i8}, rows...)
	benchOperator(b, 1<<18, func(r *run, in physical.Node) operator {
		return must(r.build(&physical.HashJoin{Base: join(in, right), Left: in, Right: right,
			LeftKeys: []expr.Expr{col(0, i8)}, RightKeys: []expr.Expr{col(0, i8)}}))
	}, func(op, in operator) { op.(*hashJoin).left = in })
}

func BenchmarkScan(b *testing.B) {
	f, d := newFixture(b), accounts()
	var rows [][]any
	for i := range 20000 {
		rows = append(rows, []any{i, "owner", i})
	}
	f.must(insertInto(d, valuesOf(types3(), rows...)))
	s := scanOf(d)
	s.Filter = call("<", col(2, i8), lit(100))
	plan := &physical.Plan{Root: s}
	tx := f.begin()
	defer tx.Rollback(context.Background())
	env := f.env(tx)
	b.ReportAllocs()
	for b.Loop() {
		drain(b, env, plan)
	}
	b.ReportMetric(20000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
