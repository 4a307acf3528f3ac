package rule

import (
	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// joinCond is a condition on the leaves of a join graph.
type joinCond struct {
	e      expr.Expr
	leaves logical.ColSet // by index
	equal  bool
	placed bool
	// columns are what an equality compares, if all that follow from it and from others are
	// conditions too (imply_equalities.go).
	columns [2]logical.ColID
}

// leaf is an input of the joins that are being ordered: a table, or any tree that is not an inner
// join.
type leaf struct {
	node  logical.Node
	cols  logical.ColSet
	rows  float64
	conds []int // indexes of the conditions that read it
	used  bool
}

// joinGraph is a tree of inner joins as a graph: its leaves, and the conditions that connect them.
type joinGraph struct {
	c      *Context
	leaves []leaf
	conds  []joinCond
	tied   *classes // columns that the joins so far make equal
}

// flatten adds the leaves and conditions of a tree of inner joins.
func (jg *joinGraph) flatten(n logical.Node) {
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
		jg.leaves = append(jg.leaves, leaf{node: n, cols: logical.SetOf(n.Columns())})
	}
	visit(n)
	for _, cond := range conds {
		jg.addCond(cond)
	}
}

func (jg *joinGraph) addCond(e expr.Expr) {
	jc := joinCond{e: e}
	cols := logical.ColsOf(e)
	for i := range jg.leaves {
		jg.c.step()
		if cols.Intersects(jg.leaves[i].cols) {
			jc.leaves.Add(i)
			jg.leaves[i].conds = append(jg.leaves[i].conds, len(jg.conds))
		}
	}
	if call, ok := e.(*expr.Call); ok && call.Func.Comparison() == "=" && jc.leaves.Len() == 2 {
		jc.equal = true
	}
	jg.conds = append(jg.conds, jc)
}

// implyConstants derives conditions by transitivity: from a = b and b = 1 follows a = 1. It adds
// them as conditions on the tables of the columns.
func (jg *joinGraph) implyConstants() {
	classes := newClasses()
	for _, jc := range jg.conds {
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
	for i := range jg.leaves {
		f, ok := jg.leaves[i].node.(*logical.Filter)
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
			jg.c.fired("ImplyConstants")
			call := *k.cond
			call.Args = append([]expr.Expr(nil), k.cond.Args...)
			call.Args[k.side] = jg.c.Meta.Col(member)
			jg.restrictLeaf(member, &call)
		}
	}
}

func (jg *joinGraph) restrictLeaf(col logical.ColID, cond expr.Expr) {
	for i := range jg.leaves {
		l := &jg.leaves[i]
		if !l.cols.Has(col) {
			continue
		}
		l.node = push(jg.c, l.node, []expr.Expr{cond})
		return
	}
}

// equalColumns recognises a = b between columns of one type.
func equalColumns(e expr.Expr) (a, b logical.ColID, ok bool) {
	call, isCall := e.(*expr.Call)
	if !isCall || call.Func.Comparison() != "=" || len(call.Args) != 2 {
		return 0, 0, false
	}
	l, lok := call.Args[0].(*expr.Col)
	r, rok := call.Args[1].(*expr.Col)
	if !lok || !rok || l.T.OID != r.T.OID {
		return 0, 0, false
	}
	return l.Index, r.Index, true
}

// equalsConstant recognises column = constant, where both have the same type. It returns the
// column, the comparison and the place of the column in it.
func equalsConstant(e expr.Expr) (*expr.Col, *expr.Call, int, bool) {
	call, ok := e.(*expr.Call)
	if !ok || call.Func.Comparison() != "=" || len(call.Args) != 2 {
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

// group is a tree of leaves that are already joined.
type group struct {
	node   logical.Node
	leaves logical.ColSet
	rows   float64
}

// joined estimates the rows of a group joined with one more leaf.
func (jg *joinGraph) joined(g *group, l *leaf, with logical.ColSet) float64 {
	var pairs []estimate.Pair
	var rest []expr.Expr
	var counted tiedColumns
	for _, k := range l.conds {
		jc := &jg.conds[k]
		switch {
		case jc.placed || !jc.leaves.SubsetOf(with) || counted.follows(jc.columns, l.cols):
		case jc.equal:
			args := jc.e.(*expr.Call).Args
			pairs = append(pairs, estimate.Pair{Left: args[0], Right: args[1]})
		default:
			rest = append(rest, jc.e)
		}
	}
	return jg.c.Estimator.Join(opt.Inner, g.rows, l.rows, pairs, rest)
}

func (jg *joinGraph) attach(g *group, i int, rows float64) {
	l := &jg.leaves[i]
	l.used = true
	g.leaves.Add(i)
	g.node = jg.joinNodes(g.node, l.node, g.leaves)
	g.rows = rows
}

// joinNodes joins two trees by all conditions whose leaves are in the joined tree and that no
// earlier join has.
func (jg *joinGraph) joinNodes(left, right logical.Node, leaves logical.ColSet) logical.Node {
	j := &logical.Join{Kind: opt.Inner, Left: left, Right: right}
	for k := range jg.conds {
		jc := &jg.conds[k]
		jg.c.step()
		if !jc.placed && !jc.leaves.Empty() && jc.leaves.SubsetOf(leaves) {
			jc.placed = true
			if jg.tie(jc.columns) {
				j.On = append(j.On, jc.e)
			}
		}
	}
	return j
}

// groupWith returns the leaves of a group and one more.
func groupWith(g *group, leaf int) logical.ColSet {
	s := g.leaves.Copy()
	s.Add(leaf)
	return s
}
