package choose

import (
	"math"

	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"

	"slices"
)

// equiPair is a condition left = right between the two sides of a join.
type equiPair struct {
	left, right expr.Expr
	cond        int
}

// join computes a join the cheapest way.
func (c *chooser) join(n *logical.Join, w wish) built {
	if n.Lateral {
		return c.apply(n)
	}
	if n.Kind == opt.Right {
		n = &logical.Join{Kind: opt.Left, Left: n.Right, Right: n.Left, On: n.On}
	}
	if n.Kind == opt.Full {
		w = wish{} // rows of the right side alone come last
	}
	w.order = ownOrder(n.Left, w.order)
	left := c.build(n.Left, wish{order: w.order})
	if c.err != nil {
		return left
	}
	pairs := c.equiPairs(n)
	right := c.build(n.Right, wish{})
	if c.err != nil {
		return right
	}
	best, hashed := c.plainCost(n.Kind, left, right, len(pairs) > 0)
	swap := n.Kind == opt.Inner && !left.ordered &&
		left.node.Est().Rows*1.2 < right.node.Est().Rows && len(w.order) == 0 &&
		!ofSystemTable(left.node)
	if swap && c.est.Known() {
		best, hashed = c.plainCost(n.Kind, right, left, len(pairs) > 0)
	}
	looked, lookCost := c.indexJoin(n, left, pairs)
	flipped, flipCost := c.lookupFromRight(n, right, pairs)
	if looked != nil && lookCost < best &&
		(flipped == nil || lookCost <= flipCost || left.ordered) {
		return finishJoin(left, *looked, w)
	}
	if flipped != nil && flipCost < best && !left.ordered {
		return *flipped
	}
	if swap {
		n = &logical.Join{Kind: n.Kind, Left: n.Right, Right: n.Left, On: n.On}
		left, right = right, left
		for i := range pairs {
			pairs[i].left, pairs[i].right = pairs[i].right, pairs[i].left
		}
	}
	if hashed {
		return finishJoin(left, c.hashJoin(n, left, right, pairs), w)
	}
	return finishJoin(left, c.nestLoop(n, left, right), w)
}

// ofSystemTable reports whether the rows of a node follow those of a table of the system. Clients
// read columns, keys and the like in the order in which these tables give them, as the indexes of
// PostgreSQL's catalogs would; a join keeps it, by leaving the table outside.
func ofSystemTable(n physical.Node) bool {
	for {
		switch t := n.(type) {
		case *physical.VirtualScan:
			return true
		case *physical.HashJoin:
			n = t.Left
		case *physical.NestLoop:
			n = t.Left
		case *physical.Project:
			n = t.Child
		case *physical.Filter:
			n = t.Child
		default:
			return false
		}
	}
}

// finishJoin notes whether the join keeps the wished order: that of its left side.
func finishJoin(left, out built, w wish) built {
	out.ordered = left.ordered && len(w.order) > 0
	return out
}

// ownOrder is a wished order if all of its columns come from a tree.
func ownOrder(n logical.Node, order []orderCol) []orderCol {
	if len(order) == 0 {
		return order
	}
	cols := logical.MadeCols(n)
	for _, o := range order {
		if !cols.Has(o.id) {
			return nil
		}
	}
	return order
}

// equiPairs finds the conditions that a hash table or an index can serve.
func (c *chooser) equiPairs(n *logical.Join) []equiPair {
	if len(n.On) == 0 {
		return nil
	}
	l, r := logical.MadeCols(n.Left), logical.MadeCols(n.Right)
	var pairs []equiPair
	for i, on := range n.On {
		call, ok := on.(*expr.Call)
		if !ok || call.Func.Name != "=" || len(call.Args) != 2 || !logical.Movable(on) {
			continue
		}
		a, b := logical.ColsOf(call.Args[0]), logical.ColsOf(call.Args[1])
		switch {
		case a.Empty() || b.Empty():
		case a.SubsetOf(l) && b.SubsetOf(r):
			pairs = append(pairs, equiPair{call.Args[0], call.Args[1], i})
		case a.SubsetOf(r) && b.SubsetOf(l):
			pairs = append(pairs, equiPair{call.Args[1], call.Args[0], i})
		}
	}
	return pairs
}

// rest are the conditions of a join that no pair covers.
func rest(n *logical.Join, pairs []equiPair) []expr.Expr {
	covered := make([]bool, len(n.On))
	for _, p := range pairs {
		covered[p.cond] = true
	}
	var out []expr.Expr
	for i, on := range n.On {
		if !covered[i] {
			out = append(out, on)
		}
	}
	return out
}

// plainCost is what a join of two inputs costs without look-ups: by a hash table where there are
// pairs, unless the session wants none and there is another way.
func (c *chooser) plainCost(kind opt.JoinKind, left, right built, pairs bool) (cost float64,
	hashed bool) {
	if !pairs {
		return c.costs.NestLoop(left.node.Est(), right.node.Est()), false
	}
	cost = c.costs.HashJoin(left.node.Est(), right.node.Est())
	if c.costs.NoHashJoin && kind != opt.NullAnti {
		if nest := c.costs.NestLoop(left.node.Est(), right.node.Est()); nest < cost {
			return nest, false
		}
	}
	return cost, true
}

func (c *chooser) hashJoin(n *logical.Join, left, right built, pairs []equiPair) built {
	h := &physical.HashJoin{Kind: n.Kind, Left: left.node, Right: right.node}
	for _, p := range pairs {
		lk, rk := sameKey(p.left, p.right)
		h.LeftKeys = append(h.LeftKeys, c.expr(lk, left.cols))
		h.RightKeys = append(h.RightKeys, c.expr(rk, right.cols))
	}
	both := append(append([]logical.ColID(nil), left.cols...), right.cols...)
	h.Cond = c.conj(rest(n, pairs), both)
	cols := joinCols(n.Kind, left.cols, both)
	h.Base = c.base(cols, c.joinRows(n.Kind, left, right, pairs, rest(n, pairs)),
		c.costs.HashJoin(left.node.Est(), right.node.Est()))
	return built{node: h, cols: cols}
}

// sameKey gives both keys one type where the operator compares two types.
func sameKey(l, r expr.Expr) (expr.Expr, expr.Expr) {
	lt, rt := l.Type(), r.Type()
	switch {
	case lt.OID == rt.OID:
	case isMoment(lt) && isMoment(rt):
		if b, ok := builtin.KeyBoundOf(rt, "=", lt); ok && dayClock[lt.OID] < dayClock[rt.OID] {
			l = boundExpr(b, l)
		} else if b, ok := builtin.KeyBoundOf(lt, "=", rt); ok {
			r = boundExpr(b, r)
		}
	case lt.Len < rt.Len && lt.Len > 0:
		l = &expr.Cast{T: rt, Arg: l}
	case rt.Len < lt.Len && rt.Len > 0:
		r = &expr.Cast{T: lt, Arg: r}
	}
	return l, r
}

// dayClock orders types by what they are compared as: a date as a timestamp, both as a timestamptz.
var dayClock = map[types.OID]int{types.OIDDate: 1, types.OIDTimestamp: 2, types.OIDTimestampTZ: 3}

func isMoment(t *types.Type) bool { return dayClock[t.OID] > 0 }

func joinCols(kind opt.JoinKind, left, both []logical.ColID) []logical.ColID {
	switch kind {
	case opt.Semi, opt.Anti, opt.NullAnti:
		return left
	}
	return both
}

// joinRows estimates a join's size.
func (c *chooser) joinRows(kind opt.JoinKind, left, right built, pairs []equiPair,
	rest []expr.Expr) float64 {
	return c.est.Join(kind, left.node.Est().Rows, right.node.Est().Rows, estimated(pairs), rest)
}

// estimated are pairs as the estimator takes them.
func estimated(pairs []equiPair) []estimate.Pair {
	out := make([]estimate.Pair, len(pairs))
	for i, p := range pairs {
		out[i] = estimate.Pair{Left: p.left, Right: p.right}
	}
	return out
}

func (c *chooser) nestLoop(n *logical.Join, left, right built) built {
	both := append(append([]logical.ColID(nil), left.cols...), right.cols...)
	j := &physical.NestLoop{Kind: n.Kind, Left: left.node, Right: right.node,
		Cond: c.conj(n.On, both)}
	cols := joinCols(n.Kind, left.cols, both)
	j.Base = c.base(cols, c.joinRows(n.Kind, left, right, nil, n.On),
		c.costs.NestLoop(left.node.Est(), right.node.Est()))
	return built{node: j, cols: cols}
}

// indexJoin tries to look the right side up by an index for each left row; nil when that cannot be.
func (c *chooser) indexJoin(n *logical.Join, left built, pairs []equiPair) (*built, float64) {
	switch n.Kind {
	case opt.Inner, opt.Left, opt.Semi, opt.Anti:
	default:
		return nil, 0
	}
	var conds []expr.Expr
	s, ok := n.Right.(*logical.Scan)
	if f, isFilter := n.Right.(*logical.Filter); isFilter {
		s, ok = f.Child.(*logical.Scan)
		conds = f.Conds
	}
	if !ok || s.Desc.Kind != table.KindTable || len(pairs) == 0 {
		return nil, 0
	}
	ix, used, unique := c.lookupIndex(s, pairs)
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
	residual := rest(n, usedPairs)
	j.Cond = c.conj(residual, both)
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
	rows := c.lookedUp(n.Kind, est.Rows, matches, s, conds, usedPairs, residual)
	cols := joinCols(n.Kind, left.cols, both)
	j.Base = c.base(cols, rows, cost)
	return &built{node: j, cols: cols}, cost
}

// lookedUp estimates a join by look-ups, of which each finds so many rows before conditions.
func (c *chooser) lookedUp(kind opt.JoinKind, left, matches float64, s *logical.Scan,
	conds []expr.Expr, pairs []equiPair, rest []expr.Expr) float64 {
	if c.est.Known() {
		return c.est.Join(kind, left, c.est.TableRows(s.Desc)*c.est.Conds(conds), estimated(pairs),
			rest)
	}
	rows := left * matches * c.est.Conds(conds) * c.est.Conds(rest)
	if kind != opt.Inner {
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
		Filter: c.conj(conds, s.Out)}
	scan.Covering = ix == nil || table.Covering(s.Desc, ix, scan.Out)
	scan.Base = c.base(s.Out, 1, opt.Lookup)
	return scan
}

// lookupFromRight tries the join the other way round: the rows of the right side, each once where a
// semi join asks only whether there is one, look the left side up. nil when that cannot be.
func (c *chooser) lookupFromRight(n *logical.Join, right built, pairs []equiPair) (*built,
	float64) {
	turned := make([]equiPair, len(pairs))
	for i, p := range pairs {
		turned[i] = equiPair{left: p.right, right: p.left, cond: p.cond}
	}
	j := &logical.Join{Kind: opt.Inner, Left: n.Right, Right: n.Left, On: n.On}
	switch n.Kind {
	case opt.Inner:
	case opt.Semi:
		if len(rest(n, pairs)) > 0 || !c.distinctKeys(&right, pairs) {
			return nil, 0
		}
	default:
		return nil, 0
	}
	return c.indexJoin(j, right, turned)
}

// distinctKeys reduces the right side of a semi join to its different keys; false when these are
// not plain columns.
func (c *chooser) distinctKeys(right *built, pairs []equiPair) bool {
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
	b := c.exactly(*right, keys)
	est := b.node.Est()
	rows := est.Rows
	if c.est.Known() {
		rows = c.est.Groups(c.columns(keys), rows)
	}
	d := &physical.Distinct{Child: b.node}
	d.Base = c.base(keys, rows, opt.Group(est))
	*right = built{node: d, cols: keys}
	return true
}

// sameDistinct reports whether different values of the one type are never equal to one of the
// other.
func sameDistinct(a, b *types.Type) bool {
	return a.OID == b.OID || a.Family == b.Family &&
		(a.Family == types.Int || a.Family == types.Float)
}

// columns are references to columns by ID.
func (c *chooser) columns(ids []logical.ColID) []expr.Expr {
	out := make([]expr.Expr, len(ids))
	for i, id := range ids {
		out[i] = c.meta.Col(id)
	}
	return out
}

// lookupKey is a key column's value in terms of the left side.
type lookupKey struct {
	key  expr.Expr
	pair equiPair
}

// lookupIndex finds the index with the longest prefix of key columns that pairs equal to left
// expressions; a whole unique key is best.
func (c *chooser) lookupIndex(s *logical.Scan, pairs []equiPair) (best *table.Index,
	used []lookupKey, unique bool) {
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
		if ix.ID != table.RowIndexID && ix.WhereText == "" {
			consider(ix, ix.Columns, ix.Unique || ix.Primary)
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
			cast.Arg.Type().OID == s.Column(id).Type.OID && keepsApart(cast) {
			left = cast.Arg // both sides were cast to compare them
		}
		if col, ok := keyColumn(s, p.right, p.left.Type()); !ok || col != id {
			continue
		}
		if value, ok := keyEqual(s.Column(id).Type, left); ok {
			return lookupKey{key: value, pair: p}, true
		}
	}
	return lookupKey{}, false
}

// apply runs the right side once per left row, with the columns that it reads in slots.
func (c *chooser) apply(n *logical.Join) built {
	left := c.build(n.Left, wish{})
	if c.err != nil {
		return left
	}
	mark := len(c.vars)
	free := logical.FreeCols(n.Right)
	outer := free.Copy()
	outer.DifferenceWith(logical.SetOf(left.cols))
	free.DifferenceWith(outer) // the rest is in slots of queries further out already
	a := &physical.Apply{Kind: n.Kind, Left: left.node}
	a.Slots, a.Args = c.bindOuter(free, left.cols)
	right := c.build(n.Right, wish{})
	c.vars = c.vars[:mark]
	if c.err != nil {
		return right
	}
	a.Right = right.node
	both := append(append([]logical.ColID(nil), left.cols...), right.cols...)
	a.Cond = c.conj(n.On, both)
	cols := joinCols(n.Kind, left.cols, both)
	a.Base = c.base(cols, c.joinRows(n.Kind, left, right, nil, n.On),
		opt.Apply(left.node.Est(), right.node.Est()))
	return built{node: a, cols: cols, ordered: false}
}
