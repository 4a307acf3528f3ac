package bind

import (
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// writing are the functions that change something, so that a plan with one is not read-only.
var writing = map[string]bool{"nextval": true, "setval": true, "set_config": false}

// lasting are functions whose effect stays when the transaction is rolled back. nextval's does too,
// but a gap in a sequence is nothing to be afraid of.
var lasting = map[string]bool{"pg_advisory_lock": true, "pg_advisory_lock_shared": true,
	"pg_try_advisory_lock":        true,
	"pg_try_advisory_lock_shared": true, "pg_advisory_unlock": true,
	"pg_advisory_unlock_shared": true,
	"pg_advisory_unlock_all":    true, "pg_cancel_backend": true, "pg_terminate_backend": true}

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

// resolveCall binds the arguments and chooses the overload.
func (b *binder) resolveCall(sc *scope, call *ast.FuncCall) (*expr.Func, []expr.Expr, *types.Type,
	error) {
	pos := int(call.Pos)
	args, err := b.exprs(sc, call.Args)
	if err != nil {
		return nil, nil, nil, err
	}
	if args, err = inOrder(call, args); err != nil {
		return nil, nil, nil, at(err, pos)
	}
	resolve := builtin.ResolveFunction
	if call.Variadic {
		resolve = builtin.ResolveVariadic
	}
	fn, targets, err := resolve(call.Name.Name, typesOf(args))
	if err != nil {
		return nil, nil, nil, at(qualified(err, call), pos)
	}
	if err := notAggregate(call); err != nil {
		return nil, nil, nil, err
	}
	for i := range args {
		if fn.Name == "pg_typeof" {
			break // the one function that can tell a literal without a type
		}
		if args[i], err = b.coerce(args[i], targets[i], explicitIfCast(fn, args[i]),
			argPos(call, i)); err != nil {
			return nil, nil, nil, err
		}
	}
	return fn, args, builtin.ReturnType(fn, targets), nil
}

// withoutOutParams leaves out the arguments that are parameters declared as void, as PostgreSQL
// does: JDBC sends {? = call f(?)} as f($1, $2), where $1, of type void, stands for the result.
func (b *binder) withoutOutParams(call *ast.FuncCall) *ast.FuncCall {
	out := func(i int) bool {
		p, ok := call.Args[i].(*ast.Param)
		return ok && (call.ArgNames == nil || call.ArgNames[i] == "") &&
			p.N >= 1 && p.N <= len(b.meta.Params) && b.meta.Params[p.N-1] == types.TVoid
	}
	kept := 0
	for i := range call.Args {
		if !out(i) {
			kept++
		}
	}
	if call.WithinGroup || kept == len(call.Args) {
		return call
	}
	c := *call
	c.Args, c.ArgNames = nil, nil
	for i, arg := range call.Args {
		if out(i) {
			continue
		}
		c.Args = append(c.Args, arg)
		if call.ArgNames != nil {
			c.ArgNames = append(c.ArgNames, call.ArgNames[i])
		}
	}
	return &c
}

// inOrder puts the arguments of f(b => 1) in the order of f's parameters, with defaults between
// them.
func inOrder(call *ast.FuncCall, args []expr.Expr) ([]expr.Expr, error) {
	if call.ArgNames == nil {
		return args, nil
	}
	order, defaults, err := builtin.NamedArguments(call.Name.Name, call.ArgNames, typesOf(args))
	if err != nil {
		return nil, err
	}
	out := make([]expr.Expr, len(order))
	for i, k := range order {
		if out[i] = expr.Expr(defaults[i]); k >= 0 {
			out[i] = args[k]
		}
	}
	return out, nil
}

// qualified puts the schema that was written into the message that a function does not exist.
func qualified(err error, call *ast.FuncCall) error {
	e, ok := err.(*sqlerr.Error)
	if !ok || call.Name.Schema == "" {
		return err
	}
	if rest, found := strings.CutPrefix(e.Message, "function "+call.Name.Name+"("); found {
		c := *e
		c.Message = "function " + call.Name.Schema + "." + call.Name.Name + "(" + rest
		return &c
	}
	return err
}

// explicitIfCast: a type's name used as a function is a cast, which the one argument undergoes.
func explicitIfCast(fn *expr.Func, arg expr.Expr) coercion {
	if len(fn.Args) == 1 && fn.Returns != nil && fn.Name == fn.Returns.Name &&
		arg.Type().OID != fn.Args[0].OID {
		return explicit
	}
	return implicit
}

func (b *binder) newCall(fn *expr.Func, args []expr.Expr, t *types.Type, pos int) expr.Expr {
	if writing[fn.Name] {
		b.meta.Writes = true
	}
	b.meta.Lasting = b.meta.Lasting || lasting[fn.Name]
	return &expr.Call{T: t, Func: fn, Args: args, Pos: pos}
}

// call resolves a function over bound arguments.
func (b *binder) call(name string, args []expr.Expr, pos int) (expr.Expr, error) {
	fn, targets, err := builtin.ResolveFunction(name, typesOf(args))
	if err != nil {
		return nil, at(err, pos)
	}
	for i := range args {
		if args[i], err = b.coerce(args[i], targets[i], implicit, pos); err != nil {
			return nil, err
		}
	}
	return b.newCall(fn, args, builtin.ReturnType(fn, targets), pos), nil
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
	name := builtin.Signature(call.Name.Schema+"."+call.Name.Name, typesOf(args))
	return withHint(sqlerr.New(sqlerr.UndefinedFunction, "function %s does not exist",
		name).At(int(call.Pos)),
		"No function matches the given name and argument types. You might need to add explicit "+
			"type casts.")
}

// notAggregate refuses the decorations of aggregates on other functions.
func notAggregate(call *ast.FuncCall) error {
	name, what := call.Name.Name, ""
	switch {
	case call.Star:
		return sqlerr.New(sqlerr.WrongObjectType, "%s(*) specified, but %s is not an aggregate "+
			"function", name, name).At(int(call.Pos))
	case call.Distinct:
		what = "DISTINCT"
	case call.WithinGroup:
		what = "WITHIN GROUP"
	case len(call.OrderBy) > 0:
		what = "ORDER BY"
	case call.Filter != nil:
		what = "FILTER"
	default:
		return nil
	}
	return sqlerr.New(sqlerr.WrongObjectType, "%s specified, but %s is not an aggregate function",
		what, name).At(int(call.Pos))
}

func isSetReturning(name ast.Name) bool {
	for _, fn := range builtin.Functions(name.Name) {
		if fn.Set != nil {
			return true
		}
	}
	return false
}
