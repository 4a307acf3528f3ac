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

// build makes the physical plan of a tree. On an error, which it leaves in c.err, the result has no
// node.
func (c *chooser) build(n logical.Node, req required) subplan {
	if err := c.interrupt.Step(); err != nil && c.err == nil {
		c.err = err
	}
	if c.err != nil {
		return subplan{}
	}
	switch n := n.(type) {
	case *logical.Scan:
		return c.scan(n, nil, req)
	case *logical.Filter:
		return c.filter(n, req)
	case *logical.Barrier:
		return c.build(n.Child, req)
	case *logical.Project:
		return c.project(n, req)
	case *logical.Join:
		return c.join(n, req)
	case *logical.Aggregate:
		return c.aggregate(n)
	case *logical.Sort:
		return c.sort(n, req)
	case *logical.Limit:
		return c.limit(n, req)
	case *logical.Distinct:
		return c.distinct(n, req)
	case *logical.Values:
		return c.values(n)
	case *logical.FuncScan:
		return c.funcScan(n)
	case *logical.Recursion:
		return c.recursion(n)
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

func (c *chooser) filter(n *logical.Filter, req required) subplan {
	switch child := n.Child.(type) {
	case *logical.Scan:
		return c.scan(child, n.Conds, req)
	}
	sub := c.build(n.Child, required{order: req.order})
	if c.err != nil {
		return sub
	}
	return c.addFilter(sub, n.Conds)
}

// addFilter adds a filter of the conditions to a subplan.
func (c *chooser) addFilter(sub subplan, conds []expr.Expr) subplan {
	if len(conds) == 0 {
		return sub
	}
	est := sub.node.Est()
	f := &physical.Filter{Child: sub.node, Cond: c.conj(conds, sub.cols)}
	f.Base = c.base(sub.cols, est.Rows*c.est.Conds(conds), opt.Filter(est))
	return subplan{node: f, cols: sub.cols, ordered: sub.ordered}
}

func (c *chooser) project(n *logical.Project, req required) subplan {
	sub := c.build(n.Child, required{order: inputOrder(n, req.order), limit: req.limit})
	if c.err != nil {
		return sub
	}
	p := &physical.Project{Child: sub.node, Exprs: make([]expr.Expr, len(n.Items))}
	for i, it := range n.Items {
		p.Exprs[i] = c.expr(it.Expr, sub.cols)
	}
	est := sub.node.Est()
	cols := n.Columns()
	p.Base = c.base(cols, est.Rows, opt.Project(est))
	return subplan{node: p, cols: cols, ordered: sub.ordered && len(req.order) > 0}
}

// inputOrder expresses a required order in the columns of a projection's input, or in expressions
// of an index of the table that it reads. It returns nil if another column is computed.
func inputOrder(n *logical.Project, order []orderCol) []orderCol {
	var out []orderCol
	for _, o := range order {
		found := false
		for _, it := range n.Items {
			if it.ID != o.id {
				continue
			}
			e := it.Expr
			if s := orderingScan(n.Child); s != nil {
				e = s.ByIndex(e)
			}
			if col, ok := e.(*expr.Col); ok {
				o.id, found = col.Index, true
			}
			break
		}
		if !found {
			return nil
		}
		out = append(out, o)
	}
	return out
}

// orderingScan returns the scan whose order the rows of a tree may have.
func orderingScan(n logical.Node) *logical.Scan {
	for {
		switch at := n.(type) {
		case *logical.Scan:
			return at
		case *logical.Filter:
			n = at.Child
		case *logical.Barrier:
			n = at.Child
		case *logical.Join:
			n = at.Left
		default:
			return nil
		}
	}
}

func (c *chooser) values(n *logical.Values) subplan {
	v := &physical.Values{Rows: make([][]expr.Expr, len(n.Rows))}
	for i, row := range n.Rows {
		v.Rows[i] = c.constantRow(row)
	}
	v.Base = c.base(n.Cols, float64(len(n.Rows)), opt.Values(float64(len(n.Rows))))
	return subplan{node: v, cols: n.Cols}
}

// constantRow converts the expressions of a row. Most rows of a large VALUES are constants and need
// no conversion.
func (c *chooser) constantRow(row []expr.Expr) []expr.Expr {
	for _, e := range row {
		if _, ok := e.(*expr.Const); !ok {
			return c.exprs(row, nil)
		}
	}
	return row
}

func (c *chooser) funcScan(n *logical.FuncScan) subplan {
	f := &physical.FuncScan{Ordinality: n.Ordinality, Alias: n.Alias,
		Funcs: opt.MapTableFuncs(n.Funcs, func(e expr.Expr) expr.Expr { return c.expr(e, nil) })}
	rows := 1.0
	for i := range f.Funcs {
		if f.Funcs[i].Func != nil {
			rows = estimate.SetRows
		}
	}
	c.noteAlias(n.Cols, n.Alias)
	f.Base = c.base(n.Cols, rows, rows)
	return subplan{node: f, cols: n.Cols}
}

func (c *chooser) cteRef(n *logical.CTERef) subplan {
	s := &physical.CTEScan{ID: n.CTE.ID, Name: n.CTE.Name, Alias: n.Alias,
		WorkTable: n.WorkTable}
	c.noteAlias(n.Cols, n.Alias)
	s.Base = c.base(n.Cols, estimate.SetRows, estimate.SetRows)
	return subplan{node: s, cols: n.Cols}
}

func (c *chooser) recursion(n *logical.Recursion) subplan {
	r := &physical.Recursion{CTE: c.cte(n.CTE)}
	if c.err != nil {
		return subplan{}
	}
	c.noteAlias(n.Cols, n.Alias)
	cost := r.CTE.Plan.Est().Cost + r.CTE.Recursive.Est().Cost + estimate.SetRows
	r.Base = c.base(n.Cols, estimate.SetRows, cost)
	return subplan{node: r, cols: n.Cols}
}

func (c *chooser) projectSet(n *logical.ProjectSet) subplan {
	sub := c.build(n.Child, required{})
	if c.err != nil {
		return sub
	}
	p := &physical.ProjectSet{Child: sub.node}
	for i, id := range sub.cols {
		p.Items = append(p.Items, physical.SetItem{Expr: c.ordinal(id, i)})
	}
	cols := append([]logical.ColID(nil), sub.cols...)
	for _, it := range n.Items {
		p.Items = append(p.Items,
			physical.SetItem{Func: it.Func, Args: c.exprs(it.Args, sub.cols), Row: it.Row})
		cols = append(cols, it.ID)
	}
	est := sub.node.Est()
	p.Base = c.base(cols, est.Rows*estimate.SetElements, est.Cost+est.Rows*estimate.SetElements)
	return subplan{node: p, cols: cols}
}

// grouped plans the input of a node that groups equal values of expressions over it. Where hashing
// is not wanted the input is sorted, so that the groups come in order.
func (c *chooser) grouped(child logical.Node, by []expr.Expr) (sub subplan, sorted bool) {
	if !c.costs.NoHashAgg || len(by) == 0 {
		return c.build(child, required{}), false
	}
	keys := make([]opt.SortKey, len(by))
	for i, e := range by {
		keys[i].Expr = e
	}
	sub = c.build(child, required{order: orderOf(keys)})
	if c.err == nil && !sub.ordered {
		sub = c.addSort(sub, keys, nil)
	}
	return sub, true
}

func (c *chooser) aggregate(n *logical.Aggregate) subplan {
	var by []expr.Expr
	if n.Sets == nil {
		for _, k := range n.Keys {
			by = append(by, k.Expr)
		}
	}
	sub, sorted := c.grouped(n.Child, by)
	if c.err != nil {
		return sub
	}
	a := &physical.Aggregate{Child: sub.node, Sets: n.Sets, Sorted: sorted}
	for _, k := range n.Keys {
		a.GroupBy = append(a.GroupBy, c.expr(k.Expr, sub.cols))
	}
	for _, it := range n.Aggs {
		a.Aggs = append(a.Aggs, c.agg(&it.Agg, sub.cols))
	}
	est := sub.node.Est()
	keys := make([]expr.Expr, len(n.Keys))
	for i, k := range n.Keys {
		keys[i] = k.Expr
	}
	rows := c.est.Groups(keys, est.Rows)
	cols := n.Columns()
	a.Base = c.base(cols, rows, opt.Group(est))
	return subplan{node: a, cols: cols}
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

func (c *chooser) sort(n *logical.Sort, req required) subplan {
	sub := c.build(n.Child, required{order: orderOf(n.Keys), limit: req.limit})
	if c.err == nil && !sub.ordered {
		sub = c.addSort(sub, n.Keys, nil)
	}
	sub.ordered = satisfies(req.order, n.Keys)
	return sub
}

// satisfies reports whether rows sorted by keys have the required order.
func satisfies(order []orderCol, keys []opt.SortKey) bool {
	have := orderOf(keys)
	return len(order) > 0 && len(order) <= len(have) && slices.Equal(order, have[:len(order)])
}

// orderOf returns the order of sort keys, nil if one of them is not a plain column.
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

func (c *chooser) addSort(sub subplan, keys []opt.SortKey, top expr.Expr) subplan {
	est := sub.node.Est()
	s := &physical.Sort{Child: sub.node, Keys: c.keys(keys, sub.cols), Top: top}
	s.Base = c.base(sub.cols, est.Rows, c.costs.Sort(est))
	return subplan{node: s, cols: sub.cols, ordered: true}
}

// limit requires its number of rows of the child, and makes a Sort directly below keep only these.
func (c *chooser) limit(n *logical.Limit, req required) subplan {
	count, known := rowCount(n.Count, n.Offset)
	inner := required{order: req.order}
	if known {
		inner.limit = count
		if req.limit > 0 {
			inner.limit = math.Min(inner.limit, req.limit)
		}
	} else if n.Count != nil {
		inner.limit = estimate.LimitRows
	}
	if n.Count == nil || n.Ties != nil {
		known, inner.limit = false, 0
	}
	var sub subplan
	if s, ok := n.Child.(*logical.Sort); ok {
		sub = c.build(s.Child, required{order: orderOf(s.Keys), limit: inner.limit})
		if c.err == nil && !sub.ordered {
			sub = c.addSort(sub, s.Keys, c.topRows(n))
		}
		sub.ordered = satisfies(req.order, s.Keys)
	} else {
		sub = c.build(n.Child, inner)
	}
	if c.err != nil {
		return sub
	}
	l := &physical.Limit{Child: sub.node}
	if n.Count != nil {
		l.Count = c.expr(n.Count, nil)
	}
	if n.Offset != nil {
		l.Offset = c.expr(n.Offset, nil)
	}
	for _, k := range n.Ties {
		l.Ties = append(l.Ties, c.expr(k.Expr, sub.cols))
	}
	est := sub.node.Est()
	rows, cost := est.Rows, est.Cost
	if known && count < rows {
		cost *= count / rows
		rows = count
	}
	if scan, ok := sub.node.(*physical.Scan); ok && known {
		scan.Limit = int64(count)
	}
	l.Base = c.base(sub.cols, rows, cost)
	return subplan{node: l, cols: sub.cols, ordered: sub.ordered}
}

// topRows returns the number of rows that a Limit reads of its input, for a Sort below it; nil when
// it is unknown.
func (c *chooser) topRows(n *logical.Limit) expr.Expr {
	if n.Count == nil || n.Ties != nil {
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

// rowCount returns the number of rows that LIMIT and OFFSET read. ok is false when they are not
// constants.
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

func (c *chooser) distinct(n *logical.Distinct, req required) subplan {
	sub, sorted := subplan{}, false
	if n.On == nil && c.costs.NoHashAgg {
		sub, sorted = c.grouped(n.Child, c.columns(n.Child.Columns()))
	} else {
		sub = c.build(n.Child, required{order: req.order})
	}
	if c.err != nil {
		return sub
	}
	est := sub.node.Est()
	d := &physical.Distinct{Child: sub.node, Sorted: sorted, On: c.exprs(n.On, sub.cols)}
	keys := n.On
	if keys == nil {
		keys = c.columns(sub.cols)
	}
	d.Base = c.base(sub.cols, c.est.Groups(keys, est.Rows), opt.Group(est))
	return subplan{node: d, cols: sub.cols, ordered: sub.ordered && n.On != nil}
}

func (c *chooser) append(n *logical.Append) subplan {
	a := &physical.Append{}
	var rows, cost float64
	for i, in := range n.Inputs {
		sub := c.build(in, required{})
		if c.err != nil {
			return sub
		}
		sub = c.projectExactly(sub, n.InCols[i])
		a.Inputs = append(a.Inputs, sub.node)
		rows += sub.node.Est().Rows
		cost += sub.node.Est().Cost
	}
	a.Base = c.base(n.Cols, rows, cost)
	return subplan{node: a, cols: n.Cols}
}

func (c *chooser) setOp(n *logical.SetOp) subplan {
	l, sorted := c.grouped(n.Left, c.columns(n.LeftCols))
	r := c.build(n.Right, required{})
	if c.err != nil {
		return l
	}
	l, r = c.projectExactly(l, n.LeftCols), c.projectExactly(r, n.RightCols)
	s := &physical.SetOp{Except: n.Except, All: n.All, Sorted: sorted, Left: l.node, Right: r.node}
	s.Base = c.base(n.Cols, l.node.Est().Rows, opt.EachRow(l.node.Est(), r.node.Est()))
	return subplan{node: s, cols: n.Cols}
}

func (c *chooser) window(n *logical.Window) subplan {
	sub := c.build(n.Child, required{})
	if c.err != nil {
		return sub
	}
	win := &physical.Window{Child: sub.node, PartitionBy: c.exprs(n.PartitionBy, sub.cols),
		OrderBy: c.keys(n.OrderBy, sub.cols)}
	cols := append([]logical.ColID(nil), sub.cols...)
	for _, call := range n.Calls {
		out := call.WindowCall
		out.Args = c.exprs(call.Args, sub.cols)
		if out.Frame.Start != nil {
			out.Frame.Start = c.expr(out.Frame.Start, nil)
		}
		if out.Frame.End != nil {
			out.Frame.End = c.expr(out.Frame.End, nil)
		}
		win.Calls = append(win.Calls, out)
		cols = append(cols, call.ID)
	}
	est := sub.node.Est()
	win.Base = c.base(cols, est.Rows, c.costs.Sort(est))
	return subplan{node: win, cols: cols}
}
