package choose

import (
	"math"

	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
)

// path is a way to read a table: all of it, or sections of an index.
type path struct {
	index   *table.Index // nil: the rows by their key
	ranges  []physical.Range
	covered []bool // by condition: the ranges cover it entirely
	point   bool
	ordered bool
	reverse bool
	cover   bool
	rows    float64 // rows that the ranges hold
	cost    float64
}

// scan reads a table with conditions, by the cheapest path.
func (c *chooser) scan(s *logical.Scan, conds []expr.Expr, w wish) built {
	alias := s.Desc.Name
	if s.Alias != "" {
		alias = s.Alias
	}
	c.noteAlias(s.Out, alias)
	if s.Desc.Kind == table.KindVirtual || s.Desc.Kind == table.KindSequence {
		return c.virtualScan(s, conds)
	}
	best := c.bestPath(s, conds, w)
	if c.err != nil {
		return built{}
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
		Covering: best.index == nil || best.cover,
		Out:      c.ordinals(s), Ranges: best.ranges, Reverse: best.reverse,
		Ordered: best.ordered &&
			len(w.order) > 0,
		Point: best.point, Filter: c.conj(rest, s.Out)}
	if w.limit > 0 && rest == nil && (len(w.order) == 0 || best.ordered) {
		out.Limit = int64(w.limit)
	}
	rows := best.rows * c.est.Conds(rest)
	out.Base = c.base(s.Out, rows, best.cost)
	return built{node: out, cols: s.Out, ordered: best.ordered && len(w.order) > 0}
}

func (c *chooser) ordinals(s *logical.Scan) []int {
	out := make([]int, len(s.Out))
	for i, id := range s.Out {
		out[i] = s.Ordinal(id)
	}
	return out
}

func (c *chooser) virtualScan(s *logical.Scan, conds []expr.Expr) built {
	v := &physical.VirtualScan{Table: s.Desc, Alias: s.Alias, Out: c.ordinals(s),
		Filter: c.conj(conds, s.Out)}
	rows := c.est.TableRows(s.Desc)
	v.Base = c.base(s.Out, rows*c.est.Conds(conds), rows)
	return built{node: v, cols: s.Out}
}

// bestPath compares the table itself with each of its indexes.
func (c *chooser) bestPath(s *logical.Scan, conds []expr.Expr, w wish) *path {
	var rs []restriction
	for i, cond := range conds {
		if r, ok := c.restrict(s, cond); ok {
			r.cond = i
			rs = append(rs, r)
		}
	}
	best := c.rowPath(s, conds, rs, w)
	if best.point && best.rows <= 1 && !c.costs.NoIndexScan {
		return best
	}
	if all := c.wholePath(s, conds, w); best.ranges != nil && c.costs.NoIndexScan &&
		all.cost < best.cost {
		best = all
	}
	for i := range s.Desc.Indexes {
		ix := &s.Desc.Indexes[i]
		if ix.ID == table.RowIndexID {
			continue
		}
		p := c.indexPath(s, ix, conds, rs, w)
		if p != nil && (p.cost < best.cost || p.cost == best.cost && p.ordered && !best.ordered) {
			best = p
		}
	}
	return best
}

// rowPath reads the rows by the row key.
func (c *chooser) rowPath(s *logical.Scan, conds []expr.Expr, rs []restriction, w wish) *path {
	unique := len(s.Desc.RowKey) > 0
	p := c.keyPath(s, s.Desc.RowKey, unique, conds, rs)
	p.cover = true
	c.orderPath(s, s.Desc.RowKey, p, w)
	p.cost = c.pathCost(s, p, conds, w)
	return p
}

// wholePath reads all rows, whatever the conditions.
func (c *chooser) wholePath(s *logical.Scan, conds []expr.Expr, w wish) *path {
	p := &path{covered: make([]bool, len(conds)), rows: c.est.TableRows(s.Desc), cover: true}
	p.cost = c.pathCost(s, p, conds, w)
	return p
}

// indexPath reads by an index; nil when that has no use: nothing narrows the range, gives the
// order, or lets the entries alone do.
func (c *chooser) indexPath(s *logical.Scan, ix *table.Index, conds []expr.Expr, rs []restriction,
	w wish) *path {
	var implied []int
	if ix.WhereText != "" {
		var ok bool
		if implied, ok = impliesIndex(s, ix, conds); !ok {
			return nil
		}
	}
	p := c.keyPath(s, ix.Columns, ix.Unique || ix.Primary, conds, rs)
	p.index = ix
	for _, i := range implied {
		p.covered[i] = true
		p.rows = math.Max(1, p.rows*c.est.Cond(conds[i]))
	}
	c.orderPath(s, ix.Columns, p, w)
	p.cover = table.Covering(s.Desc, ix, c.ordinals(s))
	if p.ranges == nil && !p.ordered && !p.cover && ix.WhereText == "" {
		return nil
	}
	p.cost = c.pathCost(s, p, conds, w)
	return p
}

// impliesIndex reports whether the conditions imply a partial index's predicate, judged by
// equality, and which of them every entry fulfils for that.
func impliesIndex(s *logical.Scan, ix *table.Index, conds []expr.Expr) (implied []int, ok bool) {
	pred, ok := s.Partial[ix.ID]
	if !ok {
		return nil, false
	}
	for _, p := range pred {
		found := false
		for i, cond := range conds {
			if logical.Equal(p, cond) {
				found = true
				implied = append(implied, i)
			}
		}
		if !found {
			return nil, false
		}
	}
	return implied, true
}

// keyPath turns restrictions into ranges over key columns: values for the first columns, then one
// range of the next.
func (c *chooser) keyPath(s *logical.Scan, key []table.IndexColumn, unique bool, conds []expr.Expr,
	rs []restriction) *path {
	p := &path{covered: make([]bool, len(conds)), rows: c.est.TableRows(s.Desc)}
	prefixes := []physical.Range{{}}
	used := 0
	for _, kc := range key {
		if kc.ColumnID == 0 {
			break
		}
		id := s.First + s.Desc.ColumnByID(kc.ColumnID)
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
		p.rows = math.Max(1, p.rows*c.est.Intervals(id, sections(r.intervals)))
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

// valuesFor finds the restriction of a column to single values that has the fewest.
func valuesFor(rs []restriction, id logical.ColID) *restriction {
	var best *restriction
	for i := range rs {
		r := &rs[i]
		if r.col != id {
			continue
		}
		single := true
		for k := range r.intervals {
			single = single && r.intervals[k].single()
		}
		if single && (best == nil || len(r.intervals) < len(best.intervals)) {
			best = r
		}
	}
	return best
}

// extend adds a value of the next key column to every prefix.
func (c *chooser) extend(prefixes []physical.Range, r *restriction) []physical.Range {
	out := make([]physical.Range, 0, len(prefixes)*len(r.intervals))
	for _, p := range prefixes {
		for _, iv := range r.intervals {
			n := physical.Range{Eq: append(p.Eq[:len(p.Eq):len(p.Eq)], nil), IsNull: p.IsNull}
			if iv.isNull {
				n.Eq[len(p.Eq)] = nullOf
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

// narrow adds ranges of the next key column to the prefixes: one restriction with several sections,
// or a lower and an upper bound from two. nil when nothing bounds the column.
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
		} else if meet(&chosen, r) {
			p.covered[r.cond] = r.exact
		}
	}
	if chosen.intervals == nil || len(prefixes)*len(chosen.intervals) > maxIntervals {
		return nil
	}
	var out []physical.Range
	for _, pre := range prefixes {
		for _, iv := range chosen.intervals {
			if iv.single() {
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
	p.rows = math.Max(1, p.rows*c.est.Intervals(id, sections(chosen.intervals)))
	return out
}

// sections are intervals as the estimator takes them.
func sections(ivs []interval) []estimate.Interval {
	out := make([]estimate.Interval, len(ivs))
	for i, iv := range ivs {
		out[i] = estimate.Interval{Eq: iv.eq, IsNull: iv.isNull, Low: iv.low, High: iv.high,
			LowIncl: iv.lowIncl, HighIncl: iv.highIncl}
	}
	return out
}

// orderPath sees whether the key's order, forward or backward, is the order wished for. Columns
// held to one value do not matter.
func (c *chooser) orderPath(s *logical.Scan, key []table.IndexColumn, p *path, w wish) {
	if len(w.order) == 0 {
		return
	}
	if p.point && p.rows <= 1 {
		p.ordered = true
		return
	}
	fixed := func(k int) bool {
		return len(p.ranges) == 1 && k < len(p.ranges[0].Eq)
	}
	k := 0
	direction := 0 // 1 forward, -1 backward
	for _, o := range w.order {
		if !s.OwnsColumn(o.id) {
			return
		}
		if c.fixedColumn(s, key, p, o.id) {
			continue
		}
		for k < len(key) && fixed(k) && c.keyID(s, key[k]) != o.id {
			k++
		}
		if k == len(key) {
			if p.uniqueKey(s, key) {
				break
			}
			return
		}
		if c.keyID(s, key[k]) != o.id {
			return
		}
		d := 1
		if key[k].Desc != o.desc {
			d = -1
		}
		nullsFirst := key[k].NullsFirst
		if d < 0 {
			nullsFirst = !nullsFirst
		}
		if !s.Column(o.id).NotNull && nullsFirst != o.nullsFirst {
			return
		}
		if direction != 0 && d != direction {
			return
		}
		direction = d
		k++
	}
	p.ordered, p.reverse = true, direction < 0
}

func (c *chooser) keyID(s *logical.Scan, kc table.IndexColumn) logical.ColID {
	if kc.ColumnID == 0 {
		return 0
	}
	return s.First + s.Desc.ColumnByID(kc.ColumnID)
}

// uniqueKey says whether the whole key tells rows apart, so that further order does not matter.
func (p *path) uniqueKey(s *logical.Scan, key []table.IndexColumn) bool {
	if p.index == nil {
		return true
	}
	if !p.index.Unique && !p.index.Primary {
		return false
	}
	for _, kc := range key {
		if i := s.Desc.ColumnByID(kc.ColumnID); kc.ColumnID == 0 || !s.Desc.Columns[i].NotNull {
			return false
		}
	}
	return true
}

// fixedColumn says whether the ranges hold a key column to one value.
func (c *chooser) fixedColumn(s *logical.Scan, key []table.IndexColumn, p *path,
	id logical.ColID) bool {
	if len(p.ranges) != 1 {
		return false
	}
	for k := range p.ranges[0].Eq {
		if c.keyID(s, key[k]) == id {
			return true
		}
	}
	return false
}

// pathCost is what reading by a path costs, a sort included where the order is not there.
func (c *chooser) pathCost(s *logical.Scan, p *path, conds []expr.Expr, w wish) float64 {
	scan := opt.KeyScan{Index: p.index != nil, Fetches: !p.cover, Rows: p.rows}
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
	if len(w.order) > 0 && !p.ordered {
		return cost + c.costs.SortRows(out) + c.pathPenalty(s, p)
	}
	if w.limit > 0 && w.limit < out {
		cost = opt.Stopped(cost, w.limit, out)
	}
	return cost + c.pathPenalty(s, p)
}

// shortEntries reports whether an index has less than half of its table's columns.
func shortEntries(d *table.Desc, ix *table.Index) bool {
	return len(d.Columns) > 2*(len(ix.Columns)+len(ix.Include)+len(d.RowKey))
}

// pathPenalty is what the session's settings add to a path, by the name that EXPLAIN gives it.
func (c *chooser) pathPenalty(s *logical.Scan, p *path) float64 {
	if p.index != nil {
		return c.costs.ScanPenalty(true, p.cover)
	}
	return c.costs.ScanPenalty(s.Desc.PrimaryKey() != nil && (p.ranges != nil || p.ordered), false)
}
