package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// bindSubquery binds a subquery of an expression.
func (b *binder) bindSubquery(sc *scope, q *ast.Select) *logical.Query {
	b.meta.Subqueries++
	saved := sc.sel.inAggregate
	sc.sel.inAggregate = false
	defer func() { sc.sel.inAggregate = saved }()
	return b.query(q, sc, false)
}

func (b *binder) exists(sc *scope, e *ast.Exists) expr.Expr {
	q := b.bindSubquery(sc, e.Query)
	rows := &logical.Query{Node: anyRow(q.Node)}
	return &expr.Subquery{T: types.TBool, Kind: expr.Exists, Plan: rows, Pos: int(e.Pos),
		Class: b.subqueryClass(sc, e.Query)}
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

func (b *binder) scalarSubquery(sc *scope, e *ast.Subquery) expr.Expr {
	q := b.oneColumn(sc, e.Query, e.Pos)
	t := b.meta.Cols[q.Cols[0].ID].Type
	return &expr.Subquery{T: t, Kind: expr.Scalar, Plan: q, Pos: int(e.Pos),
		Class: b.subqueryClass(sc, e.Query)}
}

func (b *binder) oneColumn(sc *scope, ast *ast.Select, pos ast.Pos) *logical.Query {
	q := b.bindSubquery(sc, ast)
	if len(q.Cols) != 1 {
		panic(failure.At(pos, sqlerr.SyntaxError, "subquery must return only one column"))
	}
	return q
}

// checkWidth refuses a subquery that has not n columns, those of the row it is compared with.
func checkWidth(q *logical.Query, n, pos int) {
	switch {
	case len(q.Cols) > n:
		panic(failure.At(pos, sqlerr.SyntaxError, "subquery has too many columns"))
	case len(q.Cols) < n:
		panic(failure.At(pos, sqlerr.SyntaxError, "subquery has too few columns"))
	}
}

func (b *binder) arraySubquery(sc *scope, e *ast.ArraySubquery) expr.Expr {
	q := b.oneColumn(sc, e.Query, e.Pos)
	elem := b.meta.Cols[q.Cols[0].ID].Type
	t := types.ArrayOf(elem)
	if t == nil {
		panic(failure.At(e.Pos, sqlerr.UndefinedObject,
			"could not find array type for data type %s", typeName(elem)))
	}
	return &expr.Subquery{T: t, Kind: expr.ArrayOf, Plan: q, Pos: int(e.Pos),
		Class: b.subqueryClass(sc, e.Query)}
}

// inSubquery binds IN as = ANY, and NOT IN as its negation.
func (b *binder) inSubquery(sc *scope, e *ast.InSubquery) expr.Expr {
	sq := b.anySubquery(sc, &ast.Quantified{Pos: e.Pos, Left: e.Operand, Op: "=", Query: e.Query})
	if !e.Not {
		return sq
	}
	return &expr.Not{Arg: sq}
}

// quantified binds ANY and ALL over a subquery or an array.
func (b *binder) quantified(sc *scope, e *ast.Quantified) expr.Expr {
	if e.Query != nil {
		return b.anySubquery(sc, e)
	}
	pos := int(e.Pos)
	l := b.expr(sc, e.Left)
	r := b.expr(sc, e.Array)
	elem := types.TUnknown
	if rt := r.Type(); rt.OID != types.OIDUnknown {
		if elem = rt.Elem; elem == nil {
			panic(failure.At(pos, sqlerr.WrongObjectType,
				"op ANY/ALL (array) requires array on right side"))
		}
	}
	fn, targets, err := b.resolveOperator(e.Op, l.Type(), elem)
	failure.Check(at(err, pos))
	if builtin.ReturnType(fn, targets).OID != types.OIDBool {
		panic(failure.At(pos, sqlerr.WrongObjectType,
			"op ANY/ALL (array) requires operator to yield boolean"))
	}
	array := types.ArrayOf(targets[1])
	if array == nil {
		panic(failure.At(pos, sqlerr.UndefinedObject, "could not find array type for data type %s",
			typeName(targets[1])))
	}
	l = b.coerce(l, targets[0], implicit, pos)
	r = b.coerce(r, array, implicit, pos)
	return &expr.Quantified{Left: l, Array: r, Op: fn, All: e.All, Pos: pos}
}

// anySubquery binds a comparison of a value, or of a row of values, with every row of a subquery.
func (b *binder) anySubquery(sc *scope, e *ast.Quantified) expr.Expr {
	op, pos := e.Op, int(e.Pos)
	lefts := []ast.Expr{e.Left}
	if row, ok := e.Left.(*ast.Row); ok {
		lefts = row.Elements
	}
	ls := b.exprs(sc, lefts)
	q := b.bindSubquery(sc, e.Query)
	checkWidth(q, len(ls), pos)
	sq := &expr.Subquery{T: types.TBool, Kind: expr.Any, Plan: q, Left: ls, Pos: pos,
		Class: b.subqueryClass(sc, e.Query)}
	if e.All {
		sq.Kind = expr.All
	}
	byColumn := op == "=" && !e.All || op == "<>" && e.All
	if len(ls) > 1 && !byColumn {
		b.compareRows(sq, q, op)
		return sq
	}
	negate := len(ls) > 1 && op == "<>"
	if negate { // row <> ALL is NOT (row = ANY)
		sq.Kind, op = expr.Any, "="
	}
	b.compareColumns(sq, q, op)
	if negate {
		return &expr.Not{Arg: sq}
	}
	return sq
}

// compareRows makes one comparison of sq.Left, as a row, with the columns of the subquery q, as a
// record. It is for operators that do not compare field by field, such as <.
func (b *binder) compareRows(sq *expr.Subquery, q *logical.Query, op string) {
	fields := &expr.Subquery{Left: sq.Left, Pos: sq.Pos}
	b.compareColumns(fields, q, op)
	checkRowOperator(op, sq.Pos)
	row, record := &expr.RowExpr{Elems: fields.Left}, &expr.RowExpr{}
	same := make([]*expr.Func, len(fields.Left))
	for i, l := range fields.Left {
		col := b.ref(q.Cols[i].ID, 0)
		record.Elems = append(record.Elems, col)
		eq, _, err := b.resolveOperator("=", l.Type(), col.Type())
		failure.Check(at(err, sq.Pos))
		same[i] = eq
	}
	row.T, record.T = types.RowOf(fieldsOf(row)), types.RowOf(fieldsOf(record))
	id := b.newColumn("row", record.T, b.meta.Cols[q.Cols[0].ID].Level)
	q.Node = &logical.Project{Child: q.Node, Items: []logical.Item{{ID: id, Expr: record}}}
	q.Cols = []logical.Output{{Name: "row", ID: id}}
	sq.Left, sq.Ops = []expr.Expr{row}, []*expr.Func{builtin.CompareRows(op, fields.Ops, same)}
}

// compareColumns resolves the operators that compare sq.Left with the columns of the subquery q,
// and converts both to the operators' types.
func (b *binder) compareColumns(sq *expr.Subquery, q *logical.Query, op string) {
	for i, l := range sq.Left {
		fn, targets, err := b.resolveOperator(op, l.Type(), b.meta.Cols[q.Cols[i].ID].Type)
		failure.Check(at(err, sq.Pos))
		if builtin.ReturnType(fn, targets).OID != types.OIDBool {
			panic(failure.At(sq.Pos, sqlerr.DatatypeMismatch,
				"row comparison operator must yield type boolean, not type %s",
				typeName(builtin.ReturnType(fn, targets))))
		}
		sq.Left[i] = b.coerce(l, targets[0], implicit, sq.Pos)
		b.coerceOutput(q, i, targets[1], implicit, sq.Pos)
		sq.Ops = append(sq.Ops, fn)
	}
}

// coerceOutput converts result column i of a query to another type: in the select list if it is a
// literal, else by a projection on top.
func (b *binder) coerceOutput(q *logical.Query, i int, to *types.Type, how coercion, pos int) {
	id := q.Cols[i].ID
	from := b.meta.Cols[id].Type
	if from.OID == to.OID && (to.Mod == types.NoMod || to.Mod == from.Mod) {
		return
	}
	if from.OID == types.OIDUnknown {
		if done := b.coerceUnknown(q.Node, id, to, how); done {
			return
		}
	}
	e := b.coerce(b.ref(id, 0), to, how, pos)
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
	b.meta.Cols[out].From = e
	p.Items = append(p.Items, logical.Item{ID: out, Expr: e})
	q.Cols[i].ID = out
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
	how coercion) bool {
	switch n := n.(type) {
	case *logical.Project:
		for i := range n.Items {
			if n.Items[i].ID != id {
				continue
			}
			if c, ok := n.Items[i].Expr.(*expr.Col); ok && c.Index == id {
				return b.coerceUnknown(n.Child, id, to, how)
			}
			e := b.coerce(n.Items[i].Expr, to, how, 0)
			n.Items[i].Expr = e
			b.meta.Cols[id].Type, b.meta.Cols[id].From = e.Type(), e
			return true
		}
	case *logical.Values:
		for k, c := range n.Cols {
			if c != id {
				continue
			}
			for _, row := range n.Rows {
				row[k] = b.coerce(row[k], to, how, 0)
			}
			b.meta.Cols[id].Type = to
			return true
		}
	case *logical.Limit:
		return b.coerceUnknown(n.Child, id, to, how)
	case *logical.Filter:
		return b.coerceUnknown(n.Child, id, to, how)
	case *logical.Distinct:
		return b.coerceUnknown(n.Child, id, to, how)
	}
	return false
}
