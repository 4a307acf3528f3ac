package rule

import (
	"math"

	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// orderJoins chooses the order of inner joins. Where statistics are known it searches
// (search_joins.go); otherwise it begins with the table that gives fewest rows and goes on with the
// one that an equality connects and that keeps the result smallest. Tables that nothing connects
// are joined last. What equalities imply is used: from a = b and b = 1 follows a = 1.
//
// The same because inner joins commute and associate. Must not fire across outer, semi and anti
// joins, which are tables of their own here, nor across LATERAL, whose right side needs its left.
func orderJoins(c *Context, n logical.Node) logical.Node {
	if !c.step() {
		return n
	}
	if j, ok := n.(*logical.Join); ok && j.Kind == opt.Inner && !j.Lateral {
		o := &ordering{c: c}
		o.flatten(j)
		for i := range o.leaves {
			o.leaves[i].node = orderJoins(c, o.leaves[i].node)
		}
		o.implyConstants()
		if len(o.leaves) > 2 {
			return o.greedy()
		}
		return o.pair(j)
	}
	logical.EachInput(n, func(in *logical.Node) { *in = orderJoins(c, *in) })
	return n
}

// leaf is a table (or whatever is no inner join) of the joins being ordered.
type leaf struct {
	node  logical.Node
	cols  logical.ColSet
	rows  float64
	conds []int // conditions that mention it
	used  bool
}

// joinCond is a condition between leaves.
type joinCond struct {
	e      expr.Expr
	leaves logical.ColSet // by index
	equal  bool
	placed bool
}

type ordering struct {
	c      *Context
	leaves []leaf
	conds  []joinCond
}

func (o *ordering) flatten(n logical.Node) {
	var conds []expr.Expr
	var visit func(n logical.Node)
	visit = func(n logical.Node) {
		if j, ok := n.(*logical.Join); ok && j.Kind == opt.Inner && !j.Lateral {
			visit(j.Left)
			visit(j.Right)
			conds = append(conds, j.On...)
			return
		}
		if f, ok := n.(*logical.Filter); ok {
			if j, isJoin := f.Child.(*logical.Join); isJoin && j.Kind == opt.Inner && !j.Lateral {
				visit(j)
				conds = append(conds, f.Conds...)
				return
			}
		}
		o.leaves = append(o.leaves, leaf{node: n, cols: logical.SetOf(n.Columns())})
	}
	visit(n)
	for _, cond := range conds {
		o.addCond(cond)
	}
}

func (o *ordering) addCond(e expr.Expr) {
	jc := joinCond{e: e}
	cols := logical.ColsOf(e)
	for i := range o.leaves {
		o.c.step()
		if cols.Intersects(o.leaves[i].cols) {
			jc.leaves.Add(i)
			o.leaves[i].conds = append(o.leaves[i].conds, len(o.conds))
		}
	}
	if call, ok := e.(*expr.Call); ok && call.Func.Name == "=" && jc.leaves.Len() == 2 {
		jc.equal = true
	}
	o.conds = append(o.conds, jc)
}

// implyConstants gives every column of a class of equal columns the constant that one of them is
// equal to, as a condition on its table.
func (o *ordering) implyConstants() {
	classes := newClasses()
	for _, jc := range o.conds {
		if a, b, ok := equalColumns(jc.e); ok {
			classes.join(a, b)
		}
	}
	if classes.empty() {
		return
	}
	type constant struct {
		col  *expr.Col
		cond *expr.Call
		side int
	}
	var found []constant
	var known logical.ColSet
	for i := range o.leaves {
		f, ok := o.leaves[i].node.(*logical.Filter)
		if !ok {
			continue
		}
		for _, cond := range f.Conds {
			if col, call, side, ok := equalsConstant(cond); ok {
				known.Add(col.Index)
				found = append(found, constant{col, call, side})
			}
		}
	}
	for _, k := range found {
		for _, member := range classes.members(k.col.Index) {
			if known.Has(member) {
				continue
			}
			known.Add(member)
			o.c.fired("ImplyConstants")
			call := *k.cond
			call.Args = append([]expr.Expr(nil), k.cond.Args...)
			call.Args[k.side] = o.c.Meta.Col(member)
			o.restrictLeaf(member, &call)
		}
	}
}

func (o *ordering) restrictLeaf(col logical.ColID, cond expr.Expr) {
	for i := range o.leaves {
		l := &o.leaves[i]
		if !l.cols.Has(col) {
			continue
		}
		l.node = push(o.c, l.node, []expr.Expr{cond})
		return
	}
}

// equalColumns reads a = b between columns of one type.
func equalColumns(e expr.Expr) (a, b logical.ColID, ok bool) {
	call, isCall := e.(*expr.Call)
	if !isCall || call.Func.Name != "=" || len(call.Args) != 2 {
		return 0, 0, false
	}
	l, lok := call.Args[0].(*expr.Col)
	r, rok := call.Args[1].(*expr.Col)
	if !lok || !rok || l.T.OID != r.T.OID {
		return 0, 0, false
	}
	return l.Index, r.Index, true
}

// equalsConstant reads column = constant of the column's type.
func equalsConstant(e expr.Expr) (*expr.Col, *expr.Call, int, bool) {
	call, ok := e.(*expr.Call)
	if !ok || call.Func.Name != "=" || len(call.Args) != 2 {
		return nil, nil, 0, false
	}
	for side, arg := range call.Args {
		col, isCol := arg.(*expr.Col)
		if !isCol {
			continue
		}
		switch call.Args[1-side].(type) {
		case *expr.Const, *expr.Param:
			return col, call, side, call.Args[1-side].Type().OID == col.T.OID
		}
	}
	return nil, nil, 0, false
}

// pair keeps the written order of two tables: the join itself chooses its sides.
func (o *ordering) pair(j *logical.Join) logical.Node {
	j.Left, j.Right = o.leaves[0].node, o.leaves[1].node
	j.On = nil
	for _, jc := range o.conds {
		j.On = append(j.On, jc.e)
	}
	return j
}

// greedy builds a left-deep tree for each connected group of tables, by search or table by table,
// then joins the groups.
func (o *ordering) greedy() logical.Node {
	o.c.fired("OrderJoins")
	for i := range o.leaves {
		o.leaves[i].rows = o.c.rows(o.leaves[i].node)
	}
	var groups []group
	for left := len(o.leaves); left > 0; {
		if o.c.Interrupt.Err() != nil {
			return o.leaves[0].node
		}
		if g, ok := o.searched(); ok {
			groups = append(groups, g)
			left -= g.leaves.Len()
			continue
		}
		g := o.start()
		left--
		for {
			next, rows := o.connected(&g)
			if next < 0 {
				break
			}
			o.attach(&g, next, rows)
			left--
		}
		groups = append(groups, g)
	}
	for len(groups) > 1 {
		if !o.c.step() {
			return o.leaves[0].node
		}
		a, b := smallest(groups)
		merged := group{leaves: groups[a].leaves.Copy(), rows: groups[a].rows * groups[b].rows}
		merged.leaves.UnionWith(groups[b].leaves)
		merged.node = o.joinNodes(groups[a].node, groups[b].node, merged.leaves)
		groups[a] = merged
		groups = append(groups[:b], groups[b+1:]...)
	}
	return o.leftover(groups[0].node)
}

// group is a tree of joined tables.
type group struct {
	node   logical.Node
	leaves logical.ColSet
	rows   float64
}

func smallest(groups []group) (a, b int) {
	a, b = 0, 1
	if groups[b].rows < groups[a].rows {
		a, b = b, a
	}
	for i := 2; i < len(groups); i++ {
		switch {
		case groups[i].rows < groups[a].rows:
			a, b = i, a
		case groups[i].rows < groups[b].rows:
			b = i
		}
	}
	if a > b {
		a, b = b, a
	}
	return a, b
}

// start takes the smallest table that is left.
func (o *ordering) start() group {
	best := -1
	for i := range o.leaves {
		if !o.leaves[i].used && (best < 0 || o.leaves[i].rows < o.leaves[best].rows) {
			best = i
		}
	}
	l := &o.leaves[best]
	l.used = true
	g := group{node: l.node, rows: l.rows}
	g.leaves.Add(best)
	return g
}

// connected finds the unused table that an equality ties to the group and that keeps it smallest.
func (o *ordering) connected(g *group) (best int, bestRows float64) {
	best = -1
	for i := range o.leaves {
		l := &o.leaves[i]
		if !o.c.step() {
			return -1, 0
		}
		if l.used || len(l.conds) == 0 {
			continue
		}
		with := with(g, i)
		tied := 0
		var keys logical.ColSet
		for _, k := range l.conds {
			jc := &o.conds[k]
			if !jc.placed && jc.equal && jc.leaves.SubsetOf(with) {
				tied++
				keyColumns(jc.e, l.cols, &keys)
			}
		}
		if tied == 0 {
			continue
		}
		rows := math.Max(g.rows, 1) * l.rows
		switch {
		case o.c.Estimator.Known():
			rows = o.joined(g, l, with)
		case uniqueOn(l.node, keys):
			rows = math.Max(g.rows*math.Min(1, l.rows/tableRows), 0.5)
		default:
			rows = math.Max(rows/tableRows*math.Pow(0.5, float64(tied-1)), 0.5)
		}
		if best < 0 || rows < bestRows {
			best, bestRows = i, rows
		}
	}
	return best, bestRows
}

// joined estimates the rows of a group with one table more.
func (o *ordering) joined(g *group, l *leaf, with logical.ColSet) float64 {
	var pairs []estimate.Pair
	var rest []expr.Expr
	for _, k := range l.conds {
		jc := &o.conds[k]
		switch {
		case jc.placed || !jc.leaves.SubsetOf(with):
		case jc.equal:
			args := jc.e.(*expr.Call).Args
			pairs = append(pairs, estimate.Pair{Left: args[0], Right: args[1]})
		default:
			rest = append(rest, jc.e)
		}
	}
	return o.c.Estimator.Join(opt.Inner, g.rows, l.rows, pairs, rest)
}

func (o *ordering) attach(g *group, i int, rows float64) {
	l := &o.leaves[i]
	l.used = true
	g.leaves.Add(i)
	g.node = o.joinNodes(g.node, l.node, g.leaves)
	g.rows = rows
}

// joinNodes joins two trees by all conditions that become decidable.
func (o *ordering) joinNodes(left, right logical.Node, leaves logical.ColSet) logical.Node {
	j := &logical.Join{Kind: opt.Inner, Left: left, Right: right}
	for k := range o.conds {
		jc := &o.conds[k]
		o.c.step()
		if !jc.placed && !jc.leaves.Empty() && jc.leaves.SubsetOf(leaves) {
			jc.placed = true
			j.On = append(j.On, jc.e)
		}
	}
	return j
}

// leftover puts what mentions no table (or only outer columns) on top.
func (o *ordering) leftover(n logical.Node) logical.Node {
	var conds []expr.Expr
	for _, jc := range o.conds {
		if !jc.placed {
			conds = append(conds, jc.e)
		}
	}
	return filtered(n, conds)
}

// keyColumns adds the plain columns of a leaf in an equality.
func keyColumns(e expr.Expr, own logical.ColSet, into *logical.ColSet) {
	for _, arg := range e.(*expr.Call).Args {
		if cast, ok := arg.(*expr.Cast); ok {
			arg = cast.Arg
		}
		if col, ok := arg.(*expr.Col); ok && own.Has(col.Index) {
			into.Add(col.Index)
		}
	}
}
