package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
)

// funcCall binds a call: an aggregate, a set-returning function of a select list, or a scalar.
func (b *binder) funcCall(sc *scope, call *ast.FuncCall) (expr.Expr, error) {
	pos := int(call.Pos)
	if e, ok, err := b.conditionalCall(sc, call); ok {
		return e, err
	}
	call = b.withoutOutParams(call)
	if err := b.checkSchema(sc, call); err != nil {
		return nil, err
	}
	switch {
	case call.Over != nil:
		if call.ArgNames != nil || call.Variadic {
			return nil, sqlerr.Unsupported(pos, "a window call with named or VARIADIC arguments")
		}
		return b.window(sc, call)
	case len(builtin.Aggregates(call.Name.Name)) > 0:
		if call.ArgNames != nil || call.Variadic {
			return nil, sqlerr.Unsupported(pos, "an aggregate with named or VARIADIC arguments")
		}
		return b.aggregate(sc, call)
	}
	if _, only := windowFunctions[call.Name.Name]; only {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "window function %s requires an OVER clause",
			call.Name.Name).At(pos)
	}
	fn, args, t, err := b.resolveCall(sc, call)
	if err != nil {
		return nil, err
	}
	if fn.Set != nil {
		return b.setReturning(sc, call, fn, args, t)
	}
	return b.newCall(fn, args, t, pos), nil
}

// checkSchema accepts functions of pg_catalog and information_schema only.
func (b *binder) checkSchema(sc *scope, call *ast.FuncCall) error {
	switch call.Name.Schema {
	case "", "pg_catalog", "information_schema":
		return nil
	}
	args, err := b.exprs(sc, call.Args)
	if err != nil {
		return err
	}
	return undefinedFunction(call,
		builtin.Signature(call.Name.Schema+"."+call.Name.Name, typesOf(args)))
}
