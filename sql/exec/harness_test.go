package exec

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/minidb/minidb/kv/kvtest"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	i8   = types.TInt8
	text = types.TText
	f8   = types.TFloat8
	dec  = types.TNumeric
)

// cols makes output columns c0, c1, … of the given types.
func cols(ts ...*types.Type) physical.Base {
	b := physical.Base{}
	for i, t := range ts {
		b.Cols = append(b.Cols, physical.Column{Name: "c" + strconv.Itoa(i), Type: t})
	}
	return b
}

// join concatenates the columns of nodes.
func join(ns ...physical.Node) physical.Base {
	b := physical.Base{}
	for _, n := range ns {
		b.Cols = append(b.Cols, n.Columns()...)
	}
	return b
}

func col(i int, t *types.Type) expr.Expr { return &expr.Col{T: t, Index: i} }

func lit(v any) expr.Expr {
	d, t := datum(v)
	return &expr.Const{T: t, Value: d}
}

func datum(v any) (types.Datum, *types.Type) {
	switch v := v.(type) {
	case nil:
		return types.Null, i8
	case int:
		return types.NewInt(int64(v)), i8
	case string:
		return types.NewString(v), text
	case float64:
		return types.NewFloat(v), f8
	case bool:
		return types.NewBool(v), types.TBool
	}
	panic(fmt.Sprintf("no datum of %T", v))
}

// call applies an operator.
func call(op string, l, r expr.Expr) expr.Expr {
	fn, targets, err := builtin.ResolveOperator(op, l.Type(), r.Type())
	if err != nil {
		panic(err)
	}
	return &expr.Call{T: builtin.ReturnType(fn, targets), Func: fn, Args: []expr.Expr{l, r}}
}

// values makes a Values node: NULL takes the type of its column.
func valuesOf(ts []*types.Type, rows ...[]any) *physical.Values {
	n := &physical.Values{Base: cols(ts...)}
	for _, row := range rows {
		var es []expr.Expr
		for i, v := range row {
			d, _ := datum(v)
			if ts[i].Family == types.Decimal && v != nil {
				d = types.NewDecimal(types.NumericFromInt(d.I))
			}
			es = append(es, &expr.Const{T: ts[i], Value: d})
		}
		n.Rows = append(n.Rows, es)
	}
	return n
}

func agg(name string, args ...expr.Expr) opt.Agg {
	a, _, err := builtin.ResolveAggregate(name, argTypes(args))
	if err != nil {
		panic(err)
	}
	return opt.Agg{Func: a, Args: args}
}

// fixture is a store in memory.
type fixture struct {
	t     testing.TB
	store *txn.Store
	next  int64
}

func newFixture(t testing.TB) *fixture {
	s, err := txn.Open(context.Background(), kvtest.NewPoison(memkv.New(memkv.Options{})),
		txn.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &fixture{t: t, store: s}
}

func (f *fixture) NextRowID(context.Context, table.ID) (int64, error) {
	f.next++
	return f.next, nil
}

func (f *fixture) begin() *txn.Txn {
	tx, err := f.store.Begin(context.Background(), txn.BeginOptions{})
	require.NoError(f.t, err)
	return tx
}

func (f *fixture) env(tx *txn.Txn) *Env {
	return &Env{Tx: tx, RowIDs: f, Runtime: &expr.Runtime{
		Ctx: context.Background(), Location: time.UTC, Format: types.DefaultFormat,
	}}
}

// exec runs a plan in a transaction of its own and returns the rows and the rows affected.
func (f *fixture) exec(p *physical.Plan, params ...types.Datum) (string, int64, error) {
	tx := f.begin()
	out, n, err := runPlan(f.env(tx), p, params...)
	if err != nil {
		require.NoError(f.t, tx.Rollback(context.Background()))
		return out, n, err
	}
	require.NoError(f.t, tx.Commit(context.Background()))
	return out, n, nil
}

func (f *fixture) must(n physical.Node) string {
	out, _, err := f.exec(&physical.Plan{Root: n})
	require.NoError(f.t, err)
	return out
}

// runPlan runs a plan and prints its rows: columns separated by a blank, rows by a bar.
func runPlan(env *Env, p *physical.Plan, params ...types.Datum) (string, int64, error) {
	ctx := context.Background()
	c, err := Open(ctx, env, p, params)
	if err != nil {
		return "", 0, err
	}
	defer c.Close()
	var rows []string
	for {
		b, err := c.Next(ctx)
		if err != nil {
			return "", 0, err
		}
		if b == nil {
			return strings.Join(rows, " | "), c.RowsAffected(), nil
		}
		for i := range b.Rows() {
			rows = append(rows, formatRow(b, b.Row(i)))
		}
	}
}

func formatRow(b *types.Batch, r int) string {
	var fields []string
	for _, c := range b.Cols {
		d := c.Get(r)
		if d.Null {
			fields = append(fields, "~")
			continue
		}
		fields = append(fields, types.Text(c.Type, d, &types.DefaultFormat))
	}
	return strings.Join(fields, " ")
}

// plain runs a node that reads no table.
func plain(t testing.TB, n physical.Node) string {
	t.Helper()
	out, _, err := runPlan(&Env{}, &physical.Plan{Root: n})
	require.NoError(t, err)
	return out
}

func plainErr(n physical.Node) error {
	_, _, err := runPlan(&Env{}, &physical.Plan{Root: n})
	return err
}

// accounts is a table (id int8 primary key, owner text, amount int8) with an index on owner and a
// unique index on amount.
func accounts() *table.Desc {
	d := &table.Desc{ID: 16384, Schema: "public", Name: "accounts", Version: 1,
		Columns: []table.Column{
			{ID: 1, Name: "id", Type: i8, NotNull: true},
			{ID: 2, Name: "owner", Type: text},
			{ID: 3, Name: "amount", Type: i8},
		},
		RowKey: []table.IndexColumn{{ColumnID: 1}},
		Indexes: []table.Index{
			{ID: 1, Name: "accounts_pkey", Unique: true, Primary: true, Constraint: true,
				Columns: []table.IndexColumn{{ColumnID: 1}}},
			{ID: 2, Name: "accounts_owner", Columns: []table.IndexColumn{{ColumnID: 2}}},
			{ID: 3, Name: "accounts_amount", Unique: true,
				Columns: []table.IndexColumn{{ColumnID: 3}}},
		},
		NextColumnID: 4, NextIndexID: 4,
	}
	if err := d.Prepare(nil); err != nil {
		panic(err)
	}
	return d
}

func scanOf(d *table.Desc, out ...int) *physical.Scan {
	if len(out) == 0 {
		for i := range d.Columns {
			out = append(out, i)
		}
	}
	s := &physical.Scan{Table: d, Out: out}
	for _, i := range out {
		s.Cols = append(s.Cols, physical.Column{Name: d.Columns[i].Name, Type: d.Columns[i].Type})
	}
	return s
}

func insertInto(d *table.Desc, child physical.Node) *physical.Insert {
	return &physical.Insert{Table: d, Child: child}
}

func types3() []*types.Type { return []*types.Type{i8, text, i8} }
