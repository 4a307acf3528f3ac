package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// maxExprDepth bounds the nesting of expressions, and with it the stack.
const maxExprDepth = 5000

// expr binds any scalar expression.
func (b *binder) expr(sc *scope, e ast.Expr) expr.Expr {
	failure.Check(b.interrupt.Step())
	switch e := e.(type) {
	case *ast.Literal:
		return b.literal(e)
	case *ast.ColumnRef:
		return b.columnRef(sc, e)
	case *ast.Param:
		return b.param(e)
	}
	b.exprDepth++
	if b.exprDepth > maxExprDepth {
		panic(failure.At(e.At(), sqlerr.StatementTooComplex, "stack depth limit exceeded"))
	}
	bound := b.compound(sc, e)
	b.exprDepth--
	if b.collated != nil {
		b.collationOf(bound) // two explicit collations may conflict
	}
	b.noteType(e, bound)
	return bound
}

func (b *binder) compound(sc *scope, e ast.Expr) expr.Expr {
	switch e := e.(type) {
	case *ast.Binary:
		return b.binaryExpr(sc, e)
	case *ast.Unary:
		return b.unaryExpr(sc, e)
	case *ast.FuncCall:
		return b.funcCall(sc, e)
	case *ast.Cast:
		return b.castExpr(sc, e)
	case *ast.IsTest:
		return b.isTest(sc, e)
	case *ast.XML:
		return b.xml(sc, e)
	case *ast.IsDistinct:
		return b.isDistinct(sc, e)
	case *ast.Like:
		return b.like(sc, e)
	case *ast.Between:
		return b.between(sc, e)
	case *ast.InList:
		return b.inList(sc, e)
	case *ast.InSubquery:
		return b.inSubquery(sc, e)
	case *ast.Quantified:
		return b.quantified(sc, e)
	case *ast.Exists:
		return b.exists(sc, e)
	case *ast.Subquery:
		return b.scalarSubquery(sc, e)
	case *ast.ArraySubquery:
		return b.arraySubquery(sc, e)
	case *ast.Case:
		return b.caseExpr(sc, e)
	case *ast.Array:
		return b.array(sc, e, nil)
	case *ast.Row:
		return b.row(sc, e)
	case *ast.Subscript:
		return b.subscript(sc, e)
	case *ast.Collate:
		return b.collate(sc, e)
	case *ast.FieldSelect:
		return b.fieldSelect(sc, e)
	case *ast.AssignPart:
		return b.assignedPart(sc, e)
	case *ast.Default:
		panic(failure.At(e.Pos, sqlerr.SyntaxError, "DEFAULT is not allowed in this context"))
	case *ast.Star:
		if len(e.Qualifier) > 0 {
			return b.rowStar(sc, e)
		}
		panic(failure.At(e.Pos, sqlerr.SyntaxError,
			"row expansion via \"*\" is not supported here"))
	}
	panic(failure.At(0, sqlerr.InternalError, "planner: unexpected expression %T", e))
}

// rowStar binds t.* where a single value is required: the row.
func (b *binder) rowStar(sc *scope, e *ast.Star) expr.Expr {
	t, hidden := findTable(sc, e.Qualifier)
	if t == nil {
		if row := b.variableRow(e); row != nil {
			return row
		}
		panic(failure.Of(missingTable(sc, e.Qualifier, hidden, e.Pos)))
	}
	b.noteRow(e, t)
	return b.wholeRow(t, e.Pos)
}

// exprs binds a list.
func (b *binder) exprs(sc *scope, es []ast.Expr) []expr.Expr {
	if len(es) == 0 {
		return nil
	}
	out := make([]expr.Expr, len(es))
	for i, e := range es {
		out[i] = b.expr(sc, e)
	}
	return out
}

func typesOf(es []expr.Expr) []*types.Type {
	ts := make([]*types.Type, len(es))
	for i, e := range es {
		ts[i] = e.Type()
	}
	return ts
}

// param binds $N. Its type is the declared or inferred one, or unknown until its context determines
// it.
func (b *binder) param(e *ast.Param) expr.Expr {
	if e.N < 1 || e.N > 65535 || b.env.Variables != nil {
		panic(failure.At(e.Pos, sqlerr.UndefinedParameter, "there is no parameter $%d", e.N))
	}
	for len(b.meta.Params) < e.N {
		b.meta.Params = append(b.meta.Params, nil)
	}
	t := b.meta.Params[e.N-1]
	if t == nil {
		t = types.TUnknown
	}
	return &expr.Param{T: t, N: e.N, Pos: int(e.Pos)}
}

// castExpr binds an explicit cast.
func (b *binder) castExpr(sc *scope, e *ast.Cast) expr.Expr {
	t := b.resolveType(e.Type)
	if arr, ok := e.Operand.(*ast.Array); ok && t.Elem != nil {
		return b.coerce(b.array(sc, arr, t.Elem), t, explicit, int(e.Pos))
	}
	arg := b.expr(sc, e.Operand)
	if _, star := e.Operand.(*ast.Star); star && t.OID == types.OIDRecord {
		return arg // so a whole row is stored: what its type is named may change
	}
	return b.castTo(arg, t, int(e.Pos))
}
