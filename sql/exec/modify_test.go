package exec

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

func code(t *testing.T, err error, want string) *sqlerr.Error {
	t.Helper()
	var e *sqlerr.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, e.Code, e.Message)
	return e
}

func seeded(t *testing.T) (*fixture, *table.Desc) {
	f, d := newFixture(t), accounts()
	f.must(insertInto(d, valuesOf(types3(), []any{1, "ann", 10}, []any{2, "bob", 20},
		[]any{3, "ann", 30}, []any{4, nil, nil})))
	return f, d
}

func TestScans(t *testing.T) {
	f, d := seeded(t)
	require.Equal(t, "1 ann 10 | 2 bob 20 | 3 ann 30 | 4 ~ ~", f.must(scanOf(d)))
	back := scanOf(d, 0)
	back.Reverse = true
	require.Equal(t, "4 | 3 | 2 | 1", f.must(back))
	filtered := scanOf(d, 2, 0)
	filtered.Filter = call(">", col(0, i8), lit(15))
	require.Equal(t, "20 2 | 30 3", f.must(filtered))

	point := scanOf(d)
	point.Point, point.Ranges = true, []physical.Range{{Eq: []expr.Expr{&expr.Param{T: i8, N: 1}}}}
	plan := &physical.Plan{Root: point, ParamTypes: []*types.Type{i8}}
	for param, want := range map[types.Datum]string{
		types.NewInt(2): "2 bob 20", types.NewInt(9): "", types.Null: "",
	} {
		got, _, err := f.exec(plan, param)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	eq := func(vs ...any) (rs []physical.Range) {
		for _, v := range vs {
			d, _ := datum(v)
			rs = append(rs, physical.Range{Eq: []expr.Expr{&expr.Const{T: i8, Value: d}}})
		}
		return rs
	}
	points := scanOf(d)
	points.Point, points.Ranges = true, eq(3, 1, nil, 3, 9)
	require.Equal(t, "3 ann 30 | 1 ann 10", f.must(points))
	points.Ordered = true
	require.Equal(t, "1 ann 10 | 3 ann 30", f.must(points))
	none := scanOf(d)
	none.Ranges = eq(nil)
	require.Equal(t, "", f.must(none))
}

func TestIndexScans(t *testing.T) {
	f, d := seeded(t)
	byAmount := scanOf(d)
	byAmount.Index = &d.Indexes[2]
	byAmount.Ranges = []physical.Range{{Low: lit(10), High: lit(30), HighIncl: true}}
	require.Equal(t, "2 bob 20 | 3 ann 30", f.must(byAmount))
	overlap := scanOf(d, 2)
	overlap.Index, overlap.Covering = &d.Indexes[2], true
	overlap.Ranges = []physical.Range{{Low: lit(15)}, {High: lit(20), HighIncl: true},
		{Eq: []expr.Expr{lit(10)}}}
	require.Equal(t, "10 | 20 | 30", f.must(overlap))
	nulls := scanOf(d, 0)
	nulls.Index = &d.Indexes[1]
	nulls.Ranges = []physical.Range{{Eq: []expr.Expr{&expr.Const{T: text, Value: types.Null}},
		IsNull: []bool{true}}}
	require.Equal(t, "4", f.must(nulls))
}

func TestInsertViolations(t *testing.T) {
	f, d := seeded(t)
	_, _, err := f.exec(&physical.Plan{Root: insertInto(d,
		valuesOf(types3(), []any{5, "x", 50}, []any{2, "y", 60}))})
	require.Equal(t, "Key (id)=(2) already exists.", code(t, err, sqlerr.UniqueViolation).Detail)
	_, _, err = f.exec(&physical.Plan{Root: insertInto(d, valuesOf(types3(), []any{nil, "x", 50}))})
	code(t, err, sqlerr.NotNullViolation)
	n := insertInto(d, valuesOf(types3(), []any{7, "x", -1}))
	n.Checks = []opt.Check{{Name: "positive", Cond: call(">", col(2, i8), lit(0))}}
	_, _, err = f.exec(&physical.Plan{Root: n})
	e := code(t, err, sqlerr.CheckViolation)
	require.Equal(t, `new row for relation "accounts" violates check constraint "positive"`,
		e.Message)
	require.Equal(t, "Failing row contains (7, x, -1).", e.Detail)
	n.Child = valuesOf(types3(), []any{7, "x", nil}) // NULL passes a check
	_, affected, err := f.exec(&physical.Plan{Root: n})
	require.NoError(t, err)
	require.EqualValues(t, 1, affected)
	require.Equal(t, "1 | 2 | 3 | 4 | 7", f.must(scanOf(d, 0)))
}

func TestOnConflict(t *testing.T) {
	f, d := seeded(t)
	rows := valuesOf(types3(), []any{2, "new", 99}, []any{6, "six", 60})
	nothing := insertInto(d, rows)
	nothing.OnConflict = &physical.OnConflict{}
	nothing.Returning = []expr.Expr{col(0, i8)}
	nothing.Cols = cols(i8).Cols
	out, n, err := f.exec(&physical.Plan{Root: nothing})
	require.NoError(t, err)
	require.Equal(t, "6", out)
	require.EqualValues(t, 1, n)

	upsert := insertInto(d, rows)
	upsert.OnConflict = &physical.OnConflict{Update: true, Arbiters: []table.IndexID{1},
		Set:   []opt.Assign{{Column: 2, Expr: call("+", col(2, i8), col(5, i8))}},
		Where: call("<", col(0, i8), lit(5))}
	upsert.Returning = []expr.Expr{col(0, i8), col(2, i8)}
	upsert.Cols = cols(i8, i8).Cols
	out, n, err = f.exec(&physical.Plan{Root: upsert})
	require.NoError(t, err)
	require.Equal(t, "2 119", out)
	require.EqualValues(t, 1, n)

	upsert.Child = valuesOf(types3(), []any{40, "a", 400}, []any{40, "b", 401})
	upsert.OnConflict.Where = nil
	_, _, err = f.exec(&physical.Plan{Root: upsert})
	require.Equal(t, "ON CONFLICT DO UPDATE command cannot affect row a second time",
		code(t, err, sqlerr.CardinalityViolation).Message)
}

func TestUpdateAndDelete(t *testing.T) {
	f, d := seeded(t)
	up := &physical.Update{Base: cols(i8, i8), Table: d, Child: scanOf(d),
		Set:       []opt.Assign{{Column: 2, Expr: call("+", col(2, i8), lit(1))}},
		Returning: []expr.Expr{col(0, i8), col(2, i8)}}
	out, n, err := f.exec(&physical.Plan{Root: up})
	require.NoError(t, err)
	require.Equal(t, "1 11 | 2 21 | 3 31 | 4 ~", out)
	require.EqualValues(t, 4, n)

	del := &physical.Delete{Base: cols(text), Table: d,
		Child: &physical.Filter{Base: join(scanOf(d)), Child: scanOf(d),
			Cond: call("=", col(1, text), lit("ann"))}, Returning: []expr.Expr{col(1, text)}}
	out, n, err = f.exec(&physical.Plan{Root: del})
	require.NoError(t, err)
	require.Equal(t, "ann | ann", out)
	require.EqualValues(t, 2, n)
	require.Equal(t, "2 bob 21 | 4 ~ ~", f.must(scanOf(d)))
}

// An UPDATE that moves rows forward in the index it reads changes each row once.
func TestUpdateDoesNotMeetItsOwnWrites(t *testing.T) {
	f, d := newFixture(t), accounts()
	var rows [][]any
	for i := range 3000 {
		rows = append(rows, []any{i, "x", i})
	}
	f.must(insertInto(d, valuesOf(types3(), rows...)))
	s := scanOf(d)
	s.Index = &d.Indexes[2]
	for _, ranges := range [][]physical.Range{
		{{Low: lit(0), LowIncl: true}},
		{{Low: lit(0), LowIncl: true, High: lit(100)}, {Low: lit(100), LowIncl: true}},
	} {
		s.Ranges = ranges
		up := &physical.Update{Table: d, Child: s,
			Set: []opt.Assign{{Column: 2, Expr: call("+", col(2, i8), lit(5000))}}}
		_, n, err := f.exec(&physical.Plan{Root: up})
		require.NoError(t, err)
		require.EqualValues(t, 3000, n)
	}
	key := scanOf(d)
	key.Ranges = []physical.Range{{High: lit(100)}, {Low: lit(2000), LowIncl: true}}
	up := &physical.Update{Table: d, Child: key,
		Set: []opt.Assign{{Column: 0, Expr: call("+", col(0, i8), lit(3000))}}}
	_, n, err := f.exec(&physical.Plan{Root: up})
	require.NoError(t, err)
	require.EqualValues(t, 1100, n)
}

func TestInsertFromItself(t *testing.T) {
	f, d := seeded(t)
	s := scanOf(d)
	n := insertInto(d, &physical.Project{Base: cols(types3()...), Child: s, Exprs: []expr.Expr{
		call("+", col(0, i8), lit(10)), col(1, text), call("*", col(2, i8), lit(100))}})
	_, affected, err := f.exec(&physical.Plan{Root: n})
	require.NoError(t, err)
	require.EqualValues(t, 4, affected)
	require.Equal(t, "1 | 2 | 3 | 4 | 11 | 12 | 13 | 14", f.must(scanOf(d, 0)))
}

func TestUpdateFromChangesARowOnce(t *testing.T) {
	f, d := seeded(t)
	from := valuesOf([]*types.Type{i8, i8}, []any{1, 100}, []any{1, 200}, []any{2, 300})
	s := scanOf(d)
	j := &physical.HashJoin{Base: join(s, from), Left: s, Right: from,
		LeftKeys: []expr.Expr{col(0, i8)}, RightKeys: []expr.Expr{col(0, i8)}}
	up := &physical.Update{Base: cols(i8, i8), Table: d, Child: j,
		Set:       []opt.Assign{{Column: 2, Expr: col(4, i8)}},
		Returning: []expr.Expr{col(0, i8), col(4, i8)}}
	out, n, err := f.exec(&physical.Plan{Root: up})
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.Equal(t, "1 100 | 2 300", out)
}

// subqueryOver makes a subquery over one column of d.
func sub(kind expr.SubqueryKind, t *types.Type, plan physical.Node) *expr.Subquery {
	return &expr.Subquery{T: t, Kind: kind, Plan: plan}
}

func TestSubqueries(t *testing.T) {
	f, d := seeded(t)
	one := &physical.Values{Rows: [][]expr.Expr{{}}}
	eval := func(e expr.Expr) (string, error) {
		out, _, err := f.exec(&physical.Plan{Slots: 1,
			Root: &physical.Project{Base: cols(e.Type()), Child: one, Exprs: []expr.Expr{e}}})
		return out, err
	}
	check := func(want string, e expr.Expr) {
		t.Helper()
		got, err := eval(e)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	ids, amounts := scanOf(d, 0), scanOf(d, 2)
	check("t", sub(expr.Exists, types.TBool, ids))
	check("{1,2,3,4}", sub(expr.ArrayOf, types.ArrayOf(i8), ids))
	_, err := eval(sub(expr.Scalar, i8, ids))
	require.Equal(t, "more than one row returned by a subquery used as an expression",
		code(t, err, sqlerr.CardinalityViolation).Message)
	none := scanOf(d, 0)
	none.Filter = call("<", col(0, i8), lit(0))
	check("~", sub(expr.Scalar, i8, none))

	anyOf := func(op string, kind expr.SubqueryKind, left expr.Expr, plan physical.Node) expr.Expr {
		fn := call(op, left, col(0, i8)).(*expr.Call).Func
		return &expr.Subquery{T: types.TBool, Kind: kind, Plan: plan, Left: []expr.Expr{left},
			Ops: []*expr.Func{fn}}
	}
	null := &expr.Const{T: i8, Value: types.Null}
	check("t", anyOf("=", expr.Any, lit(20), amounts))
	check("~", anyOf("=", expr.Any, lit(21), amounts)) // a NULL among the amounts
	check("f", anyOf("=", expr.Any, lit(9), ids))
	check("~", anyOf("=", expr.Any, null, ids))
	check("f", anyOf("=", expr.Any, null, none))
	check("t", anyOf("<>", expr.All, lit(9), ids))
	check("f", anyOf("<>", expr.All, lit(1), ids))
	check("t", anyOf("<", expr.Any, lit(3), ids))
	check("f", anyOf("<", expr.All, lit(3), ids))
	check("t", anyOf("<", expr.All, lit(0), ids))
}

func TestCorrelatedSubquery(t *testing.T) {
	f, d := seeded(t)
	inner := scanOf(d, 2)
	inner.Filter = call("<", col(0, i8), &expr.Var{T: i8, Slot: 0})
	count := &physical.Aggregate{Base: cols(i8), Child: inner, Aggs: []opt.Agg{agg("count")}}
	sq := sub(expr.Scalar, i8, count)
	sq.Slots, sq.Args = []int{0}, []expr.Expr{col(1, i8)}
	out, _, err := f.exec(&physical.Plan{Slots: 1, Root: &physical.Project{Base: cols(i8, i8),
		Child: scanOf(d, 0, 2), Exprs: []expr.Expr{col(0, i8), sq}}})
	require.NoError(t, err)
	require.Equal(t, "1 0 | 2 1 | 3 2 | 4 0", out)

	// The same where the range depends on the outer row, and over a join of which only one side
	// does.
	inner.Filter, inner.Index = nil, &d.Indexes[2]
	inner.Ranges = []physical.Range{{High: &expr.Var{T: i8, Slot: 0}}}
	again, _, err := f.exec(&physical.Plan{Slots: 1, Root: &physical.Project{Base: cols(i8, i8),
		Child: scanOf(d, 0, 2), Exprs: []expr.Expr{col(0, i8), sq}}})
	require.NoError(t, err)
	require.Equal(t, out, again)
	for _, l := range []physical.Node{inner, scanOf(d, 2)} {
		for _, r := range []physical.Node{inner, scanOf(d, 2)} {
			count.Child = &physical.HashJoin{Base: join(l, r), Left: l, Right: r,
				LeftKeys: []expr.Expr{col(0, i8)}, RightKeys: []expr.Expr{col(0, i8)}}
			want := out
			if l != inner && r != inner {
				want = "1 3 | 2 3 | 3 3 | 4 3"
			}
			again, _, err := f.exec(&physical.Plan{Slots: 1,
				Root: &physical.Project{Base: cols(i8, i8),
					Child: scanOf(d, 0, 2), Exprs: []expr.Expr{col(0, i8), sq}}})
			require.NoError(t, err)
			require.Equal(t, want, again)
		}
	}
}

// A subquery without arguments of its own, within one that has some, runs again when they change;
// so does a WITH query.
func TestNestedSubqueriesFollowTheOuterRow(t *testing.T) {
	f, d := seeded(t)
	v := &expr.Var{T: i8, Slot: 0}
	inner := scanOf(d, 2)
	inner.Filter = call("=", col(0, i8), v)
	one := &physical.Values{Rows: [][]expr.Expr{{}}}
	read := &physical.CTEScan{Base: cols(i8), ID: 1}
	for _, plan := range []physical.Node{inner, read} {
		middle := &physical.Project{Base: cols(i8), Child: one,
			Exprs: []expr.Expr{sub(expr.Scalar, i8, plan)}}
		outer := sub(expr.Scalar, i8, middle)
		outer.Slots, outer.Args = []int{0}, []expr.Expr{col(1, i8)}
		out, _, err := f.exec(&physical.Plan{Slots: 1, Root: &physical.Project{Base: cols(i8, i8),
			Child: scanOf(d, 0, 2), Exprs: []expr.Expr{col(0, i8), outer}},
			CTEs: []physical.CTE{{ID: 1, Plan: inner}}})
		require.NoError(t, err)
		require.Equal(t, "1 10 | 2 20 | 3 30 | 4 ~", out)
	}
}

func TestRecursion(t *testing.T) {
	first := valuesOf([]*types.Type{i8}, []any{1})
	work := &physical.CTEScan{Base: cols(i8), ID: 7, WorkTable: true}
	next := &physical.Project{Base: cols(i8), Child: work,
		Exprs: []expr.Expr{call("+", col(0, i8), lit(1))}}
	read := &physical.CTEScan{Base: cols(i8), ID: 7}
	limited := &physical.Limit{Base: cols(i8), Child: read, Count: lit(5)}
	out, _, err := runPlan(&Env{}, &physical.Plan{Root: limited,
		CTEs: []physical.CTE{{ID: 7, Plan: first, Recursive: next, UnionAll: true}}})
	require.NoError(t, err)
	require.Equal(t, "1 | 2 | 3 | 4 | 5", out)

	circle := &physical.Project{Base: cols(i8), Child: work,
		Exprs: []expr.Expr{call("%", call("+", col(0, i8), lit(1)), lit(3))}}
	out, _, err = runPlan(&Env{}, &physical.Plan{Root: read,
		CTEs: []physical.CTE{{ID: 7, Plan: first, Recursive: circle}}})
	require.NoError(t, err)
	require.Equal(t, "1 | 2 | 0", out)
}

func TestModifyingWithQuery(t *testing.T) {
	f, d := seeded(t)
	gone := &physical.Delete{Base: cols(i8), Table: d, Child: scanOf(d),
		Returning: []expr.Expr{col(0, i8)}}
	read := &physical.CTEScan{Base: cols(i8), ID: 1}
	sum := &physical.Aggregate{Base: cols(dec), Child: read,
		Aggs: []opt.Agg{agg("sum", col(0, i8))}}
	out, _, err := f.exec(&physical.Plan{Root: sum,
		CTEs: []physical.CTE{{ID: 1, Plan: gone, Modifies: true}}})
	require.NoError(t, err)
	require.Equal(t, "10", out)
	require.Equal(t, "", f.must(scanOf(d)))
}

// All parts of a statement read what was there before it.
func TestModifyingWithQueriesReadTheOldRows(t *testing.T) {
	f, d := seeded(t)
	with := func(root physical.Node, ms ...physical.Node) string {
		p := &physical.Plan{Root: root}
		for i, m := range ms {
			p.CTEs = append(p.CTEs, physical.CTE{ID: i + 1, Plan: m, Modifies: true})
		}
		out, _, err := f.exec(p)
		require.NoError(t, err)
		return out
	}
	up := &physical.Update{Base: cols(i8), Table: d, Child: scanOf(d),
		Returning: []expr.Expr{col(2, i8)},
		Set:       []opt.Assign{{Column: 2, Expr: call("*", col(2, i8), lit(10))}}}
	require.Equal(t, "10 | 20 | 30 | ~", with(scanOf(d, 2), up))
	require.Equal(t, "100 | 200 | 300 | ~",
		with(scanOf(d, 2), insertInto(d, valuesOf(types3(), []any{9, "z", 9}))))
	require.Equal(t, "1 | 2 | 3 | 4 | 9", f.must(scanOf(d, 0)))

	// Rows that a WITH query deletes may be inserted again by the main query.
	gone := &physical.Delete{Base: join(scanOf(d)), Table: d, Child: scanOf(d),
		Returning: []expr.Expr{col(0, i8), col(1, text), col(2, i8)}}
	back := insertInto(d, &physical.CTEScan{Base: join(scanOf(d)), ID: 1})
	before := f.must(scanOf(d))
	with(back, gone)
	require.Equal(t, before, f.must(scanOf(d)))
}

func TestHiddenRowIDs(t *testing.T) {
	f := newFixture(t)
	d := &table.Desc{ID: 16400, Schema: "public", Name: "notes", Columns: []table.Column{
		{ID: 1, Name: "body", Type: text},
		{ID: 2, Name: "rowid", Type: i8, NotNull: true, Hidden: true},
	}, RowKey: []table.IndexColumn{{ColumnID: 2}}, NextColumnID: 3, NextIndexID: 2}
	require.NoError(t, d.Prepare(nil))
	f.must(insertInto(d, valuesOf([]*types.Type{text, i8}, []any{"a", nil}, []any{"a", nil})))
	require.Equal(t, "a 1 | a 2", f.must(scanOf(d)))
}

func TestLockedRowsExclude(t *testing.T) {
	f, d := seeded(t)
	s := scanOf(d)
	s.Point, s.Ranges = true, []physical.Range{{Eq: []expr.Expr{lit(1)}}}
	lock := func(wait string) *physical.Plan {
		return &physical.Plan{Root: &physical.LockRows{Base: join(s), Child: s,
			Tables: []physical.LockTarget{{Table: d, Key: []int{0}, Strength: "update",
				Wait: wait}}}}
	}
	ctx := context.Background()
	a, b := f.begin(), f.begin()
	out, _, err := runPlan(f.env(a), lock(""))
	require.NoError(t, err)
	require.Equal(t, "1 ann 10", out)
	_, _, err = runPlan(f.env(b), lock("nowait"))
	require.ErrorContains(t, err, "could not obtain lock on row")
	out, _, err = runPlan(f.env(b), lock("skip locked"))
	require.NoError(t, err)
	require.Empty(t, out)
	require.NoError(t, a.Commit(ctx))
	out, _, err = runPlan(f.env(b), lock("nowait"))
	require.NoError(t, err)
	require.Equal(t, "1 ann 10", out)
	require.NoError(t, b.Rollback(ctx))
}
