package bind

import (
	"sync"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// resolveCall binds the arguments and chooses the overload.
func (b *binder) resolveCall(sc *scope, call *ast.FuncCall) (*expr.Func, []expr.Expr, *types.Type) {
	args := b.exprs(sc, call.Args)
	args = inOrder(call, args)
	return b.resolveBound(call, args)
}

// resolveBound chooses the overload for bound arguments.
func (b *binder) resolveBound(call *ast.FuncCall, args []expr.Expr) (*expr.Func, []expr.Expr,
	*types.Type) {
	pos := int(call.Pos)
	name := b.function(call.Name)
	resolve := name.ResolveFunction
	if call.Variadic {
		resolve = name.ResolveVariadic
	}
	fn, targets, err := resolve(typesOf(args))
	if err != nil {
		failure.Check(at(b.missingSchema(call.Name, err), pos))
	}
	notAggregate(call)
	for i := range args {
		if fn.Name == "pg_typeof" {
			break // it returns the type of a literal before any coercion
		}
		args[i] = b.coerce(args[i], targets[i], explicitIfCast(fn, args[i]), argPos(call, i))
	}
	return fn, args, builtin.ReturnType(fn, targets)
}

// withoutOutParams drops the arguments that are parameters declared as void, as PostgreSQL does:
// JDBC sends {? = call f(?)} as f($1, $2), where $1, of type void, is the result.
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

// inOrder sorts the arguments of f(b => 1) into the order of f's parameters, with defaults in the
// gaps.
func inOrder(call *ast.FuncCall, args []expr.Expr) []expr.Expr {
	if call.ArgNames == nil {
		return args
	}
	order, defaults, err := builtin.NamedArguments(call.Name.Name, call.ArgNames, typesOf(args))
	failure.Check(at(err, int(call.Pos)))
	out := make([]expr.Expr, len(order))
	for i, k := range order {
		if out[i] = expr.Expr(defaults[i]); k >= 0 {
			out[i] = args[k]
		}
	}
	return out
}

// explicitIfCast returns explicit if the function is a type's name: such a call is a cast of its
// only argument.
func explicitIfCast(fn *expr.Func, arg expr.Expr) coercion {
	if len(fn.Args) == 1 && fn.Returns != nil && fn.Name == fn.Returns.Name &&
		arg.Type().OID != fn.Args[0].OID {
		return explicit
	}
	return implicit
}

func (b *binder) newCall(fn *expr.Func, args []expr.Expr, t *types.Type, pos int) expr.Expr {
	b.noteEffects(fn)
	return &expr.Call{T: t, Func: fn, Args: args, Pos: pos}
}

// noteEffects notes what a call of a function means for its statement.
func (b *binder) noteEffects(fn *expr.Func) {
	if writing[fn.Name] {
		b.meta.Writes = true
	}
	b.meta.Lasting = b.meta.Lasting || lasting[fn.Name]
	b.needRoutine(fn)
}

// call resolves a function over bound arguments.
func (b *binder) call(name string, args []expr.Expr, pos int) expr.Expr {
	fn, targets, err := builtin.ResolveFunction(name, typesOf(args))
	failure.Check(at(err, pos))
	for i := range args {
		args[i] = b.coerce(args[i], targets[i], implicit, pos)
	}
	return b.newCall(fn, args, builtin.ReturnType(fn, targets), pos)
}

func (b *binder) isSetReturning(name ast.Name) bool {
	for _, fn := range b.function(name).Functions() {
		if fn.Set != nil {
			return true
		}
	}
	return false
}

// binary resolves an operator over bound operands.
func (b *binder) binary(op string, l, r expr.Expr, pos int) expr.Expr {
	fn, targets, err := b.resolveOperator(op, l.Type(), r.Type())
	failure.Check(at(err, pos))
	l = b.coerce(l, targets[0], implicit, pos)
	r = b.coerce(r, targets[1], implicit, pos)
	return &expr.Call{T: builtin.ReturnType(fn, targets), Func: fn, Args: []expr.Expr{l, r},
		Pos: pos}
}

func (b *binder) distinct(l, r expr.Expr, not bool, pos int) expr.Expr {
	eq := b.binary("=", l, r, pos)
	call, ok := eq.(*expr.Call)
	if !ok || call.T.OID != types.OIDBool {
		panic(failure.At(pos, sqlerr.DatatypeMismatch,
			"IS DISTINCT FROM requires = operator to yield boolean"))
	}
	for i, arg := range call.Args {
		if c, ok := arg.(*expr.Const); ok && c.Value.Null &&
			call.Args[1-i].Type().Family != types.Record {
			return &expr.IsNull{Arg: call.Args[1-i], Not: !not}
		}
	}
	var out expr.Expr = &expr.Call{T: types.TBool, Func: distinctFunc(call.Func), Args: call.Args,
		Pos: pos}
	if not {
		out = &expr.Not{Arg: out}
	}
	return out
}

// distinctFuncs caches the IS DISTINCT FROM of each equality operator.
var distinctFuncs sync.Map // *expr.Func → *expr.Func

// distinctFunc makes IS DISTINCT FROM from an equality operator: two NULLs count as equal.
func distinctFunc(eq *expr.Func) *expr.Func {
	if fn, ok := distinctFuncs.Load(eq); ok {
		return fn.(*expr.Func)
	}
	fn, _ := distinctFuncs.LoadOrStore(eq, &expr.Func{
		Name: "IS DISTINCT FROM", Args: eq.Args, Returns: types.TBool, Volatility: eq.Volatility,
		NotStrict: true,
		Scalar: func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			if a[0].Null || a[1].Null {
				return types.NewBool(a[0].Null != a[1].Null), nil
			}
			same, err := eq.Scalar(rt, a)
			return types.NewBool(!same.Bool()), err
		},
	})
	return fn.(*expr.Func)
}

// writing are the functions that change something: a plan that calls one is not read-only.
var writing = map[string]bool{"nextval": true, "setval": true, "set_config": false,
	"minidb_take": true, "minidb_notify": true}

// lasting are the functions whose effect remains when the transaction is rolled back. That of
// nextval remains too, but is only a gap in a sequence.
var lasting = map[string]bool{"pg_advisory_lock": true, "pg_advisory_lock_shared": true,
	"pg_try_advisory_lock":        true,
	"pg_try_advisory_lock_shared": true, "pg_advisory_unlock": true,
	"pg_advisory_unlock_shared": true,
	"pg_advisory_unlock_all":    true, "pg_cancel_backend": true, "pg_terminate_backend": true,
	"minidb_backup": true}

// notAggregate refuses the syntax of aggregates on other functions.
func notAggregate(call *ast.FuncCall) {
	name, what := call.Name.Name, ""
	switch {
	case call.Star:
		panic(failure.At(call.Pos, sqlerr.WrongObjectType,
			"%s(*) specified, but %s is not an aggregate function", name, name))
	case call.Distinct:
		what = "DISTINCT"
	case call.WithinGroup:
		what = "WITHIN GROUP"
	case len(call.OrderBy) > 0:
		what = "ORDER BY"
	case call.Filter != nil:
		what = "FILTER"
	default:
		return
	}
	panic(failure.At(call.Pos, sqlerr.WrongObjectType,
		"%s specified, but %s is not an aggregate function", what, name))
}

// resolveAggregate chooses the overload of an aggregate for its arguments.
func (b *binder) resolveAggregate(call *ast.FuncCall, args []expr.Expr) (*expr.Aggregate,
	[]*types.Type) {
	name := call.Name.Name
	if name == "count" && len(args) == 0 && !call.Star {
		panic(failure.At(call.Pos, sqlerr.WrongObjectType,
			"count(*) must be used to call a parameterless aggregate function"))
	}
	fn, targets, err := b.function(call.Name).ResolveAggregate(typesOf(args))
	failure.Check(at(err, int(call.Pos)))
	b.needRoutine(fn)
	return fn, targets
}

// coerceArgs converts the arguments of a call, in place, to the types of its overload.
func (b *binder) coerceArgs(call *ast.FuncCall, args []expr.Expr, targets []*types.Type) {
	for i := range args {
		args[i] = b.coerce(args[i], targets[i], implicit, argPos(call, i))
	}
}
