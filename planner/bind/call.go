package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
)

// funcCall binds a call: an aggregate, a set-returning function of a select list, or a scalar.
func (b *binder) funcCall(sc *scope, call *ast.FuncCall) expr.Expr {
	pos := int(call.Pos)
	if e, ok := b.conditionalCall(sc, call); ok {
		return e
	}
	call = b.withoutOutParams(call)
	name := b.function(call.Name)
	switch {
	case call.Over != nil:
		if call.ArgNames != nil || call.Variadic {
			panic(failure.Unsupported(pos, "a window call with named or VARIADIC arguments"))
		}
		return b.window(sc, call)
	case len(name.Aggregates()) > 0:
		if call.ArgNames != nil || call.Variadic {
			panic(failure.Unsupported(pos, "an aggregate with named or VARIADIC arguments"))
		}
		return b.aggregate(sc, call)
	}
	if _, only := windowFunctions[call.Name.Name]; only && isCore(call.Name.Schema) {
		panic(failure.At(pos, sqlerr.WrongObjectType, "window function %s requires an OVER clause",
			call.Name.Name))
	}
	bound := inOrder(call, b.exprs(sc, call.Args))
	if isCore(call.Name.Schema) && call.Name.Name == "pg_collation_for" && len(bound) == 1 {
		return b.collationFor(call, bound)
	}
	if f := b.projection(sc, call, bound); f != nil {
		return f
	}
	fn, args, t := b.resolveBound(call, bound)
	if fn.Set != nil {
		return b.setReturning(sc, call, fn, args, t)
	}
	return b.newCall(fn, args, t, pos)
}
