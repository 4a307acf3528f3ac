package incremental

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// normalizer copies a bound query into the form that the algebra is made for: scans, VALUES and
// functions in FROM, below filters, projections, inner and left joins, and UNION ALL. Every WITH
// query is where it is read, a right join is a left one, sorts are gone, a projection that only
// passes columns on is none, and each GROUP BY or DISTINCT is a scan of its state.
type normalizer struct {
	view *View
	*copier
}

func (n *normalizer) node(in logical.Node) (logical.Node, error) {
	switch in := in.(type) {
	case *logical.Scan:
		return n.scan(in), nil
	case *logical.Values, *logical.FuncScan:
		return n.copier.node(in), nil
	case *logical.Sort:
		return n.node(in.Child)
	case *logical.Filter:
		child, err := n.node(in.Child)
		if err != nil {
			return nil, err
		}
		return &logical.Filter{Child: child, Conds: n.exprs(in.Conds)}, nil
	case *logical.Project:
		return n.project(in)
	case *logical.Join:
		return n.join(in)
	case *logical.Append:
		return n.append(in)
	case *logical.CTERef:
		return n.with(in)
	case *logical.Aggregate:
		return n.aggregate(in)
	case *logical.Distinct:
		return n.distinct(in)
	}
	return nil, refused(0, "this form of query (%T)", in)
}

func (n *normalizer) project(in *logical.Project) (logical.Node, error) {
	child, err := n.node(in.Child)
	if err != nil {
		return nil, err
	}
	for _, it := range in.Items {
		if _, ok := it.Expr.(*expr.Col); !ok {
			return &logical.Project{Child: child, Items: n.items(in.Items)}, nil
		}
	}
	// Values before the loop changes them: an item may bear the ID of another's column.
	to := make([]logical.ColID, len(in.Items))
	for i, it := range in.Items {
		to[i] = n.id(it.Expr.(*expr.Col).Index)
	}
	for i, it := range in.Items {
		n.ids[it.ID] = to[i]
	}
	return child, nil
}

func (n *normalizer) join(in *logical.Join) (logical.Node, error) {
	left, err := n.node(in.Left)
	if err != nil {
		return nil, err
	}
	right, err := n.node(in.Right)
	if err != nil {
		return nil, err
	}
	out := &logical.Join{Kind: in.Kind, Left: left, Right: right, On: n.exprs(in.On)}
	if in.Kind == opt.Right {
		out.Kind, out.Left, out.Right = opt.Left, right, left
	}
	if out.Kind == opt.Left && len(equalities(out)) == 0 {
		return nil, refused(position(out.On),
			"an outer join whose condition does not equate columns of both sides")
	}
	return out, nil
}

func (n *normalizer) append(in *logical.Append) (logical.Node, error) {
	out := &logical.Append{}
	for i, child := range in.Inputs {
		c, err := n.node(child)
		if err != nil {
			return nil, err
		}
		out.Inputs = append(out.Inputs, c)
		out.InCols = append(out.InCols, n.columns(in.InCols[i]))
	}
	out.Cols = n.fresh(in.Cols)
	return out, nil
}

// with puts a WITH query in the place where it is read.
func (n *normalizer) with(in *logical.CTERef) (logical.Node, error) {
	if in.CTE.Recursive != nil || in.WorkTable {
		return nil, refused(0, "a recursive WITH query")
	}
	inner := &normalizer{view: n.view, copier: newCopier(n.meta)}
	child, err := inner.node(in.CTE.Query.Node)
	if err != nil {
		return nil, err
	}
	for i, id := range inner.columns(in.CTE.Query.IDs()) {
		n.ids[in.Cols[i]] = id
	}
	return child, nil
}

func (n *normalizer) aggregate(in *logical.Aggregate) (logical.Node, error) {
	child, err := n.node(in.Child)
	if err != nil {
		return nil, err
	}
	st := &stage{child: child}
	for _, k := range in.Keys {
		st.keys = append(st.keys, logical.Item{ID: k.ID, Expr: n.expr(k.Expr)})
	}
	for _, a := range in.Aggs {
		agg := a.Agg
		agg.Args = n.exprs(agg.Args)
		if agg.Filter != nil {
			agg.Filter = n.expr(agg.Filter)
		}
		st.aggs = append(st.aggs, logical.AggItem{ID: a.ID, Agg: agg})
	}
	return n.stage(st)
}

func (n *normalizer) distinct(in *logical.Distinct) (logical.Node, error) {
	cols := in.Columns()
	child, err := n.node(in.Child)
	if err != nil {
		return nil, err
	}
	st := &stage{child: child}
	for _, id := range cols {
		st.keys = append(st.keys, logical.Item{ID: id, Expr: n.meta.Col(n.id(id))})
	}
	return n.stage(st)
}

// stage adds a stage and returns the scan of its state.
func (n *normalizer) stage(st *stage) (logical.Node, error) {
	for _, k := range st.keys {
		if t := n.meta.Cols[k.ID].Type; !indexable(t) {
			return nil, refused(0, "groups of type %s", t)
		}
	}
	st.state = n.view.groupState(st)
	for i := range st.aggs {
		a := &st.aggs[i].Agg
		if arg := argument(a); kindOf(a).Ordered() && st.valuesOf(arg) < 0 {
			if !indexable(arg.Type()) {
				return nil, refused(position(a.Args), "aggregate %s of type %s", a.Func.Name,
					arg.Type())
			}
			st.values = append(st.values, values{arg: arg, desc: n.view.valueState(st, arg)})
		}
	}
	n.view.stages = append(n.view.stages, st)
	s := newScan(n.meta, st.state, "")
	for i, k := range st.keys {
		n.ids[k.ID] = s.First + i
	}
	for i, a := range st.aggs {
		n.ids[a.ID] = s.First + len(st.keys) + i
	}
	return s, nil
}

// valuesOf returns the place of the values of an argument, or -1.
func (st *stage) valuesOf(arg expr.Expr) int {
	return slices.IndexFunc(st.values, func(v values) bool { return logical.Equal(v.arg, arg) })
}

// equalities returns the conditions of a join that equate an expression over its left side with one
// over its right side, in this order.
func equalities(j *logical.Join) (pairs [][2]expr.Expr) {
	l, r := logical.MadeCols(j.Left), logical.MadeCols(j.Right)
	for _, on := range j.On {
		call, ok := on.(*expr.Call)
		if !ok || call.Func.Comparison() != "=" || len(call.Args) != 2 {
			continue
		}
		a, b := logical.ColsOf(call.Args[0]), logical.ColsOf(call.Args[1])
		switch {
		case a.Empty() || b.Empty():
		case a.SubsetOf(l) && b.SubsetOf(r):
			pairs = append(pairs, [2]expr.Expr{call.Args[0], call.Args[1]})
		case a.SubsetOf(r) && b.SubsetOf(l):
			pairs = append(pairs, [2]expr.Expr{call.Args[1], call.Args[0]})
		}
	}
	return pairs
}

// deltaDesc describes the delta of a relation: its visible columns, then the weight.
func deltaDesc(d *table.Desc) *table.Desc {
	out := &table.Desc{ID: d.ID, Name: d.Name, Kind: table.KindDelta, NextColumnID: d.NextColumnID}
	for _, c := range d.Columns {
		if !c.Hidden {
			out.Columns = append(out.Columns, c)
		}
	}
	return withWeight(out)
}
