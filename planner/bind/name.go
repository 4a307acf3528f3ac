package bind

import (
	"github.com/minidb/minidb/planner/ast"
)

// figureName returns the name of a result column without alias, like PostgreSQL's FigureColname.
func figureName(e ast.Expr) string {
	if name, _ := nameOf(e); name != "" {
		return name
	}
	return "?column?"
}

// nameOf returns a name for an expression and its strength: 2 for a name of its own, 1 for one that
// a cast's type or an outer construct replaces.
func nameOf(e ast.Expr) (name string, strength int) {
	switch e := e.(type) {
	case *ast.ColumnRef:
		return e.Name, 2
	case *ast.FieldSelect:
		return e.Field, 2
	case *ast.Star:
		if n := len(e.Qualifier); n > 0 {
			return e.Qualifier[n-1], 2
		}
	case *ast.Subscript:
		return nameOf(e.Operand)
	case *ast.FuncCall:
		return e.Name.Name, 2
	case *ast.XML:
		return e.Op, 2
	case *ast.Cast:
		if name, strength = nameOf(e.Operand); strength > 1 {
			return name, strength
		}
		return e.Type.Name, 1
	case *ast.Collate:
		return nameOf(e.Operand)
	case *ast.Exists:
		return "exists", 2
	case *ast.ArraySubquery, *ast.Array:
		return "array", 2
	case *ast.Row:
		return "row", 2
	case *ast.Case:
		if e.Else != nil {
			if name, strength = nameOf(e.Else); strength > 1 {
				return name, strength
			}
		}
		return "case", 1
	case *ast.Subquery:
		return subqueryName(e.Query)
	}
	return "", 0
}

// subqueryName returns the name of a scalar subquery's column.
func subqueryName(q *ast.Select) (string, int) {
	switch body := q.Body.(type) {
	case *ast.SelectCore:
		if len(body.Items) == 0 {
			return "", 0
		}
		if it := body.Items[0]; it.Alias != "" {
			return it.Alias, 2
		}
		if _, star := body.Items[0].Expr.(*ast.Star); star {
			return "", 0
		}
		return figureName(body.Items[0].Expr), 2
	case *ast.Values:
		return "column1", 2
	case *ast.SetOp:
		return subqueryName(&ast.Select{Body: body.Left})
	case *ast.Select:
		return subqueryName(body)
	}
	return "", 0
}
