package rule

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// pushFilters moves conditions towards the tables that they filter: through projections, aggregates
// (on group columns), sorts, DISTINCT and UNION ALL, into joins and their sides.
//
// Equivalent because a condition on columns that a node passes on unchanged selects the same rows
// below it. Must not fire: below the NULL-padded side of an outer join (`a LEFT JOIN b … WHERE b.x
// IS NULL` is no condition on b); from the ON of a left join into its left side (unmatched rows
// must stay); through LIMIT, window functions or set-returning functions; for volatile conditions
// or over volatile columns (`SELECT * FROM (SELECT random() r FROM t) s WHERE r < .5 AND r > .2`
// must call random once for each row); below a security barrier, unless the condition is leakproof
// (the error of `1/x > 0` would show that there is a row with x = 0, which a policy hides).
func pushFilters(c *Context, n logical.Node) logical.Node {
	return push(c, n, nil)
}

// push pushes conditions on n's output, together with n's own conditions, as far down as possible.
func push(c *Context, n logical.Node, conds []expr.Expr) logical.Node {
	if !c.step() {
		return n
	}
	if contradictory(conds) {
		c.fired("PushFilters")
		return &logical.Values{Cols: n.Columns()}
	}
	switch n := n.(type) {
	case *logical.Filter:
		all := append(slices.Clip(conds), n.Conds...)
		return push(c, n.Child, all)
	case *logical.Barrier:
		down, stay := c.split(conds, logical.Leakproof)
		n.Child = push(c, n.Child, down)
		return filtered(n, stay)
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

// contradictory reports whether one of the conditions is the constant FALSE or NULL. No row passes
// them then, so none is read.
func contradictory(conds []expr.Expr) bool {
	for _, cond := range conds {
		if k, ok := cond.(*expr.Const); ok && !k.Value.Bool() {
			return true
		}
	}
	return false
}

// filtered adds a filter of the conditions on top of n.
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

// pushProject replaces computed columns in the conditions by their expressions, except volatile
// ones and those with subqueries.
func pushProject(c *Context, n *logical.Project, conds []expr.Expr) logical.Node {
	by := map[logical.ColID]expr.Expr{}
	var fixed logical.ColSet // columns whose expressions may be evaluated only once
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
	n.Child = push(c, n.Child, replaceColumnsInAll(down, by))
	return filtered(n, stay)
}

// split separates the conditions that may move below a node from those that stay above it.
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

func replaceColumnsInAll(conds []expr.Expr, by map[logical.ColID]expr.Expr) []expr.Expr {
	for i, cond := range conds {
		conds[i] = replaceColumns(cond, by)
	}
	return conds
}

// replaceColumns replaces computed columns by their expressions.
func replaceColumns(cond expr.Expr, by map[logical.ColID]expr.Expr) expr.Expr {
	return expr.Rewrite(cond, func(x expr.Expr) expr.Expr {
		if col, ok := x.(*expr.Col); ok && by[col.Index] != nil {
			return by[col.Index]
		}
		return x
	})
}

// pushAggregate pushes conditions on group columns below the grouping. Without keys there is always
// one group, which the condition must be able to drop, so it stays.
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
	n.Child = push(c, n.Child, replaceColumnsInAll(down, by))
	return filtered(n, stay)
}

// localCols returns the columns of a condition that are among a node's own columns. The others come
// from outer queries.
func localCols(cond expr.Expr, own logical.ColSet) logical.ColSet {
	var local logical.ColSet
	logical.ColsOf(cond).Each(func(id logical.ColID) {
		if own.Has(id) {
			local.Add(id)
		}
	})
	return local
}

// pushDistinct pushes conditions below DISTINCT, since equal rows satisfy the same conditions.
// DISTINCT ON keeps the first of several different rows, so only conditions on its own expressions
// are pushed below it.
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

// renamed returns the conditions with the columns from replaced by the columns to.
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

// pushSetOp pushes conditions into both sides, since INTERSECT and EXCEPT compare whole rows.
func pushSetOp(c *Context, n *logical.SetOp, conds []expr.Expr) logical.Node {
	down, stay := c.split(conds, anyCond)
	n.Left = push(c, n.Left, renamed(c.Meta, down, n.Cols, n.LeftCols))
	n.Right = push(c, n.Right, renamed(c.Meta, down, n.Cols, n.RightCols))
	return filtered(n, stay)
}

// pushJoin pushes conditions that read one side only into this side, where the kind of join allows
// it. The other conditions above an inner join become conditions of the join.
func pushJoin(c *Context, n *logical.Join, conds []expr.Expr) logical.Node {
	if len(conds)+len(n.On) == 0 {
		n.Left, n.Right = push(c, n.Left, nil), push(c, n.Right, nil)
		return n
	}
	p := joinPush{left: logical.MadeCols(n.Left), right: logical.MadeCols(n.Right)}
	stay := p.above(n, conds)
	p.on(n)
	if len(p.toLeft)+len(p.toRight) > 0 {
		c.fired("PushFilters")
	}
	n.Left = push(c, n.Left, p.toLeft)
	n.Right = push(c, n.Right, p.toRight)
	return filtered(n, stay)
}

// joinPush distributes the conditions above and of a join to its sides, which have the columns left
// and right.
type joinPush struct {
	left, right     logical.ColSet
	toLeft, toRight []expr.Expr
}

// above distributes the conditions above a join and returns those that stay there.
func (p *joinPush) above(n *logical.Join, conds []expr.Expr) (stay []expr.Expr) {
	for _, cond := range conds {
		cols := logical.ColsOf(cond)
		switch {
		case logical.IsVolatile(cond):
			stay = append(stay, cond)
		case !cols.Intersects(p.right) && passesToLeft(n.Kind):
			p.toLeft = append(p.toLeft, cond)
		case !cols.Intersects(p.left) && cols.Intersects(p.right) && passesToRight(n.Kind):
			p.toRight = append(p.toRight, cond)
		case n.Kind == opt.Inner:
			n.On = append(slices.Clip(n.On), cond)
		default:
			stay = append(stay, cond)
		}
	}
	return stay
}

// on distributes the conditions of a join.
func (p *joinPush) on(n *logical.Join) {
	var on []expr.Expr
	for _, cond := range n.On {
		cols := logical.ColsOf(cond)
		switch {
		case logical.IsVolatile(cond):
			on = append(on, cond)
		case !cols.Intersects(p.left) && onFiltersRight(n.Kind) && cols.Intersects(p.right):
			p.toRight = append(p.toRight, cond)
		case !cols.Intersects(p.right) && onFiltersLeft(n.Kind) && cols.Intersects(p.left):
			p.toLeft = append(p.toLeft, cond)
		default:
			on = append(on, cond)
		}
	}
	n.On = on
}

// passesToLeft reports whether a condition above a join that reads left columns only may be
// evaluated on the left side instead.
func passesToLeft(k opt.JoinKind) bool {
	switch k {
	case opt.Right, opt.Full:
		return false
	}
	return true
}

// passesToRight is passesToLeft for the right side.
func passesToRight(k opt.JoinKind) bool {
	return k == opt.Inner || k == opt.Right
}

// onFiltersRight reports whether a right row for which ON is not true never appears in the result,
// so that a condition of ON on right columns may filter the right side. It may not where the join
// keeps such rows, padded with NULLs.
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
