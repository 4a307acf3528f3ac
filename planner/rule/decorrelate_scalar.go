package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// decorrelateScalar computes (SELECT max(x) FROM u WHERE u.k = t.k) for all t at once: a left join
// with SELECT k, max(x) FROM u GROUP BY k.
//
// Equivalent because the rows whose k equals t.k are one group. Where there is no group the left
// join gives NULL, which is the aggregate of no rows, except for count, which becomes 0. Must not
// fire: where an index finds the rows for one t, so that each run of the subquery is cheap; where t
// has few rows; for conditions other than equality (u.k < t.k); within a CASE or after AND, where
// the subquery may never be evaluated.
func decorrelateScalar(c *Context, n logical.Node) logical.Node {
	return bottomUp(c, n, func(n logical.Node) logical.Node {
		switch n := n.(type) {
		case *logical.Filter:
			for i := range n.Conds {
				n.Conds[i] = joinScalars(c, &n.Child, n.Conds[i])
			}
		case *logical.Project:
			for i := range n.Items {
				n.Items[i].Expr = joinScalars(c, &n.Child, n.Items[i].Expr)
			}
		}
		return n
	})
}

// joinScalars replaces the subqueries of an expression that is evaluated for every row.
func joinScalars(c *Context, child *logical.Node, e expr.Expr) expr.Expr {
	switch x := e.(type) {
	case *expr.Subquery:
		if x.Kind == expr.Scalar {
			if by := joinScalar(c, child, x); by != nil {
				return by
			}
		}
		return e
	case *expr.Call, *expr.Cast, *expr.IsNull, *expr.Not:
		return expr.Children(e, func(a expr.Expr) expr.Expr { return joinScalars(c, child, a) })
	}
	return e
}

// joinScalar makes a join of one subquery and returns the expression that replaces it. It returns
// nil when the subquery has another shape, or is better run for each row.
func joinScalar(c *Context, child *logical.Node, sq *expr.Subquery) expr.Expr {
	q, ok := sq.Plan.(*logical.Query)
	if !ok || len(q.Cols) != 1 || c.rows(*child) < 20 || logical.NodeVolatile(q.Node) {
		return nil
	}
	outer := logical.SetOf((*child).Columns())
	free := logical.FreeCols(q.Node)
	if free.Empty() || !free.SubsetOf(outer) {
		return nil
	}
	agg, result := aggregateOf(c.Meta, q)
	if agg == nil || !logical.ColsOf(result).SubsetOf(logical.SetOf(agg.Columns())) {
		return nil
	}
	p := pulling{meta: c.Meta, outer: outer, counted: true}
	if !p.possible(agg.Child, false) || !computedPerGroup(agg, outer) {
		return nil
	}
	conds := correlated(agg.Child, outer, nil)
	keys, on, ok := groupKeys(c.Meta, conds, outer)
	if !ok || len(conds) == 0 || indexServes(agg.Child, conds, outer) {
		return nil
	}
	c.fired("DecorrelateScalar")
	agg.Child, _ = p.pull(agg.Child, false)
	grouped := &logical.Aggregate{Child: agg.Child, Keys: keys, Aggs: agg.Aggs}
	*child = joined(c, opt.Left, *child, grouped, on)
	return emptyAsZero(result, agg)
}

// computedPerGroup reports whether all aggregates can be computed for groups that no outer row
// reads: they do not refer to the outer row, and their arguments cannot raise an error.
func computedPerGroup(agg *logical.Aggregate, outer logical.ColSet) bool {
	for _, a := range agg.Aggs {
		if refersToAgg(&a.Agg, outer) || !cannotFail(a.Args) {
			return false
		}
	}
	return true
}

// groupKeys makes the keys of the groups from conditions `inner = outer`, and the conditions that
// join the groups to the outer rows. It returns false when a condition has another form.
func groupKeys(m *logical.Meta, conds []expr.Expr, outer logical.ColSet) (keys []logical.Item,
	on []expr.Expr, ok bool) {
	keys = make([]logical.Item, len(conds))
	on = make([]expr.Expr, len(conds))
	for i, cond := range conds {
		inner, side, ok := innerSide(cond, outer)
		if !ok {
			return nil, nil, false
		}
		keys[i] = logical.Item{Expr: inner}
		if col, isCol := inner.(*expr.Col); isCol {
			keys[i].ID = col.Index
		} else {
			keys[i].ID = m.Add(logical.Column{Type: inner.Type()})
		}
		call := *cond.(*expr.Call)
		call.Args = append([]expr.Expr(nil), call.Args...)
		call.Args[side] = m.Col(keys[i].ID)
		on[i] = &call
	}
	return keys, on, true
}

// aggregateOf splits a scalar subquery into its Aggregate without keys and the result over its
// columns. It returns nil when the subquery has another shape.
func aggregateOf(m *logical.Meta, q *logical.Query) (*logical.Aggregate, expr.Expr) {
	id := q.Cols[0].ID
	n := q.Node
	var result expr.Expr
	if p, ok := n.(*logical.Project); ok {
		for _, it := range p.Items {
			if it.ID == id {
				result = it.Expr
			}
		}
		n = p.Child
	}
	agg, ok := n.(*logical.Aggregate)
	if !ok || len(agg.Keys) > 0 || agg.Sets != nil {
		return nil, nil
	}
	for _, a := range agg.Aggs {
		if a.ID == id {
			result = m.Col(id)
		}
	}
	if result == nil || expr.HasSubquery(result) {
		return nil, nil
	}
	return agg, result
}

func refersToAgg(a *opt.Agg, outer logical.ColSet) bool {
	var cols logical.ColSet
	for _, e := range append(append([]expr.Expr(nil), a.Args...), a.Direct...) {
		logical.ExprCols(e, &cols)
	}
	for _, k := range a.OrderBy {
		logical.ExprCols(k.Expr, &cols)
	}
	if a.Filter != nil {
		logical.ExprCols(a.Filter, &cols)
	}
	return cols.Intersects(outer)
}

// cannotFail reports whether the evaluation of arguments cannot raise an error: each is a column, a
// constant or a cast of one.
func cannotFail(args []expr.Expr) bool {
	for _, a := range args {
		if cast, ok := a.(*expr.Cast); ok {
			a = cast.Arg
		}
		switch a.(type) {
		case *expr.Col, *expr.Const:
		default:
			return false
		}
	}
	return true
}

// correlated appends to dst the conditions of a subquery that pull would pull out.
func correlated(n logical.Node, outer logical.ColSet, dst []expr.Expr) []expr.Expr {
	add := func(conds []expr.Expr) {
		for _, cond := range conds {
			if logical.ColsOf(cond).Intersects(outer) {
				dst = append(dst, cond)
			}
		}
	}
	switch n := n.(type) {
	case *logical.Filter:
		add(n.Conds)
	case *logical.Join:
		add(n.On)
	}
	logical.EachInput(n, func(in *logical.Node) { dst = correlated(*in, outer, dst) })
	return dst
}

// innerSide recognises the equality inner = outer, whose one side reads the subquery's rows only
// and whose other side reads the outer row only. It returns the inner side and its place.
func innerSide(cond expr.Expr, outer logical.ColSet) (inner expr.Expr, side int, ok bool) {
	call, isCall := cond.(*expr.Call)
	if !isCall || call.Func.Comparison() != "=" || len(call.Args) != 2 || expr.HasSubquery(cond) {
		return nil, 0, false
	}
	for side, arg := range call.Args {
		in, out := logical.ColsOf(arg), logical.ColsOf(call.Args[1-side])
		if !in.Empty() && !in.Intersects(outer) && !out.Empty() && out.SubsetOf(outer) {
			return arg, side, true
		}
	}
	return nil, 0, false
}

// indexServes reports whether a key of the subquery's table begins with a column that the
// conditions equate with a value of the outer row. Each run of the subquery then reads few rows.
func indexServes(n logical.Node, conds []expr.Expr, outer logical.ColSet) bool {
	s, _ := scanOf(n)
	if s == nil {
		return false
	}
	var equated logical.ColSet
	for _, cond := range conds {
		if inner, _, ok := innerSide(cond, outer); ok {
			if col, isCol := inner.(*expr.Col); isCol {
				equated.Add(col.Index)
			}
		}
	}
	return anyLeadingColumn(s, equated.Has)
}

// emptyAsZero replaces the NULL of a count by 0 where the left join found no group.
func emptyAsZero(result expr.Expr, agg *logical.Aggregate) expr.Expr {
	var counts logical.ColSet
	for _, a := range agg.Aggs {
		if a.Func.Name == "count" || a.Func.Name == "regr_count" {
			counts.Add(a.ID)
		}
	}
	return expr.Rewrite(result, func(x expr.Expr) expr.Expr {
		col, ok := x.(*expr.Col)
		if !ok || !counts.Has(col.Index) {
			return x
		}
		zero := &expr.Const{T: types.TInt8, Value: types.NewInt(0)}
		return &expr.Coalesce{T: types.TInt8, Args: []expr.Expr{col, zero}}
	})
}
