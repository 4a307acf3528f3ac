package choose

import (
	"math"
	"slices"

	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// path is a way to read a table: all of it, or ranges of an index.
type path struct {
	index    *table.Index      // nil: the rows by their key
	keys     *physical.KeyCond // of GIN indexes, which may not be index alone; nil for none
	ranges   []physical.Range
	covered  []bool // by condition: the ranges express it entirely
	point    bool
	ordered  bool
	reverse  bool
	covering bool
	rows     float64 // rows in the ranges
	cost     float64
}

// scan plans the scan of a table with conditions, by the cheapest path.
func (c *chooser) scan(s *logical.Scan, conds []expr.Expr, req required) subplan {
	alias := s.Desc.Name
	if s.Alias != "" {
		alias = s.Alias
	}
	c.noteAlias(s.Out, alias)
	switch s.Desc.Kind {
	case table.KindVirtual, table.KindSequence:
		return c.virtualScan(s, conds)
	case table.KindDelta:
		return c.deltaScan(s, conds)
	}
	best := c.bestPath(s, conds, req)
	if c.err != nil {
		return subplan{}
	}
	if looked := c.anyLookup(s, conds, best); looked != nil {
		return *looked
	}
	var rest []expr.Expr
	for i, cond := range conds {
		if !best.covered[i] {
			rest = append(rest, cond)
		}
	}
	out := &physical.Scan{Table: s.Desc, Alias: s.Alias, Index: best.index,
		Covering: best.index == nil || best.covering,
		Out:      c.ordinals(s), Ranges: best.ranges, Reverse: best.reverse,
		Keys: best.keys,
		Ordered: best.ordered &&
			len(req.order) > 0,
		Point: best.point, Filter: c.conj(rest, s.Out), Before: s.Before}
	if best.keys == nil && best.index != nil &&
		(best.index.WhereText != "" || s.Desc.HasExpr(best.index)) &&
		!slices.ContainsFunc(conds, expr.HasSubquery) {
		out.Recheck = c.conj(conds, s.Out)
	}
	if req.limit > 0 && rest == nil && (len(req.order) == 0 || best.ordered) {
		out.Limit = int64(req.limit)
	}
	out.RowOrder = !out.Covering && !out.Ordered && out.Limit == 0 && !c.costs.NoBitmapScan
	rows := best.rows * c.est.Conds(rest)
	if best.keys != nil { // rest has the conditions by which the rows were found
		rows = min(best.rows, c.est.TableRows(s.Desc)*c.est.Conds(rest))
	}
	out.Base = c.base(s.Out, rows, best.cost)
	return subplan{node: out, cols: s.Out, ordered: best.ordered && len(req.order) > 0}
}

func (c *chooser) ordinals(s *logical.Scan) []int {
	out := make([]int, len(s.Out))
	for i, id := range s.Out {
		out[i] = s.Ordinal(id)
	}
	return out
}

func (c *chooser) virtualScan(s *logical.Scan, conds []expr.Expr) subplan {
	v := &physical.VirtualScan{Table: s.Desc, Alias: s.Alias, Out: c.ordinals(s),
		Filter: c.conj(conds, s.Out)}
	rows := c.est.TableRows(s.Desc)
	v.Base = c.base(s.Out, rows*c.est.Conds(conds), rows)
	return subplan{node: v, cols: s.Out}
}

func (c *chooser) deltaScan(s *logical.Scan, conds []expr.Expr) subplan {
	d := &physical.DeltaScan{Table: s.Desc, Alias: s.Alias, Out: c.ordinals(s),
		Filter: c.conj(conds, s.Out)}
	rows := c.est.TableRows(s.Desc)
	d.Base = c.base(s.Out, rows*c.est.Conds(conds), opt.Values(rows))
	return subplan{node: d, cols: s.Out}
}

// bestPath returns the cheapest of the paths by the row key and by each index.
func (c *chooser) bestPath(s *logical.Scan, conds []expr.Expr, req required) *path {
	rs := c.restrictions(s, conds)
	best := c.rowPath(s, conds, rs, req)
	if best.point && best.rows <= 1 && !c.costs.NoIndexScan {
		return best
	}
	if all := c.wholePath(s, conds, req); best.ranges != nil && c.costs.NoIndexScan &&
		all.cost < best.cost {
		best = all
	}
	for i := range s.Desc.Indexes {
		ix := &s.Desc.Indexes[i]
		if ix.ID == table.RowIndexID || ix.GIN() {
			continue
		}
		p := c.indexPath(s, ix, conds, rs, req)
		if p != nil && (p.cost < best.cost || p.cost == best.cost && p.ordered && !best.ordered) {
			best = p
		}
	}
	if p := c.keysPath(s, conds, req); p != nil && p.cost < best.cost {
		best = p
	}
	return best
}

// rowPath returns the path by the row key.
func (c *chooser) rowPath(s *logical.Scan, conds []expr.Expr, rs []restriction,
	req required) *path {
	unique := len(s.Desc.RowKey) > 0
	p := c.keyPath(s, s.Desc.RowKey, unique, conds, rs)
	p.covering = true
	c.orderPath(s, s.Desc.RowKey, p, req)
	p.cost = c.pathCost(s, p, conds, req)
	return p
}

// wholePath returns the path that reads all rows, whatever the conditions.
func (c *chooser) wholePath(s *logical.Scan, conds []expr.Expr, req required) *path {
	p := &path{covered: make([]bool, len(conds)), rows: c.est.TableRows(s.Desc), covering: true}
	p.cost = c.pathCost(s, p, conds, req)
	return p
}

// indexPath returns the path by an index. It returns nil when the index has no advantage: no
// condition restricts its range, its order is not the required one, and it does not cover the
// query.
func (c *chooser) indexPath(s *logical.Scan, ix *table.Index, conds []expr.Expr, rs []restriction,
	req required) *path {
	if !usable(s, ix, conds) {
		return nil
	}
	p := c.keyPath(s, ix.Columns, ix.Immediate(), conds, rs)
	p.index = ix
	if ix.WhereText != "" {
		c.partialPath(s, ix, conds, p)
	}
	c.orderPath(s, ix.Columns, p, req)
	p.covering = table.Covering(s.Desc, ix, c.ordinals(s))
	if p.ranges == nil && !p.ordered && !p.covering && ix.WhereText == "" {
		return nil
	}
	p.cost = c.pathCost(s, p, conds, req)
	return p
}

// partialPath counts only the rows that satisfy the predicate of a path's index, and marks the
// conditions that all of them satisfy as covered.
func (c *chooser) partialPath(s *logical.Scan, ix *table.Index, conds []expr.Expr, p *path) {
	var tested []expr.Expr // by the ranges
	for i, cond := range conds {
		if p.covered[i] {
			tested = append(tested, cond)
		}
	}
	pred := s.Partial[ix.ID]
	for _, clause := range pred {
		if !logical.Implies(tested, clause) {
			p.rows = math.Max(1, p.rows*c.est.Cond(clause))
		}
	}
	for i, cond := range conds {
		if !p.covered[i] && logical.Implies(pred, cond) && !logical.IsVolatile(cond) {
			p.covered[i] = true
		}
	}
}

// usable reports whether an index has an entry for every row that satisfies the conditions: it has
// all rows, or the conditions imply its predicate.
func usable(s *logical.Scan, ix *table.Index, conds []expr.Expr) bool {
	switch {
	case ix.Exclusion():
		return false // its key has another order than its columns
	case ix.WhereText == "":
		return true
	}
	pred, bound := s.Partial[ix.ID]
	return bound && !slices.ContainsFunc(pred,
		func(p expr.Expr) bool { return !logical.Implies(conds, p) })
}

// keyPath turns restrictions into ranges of a key: single values for its first columns, then a
// range of the next column.
func (c *chooser) keyPath(s *logical.Scan, key []table.IndexColumn, unique bool, conds []expr.Expr,
	rs []restriction) *path {
	p := &path{covered: make([]bool, len(conds)), rows: c.est.TableRows(s.Desc)}
	prefixes := []physical.Range{{}}
	used := 0
	for _, kc := range key {
		id := s.KeyID(kc.ColumnID)
		if id == 0 {
			break
		}
		r := valuesFor(rs, id)
		if r == nil || len(prefixes)*len(r.intervals) > maxIntervals {
			if narrowed := c.narrow(s, p, prefixes, rs, id); narrowed != nil {
				p.ranges = narrowed
				return p
			}
			break
		}
		prefixes = c.extend(prefixes, r)
		p.covered[r.cond] = r.exact
		p.rows = math.Max(1, p.rows*c.est.Intervals(id, estimatedIntervals(r.intervals)))
		used++
	}
	if used == 0 {
		return p
	}
	p.ranges = prefixes
	if unique && used == len(key) && noNulls(prefixes) {
		p.point = true
		p.rows = float64(len(prefixes))
	}
	return p
}

// valuesFor returns the restriction that holds a column to the fewest single values, nil if there
// is none.
func valuesFor(rs []restriction, id logical.ColID) *restriction {
	var best *restriction
	for i := range rs {
		r := &rs[i]
		if r.col != id {
			continue
		}
		single := true
		for k := range r.intervals {
			single = single && r.intervals[k].isPoint()
		}
		if single && (best == nil || len(r.intervals) < len(best.intervals)) {
			best = r
		}
	}
	return best
}

// extend appends each value of the next key column to every prefix.
func (c *chooser) extend(prefixes []physical.Range, r *restriction) []physical.Range {
	out := make([]physical.Range, 0, len(prefixes)*len(r.intervals))
	for _, p := range prefixes {
		for _, iv := range r.intervals {
			n := physical.Range{Eq: append(p.Eq[:len(p.Eq):len(p.Eq)], nil), IsNull: p.IsNull}
			if iv.isNull {
				n.Eq[len(p.Eq)] = nullMarker
				n.IsNull = make([]bool, len(n.Eq))
				copy(n.IsNull, p.IsNull)
				n.IsNull[len(p.Eq)] = true
			} else {
				n.Eq[len(p.Eq)] = c.expr(iv.eq, nil)
				if p.IsNull != nil {
					n.IsNull = append(p.IsNull[:len(p.IsNull):len(p.IsNull)], false)
				}
			}
			out = append(out, n)
		}
	}
	return out
}

func noNulls(rs []physical.Range) bool {
	for _, r := range rs {
		if r.IsNull != nil {
			return false
		}
	}
	return true
}

// narrow adds ranges of the next key column to the prefixes: the intervals of one restriction, or
// the intersection of a lower and an upper bound. It returns nil when no restriction bounds the
// column.
func (c *chooser) narrow(s *logical.Scan, p *path, prefixes []physical.Range, rs []restriction,
	id logical.ColID) []physical.Range {
	var chosen restriction
	for i := range rs {
		r := &rs[i]
		if r.col != id {
			continue
		}
		if chosen.intervals == nil {
			chosen = restriction{col: id, intervals: r.intervals}
			p.covered[r.cond] = r.exact
		} else if intersect(&chosen, r) {
			p.covered[r.cond] = r.exact
		}
	}
	if chosen.intervals == nil || len(prefixes)*len(chosen.intervals) > maxIntervals {
		return nil
	}
	var out []physical.Range
	for _, pre := range prefixes {
		for _, iv := range chosen.intervals {
			if iv.isPoint() {
				one := c.extend([]physical.Range{pre}, &restriction{intervals: []interval{iv}})
				out = append(out, one...)
				continue
			}
			n := pre
			if iv.low != nil {
				n.Low, n.LowIncl = c.expr(iv.low, nil), iv.lowIncl
			}
			if iv.high != nil {
				n.High, n.HighIncl = c.expr(iv.high, nil), iv.highIncl
			}
			out = append(out, n)
		}
	}
	p.rows = math.Max(1, p.rows*c.est.Intervals(id, estimatedIntervals(chosen.intervals)))
	return out
}

// estimatedIntervals converts intervals for the estimator.
func estimatedIntervals(ivs []interval) []estimate.Interval {
	out := make([]estimate.Interval, len(ivs))
	for i, iv := range ivs {
		out[i] = estimate.Interval{Eq: iv.eq, IsNull: iv.isNull, Low: iv.low, High: iv.high,
			LowIncl: iv.lowIncl, HighIncl: iv.highIncl}
	}
	return out
}

// pathCost returns the cost of reading by a path, including a sort where the path is not ordered.
func (c *chooser) pathCost(s *logical.Scan, p *path, conds []expr.Expr, req required) float64 {
	scan := opt.KeyScan{Index: p.index != nil, Fetches: !p.covering, Rows: p.rows}
	scan.Small = p.index != nil && shortEntries(s.Desc, p.index)
	if p.ranges != nil {
		scan.Ranges = max(1, len(p.ranges))
	}
	cost := c.costs.Scan(scan)
	var rest []expr.Expr
	for i, cond := range conds {
		if !p.covered[i] {
			rest = append(rest, cond)
		}
	}
	out := math.Max(1, p.rows*c.est.Conds(rest))
	if len(req.order) > 0 && !p.ordered {
		return cost + c.costs.SortRows(out) + c.pathPenalty(s, p)
	}
	if req.limit > 0 && req.limit < out {
		cost = opt.Stopped(cost, req.limit, out)
	}
	return cost + c.pathPenalty(s, p)
}

// shortEntries reports whether an index has less than half of its table's columns.
func shortEntries(d *table.Desc, ix *table.Index) bool {
	return len(d.Columns) > 2*(len(ix.Columns)+len(ix.Include)+len(d.RowKey))
}

// pathPenalty returns what the session's settings add to the cost of a path, by the kind of scan
// that EXPLAIN calls it.
func (c *chooser) pathPenalty(s *logical.Scan, p *path) float64 {
	if p.index != nil {
		return c.costs.ScanPenalty(true, p.covering)
	}
	byKey := p.ranges != nil || p.ordered
	return c.costs.ScanPenalty(s.Desc.RowPrimaryKey() != nil && byKey, false)
}
