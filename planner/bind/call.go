package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
)

// funcCall binds a call: an aggregate, a set-returning function of a select list, or a scalar.
func (b *binder) funcCall(sc *scope, call *ast.FuncCall) expr.Expr {
	pos := int(call.Pos)
	if e, ok := b.conditionalCall(sc, call); ok {
		return e
	}
	call = b.withoutOutParams(call)
	b.checkSchema(sc, call)
	switch {
	case call.Over != nil:
		if call.ArgNames != nil || call.Variadic {
			panic(failure.Unsupported(pos, "a window call with named or VARIADIC arguments"))
		}
		return b.window(sc, call)
	case len(builtin.Aggregates(call.Name.Name)) > 0:
		if call.ArgNames != nil || call.Variadic {
			panic(failure.Unsupported(pos, "an aggregate with named or VARIADIC arguments"))
		}
		return b.aggregate(sc, call)
	}
	if _, only := windowFunctions[call.Name.Name]; only {
		panic(failure.At(pos, sqlerr.WrongObjectType, "window function %s requires an OVER clause",
			call.Name.Name))
	}
	fn, args, t := b.resolveCall(sc, call)
	if fn.Set != nil {
		return b.setReturning(sc, call, fn, args, t)
	}
	return b.newCall(fn, args, t, pos)
}

// checkSchema accepts functions of pg_catalog and information_schema only.
func (b *binder) checkSchema(sc *scope, call *ast.FuncCall) {
	switch call.Name.Schema {
	case "", "pg_catalog", "information_schema":
		return
	}
	args := b.exprs(sc, call.Args)
	panic(failure.Of(undefinedFunction(call,
		builtin.Signature(call.Name.Schema+"."+call.Name.Name, typesOf(args)))))
}
