package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// bindSubquery binds a subquery of an expression.
func (b *binder) bindSubquery(sc *scope, q *ast.Select) (*logical.Query, error) {
	b.meta.Subqueries++
	saved := sc.sel.inAggregate
	sc.sel.inAggregate = false
	defer func() { sc.sel.inAggregate = saved }()
	return b.query(q, sc, false)
}

func (b *binder) exists(sc *scope, e *ast.Exists) (expr.Expr, error) {
	q, err := b.bindSubquery(sc, e.Query)
	if err != nil {
		return nil, err
	}
	rows := &logical.Query{Node: anyRow(q.Node)}
	return &expr.Subquery{T: types.TBool, Kind: expr.Exists, Plan: rows, Pos: int(e.Pos),
		Class: b.subqueryClass(sc, e.Query)}, nil
}

// subqueryClass returns the class of a subquery. Subqueries of a select list, GROUP BY and ORDER BY
// that are written alike have the same class, as PostgreSQL compares them. Other clauses have
// scopes of their own.
func (b *binder) subqueryClass(sc *scope, q *ast.Select) int {
	sel := sc.sel
	switch sel.clause {
	case clauseTarget, clauseGroupBy, clauseOrderBy, clauseHaving, clauseDistinctOn:
	default:
		return 0
	}
	for _, have := range sel.subqueries {
		if ast.Equal(have.query, q) {
			return have.class
		}
	}
	b.classes++
	sel.subqueries = append(sel.subqueries, classified{query: q, class: b.classes})
	return b.classes
}

// anyRow removes the nodes of a query that do not affect whether it has rows. As in PostgreSQL,
// EXISTS never evaluates its select list, which may have errors and effects.
func anyRow(n logical.Node) logical.Node {
	for {
		switch t := n.(type) {
		case *logical.Project:
			n = t.Child
		case *logical.Sort:
			n = t.Child
		case *logical.Distinct:
			n = t.Child
		case *logical.Aggregate:
			if len(t.Keys) == 0 || len(t.Aggs) > 0 || t.Sets != nil {
				return n
			}
			n = t.Child
		case *logical.Limit:
			if k, ok := t.Count.(*expr.Const); t.Offset != nil || !ok || k.Value.Null ||
				k.Value.I <= 0 {
				return n
			}
			n = t.Child
		default:
			return n
		}
	}
}

func (b *binder) scalarSubquery(sc *scope, e *ast.Subquery) (expr.Expr, error) {
	q, err := b.oneColumn(sc, e.Query, e.Pos)
	if err != nil {
		return nil, err
	}
	t := b.meta.Cols[q.Cols[0].ID].Type
	return &expr.Subquery{T: t, Kind: expr.Scalar, Plan: q, Pos: int(e.Pos),
		Class: b.subqueryClass(sc, e.Query)}, nil
}

func (b *binder) oneColumn(sc *scope, ast *ast.Select, pos ast.Pos) (*logical.Query, error) {
	q, err := b.bindSubquery(sc, ast)
	if err != nil {
		return nil, err
	}
	if len(q.Cols) != 1 {
		return nil, sqlerr.New(sqlerr.SyntaxError,
			"subquery must return only one column").At(int(pos))
	}
	return q, nil
}

func (b *binder) arraySubquery(sc *scope, e *ast.ArraySubquery) (expr.Expr, error) {
	q, err := b.oneColumn(sc, e.Query, e.Pos)
	if err != nil {
		return nil, err
	}
	elem := b.meta.Cols[q.Cols[0].ID].Type
	t := types.ArrayOf(elem)
	if t == nil {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "could not find array type for data type %s",
			typeName(elem)).At(int(e.Pos))
	}
	return &expr.Subquery{T: t, Kind: expr.ArrayOf, Plan: q, Pos: int(e.Pos),
		Class: b.subqueryClass(sc, e.Query)}, nil
}

// inSubquery binds IN as = ANY, and NOT IN as its negation.
func (b *binder) inSubquery(sc *scope, e *ast.InSubquery) (expr.Expr, error) {
	sq, err := b.anySubquery(sc, &ast.Quantified{Pos: e.Pos, Left: e.Operand, Op: "=",
		Query: e.Query})
	if err != nil || !e.Not {
		return sq, err
	}
	return &expr.Not{Arg: sq}, nil
}

// quantified binds ANY and ALL over a subquery or an array.
func (b *binder) quantified(sc *scope, e *ast.Quantified) (expr.Expr, error) {
	if e.Query != nil {
		return b.anySubquery(sc, e)
	}
	pos := int(e.Pos)
	l, err := b.expr(sc, e.Left)
	if err != nil {
		return nil, err
	}
	r, err := b.expr(sc, e.Array)
	if err != nil {
		return nil, err
	}
	elem := types.TUnknown
	if rt := r.Type(); rt.OID != types.OIDUnknown {
		if elem = rt.Elem; elem == nil {
			return nil, sqlerr.New(sqlerr.WrongObjectType,
				"op ANY/ALL (array) requires array on right side").At(pos)
		}
	}
	fn, targets, err := builtin.ResolveOperator(e.Op, l.Type(), elem)
	if err != nil {
		return nil, at(err, pos)
	}
	if builtin.ReturnType(fn, targets).OID != types.OIDBool {
		return nil, sqlerr.New(sqlerr.WrongObjectType,
			"op ANY/ALL (array) requires operator to yield boolean").At(pos)
	}
	array := types.ArrayOf(targets[1])
	if array == nil {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "could not find array type for data type %s",
			typeName(targets[1])).At(pos)
	}
	if l, err = b.coerce(l, targets[0], implicit, pos); err != nil {
		return nil, err
	}
	if r, err = b.coerce(r, array, implicit, pos); err != nil {
		return nil, err
	}
	return &expr.Quantified{Left: l, Array: r, Op: fn, All: e.All, Pos: pos}, nil
}

// anySubquery binds a comparison of a value, or of a row of values, with every row of a subquery.
func (b *binder) anySubquery(sc *scope, e *ast.Quantified) (expr.Expr, error) {
	op, pos := e.Op, int(e.Pos)
	lefts := []ast.Expr{e.Left}
	if row, ok := e.Left.(*ast.Row); ok {
		lefts = row.Elements
	}
	ls, err := b.exprs(sc, lefts)
	if err != nil {
		return nil, err
	}
	q, err := b.bindSubquery(sc, e.Query)
	if err != nil {
		return nil, err
	}
	switch {
	case len(q.Cols) > len(ls):
		return nil, sqlerr.New(sqlerr.SyntaxError, "subquery has too many columns").At(pos)
	case len(q.Cols) < len(ls):
		return nil, sqlerr.New(sqlerr.SyntaxError, "subquery has too few columns").At(pos)
	case len(ls) > 1 && op != "=" && !(op == "<>" && e.All):
		return nil, sqlerr.Unsupported(pos, "comparison "+op+" of a row with the rows of a "+
			"subquery")
	}
	sq := &expr.Subquery{T: types.TBool, Kind: expr.Any, Plan: q, Left: ls, Pos: pos,
		Class: b.subqueryClass(sc, e.Query)}
	if e.All {
		sq.Kind = expr.All
	}
	negate := len(ls) > 1 && op == "<>"
	if negate { // row <> ALL is NOT (row = ANY)
		sq.Kind, op = expr.Any, "="
	}
	if err := b.compareColumns(sq, q, op); err != nil {
		return nil, err
	}
	if negate {
		return &expr.Not{Arg: sq}, nil
	}
	return sq, nil
}

// compareColumns resolves the operators that compare sq.Left with the columns of the subquery q,
// and converts both to the operators' types.
func (b *binder) compareColumns(sq *expr.Subquery, q *logical.Query, op string) error {
	for i, l := range sq.Left {
		fn, targets, err := builtin.ResolveOperator(op, l.Type(), b.meta.Cols[q.Cols[i].ID].Type)
		if err != nil {
			return at(err, sq.Pos)
		}
		if builtin.ReturnType(fn, targets).OID != types.OIDBool {
			return sqlerr.New(sqlerr.DatatypeMismatch,
				"row comparison operator must yield type boolean, not type %s",
				typeName(builtin.ReturnType(fn, targets))).At(sq.Pos)
		}
		if sq.Left[i], err = b.coerce(l, targets[0], implicit, sq.Pos); err != nil {
			return err
		}
		if err = b.coerceOutput(q, i, targets[1], implicit, sq.Pos); err != nil {
			return err
		}
		sq.Ops = append(sq.Ops, fn)
	}
	return nil
}

// coerceOutput converts result column i of a query to another type: in the select list if it is a
// literal, else by a projection on top.
func (b *binder) coerceOutput(q *logical.Query, i int, to *types.Type, how coercion,
	pos int) error {
	id := q.Cols[i].ID
	from := b.meta.Cols[id].Type
	if from.OID == to.OID && (to.Mod == types.NoMod || to.Mod == from.Mod) {
		return nil
	}
	if from.OID == types.OIDUnknown {
		if done, err := b.coerceUnknown(q.Node, id, to, how); done || err != nil {
			return err
		}
	}
	e, err := b.coerce(b.ref(id, 0), to, how, pos)
	if err != nil {
		return err
	}
	p, ok := q.Node.(*logical.Project)
	if !ok || !b.projected(p, q) {
		p = &logical.Project{Child: q.Node}
		for _, c := range q.Cols {
			if !hasItem(p.Items, c.ID) {
				p.Items = append(p.Items, logical.Item{ID: c.ID, Expr: b.ref(c.ID, 0)})
			}
		}
		q.Node = p
	}
	out := b.newColumn(q.Cols[i].Name, e.Type(), b.meta.Cols[id].Level)
	p.Items = append(p.Items, logical.Item{ID: out, Expr: e})
	q.Cols[i].ID = out
	return nil
}

// projected reports whether coerceOutput made a projection: a cast of one of the columns that it
// passes on can then be added to it.
func (b *binder) projected(p *logical.Project, q *logical.Query) bool {
	have := logical.SetOf(p.Child.Columns())
	for _, c := range q.Cols {
		if !have.Has(c.ID) {
			return false
		}
	}
	return true
}

func hasItem(items []logical.Item, id logical.ColID) bool {
	for _, it := range items {
		if it.ID == id {
			return true
		}
	}
	return false
}

// coerceUnknown converts the literal behind a result column of unknown type.
func (b *binder) coerceUnknown(n logical.Node, id logical.ColID, to *types.Type,
	how coercion) (bool, error) {
	switch n := n.(type) {
	case *logical.Project:
		for i := range n.Items {
			if n.Items[i].ID != id {
				continue
			}
			if c, ok := n.Items[i].Expr.(*expr.Col); ok && c.Index == id {
				return b.coerceUnknown(n.Child, id, to, how)
			}
			e, err := b.coerce(n.Items[i].Expr, to, how, 0)
			if err != nil {
				return false, err
			}
			n.Items[i].Expr = e
			b.meta.Cols[id].Type = e.Type()
			return true, nil
		}
	case *logical.Values:
		for k, c := range n.Cols {
			if c != id {
				continue
			}
			for _, row := range n.Rows {
				e, err := b.coerce(row[k], to, how, 0)
				if err != nil {
					return false, err
				}
				row[k] = e
			}
			b.meta.Cols[id].Type = to
			return true, nil
		}
	case *logical.Limit:
		return b.coerceUnknown(n.Child, id, to, how)
	case *logical.Filter:
		return b.coerceUnknown(n.Child, id, to, how)
	case *logical.Distinct:
		return b.coerceUnknown(n.Child, id, to, how)
	}
	return false, nil
}
