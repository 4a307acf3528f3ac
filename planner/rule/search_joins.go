package rule

import (
	"math/bits"

	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// maxSearched is the largest number of tables whose orders are searched: 2⁹ sets of tables, each
// with its cheapest order (Selinger et al., 1979, §5). More tables are ordered greedily.
const maxSearched = 9

// search finds the cheapest left-deep order of tables that equalities connect. The cost of an order
// is the sum of its steps: a step either reads the next table into a hash table, or looks its rows
// up by an index, whichever is cheaper, and passes the joined rows on. Package choose later picks
// the method of each join among the same alternatives.
type search struct {
	jg     *joinGraph
	leaves []int     // indexes of leaves in the join graph
	access []float64 // cost of reading a leaf with its own conditions
	whole  []float64 // rows of a leaf's table, before its conditions; 0: rows cannot be looked up
	conds  []searchCond
	best   []step // indexed by set of leaves, a bit mask
}

// searchCond is a condition on the leaves of the search.
type searchCond struct {
	set    uint // the leaves that it reads, as a bit mask
	share  float64
	equal  bool
	lookup uint // the leaves of which it compares the leading column of a key
	// columns are those of joinCond.
	columns [2]logical.ColID
}

// step is the cheapest way to join a set of leaves. last is the leaf that is joined last.
type step struct {
	rows, cost float64
	last       int
	known      bool
}

func (jg *joinGraph) newSearch(leaves []int) *search {
	s := &search{jg: jg, leaves: leaves, best: make([]step, 1<<len(leaves))}
	place := map[int]int{}
	for i, l := range leaves {
		place[l] = i
		access, whole := jg.c.access(jg.leaves[l].node, jg.leaves[l].rows)
		s.access, s.whole = append(s.access, access), append(s.whole, whole)
	}
	for k := range jg.conds {
		jc := &jg.conds[k]
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
		c.equal, c.columns = jc.equal, jc.columns
		c.share = s.share(jc)
		if jc.equal {
			jc.leaves.Each(func(l int) {
				if comparesLeadingColumn(jg.leaves[l].node, jc.e) {
					c.lookup |= 1 << place[l]
				}
			})
		}
		s.conds = append(s.conds, c)
	}
	return s
}

// share returns the share of all combinations of rows for which a condition is true.
func (s *search) share(jc *joinCond) float64 {
	if !jc.equal {
		return s.jg.c.Estimator.Cond(jc.e)
	}
	args := jc.e.(*expr.Call).Args
	p := estimate.Pair{Left: args[0], Right: args[1]}
	var rows [2]float64
	for side, arg := range args {
		cols := logical.ColsOf(arg)
		jc.leaves.Each(func(l int) {
			if cols.Intersects(s.jg.leaves[l].cols) {
				rows[side] = s.jg.leaves[l].rows
			}
		})
	}
	return s.jg.c.Estimator.Pair(p, rows[0], rows[1])
}

// order returns the leaves in the cheapest order.
func (s *search) order() []int {
	n := len(s.leaves)
	for i := range n {
		s.best[1<<i] = step{rows: s.jg.leaves[s.leaves[i]].rows, cost: s.access[i], last: i,
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

// extend adds a leaf to a set of joined leaves, if an equality connects them.
func (s *search) extend(set uint, i int) {
	from, to := &s.best[set], &s.best[set|1<<i]
	tied, share, key := false, 1.0, 0.0
	var counted tiedColumns
	for k := range s.conds {
		c := &s.conds[k]
		if c.set>>i&1 == 0 || c.set&^(set|1<<i) != 0 {
			continue
		}
		if !counted.follows(c.columns, s.jg.leaves[s.leaves[i]].cols) {
			share *= c.share
		}
		tied = tied || c.equal
		if c.lookup>>i&1 == 1 && (key == 0 || c.share < key) {
			key = c.share
		}
	}
	if !tied {
		return
	}
	leaf := s.jg.leaves[s.leaves[i]].rows
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

// access returns the cost of reading a leaf, and the rows of its table, 0 if they cannot be looked
// up.
func (c *Context) access(n logical.Node, rows float64) (cost, whole float64) {
	s, conds := scanOf(n)
	if s == nil {
		return rows, 0
	}
	whole = c.Estimator.TableRows(s.Desc)
	cost = whole
	for _, cond := range conds {
		if comparesLeadingColumn(s, cond) {
			cost = min(cost, opt.RangeStep(whole*c.Estimator.Cond(cond)))
		}
	}
	return cost, whole
}

// component returns the unused leaves that equalities connect with the leaf first, including it.
func (jg *joinGraph) component(first int) []int {
	var in logical.ColSet
	in.Add(first)
	for grown := true; grown; {
		grown = false
		for k := range jg.conds {
			jc := &jg.conds[k]
			grown = grown && jg.c.step()
			if jc.equal && jc.leaves.Intersects(in) && !jc.leaves.SubsetOf(in) {
				in.UnionWith(jc.leaves)
				grown = true
			}
		}
	}
	return in.Slice()
}

// searched joins the component of the first unused leaf in its cheapest order. It returns false
// when there are too many leaves, or no statistics.
func (jg *joinGraph) searched() (g group, ok bool) {
	if !jg.c.Estimator.Known() {
		return g, false
	}
	first := 0
	for jg.leaves[first].used {
		first++
	}
	leaves := jg.component(first)
	if len(leaves) > maxSearched {
		return g, false
	}
	order := jg.newSearch(leaves).order()
	l := &jg.leaves[order[0]]
	l.used = true
	g = group{node: l.node, rows: l.rows}
	g.leaves.Add(order[0])
	for _, i := range order[1:] {
		jg.attach(&g, i, jg.joined(&g, &jg.leaves[i], groupWith(&g, i)))
	}
	return g, true
}
