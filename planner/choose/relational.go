package choose

import (
	"math"
	"slices"

	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// build makes the physical form of a tree.
func (c *chooser) build(n logical.Node, w wish) built {
	if err := c.interrupt.Step(); err != nil && c.err == nil {
		c.err = err
	}
	if c.err != nil {
		return built{}
	}
	switch n := n.(type) {
	case *logical.Scan:
		return c.scan(n, nil, w)
	case *logical.Filter:
		return c.filter(n, w)
	case *logical.Project:
		return c.project(n, w)
	case *logical.Join:
		return c.join(n, w)
	case *logical.Aggregate:
		return c.aggregate(n)
	case *logical.Sort:
		return c.sort(n, w)
	case *logical.Limit:
		return c.limit(n, w)
	case *logical.Distinct:
		return c.distinct(n, w)
	case *logical.Values:
		return c.values(n)
	case *logical.FuncScan:
		return c.funcScan(n)
	case *logical.CTERef:
		return c.cteRef(n)
	case *logical.ProjectSet:
		return c.projectSet(n)
	case *logical.Append:
		return c.append(n)
	case *logical.SetOp:
		return c.setOp(n)
	case *logical.Window:
		return c.window(n)
	}
	return c.modify(n)
}

func (c *chooser) filter(n *logical.Filter, w wish) built {
	switch child := n.Child.(type) {
	case *logical.Scan:
		return c.scan(child, n.Conds, w)
	}
	b := c.build(n.Child, wish{order: w.order})
	if c.err != nil {
		return b
	}
	return c.addFilter(b, n.Conds)
}

// addFilter puts conditions on top of a subtree.
func (c *chooser) addFilter(b built, conds []expr.Expr) built {
	if len(conds) == 0 {
		return b
	}
	est := b.node.Est()
	f := &physical.Filter{Child: b.node, Cond: c.conj(conds, b.cols)}
	f.Base = c.base(b.cols, est.Rows*c.est.Conds(conds), opt.Filter(est))
	return built{node: f, cols: b.cols, ordered: b.ordered}
}

func (c *chooser) project(n *logical.Project, w wish) built {
	b := c.build(n.Child, wish{order: passed(n, w.order), limit: w.limit})
	if c.err != nil {
		return b
	}
	p := &physical.Project{Child: b.node, Exprs: make([]expr.Expr, len(n.Items))}
	for i, it := range n.Items {
		p.Exprs[i] = c.expr(it.Expr, b.cols)
	}
	est := b.node.Est()
	cols := n.Columns()
	p.Base = c.base(cols, est.Rows, opt.Project(est))
	return built{node: p, cols: cols, ordered: b.ordered && len(w.order) > 0}
}

// passed is a wished order in terms of a projection's input; nil if some column is computed.
func passed(n *logical.Project, order []orderCol) []orderCol {
	var out []orderCol
	for _, o := range order {
		found := false
		for _, it := range n.Items {
			if col, ok := it.Expr.(*expr.Col); ok && it.ID == o.id {
				o.id, found = col.Index, true
				break
			}
		}
		if !found {
			return nil
		}
		out = append(out, o)
	}
	return out
}

func (c *chooser) values(n *logical.Values) built {
	v := &physical.Values{Rows: make([][]expr.Expr, len(n.Rows))}
	for i, row := range n.Rows {
		v.Rows[i] = c.constantRow(row)
	}
	v.Base = c.base(n.Cols, float64(len(n.Rows)), opt.Values(float64(len(n.Rows))))
	return built{node: v, cols: n.Cols}
}

// constantRow converts the expressions of a row; large VALUES are mostly constants already.
func (c *chooser) constantRow(row []expr.Expr) []expr.Expr {
	for _, e := range row {
		if _, ok := e.(*expr.Const); !ok {
			return c.exprs(row, nil)
		}
	}
	return row
}

func (c *chooser) funcScan(n *logical.FuncScan) built {
	f := &physical.FuncScan{Func: n.Func, Args: c.exprs(n.Args, nil), Ordinality: n.Ordinality,
		Alias: n.Alias}
	rows := 1.0
	if n.Scalar != nil {
		f.Scalar = c.expr(n.Scalar, nil)
	} else {
		rows = estimate.SetRows
	}
	c.noteAlias(n.Cols, n.Alias)
	f.Base = c.base(n.Cols, rows, rows)
	return built{node: f, cols: n.Cols}
}

func (c *chooser) cteRef(n *logical.CTERef) built {
	s := &physical.CTEScan{ID: n.CTE.ID, Name: n.CTE.Name, WorkTable: n.WorkTable}
	c.noteAlias(n.Cols, n.Alias)
	s.Base = c.base(n.Cols, estimate.SetRows, estimate.SetRows)
	return built{node: s, cols: n.Cols}
}

func (c *chooser) projectSet(n *logical.ProjectSet) built {
	b := c.build(n.Child, wish{})
	if c.err != nil {
		return b
	}
	p := &physical.ProjectSet{Child: b.node}
	for i, id := range b.cols {
		p.Items = append(p.Items, physical.SetItem{Expr: c.ordinal(id, i)})
	}
	cols := append([]logical.ColID(nil), b.cols...)
	for _, it := range n.Items {
		p.Items = append(p.Items,
			physical.SetItem{Func: it.Func, Args: c.exprs(it.Args, b.cols), Column: it.Column})
		cols = append(cols, it.ID)
	}
	est := b.node.Est()
	p.Base = c.base(cols, est.Rows*estimate.SetElements, est.Cost+est.Rows*estimate.SetElements)
	return built{node: p, cols: cols}
}

func (c *chooser) aggregate(n *logical.Aggregate) built {
	b := c.build(n.Child, wish{})
	if c.err != nil {
		return b
	}
	a := &physical.Aggregate{Child: b.node, Sets: n.Sets}
	for _, k := range n.Keys {
		a.GroupBy = append(a.GroupBy, c.expr(k.Expr, b.cols))
	}
	for _, it := range n.Aggs {
		a.Aggs = append(a.Aggs, c.agg(&it.Agg, b.cols))
	}
	est := b.node.Est()
	keys := make([]expr.Expr, len(n.Keys))
	for i, k := range n.Keys {
		keys[i] = k.Expr
	}
	rows := c.est.Groups(keys, est.Rows)
	cols := n.Columns()
	a.Base = c.base(cols, rows, opt.Group(est))
	return built{node: a, cols: cols}
}

func (c *chooser) agg(a *opt.Agg, cols []logical.ColID) opt.Agg {
	out := *a
	out.Args = c.exprs(a.Args, cols)
	out.Direct = c.exprs(a.Direct, cols)
	out.OrderBy = c.keys(a.OrderBy, cols)
	if a.Filter != nil {
		out.Filter = c.expr(a.Filter, cols)
	}
	return out
}

func (c *chooser) keys(keys []opt.SortKey, cols []logical.ColID) []opt.SortKey {
	var out []opt.SortKey
	for _, k := range keys {
		k.Expr = c.expr(k.Expr, cols)
		out = append(out, k)
	}
	return out
}

func (c *chooser) sort(n *logical.Sort, w wish) built {
	b := c.build(n.Child, wish{order: orderOf(n.Keys), limit: w.limit})
	if c.err == nil && !b.ordered {
		b = c.addSort(b, n.Keys, nil)
	}
	b.ordered = leads(w.order, n.Keys)
	return b
}

// leads says whether rows sorted by keys come in the wished order.
func leads(order []orderCol, keys []opt.SortKey) bool {
	have := orderOf(keys)
	return len(order) > 0 && len(order) <= len(have) && slices.Equal(order, have[:len(order)])
}

// orderOf is the order that sort keys ask for; nil if one of them is computed.
func orderOf(keys []opt.SortKey) []orderCol {
	out := make([]orderCol, len(keys))
	for i, k := range keys {
		col, ok := k.Expr.(*expr.Col)
		if !ok {
			return nil
		}
		out[i] = orderCol{id: col.Index, desc: k.Desc, nullsFirst: k.NullsFirst}
	}
	return out
}

func (c *chooser) addSort(b built, keys []opt.SortKey, top expr.Expr) built {
	est := b.node.Est()
	s := &physical.Sort{Child: b.node, Keys: c.keys(keys, b.cols), Top: top}
	s.Base = c.base(b.cols, est.Rows, c.costs.Sort(est))
	return built{node: s, cols: b.cols, ordered: true}
}

// limit passes the number of rows on, and makes a sort below keep only those.
func (c *chooser) limit(n *logical.Limit, w wish) built {
	count, known := rowCount(n.Count, n.Offset)
	inner := wish{order: w.order}
	if known {
		inner.limit = count
		if w.limit > 0 {
			inner.limit = math.Min(inner.limit, w.limit)
		}
	} else if n.Count != nil {
		inner.limit = estimate.LimitRows
	}
	if n.Count == nil {
		inner.limit = 0
	}
	var b built
	if s, ok := n.Child.(*logical.Sort); ok {
		b = c.build(s.Child, wish{order: orderOf(s.Keys), limit: inner.limit})
		if c.err == nil && !b.ordered {
			b = c.addSort(b, s.Keys, c.top(n))
		}
		b.ordered = leads(w.order, s.Keys)
	} else {
		b = c.build(n.Child, inner)
	}
	if c.err != nil {
		return b
	}
	l := &physical.Limit{Child: b.node}
	if n.Count != nil {
		l.Count = c.expr(n.Count, nil)
	}
	if n.Offset != nil {
		l.Offset = c.expr(n.Offset, nil)
	}
	est := b.node.Est()
	rows, cost := est.Rows, est.Cost
	if known && count < rows {
		cost *= count / rows
		rows = count
	}
	if scan, ok := b.node.(*physical.Scan); ok && known {
		scan.Limit = int64(count)
	}
	l.Base = c.base(b.cols, rows, cost)
	return built{node: l, cols: b.cols, ordered: b.ordered}
}

// top is the number of rows that a Limit reads of its input, for a sort below it.
func (c *chooser) top(n *logical.Limit) expr.Expr {
	if n.Count == nil {
		return nil
	}
	count := c.expr(n.Count, nil)
	if n.Offset == nil {
		return count
	}
	k, ok := count.(*expr.Const)
	o, ok2 := c.expr(n.Offset, nil).(*expr.Const)
	if ok && ok2 && !k.Value.Null && !o.Value.Null && k.Value.I >= 0 && o.Value.I >= 0 &&
		k.Value.I+o.Value.I >= 0 {
		return &expr.Const{T: types.TInt8, Value: types.NewInt(k.Value.I + o.Value.I)}
	}
	return nil
}

// rowCount is the number of rows that LIMIT and OFFSET read, when constants.
func rowCount(count, offset expr.Expr) (float64, bool) {
	k, ok := count.(*expr.Const)
	if !ok || k.Value.Null || k.Value.I < 0 {
		return 0, false
	}
	rows := float64(k.Value.I)
	if offset == nil {
		return math.Max(rows, 1), true
	}
	o, ok := offset.(*expr.Const)
	if !ok || o.Value.Null || o.Value.I < 0 {
		return 0, false
	}
	return math.Max(rows+float64(o.Value.I), 1), true
}

func (c *chooser) distinct(n *logical.Distinct, w wish) built {
	b := c.build(n.Child, wish{order: w.order})
	if c.err != nil {
		return b
	}
	est := b.node.Est()
	d := &physical.Distinct{Child: b.node, On: c.exprs(n.On, b.cols)}
	keys := n.On
	if keys == nil {
		keys = c.columns(b.cols)
	}
	d.Base = c.base(b.cols, c.est.Groups(keys, est.Rows), opt.Group(est))
	return built{node: d, cols: b.cols, ordered: b.ordered && n.On != nil}
}

func (c *chooser) append(n *logical.Append) built {
	a := &physical.Append{}
	var rows, cost float64
	for i, in := range n.Inputs {
		b := c.build(in, wish{})
		if c.err != nil {
			return b
		}
		b = c.exactly(b, n.InCols[i])
		a.Inputs = append(a.Inputs, b.node)
		rows += b.node.Est().Rows
		cost += b.node.Est().Cost
	}
	a.Base = c.base(n.Cols, rows, cost)
	return built{node: a, cols: n.Cols}
}

func (c *chooser) setOp(n *logical.SetOp) built {
	l := c.build(n.Left, wish{})
	r := c.build(n.Right, wish{})
	if c.err != nil {
		return l
	}
	l, r = c.exactly(l, n.LeftCols), c.exactly(r, n.RightCols)
	s := &physical.SetOp{Except: n.Except, All: n.All, Left: l.node, Right: r.node}
	s.Base = c.base(n.Cols, l.node.Est().Rows, opt.EachRow(l.node.Est(), r.node.Est()))
	return built{node: s, cols: n.Cols}
}

func (c *chooser) window(n *logical.Window) built {
	b := c.build(n.Child, wish{})
	if c.err != nil {
		return b
	}
	w := &physical.Window{Child: b.node, PartitionBy: c.exprs(n.PartitionBy, b.cols),
		OrderBy: c.keys(n.OrderBy, b.cols)}
	cols := append([]logical.ColID(nil), b.cols...)
	for _, call := range n.Calls {
		out := call.WindowCall
		out.Args = c.exprs(call.Args, b.cols)
		if out.Frame.Start != nil {
			out.Frame.Start = c.expr(out.Frame.Start, nil)
		}
		if out.Frame.End != nil {
			out.Frame.End = c.expr(out.Frame.End, nil)
		}
		w.Calls = append(w.Calls, out)
		cols = append(cols, call.ID)
	}
	est := b.node.Est()
	w.Base = c.base(cols, est.Rows, c.costs.Sort(est))
	return built{node: w, cols: cols}
}
