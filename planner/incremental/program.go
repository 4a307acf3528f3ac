package incremental

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/choose"
	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/planner/rule"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// weightColumn is the name of the last column of a delta.
const weightColumn = "weight"

// Program is how a view is brought up to date, and how it is computed as a whole: plans that may be
// cached, as other plans are, and run by several sessions at once.
type Program struct {
	// Stages are the groups, in the order in which they are evaluated.
	Stages []*Stage
	// Terms give the delta of the view's rows: its visible columns, then the weight.
	Terms []Term
	// All gives all rows, each with weight 1.
	All *physical.Plan
	// Tables are the relations that the plans were made for.
	Tables []opt.TableVersion
}

// Term is a part of a delta.
type Term struct {
	Plan *physical.Plan
	// Needs are the relations whose deltas it reads: without a row in one of these it has none.
	Needs []table.ID
}

// Stage is a GROUP BY or DISTINCT. The rows of its plans are the keys of the groups, then the
// arguments of the aggregates, then the weight.
type Stage struct {
	State *table.Desc
	Keys  int
	// Values are the relations with the values of arguments of min and max: the keys of the group,
	// the value, an image of it if equal values may differ, and how often it is there.
	Values []*table.Desc
	// InexactKeys is set when keys that are equal may differ, such as 1.0 and 1.00.
	InexactKeys bool
	Aggs        []Aggregate
	Terms       []Term
	All         *physical.Plan
	// Groups gives the rows of some groups, as they are after, each with weight 1. It reads the
	// keys of these as the delta of the state relation. AnyGroups does the same for keys with
	// NULLs.
	Groups, AnyGroups *physical.Plan
}

// Aggregate is an aggregate call of a stage.
type Aggregate struct {
	Kind Kind
	// Arg is the place of the argument in the rows of the stage; -1: there is none, count(*).
	Arg      int
	ArgType  *types.Type
	Func     *expr.Aggregate
	Distinct bool
	// Values is the place of the argument in the stage's Values, for min and max.
	Values int
}

// Kind is how the state of an aggregate follows the rows of its group.
type Kind uint8

// The kinds. Reread is for all that have no exact inverse: the rows of the group are read again.
const (
	Reread Kind = iota
	Count
	Sum // of integers or numerics
	Avg
	And // bool_and
	Or  // bool_or
	Min
	Max
)

// Ordered reports whether the kind needs the values of its argument in order.
func (k Kind) Ordered() bool { return k == Min || k == Max }

// aggregateKinds are the aggregates that a view may have.
var aggregateKinds = map[string]Kind{"count": Count, "sum": Sum, "avg": Avg, "min": Min, "max": Max,
	"bool_and": And, "every": And, "bool_or": Or}

// kindOf returns how an aggregate is kept up to date.
func kindOf(a *opt.Agg) Kind {
	k := aggregateKinds[a.Func.Name]
	switch k {
	case Sum, Avg:
		if f := a.Args[0].Type().Family; f != types.Int && f != types.Decimal {
			k = Reread
		}
	}
	if a.Distinct && k != Min && k != Max && k != And && k != Or {
		k = Reread
	}
	return k
}

// compiler makes a view's program.
type compiler struct {
	*differ
	ctx  context.Context
	env  *opt.Env
	view *View
	// check leaves the terms out, and reads all rows as they were before.
	check bool
}

// Compile plans the program of a view with a descriptor as Describe has completed it. The view is
// used up: it can be compiled once. past returns a table as it was before the deltas, nil where it
// was not there; a nil function means that all tables were as they are.
func (v *View) Compile(ctx context.Context, env *opt.Env, d *table.Desc,
	past func(table.ID) *table.Desc) (*Program, error) {
	return v.compile(ctx, env, d, past, false)
}

// CompileCheck plans, in the place of a program, what all rows of the view and of its stages are:
// of tables as they were before, and of views and states as they are without the transaction's own
// writes. The program has no terms.
func (v *View) CompileCheck(ctx context.Context, env *opt.Env, d *table.Desc,
	past func(table.ID) *table.Desc) (*Program, error) {
	return v.compile(ctx, env, d, past, true)
}

func (v *View) compile(ctx context.Context, env *opt.Env, d *table.Desc,
	past func(table.ID) *table.Desc, check bool) (*Program, error) {
	states, templates := d.States(), v.templates()
	if len(states) != len(templates) {
		return nil, sqlerr.New(sqlerr.InternalError,
			"view \"%s\" has %d state relations, and its query needs %d", d.Name, len(states),
			len(templates))
	}
	c := &compiler{ctx: ctx, env: env, view: v, check: check,
		differ: &differ{meta: v.meta, past: past, states: map[*table.Desc]*table.Desc{}}}
	for i, template := range templates {
		c.states[template] = states[i]
	}
	p := &Program{Tables: v.meta.Tables}
	for _, st := range v.stages {
		s, err := c.stage(st, c.states[st.state])
		if err != nil {
			return nil, err
		}
		p.Stages = append(p.Stages, s)
	}
	var err error
	items := c.outputs(d)
	if !check {
		if p.Terms, err = c.terms(v.root, items); err != nil {
			return nil, err
		}
	}
	p.All, err = c.all(v.root, items)
	return p, err
}

// outputs are the visible columns of the view, in their types.
func (c *compiler) outputs(d *table.Desc) []logical.Item {
	items := make([]logical.Item, len(c.view.cols))
	for i, id := range c.view.cols {
		var e expr.Expr = c.meta.Col(id)
		if t := d.Columns[i].Type; !t.Equal(e.Type()) {
			e = &expr.Cast{T: t, Arg: e}
		}
		items[i] = logical.Item{ID: id, Expr: e}
	}
	return items
}

func (c *compiler) stage(st *stage, state *table.Desc) (*Stage, error) {
	s := &Stage{State: state, Keys: len(st.keys)}
	for i := range st.values {
		s.Values = append(s.Values, c.states[st.values[i].desc])
	}
	items := slices.Clone(st.keys)
	for _, k := range st.keys {
		s.InexactKeys = s.InexactKeys || !codec.KeyExact(k.Expr.Type())
	}
	for i := range st.aggs {
		a := &st.aggs[i].Agg
		out := Aggregate{Kind: kindOf(a), Arg: -1, Func: a.Func, Distinct: a.Distinct}
		if arg := argument(a); arg != nil {
			out.Arg, out.ArgType, out.Values = len(items), arg.Type(), st.valuesOf(arg)
			items = append(items, logical.Item{ID: st.aggs[i].ID, Expr: arg})
		}
		s.Aggs = append(s.Aggs, out)
	}
	var err error
	if s.All, err = c.all(st.child, items); err != nil || c.check {
		return s, err
	}
	if s.Terms, err = c.terms(st.child, items); err != nil {
		return nil, err
	}
	if s.Groups, err = c.groups(st, state, items, false); err != nil {
		return nil, err
	}
	if s.Keys > 0 {
		s.AnyGroups, err = c.groups(st, state, items, true)
	}
	return s, err
}

// argument is the argument of an aggregate: NULL, which counts for nothing, in rows that FILTER
// leaves out. It is nil for count(*) of all rows.
func argument(a *opt.Agg) expr.Expr {
	var arg expr.Expr
	if len(a.Args) > 0 {
		arg = a.Args[0]
	}
	if a.Filter == nil {
		return arg
	}
	if arg == nil {
		arg = &expr.Const{T: types.TBool, Value: types.NewBool(true)}
	}
	return &expr.Case{T: arg.Type(), Whens: []expr.When{{Cond: a.Filter, Result: arg}}}
}

// terms plans the delta of a projection of a tree.
func (c *compiler) terms(n logical.Node, items []logical.Item) ([]Term, error) {
	var out []Term
	for _, t := range c.of(n) {
		plan, err := c.plan(t.node, t.copier(c.meta), items, c.meta.Col(t.weight))
		if err != nil {
			return nil, err
		}
		out = append(out, Term{Plan: plan, Needs: t.needs})
	}
	return out, nil
}

// all plans a projection of all rows of a tree.
func (c *compiler) all(n logical.Node, items []logical.Item) (*physical.Plan, error) {
	node, copied := c.copy(n, c.check)
	return c.plan(node, copied, items, one)
}

// one is the weight of a row that is there.
var one = &expr.Const{T: types.TInt8, Value: types.NewInt(1)}

// groups plans a projection of the rows of some groups. With nulls, keys that are NULL are equal.
func (c *compiler) groups(st *stage, state *table.Desc, items []logical.Item,
	nulls bool) (*physical.Plan, error) {
	if len(st.keys) == 0 {
		return c.all(st.child, items)
	}
	node, copied := c.copy(st.child, false)
	d := &table.Desc{ID: state.ID, Name: state.Name, Kind: table.KindDelta,
		NextColumnID: state.NextColumnID}
	d.Columns = append(d.Columns, state.Columns[:len(st.keys)]...)
	few := newScan(c.meta, withWeight(d), "")
	var on []expr.Expr
	for i, k := range st.keys {
		key := copied.expr(k.Expr)
		group := c.meta.Col(few.First + i)
		equal, err := equality(key, group)
		if err != nil {
			return nil, err
		}
		if nulls {
			equal = &expr.Or{Args: []expr.Expr{equal, &expr.And{Args: []expr.Expr{
				&expr.IsNull{Arg: key}, &expr.IsNull{Arg: group}}}}}
		}
		on = append(on, equal)
	}
	return c.plan(c.restrict(node, few, on), copied, items, one)
}

// withWeight adds the column of weights.
func withWeight(d *table.Desc) *table.Desc {
	d.Columns = append(d.Columns, table.Column{ID: d.NextColumnID, Name: weightColumn,
		Type: types.TInt8, NotNull: true})
	d.NextColumnID++
	return d
}

// equality is a = b for two values of one type.
func equality(a, b expr.Expr) (expr.Expr, error) {
	fn, targets, err := builtin.ResolveOperator("=", a.Type(), b.Type())
	if err != nil {
		return nil, err
	}
	args := []expr.Expr{a, b}
	for i, t := range targets {
		if t != nil && t.OID != args[i].Type().OID {
			args[i] = &expr.Cast{T: t, Arg: args[i]}
		}
	}
	return &expr.Call{T: types.TBool, Func: fn, Args: args}, nil
}

// plan plans a projection of a node, to items and a weight.
func (c *compiler) plan(node logical.Node, copied *copier, items []logical.Item,
	weight expr.Expr) (*physical.Plan, error) {
	p := &logical.Project{Child: node}
	q := &logical.Query{Node: p}
	add := func(e expr.Expr, col logical.Column) {
		id := c.meta.Add(col)
		p.Items = append(p.Items, logical.Item{ID: id, Expr: e})
		q.Cols = append(q.Cols, logical.Output{Name: col.Name, ID: id})
	}
	for _, it := range items {
		col := logical.Column{Name: c.meta.Cols[it.ID].Name, Type: it.Expr.Type()}
		add(copied.expr(it.Expr), col)
	}
	add(weight, logical.Column{Name: weightColumn, Type: types.TInt8, NotNull: true})
	stmt := &logical.Statement{Query: q, Meta: c.meta}
	est := estimate.OfDelta(c.ctx, c.env, c.meta)
	rules := &rule.Context{Meta: c.meta, Estimator: est, Interrupt: logical.NewInterrupt(c.ctx)}
	if err := rule.Apply(rules, q); err != nil {
		return nil, err
	}
	return choose.Plan(c.ctx, c.env.Costs, est, stmt)
}
