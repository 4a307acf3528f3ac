package rule

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// pushFilters moves conditions towards the rows that they speak of: through projections,
// aggregates (on group columns), sorts, DISTINCT and UNION ALL, into joins and their sides.
//
// The same because a condition on columns that a node passes on unchanged selects the same rows
// below it. Must not fire: below the NULL-padded side of an outer join (`a LEFT JOIN b … WHERE b.x
// IS NULL` is no condition on b); from the ON of a left join into its left side (unmatched rows
// must stay); through LIMIT, window functions or set-returning functions; for volatile conditions
// or over volatile columns (`SELECT * FROM (SELECT random() r FROM t) s WHERE r < .5 AND r > .2`
// must draw once a row).
func pushFilters(c *Context, n logical.Node) logical.Node {
	return push(c, n, nil)
}

// push brings conditions on n's output as far down as they go, and those that n has itself.
func push(c *Context, n logical.Node, conds []expr.Expr) logical.Node {
	if !c.step() {
		return n
	}
	if neverTrue(conds) {
		c.fired("PushFilters")
		return &logical.Values{Cols: n.Columns()}
	}
	switch n := n.(type) {
	case *logical.Filter:
		all := append(slices.Clip(conds), n.Conds...)
		return push(c, n.Child, all)
	case *logical.Project:
		return pushProject(c, n, conds)
	case *logical.Join:
		return pushJoin(c, n, conds)
	case *logical.Aggregate:
		return pushAggregate(c, n, conds)
	case *logical.Sort:
		n.Child = push(c, n.Child, conds)
		return n
	case *logical.Distinct:
		return pushDistinct(c, n, conds)
	case *logical.Append:
		return pushAppend(c, n, conds)
	case *logical.SetOp:
		return pushSetOp(c, n, conds)
	}
	logical.EachInput(n, func(in *logical.Node) { *in = push(c, *in, nil) })
	return filtered(n, conds)
}

// neverTrue says whether a condition is the constant FALSE or NULL: no row passes, none need be
// read.
func neverTrue(conds []expr.Expr) bool {
	for _, cond := range conds {
		if k, ok := cond.(*expr.Const); ok && !k.Value.Bool() {
			return true
		}
	}
	return false
}

// filtered puts what conditions are left on top.
func filtered(n logical.Node, conds []expr.Expr) logical.Node {
	if len(conds) == 0 {
		return n
	}
	if f, ok := n.(*logical.Filter); ok {
		f.Conds = append(slices.Clip(f.Conds), conds...)
		return f
	}
	return &logical.Filter{Child: n, Conds: conds}
}

// pushProject replaces computed columns by their expressions, where these have one value per row.
func pushProject(c *Context, n *logical.Project, conds []expr.Expr) logical.Node {
	by := map[logical.ColID]expr.Expr{}
	var fixed logical.ColSet // columns that must be computed once
	if len(conds) > 0 {
		for _, it := range n.Items {
			by[it.ID] = it.Expr
			if !logical.Movable(it.Expr) {
				fixed.Add(it.ID)
			}
		}
	}
	down, stay := c.split(conds,
		func(cond expr.Expr) bool { return !logical.ColsOf(cond).Intersects(fixed) })
	n.Child = push(c, n.Child, withAll(down, by))
	return filtered(n, stay)
}

// split parts the conditions that pass a node from those that stay above it.
func (c *Context) split(conds []expr.Expr, passes func(expr.Expr) bool) (down, stay []expr.Expr) {
	for _, cond := range conds {
		if !logical.Movable(cond) || !passes(cond) {
			stay = append(stay, cond)
			continue
		}
		c.fired("PushFilters")
		down = append(down, cond)
	}
	return down, stay
}

func withAll(conds []expr.Expr, by map[logical.ColID]expr.Expr) []expr.Expr {
	for i, cond := range conds {
		conds[i] = withExprs(cond, by)
	}
	return conds
}

// withExprs puts the expressions of computed columns in their place.
func withExprs(cond expr.Expr, by map[logical.ColID]expr.Expr) expr.Expr {
	return expr.Rewrite(cond, func(x expr.Expr) expr.Expr {
		if col, ok := x.(*expr.Col); ok && by[col.Index] != nil {
			return by[col.Index]
		}
		return x
	})
}

// pushAggregate lets conditions on group columns choose the rows to group. With no keys there is
// always one group, which a condition must be able to drop.
func pushAggregate(c *Context, n *logical.Aggregate, conds []expr.Expr) logical.Node {
	var keys logical.ColSet
	by := map[logical.ColID]expr.Expr{}
	if n.Sets == nil && len(conds) > 0 {
		for _, k := range n.Keys {
			if logical.Movable(k.Expr) {
				keys.Add(k.ID)
				by[k.ID] = k.Expr
			}
		}
	}
	own := logical.SetOf(n.Columns())
	down, stay := c.split(conds, func(cond expr.Expr) bool {
		return len(n.Keys) > 0 && n.Sets == nil && localCols(cond, own).SubsetOf(keys)
	})
	n.Child = push(c, n.Child, withAll(down, by))
	return filtered(n, stay)
}

// localCols are the columns of a condition that a node itself has: the others come from outer
// queries.
func localCols(cond expr.Expr, own logical.ColSet) logical.ColSet {
	var local logical.ColSet
	logical.ColsOf(cond).Each(func(id logical.ColID) {
		if own.Has(id) {
			local.Add(id)
		}
	})
	return local
}

// pushDistinct: rows that are the same satisfy the same conditions. DISTINCT ON keeps the first of
// several that differ, so that only conditions on its own expressions may pass.
func pushDistinct(c *Context, n *logical.Distinct, conds []expr.Expr) logical.Node {
	var on logical.ColSet
	for _, e := range n.On {
		if col, ok := e.(*expr.Col); ok {
			on.Add(col.Index)
		}
	}
	own := logical.SetOf(n.Columns())
	var down, stay []expr.Expr
	for _, cond := range conds {
		local := localCols(cond, own)
		if logical.IsVolatile(cond) || n.On != nil && !local.SubsetOf(on) {
			stay = append(stay, cond)
			continue
		}
		down = append(down, cond)
	}
	n.Child = push(c, n.Child, down)
	return filtered(n, stay)
}

func anyCond(expr.Expr) bool { return true }

// renamed puts conditions in terms of an input's columns.
func renamed(m *logical.Meta, conds []expr.Expr, from, to []logical.ColID) []expr.Expr {
	var out []expr.Expr
	for _, cond := range conds {
		out = append(out, expr.Rewrite(cond, func(x expr.Expr) expr.Expr {
			if col, ok := x.(*expr.Col); ok {
				if i := slices.Index(from, col.Index); i >= 0 {
					return m.Col(to[i])
				}
			}
			return x
		}))
	}
	return out
}

func pushAppend(c *Context, n *logical.Append, conds []expr.Expr) logical.Node {
	down, stay := c.split(conds, anyCond)
	for i := range n.Inputs {
		n.Inputs[i] = push(c, n.Inputs[i], renamed(c.Meta, down, n.Cols, n.InCols[i]))
	}
	return filtered(n, stay)
}

// pushSetOp: INTERSECT and EXCEPT compare whole rows, so that a condition on the result is one on
// both sides.
func pushSetOp(c *Context, n *logical.SetOp, conds []expr.Expr) logical.Node {
	down, stay := c.split(conds, anyCond)
	n.Left = push(c, n.Left, renamed(c.Meta, down, n.Cols, n.LeftCols))
	n.Right = push(c, n.Right, renamed(c.Meta, down, n.Cols, n.RightCols))
	return filtered(n, stay)
}

// pushJoin gives each side the conditions that speak of it alone, where the kind of join allows it;
// for an inner join the others become its own.
func pushJoin(c *Context, n *logical.Join, conds []expr.Expr) logical.Node {
	if len(conds)+len(n.On) == 0 {
		n.Left, n.Right = push(c, n.Left, nil), push(c, n.Right, nil)
		return n
	}
	left, right := logical.MadeCols(n.Left), logical.MadeCols(n.Right)
	var toLeft, toRight, stay []expr.Expr
	// Conditions above the join.
	for _, cond := range conds {
		cols := logical.ColsOf(cond)
		volatile := logical.IsVolatile(cond)
		switch {
		case volatile:
			stay = append(stay, cond)
		case !cols.Intersects(right) && keepsLeft(n.Kind):
			toLeft = append(toLeft, cond)
		case !cols.Intersects(left) && cols.Intersects(right) && keepsRight(n.Kind):
			toRight = append(toRight, cond)
		case n.Kind == opt.Inner:
			n.On = append(slices.Clip(n.On), cond)
		default:
			stay = append(stay, cond)
		}
	}
	// Conditions of ON.
	var on []expr.Expr
	for _, cond := range n.On {
		cols := logical.ColsOf(cond)
		switch {
		case logical.IsVolatile(cond):
			on = append(on, cond)
		case !cols.Intersects(left) && onFiltersRight(n.Kind) && cols.Intersects(right):
			toRight = append(toRight, cond)
		case !cols.Intersects(right) && onFiltersLeft(n.Kind) && cols.Intersects(left):
			toLeft = append(toLeft, cond)
		default:
			on = append(on, cond)
		}
	}
	if len(toLeft)+len(toRight) > 0 {
		c.fired("PushFilters")
	}
	n.On = on
	n.Left = push(c, n.Left, toLeft)
	n.Right = push(c, n.Right, toRight)
	return filtered(n, stay)
}

// keepsLeft says whether a condition on left columns of the result is one on the left side.
func keepsLeft(k opt.JoinKind) bool {
	switch k {
	case opt.Right, opt.Full:
		return false
	}
	return true
}

func keepsRight(k opt.JoinKind) bool {
	return k == opt.Inner || k == opt.Right
}

// onFiltersRight says whether a right row that fails a condition of ON cannot be seen: it is not
// kept for its own sake.
func onFiltersRight(k opt.JoinKind) bool {
	switch k {
	case opt.Inner, opt.Left, opt.Semi, opt.Anti:
		return true
	}
	return false
}

func onFiltersLeft(k opt.JoinKind) bool {
	switch k {
	case opt.Inner, opt.Right, opt.Semi:
		return true
	}
	return false
}
