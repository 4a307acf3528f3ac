package incremental

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/rule"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// View is the analysed query of an incremental view.
type View struct {
	meta   *logical.Meta
	root   logical.Node // over tables, views and states
	cols   []logical.ColID
	stages []*stage
	uses   []Use
}

// Use is a relation that a view reads, a table or another incremental view, with the columns whose
// changes matter to it, in order. It may use none: then only new rows and those that go matter.
type Use struct {
	Table   *table.Desc
	Columns []table.ColumnID
}

// stage is a GROUP BY or DISTINCT.
type stage struct {
	child  logical.Node
	keys   []logical.Item
	aggs   []logical.AggItem
	state  *table.Desc // a template until Compile finds the view's own
	values []values
}

// values are the values of an argument of min or max, kept in order beside the groups.
type values struct {
	arg  expr.Expr
	desc *table.Desc // a template, as stage.state
}

// Analyze binds the query of a view. What cannot be maintained is refused with the reason and,
// where the query says it, its position: 0A000.
func Analyze(ctx context.Context, env *opt.Env, query *ast.Select) (*View, error) {
	if err := checkSyntax(query); err != nil {
		return nil, err
	}
	bound, err := bind.Statement(ctx, env, query, nil)
	if err != nil {
		return nil, err
	}
	if bound.NoCache {
		return nil, refused(0, "a value that depends on when the view is created")
	}
	v := &View{meta: bound.Meta}
	if err := checkPlan(bound.Meta, bound.Query.Node, query); err != nil {
		return nil, err
	}
	n := &normalizer{view: v, copier: newCopier(v.meta)}
	if v.root, err = n.node(bound.Query.Node); err != nil {
		return nil, err
	}
	v.cols = n.columns(bound.Query.IDs())
	v.meta.CTEs = nil
	v.meta.Joins++ // those that Compile makes
	v.prune()
	return v, nil
}

// Uses returns the tables and incremental views that the query reads, each once.
func (v *View) Uses() []Use { return v.uses }

// prune drops columns that are not needed, and finds those that are: a view over another one, or
// over a subquery, often uses few of its columns.
func (v *View) prune() {
	c := &rule.Context{Meta: v.meta}
	q := &logical.Query{Node: v.root}
	for _, id := range v.cols {
		q.Cols = append(q.Cols, logical.Output{ID: id})
	}
	rule.PruneColumns(c, q)
	v.root = q.Node
	v.use(v.root)
	for _, st := range v.stages {
		var need logical.ColSet
		for _, k := range st.keys {
			logical.ExprCols(k.Expr, &need)
		}
		for i := range st.aggs {
			if arg := argument(&st.aggs[i].Agg); arg != nil {
				logical.ExprCols(arg, &need)
			}
		}
		q := &logical.Query{Node: st.child}
		need.Each(func(id logical.ColID) { q.Cols = append(q.Cols, logical.Output{ID: id}) })
		rule.PruneColumns(c, q)
		st.child = q.Node
		v.use(st.child)
	}
}

// use adds the columns that a tree reads of relations.
func (v *View) use(n logical.Node) {
	logical.EachInput(n, func(in *logical.Node) { v.use(*in) })
	s, ok := n.(*logical.Scan)
	if !ok || s.Desc.Kind == table.KindState {
		return
	}
	i := slices.IndexFunc(v.uses, func(u Use) bool { return u.Table.ID == s.Desc.ID })
	if i < 0 {
		i = len(v.uses)
		v.uses = append(v.uses, Use{Table: s.Desc})
	}
	u := &v.uses[i]
	for _, id := range s.Out {
		if c := s.Column(id).ID; !slices.Contains(u.Columns, c) {
			u.Columns = append(u.Columns, c)
		}
	}
	slices.Sort(u.Columns)
}

// Names of the hidden columns of a view's relation and of its states.
const (
	imageColumn   = "image"
	ordinalColumn = "ordinal"
	stateColumn   = "state"
	oneColumn     = "one"
	valueColumn   = "value"
	countColumn   = "count"
)

// Describe completes the descriptor of a new view, which has its visible columns and no row key:
// its rows are a multiset, whose key is a hash of the row's image and a number among equal rows.
// newID draws the IDs of the state relations.
func (v *View) Describe(d *table.Desc, newID func() (table.ID, error)) error {
	key := []table.Column{
		{Name: imageColumn, Type: types.TBytea, NotNull: true, Hidden: true},
		{Name: ordinalColumn, Type: types.TInt8, NotNull: true, Hidden: true},
	}
	for _, c := range key {
		c.ID = d.NextColumnID
		d.NextColumnID++
		d.Columns = append(d.Columns, c)
		d.RowKey = append(d.RowKey, table.IndexColumn{ColumnID: c.ID})
	}
	if d.View.Incremental == nil {
		d.View.Incremental = &table.Incremental{}
	}
	for _, template := range v.templates() {
		id, err := newID()
		if err != nil {
			return err
		}
		s := template.Clone()
		s.ID, s.DatabaseID, s.SchemaID, s.Schema = id, d.DatabaseID, d.SchemaID, d.Schema
		s.Name = d.Name
		d.View.Incremental.States = append(d.View.Incremental.States, s)
	}
	return nil
}

// templates are the descriptors of all state relations, without IDs: of each stage its groups, then
// its values.
func (v *View) templates() (all []*table.Desc) {
	for _, st := range v.stages {
		all = append(all, st.state)
		for i := range st.values {
			all = append(all, st.values[i].desc)
		}
	}
	return all
}

// newState returns the descriptor of a state relation, whose first columns, and first key columns,
// are the keys of the groups.
func (v *View) newState(st *stage) *table.Desc {
	d := &table.Desc{Kind: table.KindState, NextColumnID: 1, NextIndexID: table.RowIndexID + 1}
	for _, k := range st.keys {
		c := &v.meta.Cols[k.ID]
		addKey(d, table.Column{Name: c.Name, Type: c.Type})
	}
	return d
}

func add(d *table.Desc, c table.Column) table.ColumnID {
	c.ID = d.NextColumnID
	d.NextColumnID++
	d.Columns = append(d.Columns, c)
	return c.ID
}

func addKey(d *table.Desc, c table.Column) {
	d.RowKey = append(d.RowKey, table.IndexColumn{ColumnID: add(d, c)})
}

// groupState is the descriptor of the groups of a stage. Its visible columns are the keys and the
// results of the aggregates. The keys are the row key too, so that a join on them looks groups up.
func (v *View) groupState(st *stage) *table.Desc {
	d := v.newState(st)
	for _, a := range st.aggs {
		c := &v.meta.Cols[a.ID]
		add(d, table.Column{Name: c.Name, Type: c.Type})
	}
	if len(st.keys) == 0 {
		addKey(d, table.Column{Name: oneColumn, Type: types.TInt4, NotNull: true, Hidden: true})
	}
	add(d, table.Column{Name: stateColumn, Type: types.TBytea, NotNull: true, Hidden: true})
	return d
}

// valueState is the descriptor of the values of an argument: they are in order within each group,
// and those that are equal but differ, such as 1.0 and 1.00, are distinguished by their images.
func (v *View) valueState(st *stage, arg expr.Expr) *table.Desc {
	d := v.newState(st)
	addKey(d, table.Column{Name: valueColumn, Type: arg.Type(), NotNull: true})
	if !codec.KeyExact(arg.Type()) {
		addKey(d, table.Column{Name: imageColumn, Type: types.TBytea, NotNull: true})
	}
	add(d, table.Column{Name: countColumn, Type: types.TInt8, NotNull: true})
	return d
}

// eachNode calls fn for each node of a tree.
func eachNode(n logical.Node, fn func(logical.Node)) {
	fn(n)
	logical.EachInput(n, func(in *logical.Node) { eachNode(*in, fn) })
}

// refused is the error for a view that cannot be maintained because of what its query has.
func refused(pos int, format string, args ...any) error {
	err := sqlerr.New(sqlerr.FeatureNotSupported, "an incremental materialized view cannot have "+
		format, args...)
	return err.WithHint("Without the option \"incremental\" the view is computed by REFRESH " +
		"MATERIALIZED VIEW.").At(pos)
}
