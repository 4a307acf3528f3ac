package bind

import (
	"github.com/minidb/minidb/planner/ast"
)

// exprPos returns the position that PostgreSQL reports for a whole expression: that of its leftmost
// character, where At is that of the operator.
func exprPos(e ast.Expr) int {
	if e == nil {
		return 0
	}
	pos := e.At()
	left := func(o ast.Expr) {
		if o == nil {
			return
		}
		if p := ast.Pos(exprPos(o)); p > 0 && (p < pos || pos == 0) {
			pos = p
		}
	}
	switch e := e.(type) {
	case *ast.Binary:
		left(e.Left)
	case *ast.IsTest:
		left(e.Operand)
	case *ast.IsDistinct:
		left(e.Left)
	case *ast.Like:
		left(e.Operand)
	case *ast.Between:
		left(e.Operand)
	case *ast.InList:
		left(e.Operand)
	case *ast.InSubquery:
		left(e.Operand)
	case *ast.Quantified:
		left(e.Left)
	case *ast.Cast:
		left(e.Operand)
	case *ast.Collate:
		left(e.Operand)
	case *ast.Subscript:
		left(e.Operand)
	case *ast.FieldSelect:
		left(e.Operand)
	}
	return int(pos)
}

// argPos returns the position of an argument of a call.
func argPos(call *ast.FuncCall, i int) int {
	if i < len(call.Args) {
		return exprPos(call.Args[i])
	}
	return int(call.Pos)
}
