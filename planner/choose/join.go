package choose

import (
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// equiPair is a condition left = right between the two sides of a join.
type equiPair struct {
	left, right expr.Expr
	cond        int
}

// join plans a join by the cheapest method: look-ups by an index from either side, a hash table, or
// a loop over all pairs.
func (c *chooser) join(n *logical.Join, req required) subplan {
	if n.Lateral {
		return c.apply(n)
	}
	if n.Kind == opt.Right {
		n = &logical.Join{Kind: opt.Left, Left: n.Right, Right: n.Left, On: n.On}
	}
	if n.Kind == opt.Full {
		req = required{} // right rows without a match come last
	}
	req.order = orderMadeBy(n.Left, req.order)
	left := c.build(n.Left, required{order: req.order})
	if c.err != nil {
		return left
	}
	pairs := c.equiPairs(n)
	right := c.build(n.Right, required{})
	if c.err != nil {
		return right
	}
	best, hashed := c.plainCost(n.Kind, left, right, len(pairs) > 0)
	swap := len(req.order) == 0 && betterSwapped(n.Kind, left, right)
	if swap && c.est.Known() {
		best, hashed = c.plainCost(n.Kind, right, left, len(pairs) > 0)
	}
	if looked := c.lookupJoin(n, left, right, pairs, best); looked != nil {
		return keepOrder(left, *looked, req)
	}
	if swap {
		n = &logical.Join{Kind: n.Kind, Left: n.Right, Right: n.Left, On: n.On}
		left, right, pairs = right, left, swapped(pairs)
	}
	if hashed {
		return keepOrder(left, c.hashJoin(n, left, right, pairs), req)
	}
	return keepOrder(left, c.nestLoop(n, left, right), req)
}

// betterSwapped reports whether the right side of a join should be its left one: the smaller side
// goes into the hash table, or is kept in memory.
func betterSwapped(kind opt.JoinKind, left, right subplan) bool {
	return kind == opt.Inner && !left.ordered &&
		left.node.Est().Rows*1.2 < right.node.Est().Rows && !ofSystemTable(left.node)
}

// ofSystemTable reports whether the rows of a node come in the order of a system table. Clients
// expect columns, keys and the like in the order of these tables, which is that of the indexes of
// PostgreSQL's catalogs. A join therefore keeps a system table on its left side.
func ofSystemTable(n physical.Node) bool {
	switch n.(type) {
	case *physical.VirtualScan:
		return true
	case *physical.HashJoin, *physical.NestLoop, *physical.Project, *physical.Filter:
		return ofSystemTable(n.Children()[0])
	}
	return false
}

// keepOrder marks the result of a join as ordered if its left side is.
func keepOrder(left, out subplan, req required) subplan {
	out.ordered = left.ordered && len(req.order) > 0
	if j, ok := out.node.(*physical.HashJoin); ok {
		j.Ordered = out.ordered
	}
	return out
}

// orderMadeBy returns the required order if a tree makes all of its columns, else nil.
func orderMadeBy(n logical.Node, order []orderCol) []orderCol {
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

// equiPairs returns the conditions of a join that a hash table or an index can serve.
func (c *chooser) equiPairs(n *logical.Join) []equiPair {
	if len(n.On) == 0 {
		return nil
	}
	l, r := logical.MadeCols(n.Left), logical.MadeCols(n.Right)
	var pairs []equiPair
	for i, on := range n.On {
		call, ok := on.(*expr.Call)
		if !ok || call.Func.Comparison() != "=" || len(call.Args) != 2 || !logical.Movable(on) {
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

// swapped returns the pairs with their sides exchanged.
func swapped(pairs []equiPair) []equiPair {
	out := make([]equiPair, len(pairs))
	for i, p := range pairs {
		out[i] = equiPair{left: p.right, right: p.left, cond: p.cond}
	}
	return out
}

// uncovered returns the conditions of a join that are not among the pairs.
func uncovered(n *logical.Join, pairs []equiPair) []expr.Expr {
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

// plainCost returns the cost of a join without look-ups: by a hash table if there are pairs, unless
// the session's settings make a loop over all pairs cheaper.
func (c *chooser) plainCost(kind opt.JoinKind, left, right subplan, pairs bool) (cost float64,
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

func (c *chooser) hashJoin(n *logical.Join, left, right subplan, pairs []equiPair) subplan {
	h := &physical.HashJoin{Kind: n.Kind, Left: left.node, Right: right.node}
	for _, p := range pairs {
		lk, rk := unifyTypes(p.left, p.right)
		h.LeftKeys = append(h.LeftKeys, c.expr(lk, left.cols))
		h.RightKeys = append(h.RightKeys, c.expr(rk, right.cols))
	}
	both := append(append([]logical.ColID(nil), left.cols...), right.cols...)
	h.Cond = c.conj(uncovered(n, pairs), both)
	cols := joinCols(n.Kind, left.cols, both)
	h.Base = c.base(cols, c.joinRows(n.Kind, left, right, pairs, uncovered(n, pairs)),
		c.costs.HashJoin(left.node.Est(), right.node.Est()))
	return subplan{node: h, cols: cols}
}

// unifyTypes converts two keys to one type where the operator compares different types.
func unifyTypes(l, r expr.Expr) (expr.Expr, expr.Expr) {
	lt, rt := l.Type(), r.Type()
	switch {
	case lt.OID == rt.OID:
	case isMoment(lt) && isMoment(rt):
		if b, ok := builtin.KeyBoundOf(rt, "=", lt); ok && momentRank[lt.OID] < momentRank[rt.OID] {
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

// momentRank ranks the types of moments: two of them are compared in the type of the higher rank.
var momentRank = map[types.OID]int{types.OIDDate: 1, types.OIDTimestamp: 2, types.OIDTimestampTZ: 3}

func isMoment(t *types.Type) bool { return momentRank[t.OID] > 0 }

func joinCols(kind opt.JoinKind, left, both []logical.ColID) []logical.ColID {
	switch kind {
	case opt.Semi, opt.Anti, opt.NullAnti:
		return left
	}
	return both
}

// joinRows returns the estimated rows of a join.
func (c *chooser) joinRows(kind opt.JoinKind, left, right subplan, pairs []equiPair,
	residual []expr.Expr) float64 {
	return c.est.Join(kind, left.node.Est().Rows, right.node.Est().Rows, estimatedPairs(pairs),
		residual)
}

// estimatedPairs converts pairs for the estimator.
func estimatedPairs(pairs []equiPair) []estimate.Pair {
	out := make([]estimate.Pair, len(pairs))
	for i, p := range pairs {
		out[i] = estimate.Pair{Left: p.left, Right: p.right}
	}
	return out
}

func (c *chooser) nestLoop(n *logical.Join, left, right subplan) subplan {
	both := append(append([]logical.ColID(nil), left.cols...), right.cols...)
	j := &physical.NestLoop{Kind: n.Kind, Left: left.node, Right: right.node,
		Cond: c.conj(n.On, both)}
	cols := joinCols(n.Kind, left.cols, both)
	j.Base = c.base(cols, c.joinRows(n.Kind, left, right, nil, n.On),
		c.costs.NestLoop(left.node.Est(), right.node.Est()))
	return subplan{node: j, cols: cols}
}

// apply plans a join that runs its right side once for each left row. Slots hold the left columns
// that the right side reads.
func (c *chooser) apply(n *logical.Join) subplan {
	left := c.build(n.Left, required{})
	if c.err != nil {
		return left
	}
	mark := len(c.vars)
	free := logical.FreeCols(n.Right)
	outer := free.Copy()
	outer.DifferenceWith(logical.SetOf(left.cols))
	free.DifferenceWith(outer) // columns of queries further out are in slots already
	a := &physical.Apply{Kind: n.Kind, Left: left.node}
	a.Slots, a.Args = c.bindOuter(free, left.cols)
	right := c.build(n.Right, required{})
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
	return subplan{node: a, cols: cols, ordered: false}
}
