package rule

import (
	"math"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// orderJoins chooses the order of inner joins. With statistics it searches the orders
// (search_joins.go). Without, it begins with the table with the fewest rows, and adds the table
// that an equality connects and that keeps the result smallest. Tables that no equality connects
// are joined last. It also derives conditions by transitivity: from a = b and b = 1 follows a = 1
// (join_graph.go), and from a = b and b = c follows a = c (imply_equalities.go).
//
// Equivalent because inner joins commute and associate. Must not fire across outer, semi and anti
// joins, which are leaves of the join graph, nor across LATERAL, whose right side depends on its
// left.
func orderJoins(c *Context, n logical.Node) logical.Node {
	if !c.step() {
		return n
	}
	if j, ok := n.(*logical.Join); ok && j.Kind == opt.Inner && !j.Lateral {
		jg := &joinGraph{c: c}
		jg.flatten(j)
		for i := range jg.leaves {
			jg.leaves[i].node = orderJoins(c, jg.leaves[i].node)
		}
		jg.implyConstants()
		if len(jg.leaves) > 2 {
			jg.implyEqualities()
			return jg.greedy()
		}
		return jg.pair(j)
	}
	logical.EachInput(n, func(in *logical.Node) { *in = orderJoins(c, *in) })
	return n
}

// pair keeps the order in which two tables are written: package choose picks the sides of the join.
func (jg *joinGraph) pair(j *logical.Join) logical.Node {
	j.Left, j.Right = jg.leaves[0].node, jg.leaves[1].node
	j.On = nil
	for _, jc := range jg.conds {
		j.On = append(j.On, jc.e)
	}
	return j
}

// greedy builds a left-deep tree for each connected group of tables, by search or by adding one
// table at a time. Then it joins the groups.
func (jg *joinGraph) greedy() logical.Node {
	jg.c.fired("OrderJoins")
	for i := range jg.leaves {
		jg.leaves[i].rows = jg.c.rows(jg.leaves[i].node)
	}
	var groups []group
	for left := len(jg.leaves); left > 0; {
		if jg.c.Interrupt.Err() != nil {
			return jg.leaves[0].node
		}
		if g, ok := jg.searched(); ok {
			groups = append(groups, g)
			left -= g.leaves.Len()
			continue
		}
		g := jg.start()
		left--
		for {
			next, rows := jg.connected(&g)
			if next < 0 {
				break
			}
			jg.attach(&g, next, rows)
			left--
		}
		groups = append(groups, g)
	}
	for len(groups) > 1 {
		if !jg.c.step() {
			return jg.leaves[0].node
		}
		a, b := smallest(groups)
		merged := group{leaves: groups[a].leaves.Copy(), rows: groups[a].rows * groups[b].rows}
		merged.leaves.UnionWith(groups[b].leaves)
		merged.node = jg.joinNodes(groups[a].node, groups[b].node, merged.leaves)
		groups[a] = merged
		groups = append(groups[:b], groups[b+1:]...)
	}
	return jg.leftover(groups[0].node)
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

// start begins a group with the smallest unused table.
func (jg *joinGraph) start() group {
	best := -1
	for i := range jg.leaves {
		if !jg.leaves[i].used && (best < 0 || jg.leaves[i].rows < jg.leaves[best].rows) {
			best = i
		}
	}
	l := &jg.leaves[best]
	l.used = true
	g := group{node: l.node, rows: l.rows}
	g.leaves.Add(best)
	return g
}

// connected returns the unused leaf that an equality connects with the group and that keeps the
// group smallest. best is -1 when there is none.
func (jg *joinGraph) connected(g *group) (best int, bestRows float64) {
	best = -1
	for i := range jg.leaves {
		l := &jg.leaves[i]
		if !jg.c.step() {
			return -1, 0
		}
		if l.used || len(l.conds) == 0 {
			continue
		}
		with := groupWith(g, i)
		tied := 0
		var keys logical.ColSet
		for _, k := range l.conds {
			jc := &jg.conds[k]
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
		case jg.c.Estimator.Known():
			rows = jg.joined(g, l, with)
		case containsUniqueKey(l.node, keys):
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

// leftover adds a filter of the conditions that read no table, or only columns of outer queries.
func (jg *joinGraph) leftover(n logical.Node) logical.Node {
	var conds []expr.Expr
	for _, jc := range jg.conds {
		if !jc.placed {
			conds = append(conds, jc.e)
		}
	}
	return filtered(n, conds)
}

// keyColumns adds the columns of a leaf that an equality compares.
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
