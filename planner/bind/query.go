package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// query binds a whole query expression within outer (nil: a statement of its own). With
// keepUnknown, result columns that are literals of unknown type are left for the caller to coerce.
func (b *binder) query(q *ast.Select, outer *scope, keepUnknown bool) *logical.Query {
	b.enter(q.Pos)
	defer b.leave()
	sc := outer.inner()
	if q.With != nil {
		b.with(sc, q.With)
	}
	var out *logical.Query
	switch body := q.Body.(type) {
	case *ast.SelectCore:
		out = b.selectCore(sc, body, q.OrderBy, keepUnknown, q)
	default:
		keepUnknown = keepUnknown && len(q.OrderBy) == 0
		out = b.body(sc, q.Body, keepUnknown)
		out = b.orderResult(sc, out, q.OrderBy, q.Body)
		if q.Locking != nil {
			panic(failure.Of(lockingRefused(q.Locking[0], q.Body)))
		}
	}
	out.Node = b.limit(sc, out.Node, q)
	if q.Ties {
		out.Node = withTies(out.Node, q)
	}
	b.noteResult(q, out)
	return out
}

// body binds a query without ORDER BY and LIMIT of its own: an operand of a set operation, or a
// parenthesised query.
func (b *binder) body(sc *scope, body ast.QueryBody, keepUnknown bool) *logical.Query {
	q := b.operand(sc, body, keepUnknown)
	b.noteResult(body, q)
	return q
}

func (b *binder) operand(sc *scope, body ast.QueryBody, keepUnknown bool) *logical.Query {
	switch body := body.(type) {
	case *ast.SelectCore:
		return b.selectCore(sc, body, nil, keepUnknown, nil)
	case *ast.Values:
		return b.values(sc, body, keepUnknown)
	case *ast.SetOp:
		return b.setOp(sc, body)
	case *ast.Select:
		return b.query(body, b.fromOuter(sc, false), keepUnknown)
	}
	panic(failure.At(0, sqlerr.InternalError, "planner: unexpected query body %T", body))
}

// limit adds LIMIT and OFFSET.
func (b *binder) limit(sc *scope, node logical.Node, q *ast.Select) logical.Node {
	if q.Limit == nil && q.Offset == nil {
		return node
	}
	offset := b.rowCount(sc, q.Offset, clauseOffset)
	count := b.rowCount(sc, q.Limit, clauseLimit)
	if count == nil && offset == nil {
		return node
	}
	return &logical.Limit{Child: node, Count: count, Offset: offset}
}

// withTies makes a Limit keep the rows behind its last one that are equal to it by ORDER BY.
func withTies(n logical.Node, q *ast.Select) logical.Node {
	if len(q.OrderBy) == 0 {
		panic(failure.At(0, sqlerr.SyntaxError,
			"WITH TIES cannot be specified without ORDER BY clause"))
	}
	for _, l := range q.Locking {
		if l.Wait == "skip locked" {
			panic(failure.At(0, sqlerr.SyntaxError,
				"SKIP LOCKED and WITH TIES options cannot be used together"))
		}
	}
	limit, ok := n.(*logical.Limit)
	if !ok { // the count is NULL, which is an error when the statement runs
		null := &expr.Const{T: types.TInt8, Value: types.Null}
		limit = &logical.Limit{Child: n, Count: null}
	}
	for n = limit.Child; n != nil; {
		if s, ok := n.(*logical.Sort); ok {
			limit.Ties = s.Keys
			return limit
		}
		var below logical.Node
		logical.EachInput(n, func(in *logical.Node) { below = *in })
		n = below
	}
	panic(failure.At(0, sqlerr.InternalError, "planner: WITH TIES without a sort"))
}

// rowCount binds the argument of LIMIT or OFFSET: an int8 without columns of this query. NULL means
// that there is none.
func (b *binder) rowCount(sc *scope, e ast.Expr, c clause) expr.Expr {
	if e == nil {
		return nil
	}
	saved := sc.sel.clause
	sc.sel.clause = c
	defer func() { sc.sel.clause = saved }()
	bound := b.expr(sc, e)
	bound = b.coerceSpecific(bound, types.TInt8, string(c), e)
	var bad *expr.Col
	expr.Walk(bound, func(x expr.Expr) bool {
		if col, ok := x.(*expr.Col); ok && bad == nil &&
			b.meta.Cols[col.Index].Level == sc.level() {
			bad = col
		}
		return bad == nil
	})
	if bad != nil {
		panic(failure.At(bad.Pos, sqlerr.InvalidColumnReference,
			"argument of %s must not contain variables", c))
	}
	if k, ok := bound.(*expr.Const); ok && k.Value.Null {
		return nil
	}
	return bound
}

// orderResult sorts a result by its own columns, as after UNION and VALUES.
func (b *binder) orderResult(sc *scope, q *logical.Query, items []ast.OrderItem,
	body ast.QueryBody) *logical.Query {
	if len(items) == 0 {
		return q
	}
	rs := &scope{outer: sc.outer, with: sc.with, sel: sc.sel}
	for _, c := range q.Cols {
		rs.cols = append(rs.cols, visible{name: c.Name, id: c.ID})
		b.meta.Cols[c.ID].Level = sc.level()
	}
	var keys []opt.SortKey
	for _, it := range items {
		keys = append(keys, sortKey(b.resultKey(rs, q, it.Expr, body), it))
	}
	q.Node = &logical.Sort{Child: q.Node, Keys: keys}
	return q
}

// resultKey resolves one ORDER BY item to a result column. After a set operation only names and
// positions are allowed.
func (b *binder) resultKey(rs *scope, q *logical.Query, e ast.Expr, body ast.QueryBody) expr.Expr {
	if n, ok := ordinal(e, len(q.Cols), clauseOrderBy); ok {
		return b.ref(q.Cols[n].ID, e.At())
	}
	saved := rs.sel.clause
	rs.sel.clause = clauseOrderBy
	defer func() { rs.sel.clause = saved }()
	if ref, ok := e.(*ast.ColumnRef); ok && len(ref.Qualifier) == 0 {
		if col := b.orderColumn(rs, ref); col != nil {
			return col
		}
	}
	bound := b.expr(rs, e)
	if _, ok := body.(*ast.SetOp); ok {
		panic(failure.Of(sqlerr.New(sqlerr.FeatureNotSupported,
			"invalid UNION/INTERSECT/EXCEPT ORDER BY clause").
			WithDetail("Only result column names can be used, not expressions or functions.").
			WithHint("Add the expression/function to every SELECT, or move the UNION into a FROM " +
				"clause.").
			At(exprPos(e))))
	}
	return b.resolveUnknown(bound)
}

// orderColumn resolves a name in ORDER BY to a result column. It returns nil when there is none.
func (b *binder) orderColumn(rs *scope, ref *ast.ColumnRef) expr.Expr {
	defer failure.Amend(func(error) error {
		return sqlerr.New(sqlerr.AmbiguousColumn, "ORDER BY \"%s\" is ambiguous",
			ref.Name).At(int(ref.Pos))
	})
	return b.localColumn(rs, ref)
}

func lockingRefused(l ast.Locking, body ast.QueryBody) error {
	what := lockStrengths[l.Strength]
	with := "UNION/INTERSECT/EXCEPT"
	if _, ok := body.(*ast.Values); ok {
		with = "VALUES"
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s is not allowed with %s", what, with)
}
