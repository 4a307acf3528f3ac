package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// untypedElement gives an element of a row the type text if it has none, and notes that.
func (b *binder) untypedElement(e expr.Expr) expr.Expr {
	if e.Type().OID != types.OIDUnknown {
		return e
	}
	e = b.resolveUnknown(e)
	if b.untyped == nil {
		b.untyped = map[expr.Expr]bool{}
	}
	b.untyped[e] = true
	return e
}

// withoutType takes the type from an element that untypedElement gave it.
func (b *binder) withoutType(e expr.Expr) expr.Expr {
	if !b.untyped[e] {
		return e
	}
	switch e := e.(type) {
	case *expr.Const:
		return &expr.Const{T: types.TUnknown, Value: e.Value, Pos: e.Pos}
	case *expr.Param:
		b.meta.Params[e.N-1] = nil
		return &expr.Param{T: types.TUnknown, N: e.N, Pos: e.Pos}
	}
	return e
}

// coerceRow converts a row to a composite type, field by field. As in PostgreSQL that is possible
// only where the row itself is written.
func (b *binder) coerceRow(e expr.Expr, to *types.Type, how coercion, pos int) expr.Expr {
	if c, ok := e.(*expr.Const); ok && c.Value.Null {
		return &expr.Const{T: to, Value: types.Null, Pos: c.Pos}
	}
	refuse := func(format string, args ...any) {
		err := sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", typeName(e.Type()),
			typeName(to)).At(pos)
		if format != "" {
			err = err.WithDetail(format, args...)
		}
		panic(failure.Of(err))
	}
	row, ok := e.(*expr.RowExpr)
	if !ok {
		refuse("")
	}
	fields := to.Fields()
	out := &expr.RowExpr{T: to, Elems: make([]expr.Expr, len(fields))}
	for i, a := range fields {
		if i == len(row.Elems) {
			refuse("Input has too few columns.")
		}
		el := b.withoutType(row.Elems[i])
		if !canCast(el.Type(), a.Type, how) {
			refuse("Cannot cast type %s to %s in column %d.", typeName(el.Type()),
				typeName(a.Type), i+1)
		}
		out.Elems[i] = b.coerce(el, a.Type, how, pos)
	}
	if len(row.Elems) > len(fields) {
		refuse("Input has too many columns.")
	}
	return out
}
