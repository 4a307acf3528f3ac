package rule

import (
	"math/bits"

	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// searchMost bounds the tables whose orders are all looked at: 2⁹ sets of them, each with its
// cheapest order (Selinger et al., 1979, §5). More are ordered greedily.
const searchMost = 9

// search finds the cheapest left-deep order of tables that equalities connect. An order costs what
// its steps cost: reading the next table and building a hash table of it, or looking its rows up by
// an index, whichever is less, and the rows that come out. How each step is done is chosen later,
// with the same alternatives.
type search struct {
	o      *ordering
	leaves []int     // of the ordering
	access []float64 // to read a leaf with its own conditions
	whole  []float64 // rows of a leaf's table, before its conditions; 0: it cannot be looked up
	conds  []searchCond
	best   []step // by set of leaves
}

// searchCond is a condition between leaves of the search.
type searchCond struct {
	set    uint // the leaves that it mentions
	share  float64
	equal  bool
	lookup uint // the leaves in which it holds the first column of a key
}

// step is the cheapest way to have a set of leaves joined.
type step struct {
	rows, cost float64
	last       int
	known      bool
}

func (o *ordering) newSearch(leaves []int) *search {
	s := &search{o: o, leaves: leaves, best: make([]step, 1<<len(leaves))}
	place := map[int]int{}
	for i, l := range leaves {
		place[l] = i
		access, whole := o.c.access(o.leaves[l].node, o.leaves[l].rows)
		s.access, s.whole = append(s.access, access), append(s.whole, whole)
	}
	for k := range o.conds {
		jc := &o.conds[k]
		var c searchCond
		inside := true
		jc.leaves.Each(func(l int) {
			i, ok := place[l]
			inside = inside && ok
			c.set |= 1 << i
		})
		if !inside || bits.OnesCount(c.set) < 2 {
			continue
		}
		c.equal = jc.equal
		c.share = s.share(jc)
		if jc.equal {
			jc.leaves.Each(func(l int) {
				if leadsKey(o.leaves[l].node, jc.e) {
					c.lookup |= 1 << place[l]
				}
			})
		}
		s.conds = append(s.conds, c)
	}
	return s
}

// share is the part of all combinations that a condition keeps.
func (s *search) share(jc *joinCond) float64 {
	if !jc.equal {
		return s.o.c.Estimator.Cond(jc.e)
	}
	args := jc.e.(*expr.Call).Args
	p := estimate.Pair{Left: args[0], Right: args[1]}
	var rows [2]float64
	for side, arg := range args {
		cols := logical.ColsOf(arg)
		jc.leaves.Each(func(l int) {
			if cols.Intersects(s.o.leaves[l].cols) {
				rows[side] = s.o.leaves[l].rows
			}
		})
	}
	return s.o.c.Estimator.Pair(p, rows[0], rows[1])
}

// order returns the leaves in the cheapest order.
func (s *search) order() []int {
	n := len(s.leaves)
	for i := range n {
		s.best[1<<i] = step{rows: s.o.leaves[s.leaves[i]].rows, cost: s.access[i], last: i,
			known: true}
	}
	for set := uint(1); set < 1<<n; set++ {
		if !s.best[set].known {
			continue
		}
		for i := range n {
			if set>>i&1 == 0 {
				s.extend(set, i)
			}
		}
	}
	var out []int
	for set := uint(1)<<n - 1; set != 0; {
		i := s.best[set].last
		out = append([]int{s.leaves[i]}, out...)
		set &^= 1 << i
	}
	return out
}

// extend joins a leaf to a set, if an equality connects them.
func (s *search) extend(set uint, i int) {
	from, to := &s.best[set], &s.best[set|1<<i]
	tied, share, key := false, 1.0, 0.0
	for k := range s.conds {
		c := &s.conds[k]
		if c.set>>i&1 == 0 || c.set&^(set|1<<i) != 0 {
			continue
		}
		share *= c.share
		tied = tied || c.equal
		if c.lookup>>i&1 == 1 && (key == 0 || c.share < key) {
			key = c.share
		}
	}
	if !tied {
		return
	}
	leaf := s.o.leaves[s.leaves[i]].rows
	rows := max(from.rows*leaf*share, 0.5)
	cost := s.access[i] + opt.HashStep(from.rows, leaf)
	if key > 0 && s.whole[i] > 0 {
		cost = min(cost, opt.LookupStep(from.rows, s.whole[i]*key))
	}
	cost += from.cost + opt.JoinedRows(rows)
	if !to.known || cost < to.cost {
		*to = step{rows: rows, cost: cost, last: i, known: true}
	}
}

// access is what reading a leaf costs, and the rows of its table, 0 if it cannot be looked up.
func (c *Context) access(n logical.Node, rows float64) (cost, whole float64) {
	s, conds := scanOf(n)
	if s == nil {
		return rows, 0
	}
	whole = c.Estimator.TableRows(s.Desc)
	cost = whole
	for _, cond := range conds {
		if leadsKey(s, cond) {
			cost = min(cost, opt.RangeStep(whole*c.Estimator.Cond(cond)))
		}
	}
	return cost, whole
}

// leadsKey says whether a condition compares the first column of one of the keys of the table that
// a leaf reads.
func leadsKey(n logical.Node, cond expr.Expr) bool {
	s, _ := scanOf(n)
	if s == nil {
		return false
	}
	is := func(key []table.IndexColumn) bool {
		if len(key) == 0 || key[0].ColumnID == 0 {
			return false
		}
		id := s.First + s.Desc.ColumnByID(key[0].ColumnID)
		for _, side := range compared(cond) {
			if col, ok := side.(*expr.Col); ok && col.Index == id {
				return true
			}
		}
		return false
	}
	if is(s.Desc.RowKey) {
		return true
	}
	for i := range s.Desc.Indexes {
		if ix := &s.Desc.Indexes[i]; ix.WhereText == "" && is(ix.Columns) {
			return true
		}
	}
	return false
}

// compared are the sides of a comparison that an index may serve.
func compared(cond expr.Expr) []expr.Expr {
	switch x := cond.(type) {
	case *expr.Call:
		switch x.Func.Name {
		case "=", "<", "<=", ">", ">=", "~~":
			return x.Args
		}
	case *expr.InList:
		if !x.Not {
			return []expr.Expr{x.Arg}
		}
	}
	return nil
}

// component lists the leaves that equalities connect with one of them, and that are not used.
func (o *ordering) component(first int) []int {
	var in logical.ColSet
	in.Add(first)
	for grown := true; grown; {
		grown = false
		for k := range o.conds {
			jc := &o.conds[k]
			grown = grown && o.c.step()
			if jc.equal && jc.leaves.Intersects(in) && !jc.leaves.SubsetOf(in) {
				in.UnionWith(jc.leaves)
				grown = true
			}
		}
	}
	return in.Slice()
}

// searched joins the component of the first unused leaf in its cheapest order; false when it is too
// large, or nothing is known to judge by.
func (o *ordering) searched() (g group, ok bool) {
	if !o.c.Estimator.Known() {
		return g, false
	}
	first := 0
	for o.leaves[first].used {
		first++
	}
	leaves := o.component(first)
	if len(leaves) > searchMost {
		return g, false
	}
	order := o.newSearch(leaves).order()
	l := &o.leaves[order[0]]
	l.used = true
	g = group{node: l.node, rows: l.rows}
	g.leaves.Add(order[0])
	for _, i := range order[1:] {
		o.attach(&g, i, o.joined(&g, &o.leaves[i], with(&g, i)))
	}
	return g, true
}

func with(g *group, leaf int) logical.ColSet {
	s := g.leaves.Copy()
	s.Add(leaf)
	return s
}
