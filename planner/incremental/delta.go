package incremental

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// differ makes the deltas of trees.
type differ struct {
	meta   *logical.Meta
	states map[*table.Desc]*table.Desc
	past   func(table.ID) *table.Desc
}

// delta is a part of D(Q) for a tree Q: rows with weights.
type delta struct {
	node   logical.Node
	ids    map[logical.ColID]logical.ColID // from columns of Q to columns of node
	weight logical.ColID
	// needs are the relations whose deltas it reads: it is empty when these are.
	needs []table.ID
}

// copy copies a tree, which then reads its relations as they were before, or as they are after.
func (d *differ) copy(n logical.Node, before bool) (logical.Node, *copier) {
	c := newCopier(d.meta)
	c.before, c.states, c.past = before, d.states, d.past
	return c.node(n), c
}

// of returns D(Q).
func (d *differ) of(n logical.Node) []delta {
	switch n := n.(type) {
	case *logical.Scan:
		return []delta{d.scan(n)}
	case *logical.Filter:
		out := d.of(n.Child)
		for i := range out {
			c := out[i].copier(d.meta)
			out[i].node = &logical.Filter{Child: out[i].node, Conds: c.exprs(n.Conds)}
		}
		return out
	case *logical.Project:
		out := d.of(n.Child)
		for i := range out {
			out[i].project(d.meta, n.Items)
		}
		return out
	case *logical.Append:
		return d.append(n)
	case *logical.Join:
		return d.join(n)
	}
	return nil // of rows that never change
}

// copier returns a copier of expressions over the columns of Q.
func (t *delta) copier(meta *logical.Meta) *copier { return &copier{meta: meta, ids: t.ids} }

func (d *differ) scan(n *logical.Scan) delta {
	of := n.Desc
	if s := d.states[of]; s != nil {
		of = s
	}
	desc := deltaDesc(of)
	s := newScan(d.meta, desc, n.Alias)
	t := delta{node: s, ids: map[logical.ColID]logical.ColID{}, needs: []table.ID{desc.ID}}
	visible := 0
	for i := range of.Columns {
		if !of.Columns[i].Hidden {
			t.ids[n.First+i] = s.First + visible
			visible++
		}
	}
	t.weight = s.First + visible
	return t
}

// project makes a delta that of a projection of it.
func (t *delta) project(meta *logical.Meta, items []logical.Item) {
	c := t.copier(meta)
	p := &logical.Project{Child: t.node, Items: c.items(items)}
	p.Items = append(p.Items, pass(meta, t.weight))
	t.node = p
}

// pass is an item that passes a column on.
func pass(meta *logical.Meta, id logical.ColID) logical.Item {
	return logical.Item{ID: id, Expr: meta.Col(id)}
}

func (d *differ) append(n *logical.Append) (out []delta) {
	for k, in := range n.Inputs {
		for _, t := range d.of(in) {
			ids := map[logical.ColID]logical.ColID{}
			for i, id := range n.Cols {
				ids[id] = t.ids[n.InCols[k][i]]
			}
			t.ids = ids
			out = append(out, t)
		}
	}
	return out
}

// join returns D(Q1) ⋈ Q2(T1) and Q1(T0) ⋈ D(Q2), or the same with a left join in the first, and
// what the padded rows gain and lose. Both sides of a join are never read after.
func (d *differ) join(n *logical.Join) (out []delta) {
	for _, t := range d.of(n.Left) {
		right, c := d.copy(n.Right, false)
		t.adopt(c)
		on := t.copier(d.meta).exprs(n.On)
		if n.Kind == opt.Inner {
			t.node = d.restrict(right, t.node, on)
		} else {
			t.node = &logical.Join{Kind: n.Kind, Left: t.node, Right: right, On: on}
		}
		out = append(out, t)
	}
	ofRight := d.of(n.Right)
	for _, t := range ofRight {
		left, c := d.copy(n.Left, true)
		t.adopt(c)
		t.node = d.restrict(left, t.node, t.copier(d.meta).exprs(n.On))
		out = append(out, t)
	}
	if n.Kind == opt.Left && len(ofRight) > 0 {
		out = append(out, d.padded(n, 1), d.padded(n, -1))
	}
	return out
}

// adopt adds the columns of another side.
func (t *delta) adopt(c *copier) {
	for from, to := range c.ids {
		t.ids[from] = to
	}
}

// padded returns the rows that a left join pads with NULLs, among the left rows before that a row
// of D(Q2) may match: with weight 1 those without a match after, with -1 those without one before.
func (d *differ) padded(n *logical.Join, weight int64) delta {
	left, c := d.copy(n.Left, true)
	t := delta{ids: c.ids}
	pairs := equalities(n)
	keys, needs := d.keys(n, pairs)
	t.needs = needs
	var on []expr.Expr
	for i, p := range pairs {
		on = append(on, d.equal(n, p, c.expr(p[0]), keys.Columns()[i]))
	}
	matched := d.restrict(left, keys, on)

	right, rc := d.copy(n.Right, weight < 0)
	rc.adoptFrom(c)
	t.node = &logical.Join{Kind: opt.Anti, Left: matched, Right: right, On: rc.exprs(n.On)}
	d.meta.Joins++

	p := &logical.Project{Child: t.node}
	for _, id := range logical.MadeCols(n.Left).Slice() {
		p.Items = append(p.Items, pass(d.meta, c.id(id)))
	}
	for _, id := range logical.MadeCols(n.Right).Slice() {
		null := d.meta.Add(d.meta.Cols[id])
		d.meta.Cols[null].NotNull = false
		t.ids[id] = null
		p.Items = append(p.Items, logical.Item{ID: null,
			Expr: &expr.Const{T: d.meta.Cols[id].Type, Value: types.Null}})
	}
	t.weight = d.meta.Add(logical.Column{Name: weightColumn, Type: types.TInt8, NotNull: true})
	p.Items = append(p.Items, logical.Item{ID: t.weight,
		Expr: &expr.Const{T: types.TInt8, Value: types.NewInt(weight)}})
	t.node = p
	return t
}

// adoptFrom adds the columns of the left side to those of the right one.
func (c *copier) adoptFrom(left *copier) {
	for from, to := range left.ids {
		if _, own := c.ids[from]; !own {
			c.ids[from] = to
		}
	}
}

// keys returns the different values of the right sides of a join's equalities in D(Q2), in their
// order, and the relations whose deltas that takes.
func (d *differ) keys(n *logical.Join, pairs [][2]expr.Expr) (logical.Node, []table.ID) {
	var needs []table.ID
	var inputs []logical.Node
	for _, t := range d.of(n.Right) {
		p := &logical.Project{Child: t.node}
		c := t.copier(d.meta)
		for _, pair := range pairs {
			id := d.meta.Add(logical.Column{Name: "key", Type: pair[1].Type()})
			p.Items = append(p.Items, logical.Item{ID: id, Expr: c.expr(pair[1])})
		}
		inputs = append(inputs, p)
		needs = append(needs, t.needs...)
	}
	if len(inputs) == 1 {
		return &logical.Distinct{Child: inputs[0]}, needs
	}
	all := &logical.Append{Inputs: inputs}
	for _, pair := range pairs {
		all.Cols = append(all.Cols, d.meta.Add(logical.Column{Name: "key", Type: pair[1].Type()}))
	}
	for _, in := range inputs {
		all.InCols = append(all.InCols, in.Columns())
	}
	return &logical.Distinct{Child: all}, needs
}

// equal is the equality of a pair with other operands.
func (d *differ) equal(n *logical.Join, pair [2]expr.Expr, left expr.Expr,
	right logical.ColID) expr.Expr {
	for _, on := range n.On {
		call, ok := on.(*expr.Call)
		if !ok || len(call.Args) != 2 {
			continue
		}
		out := *call
		switch {
		case call.Args[0] == pair[0] && call.Args[1] == pair[1]:
			out.Args = []expr.Expr{left, d.meta.Col(right)}
			return &out
		case call.Args[1] == pair[0] && call.Args[0] == pair[1]:
			out.Args = []expr.Expr{d.meta.Col(right), left}
			return &out
		}
	}
	return nil
}

// restrict joins a tree with a few rows. It puts the join as deep into the tree as the conditions
// allow: the optimizer reorders inner joins, but would compute an outer join, or a projection, for
// all rows before it joins them with the few.
func (d *differ) restrict(n, few logical.Node, on []expr.Expr) logical.Node {
	d.meta.Joins++
	var cols logical.ColSet
	for _, e := range on {
		logical.ExprCols(e, &cols)
	}
	fits := func(side logical.Node) bool {
		made := logical.MadeCols(side)
		made.UnionWith(logical.MadeCols(few))
		return cols.SubsetOf(made) && len(on) > 0
	}
	switch n := n.(type) {
	case *logical.Filter:
		return &logical.Filter{Child: d.restrict(n.Child, few, on), Conds: n.Conds}
	case *logical.Project:
		p := &logical.Project{Items: n.Items}
		for _, id := range few.Columns() {
			p.Items = append(p.Items[:len(p.Items):len(p.Items)], pass(d.meta, id))
		}
		p.Child = d.restrict(n.Child, few, below(n, on))
		return p
	case *logical.Join:
		switch {
		case fits(n.Left):
			return &logical.Join{Kind: n.Kind, Left: d.restrict(n.Left, few, on), Right: n.Right,
				On: n.On}
		case n.Kind == opt.Inner && fits(n.Right):
			return &logical.Join{Kind: n.Kind, Left: n.Left, Right: d.restrict(n.Right, few, on),
				On: n.On}
		}
	}
	return &logical.Join{Kind: opt.Inner, Left: few, Right: n, On: on}
}

// below writes conditions over the columns of a projection in terms of its input.
func below(p *logical.Project, on []expr.Expr) []expr.Expr {
	by := map[logical.ColID]expr.Expr{}
	for _, it := range p.Items {
		by[it.ID] = it.Expr
	}
	out := make([]expr.Expr, len(on))
	for i, e := range on {
		out[i] = expr.Rewrite(e, func(x expr.Expr) expr.Expr {
			if col, ok := x.(*expr.Col); ok && by[col.Index] != nil {
				return by[col.Index]
			}
			return x
		})
	}
	return out
}
