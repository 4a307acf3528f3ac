package rule

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// decorrelateScalar computes (SELECT max(x) FROM u WHERE u.k = t.k) for all t at once: a left join
// with SELECT k, max(x) FROM u GROUP BY k.
//
// The same because the aggregate of the rows whose k equals t.k is that of their group; where there
// is no group the left join gives NULL, which is what an aggregate of no rows is, save for count,
// which is made 0. Must not fire: where an index finds the rows for one t, since few are read then;
// where few rows of t ask; for conditions other than equality (u.k < t.k); within a CASE or after
// AND, which may never ask.
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

// joinScalar joins one subquery; nil when it has another shape or is better run row by row.
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
	p := pulling{meta: c.Meta, outer: outer, counted: true}
	if agg == nil || !logical.ColsOf(result).SubsetOf(logical.SetOf(agg.Columns())) ||
		!p.can(agg.Child, false) {
		return nil
	}
	for _, a := range agg.Aggs {
		if refersToAgg(&a.Agg, outer) || !plainArgs(a.Args) {
			return nil
		}
	}
	conds := correlated(agg.Child, outer, nil)
	keys := make([]logical.Item, len(conds))
	on := make([]expr.Expr, len(conds))
	for i, cond := range conds {
		inner, side, ok := innerSide(cond, outer)
		if !ok {
			return nil
		}
		keys[i] = logical.Item{Expr: inner}
		if col, isCol := inner.(*expr.Col); isCol {
			keys[i].ID = col.Index
		} else {
			keys[i].ID = c.Meta.Add(logical.Column{Type: inner.Type()})
		}
		call := *cond.(*expr.Call)
		call.Args = append([]expr.Expr(nil), call.Args...)
		call.Args[side] = c.Meta.Col(keys[i].ID)
		on[i] = &call
	}
	if len(conds) == 0 || looksUp(agg.Child, conds, outer) {
		return nil
	}
	c.fired("DecorrelateScalar")
	agg.Child, _ = p.from(agg.Child, false)
	grouped := &logical.Aggregate{Child: agg.Child, Keys: keys, Aggs: agg.Aggs}
	*child = joined(c, opt.Left, *child, grouped, on)
	return emptyAsZero(result, agg)
}

// aggregateOf takes a subquery apart: an Aggregate without keys, and the result over its columns.
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

// plainArgs says whether arguments cannot fail: they would be computed for groups that no row asks
// for.
func plainArgs(args []expr.Expr) bool {
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

// correlated lists the conditions of a subquery that pull would take out.
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

// innerSide reads inner = outer: an equality whose one side speaks of the subquery's rows only, the
// other of the outer row only.
func innerSide(cond expr.Expr, outer logical.ColSet) (inner expr.Expr, side int, ok bool) {
	call, isCall := cond.(*expr.Call)
	if !isCall || call.Func.Name != "=" || len(call.Args) != 2 || expr.HasSubquery(cond) {
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

// looksUp says whether an index of the subquery's table begins with a column that the outer row
// gives, so that running it row by row reads few rows each time.
func looksUp(n logical.Node, conds []expr.Expr, outer logical.ColSet) bool {
	s, _ := scanOf(n)
	if s == nil {
		return false
	}
	var given logical.ColSet
	for _, cond := range conds {
		if inner, _, ok := innerSide(cond, outer); ok {
			if col, isCol := inner.(*expr.Col); isCol {
				given.Add(col.Index)
			}
		}
	}
	begins := func(key []table.IndexColumn) bool {
		return len(key) > 0 && key[0].ColumnID != 0 &&
			given.Has(s.First+s.Desc.ColumnByID(key[0].ColumnID))
	}
	if begins(s.Desc.RowKey) {
		return true
	}
	for i := range s.Desc.Indexes {
		if ix := &s.Desc.Indexes[i]; ix.WhereText == "" && begins(ix.Columns) {
			return true
		}
	}
	return false
}

// emptyAsZero makes count 0 where the left join found no group.
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
