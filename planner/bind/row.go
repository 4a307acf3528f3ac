package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

func isRow(e ast.Expr) bool {
	_, ok := e.(*ast.Row)
	return ok
}

// row binds ROW(…) as a value. It expands t.* within it.
func (b *binder) row(sc *scope, e *ast.Row) expr.Expr {
	row := &expr.RowExpr{}
	for _, el := range e.Elements {
		cols, ok := b.star(sc, el)
		if ok {
			for i := range cols {
				row.Elems = append(row.Elems, b.visibleRef(&cols[i], el.At()))
			}
			continue
		}
		row.Elems = append(row.Elems, b.untypedElement(b.expr(sc, el)))
	}
	row.T = types.RowOf(fieldsOf(row))
	return row
}

// fieldsOf returns the fields of the records that a row makes.
func fieldsOf(row *expr.RowExpr) []types.Attribute {
	fields := make([]types.Attribute, len(row.Elems))
	for i, e := range row.Elems {
		fields[i] = types.Attribute{Name: types.FieldName(i), Type: e.Type()}
		if row.Names != nil {
			fields[i].Name = row.Names[i]
		}
	}
	return fields
}

// rowComparison binds (a, b) op (c, d) to comparisons of the fields: equality of all, inequality of
// some, or the order of the first pair that differs.
func (b *binder) rowComparison(sc *scope, op string, left, right ast.Expr, pos int) expr.Expr {
	if sq, ok := right.(*ast.Subquery); ok && isRow(left) {
		return b.rowSubquery(sc, op, left.(*ast.Row), sq, pos)
	}
	l, lok := left.(*ast.Row)
	r, rok := right.(*ast.Row)
	if !lok || !rok {
		return b.mixedComparison(sc, op, left, right, pos)
	}
	if len(l.Elements) != len(r.Elements) {
		panic(failure.At(pos, sqlerr.SyntaxError, "unequal number of entries in row expressions"))
	}
	if len(l.Elements) == 0 {
		panic(failure.At(pos, sqlerr.FeatureNotSupported, "cannot compare rows of zero length"))
	}
	if op != "=" && op != "<>" { // these look at their fields from the last to the first
		for _, e := range slices.Concat(l.Elements, r.Elements) {
			b.expr(sc, e)
		}
	}
	field := func(op string, i int) expr.Expr {
		return b.binaryExpr(sc,
			&ast.Binary{Pos: ast.Pos(pos), Op: op, Left: l.Elements[i], Right: r.Elements[i]})
	}
	return b.compareFields(len(l.Elements), op, pos, field)
}

// rowSubquery compares a row with the single row of a subquery. Each column becomes a scalar
// subquery.
func (b *binder) rowSubquery(sc *scope, op string, l *ast.Row, sq *ast.Subquery,
	pos int) expr.Expr {
	return b.compareFields(len(l.Elements), op, pos, func(op string, i int) expr.Expr {
		left := b.expr(sc, l.Elements[i])
		q := b.bindSubquery(sc, sq.Query)
		checkWidth(q, len(l.Elements), pos)
		q.Cols = q.Cols[i : i+1]
		right := &expr.Subquery{T: b.meta.Cols[q.Cols[0].ID].Type, Kind: expr.Scalar, Plan: q,
			Pos: int(sq.Pos)}
		return b.binary(op, left, right, pos)
	})
}

// compareFields composes a comparison of rows with n fields from comparisons of their fields.
func (b *binder) compareFields(n int, op string, pos int,
	field func(op string, i int) expr.Expr) expr.Expr {
	switch op {
	case "<", "<=", ">", ">=":
		return b.rowOrder(n, op, pos, field)
	case "=", "<>":
		args := make([]expr.Expr, n)
		for i := range args {
			args[i] = field(op, i)
			checkFieldOperator(args[i], n, op, pos)
		}
		return connect(args, op == "=")
	}
	if t := field(op, 0).Type(); t.OID != types.OIDBool {
		panic(failure.At(pos, sqlerr.DatatypeMismatch,
			"row comparison operator must yield type boolean, not type %s", typeName(t)))
	}
	checkRowOperator(op, pos)
	return nil
}

// checkFieldOperator refuses a comparison of a field that is none, as = of boxes. A row of one
// field may have any.
func checkFieldOperator(field expr.Expr, n int, op string, pos int) {
	if call, ok := field.(*expr.Call); ok && n > 1 && call.Func.Comparison() == "" {
		panic(rowOperatorFailure(op, pos))
	}
}

// checkRowOperator refuses operators that are no comparison.
func checkRowOperator(op string, pos int) {
	switch op {
	case "=", "<>", "<", "<=", ">", ">=":
		return
	}
	panic(rowOperatorFailure(op, pos))
}

func rowOperatorFailure(op string, pos int) failure.Failure {
	return failure.Of(sqlerr.New(sqlerr.FeatureNotSupported,
		"could not determine interpretation of row comparison operator %s", op).At(pos).
		WithHint("Row comparison operators must be associated with btree operator families."))
}

func connect(args []expr.Expr, and bool) expr.Expr {
	switch {
	case len(args) == 1:
		return args[0]
	case and:
		return &expr.And{Args: args}
	}
	return &expr.Or{Args: args}
}

// rowOrder composes a < c OR (a = c AND (b < d OR …)). Only the last pair may be equal, if op
// allows it.
func (b *binder) rowOrder(n int, op string, pos int,
	field func(string, int) expr.Expr) expr.Expr {
	out := field(op, n-1)
	checkFieldOperator(out, n, op, pos)
	for i := n - 2; i >= 0; i-- {
		before := field(op[:1], i)
		checkFieldOperator(before, n, op, pos)
		same := field("=", i)
		out = &expr.Or{Args: []expr.Expr{before, &expr.And{Args: []expr.Expr{same, out}}}}
	}
	return out
}

// mixedComparison compares ROW(…) with something that is not written as a row.
func (b *binder) mixedComparison(sc *scope, op string, left, right ast.Expr, pos int) expr.Expr {
	return b.binary(op, b.expr(sc, left), b.expr(sc, right), pos)
}

// rowDistinct binds IS DISTINCT FROM of rows: some field is distinct.
func (b *binder) rowDistinct(sc *scope, e *ast.IsDistinct) expr.Expr {
	l, r := e.Left.(*ast.Row), e.Right.(*ast.Row)
	if len(l.Elements) != len(r.Elements) {
		panic(failure.At(e.Pos, sqlerr.SyntaxError, "unequal number of entries in row expressions"))
	}
	args := make([]expr.Expr, len(l.Elements))
	for i := range args {
		d := b.isDistinct(sc,
			&ast.IsDistinct{Pos: e.Pos, Left: l.Elements[i], Right: r.Elements[i], Not: e.Not})
		args[i] = d
	}
	if len(args) == 0 {
		return &expr.Const{T: types.TBool, Value: types.NewBool(e.Not)}
	}
	return connect(args, e.Not)
}
