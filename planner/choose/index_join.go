package choose

import (
	"math"
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// lookupJoin plans a join by look-ups from its left or its right side. It returns nil when neither
// is possible at less than the cost limit.
func (c *chooser) lookupJoin(n *logical.Join, left, right subplan, pairs []equiPair,
	limit float64) *subplan {
	fromLeft, leftCost := c.indexJoin(n, left, pairs)
	fromRight, rightCost := c.lookupFromRight(n, right, pairs)
	if fromLeft != nil && leftCost < limit &&
		(fromRight == nil || leftCost <= rightCost || left.ordered) {
		return fromLeft
	}
	if fromRight != nil && rightCost < limit && !left.ordered {
		return fromRight
	}
	return nil
}

// indexJoin plans a join that looks up, by an index, the right rows for each left row, and returns
// its cost. The subplan is nil when no index serves.
func (c *chooser) indexJoin(n *logical.Join, left subplan, pairs []equiPair) (*subplan, float64) {
	switch n.Kind {
	case opt.Inner, opt.Left, opt.Semi, opt.Anti:
	default:
		return nil, 0
	}
	s, conds, barrier := lookedUp(n.Right)
	if barrier {
		// The look-up sees the rows that the barrier hides. What is left of ON does not: the
		// look-up tests the barrier's conditions.
		pairs = leakproofPairs(n, pairs)
	}
	if s == nil || !s.Desc.HasRows() || len(pairs) == 0 {
		return nil, 0
	}
	ix, used, unique := c.lookupIndex(s, conds, pairs)
	if len(used) == 0 {
		return nil, 0
	}
	inner := c.lookupScan(s, ix, conds)
	j := &physical.IndexJoin{Kind: n.Kind, Left: left.node, Inner: inner}
	var usedPairs []equiPair
	for _, u := range used {
		j.Keys = append(j.Keys, c.expr(u.key, left.cols))
		usedPairs = append(usedPairs, u.pair)
	}
	both := append(append([]logical.ColID(nil), left.cols...), s.Out...)
	j.Cond = c.conj(uncovered(n, usedPairs), both)
	est := left.node.Est()
	matches := 1.0
	if !unique {
		keys := make([]expr.Expr, len(usedPairs))
		for i, p := range usedPairs {
			keys[i] = p.right
		}
		matches = c.est.Matches(s.Desc, keys)
	}
	cost := c.costs.IndexJoin(est, matches, ix != nil && !inner.Covering) +
		c.costs.ScanPenalty(true, ix != nil && inner.Covering)
	cols := joinCols(n.Kind, left.cols, both)
	j.Base = c.base(cols, c.indexJoinRows(n, est.Rows, matches, usedPairs), cost)
	return &subplan{node: j, cols: cols}, cost
}

// scanOf returns the scan of a relation, with the conditions of a filter directly above it. It
// returns nil for any other tree.
func scanOf(n logical.Node) (*logical.Scan, []expr.Expr) {
	var conds []expr.Expr
	if f, ok := n.(*logical.Filter); ok {
		n, conds = f.Child, f.Conds
	}
	s, _ := n.(*logical.Scan)
	return s, conds
}

// lookedUp is scanOf for the side of a join whose rows are looked up; barrier reports that it is
// below a security barrier.
func lookedUp(n logical.Node) (s *logical.Scan, conds []expr.Expr, barrier bool) {
	b, barrier := n.(*logical.Barrier)
	if barrier {
		n = b.Child
	}
	s, conds = scanOf(n)
	return s, conds, barrier
}

// leakproofPairs returns the pairs whose conditions are leakproof.
func leakproofPairs(n *logical.Join, pairs []equiPair) (out []equiPair) {
	for _, p := range pairs {
		if logical.Leakproof(n.On[p.cond]) {
			out = append(out, p)
		}
	}
	return out
}

// indexJoinRows returns the estimated rows of an index join. left is the number of left rows, each
// of which finds matches rows before any conditions but pairs.
func (c *chooser) indexJoinRows(n *logical.Join, left, matches float64, pairs []equiPair) float64 {
	s, conds, _ := lookedUp(n.Right)
	residual := uncovered(n, pairs)
	if c.est.Known() {
		return c.est.Join(n.Kind, left, c.est.TableRows(s.Desc)*c.est.Conds(conds),
			estimatedPairs(pairs), residual)
	}
	rows := left * matches * c.est.Conds(conds) * c.est.Conds(residual)
	if n.Kind != opt.Inner {
		rows = math.Max(rows, left)
	}
	return rows
}

func (c *chooser) lookupScan(s *logical.Scan, ix *table.Index, conds []expr.Expr) *physical.Scan {
	alias := s.Desc.Name
	if s.Alias != "" {
		alias = s.Alias
	}
	c.noteAlias(s.Out, alias)
	scan := &physical.Scan{Table: s.Desc, Alias: s.Alias, Index: ix, Out: c.ordinals(s),
		Filter: c.conj(conds, s.Out), Before: s.Before}
	scan.Covering = ix == nil || table.Covering(s.Desc, ix, scan.Out)
	scan.Base = c.base(s.Out, 1, opt.Lookup)
	return scan
}

// lookupFromRight plans a join that looks up the left rows for each right row, and returns its
// cost. A semi join looks up each different key of the right side once. The subplan is nil when no
// index serves.
func (c *chooser) lookupFromRight(n *logical.Join, right subplan, pairs []equiPair) (*subplan,
	float64) {
	switch n.Kind {
	case opt.Inner:
	case opt.Semi:
		if len(uncovered(n, pairs)) > 0 || !c.distinctKeys(&right, pairs) {
			return nil, 0
		}
	default:
		return nil, 0
	}
	j := &logical.Join{Kind: opt.Inner, Left: n.Right, Right: n.Left, On: n.On}
	return c.indexJoin(j, right, swapped(pairs))
}

// distinctKeys reduces the right side of a semi join to its different keys. It returns false when
// these are not plain columns.
func (c *chooser) distinctKeys(right *subplan, pairs []equiPair) bool {
	var keys []logical.ColID
	for _, p := range pairs {
		col, ok := p.right.(*expr.Col)
		if !ok || !sameDistinct(p.left.Type(), col.T) {
			return false
		}
		if slices.Index(keys, col.Index) < 0 {
			keys = append(keys, col.Index)
		}
	}
	if len(keys) == 0 {
		return false
	}
	b := c.projectExactly(*right, keys)
	est := b.node.Est()
	rows := est.Rows
	if c.est.Known() {
		rows = c.est.Groups(c.columns(keys), rows)
	}
	d := &physical.Distinct{Child: b.node}
	d.Base = c.base(keys, rows, opt.Group(est))
	*right = subplan{node: d, cols: keys}
	return true
}

// sameDistinct reports whether no value of one type is equal to two different values of the other.
func sameDistinct(a, b *types.Type) bool {
	return a.OID == b.OID || a.Family == b.Family &&
		(a.Family == types.Int || a.Family == types.Float)
}

// columns returns references to columns by ID.
func (c *chooser) columns(ids []logical.ColID) []expr.Expr {
	out := make([]expr.Expr, len(ids))
	for i, id := range ids {
		out[i] = c.meta.Col(id)
	}
	return out
}

// lookupKey is the value of a key column in a look-up: an expression over the left side, and the
// pair that it comes from.
type lookupKey struct {
	key  expr.Expr
	pair equiPair
}

// lookupIndex returns the index with the longest prefix of key columns that pairs equate with left
// expressions, preferring a whole unique key. A nil index with keys in use means the row key.
func (c *chooser) lookupIndex(s *logical.Scan, conds []expr.Expr,
	pairs []equiPair) (best *table.Index, used []lookupKey, unique bool) {
	consider := func(ix *table.Index, key []table.IndexColumn, isUnique bool) {
		var found []lookupKey
		for _, kc := range key {
			k, ok := c.lookupValue(s, kc, pairs)
			if !ok {
				break
			}
			found = append(found, k)
		}
		whole := isUnique && len(found) == len(key)
		if whole && !unique || whole == unique && len(found) > len(used) {
			best, used, unique = ix, found, whole
		}
	}
	consider(nil, s.Desc.RowKey, true)
	for i := range s.Desc.Indexes {
		ix := &s.Desc.Indexes[i]
		if ix.ID != table.RowIndexID && !ix.GIN() && usable(s, ix, conds) {
			consider(ix, ix.Columns, ix.Immediate())
		}
	}
	return best, used, unique
}

func (c *chooser) lookupValue(s *logical.Scan, kc table.IndexColumn, pairs []equiPair) (lookupKey,
	bool) {
	id := c.keyID(s, kc)
	if id == 0 {
		return lookupKey{}, false
	}
	for _, p := range pairs {
		left := p.left
		if cast, isCast := left.(*expr.Cast); isCast &&
			cast.Arg.Type().OID == s.PartType(id).OID && keepsApart(cast) {
			left = cast.Arg // both sides were cast to compare them
		}
		if col, ok := keyColumn(s, s.ByIndex(p.right), p.left.Type()); !ok || col != id {
			continue
		}
		if value, ok := keyEqual(s.PartType(id), left); ok {
			return lookupKey{key: value, pair: p}, true
		}
	}
	return lookupKey{}, false
}
