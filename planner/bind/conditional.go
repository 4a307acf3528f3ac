package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// caseExpr binds CASE. A simple CASE evaluates its operand once and compares it with each WHEN.
func (b *binder) caseExpr(sc *scope, e *ast.Case) expr.Expr {
	defer b.forbidSets(sc, "CASE")()
	out := &expr.Case{Whens: make([]expr.When, len(e.Whens))}
	if e.Operand != nil {
		out.Operand = b.resolveUnknown(b.expr(sc, e.Operand))
	}
	results := make([]expr.Expr, len(e.Whens)+1)
	sources := make([]ast.Expr, len(e.Whens)+1)
	for i, w := range e.Whens {
		out.Whens[i].Cond = b.caseCondition(sc, out, w.Cond)
		results[i+1] = b.expr(sc, w.Result)
		sources[i+1] = w.Result
	}
	// As in PostgreSQL, ELSE comes first in the search for the common type.
	results[0] = &expr.Const{T: types.TUnknown, Value: types.Null}
	if e.Else != nil {
		results[0] = b.expr(sc, e.Else)
	}
	sources[0] = e.Else
	out.T = b.unify("CASE", results, sources)
	for i := range out.Whens {
		out.Whens[i].Result = results[i+1]
	}
	if e.Else != nil {
		out.Else = results[0]
	}
	return out
}

func (b *binder) caseCondition(sc *scope, c *expr.Case, cond ast.Expr) expr.Expr {
	if c.Operand == nil {
		return b.condition(sc, cond, "CASE/WHEN")
	}
	value := b.expr(sc, cond)
	return b.binary("=", &expr.CaseOperand{T: c.Operand.Type()}, value, exprPos(cond))
}

// forbidSets refuses set-returning calls within a construct that evaluates only some of its
// arguments. The caller calls the returned function after binding the construct.
func (b *binder) forbidSets(sc *scope, construct string) func() {
	saved := sc.sel.noSets
	sc.sel.noSets = construct
	return func() { sc.sel.noSets = saved }
}

// unify casts expressions, in place, to their common type.
func (b *binder) unify(construct string, es []expr.Expr, sources []ast.Expr) *types.Type {
	t, offender, err := builtin.CommonTypeFor(construct, typesOf(es))
	failure.Check(at(err, sourcePos(sources, offender)))
	for i := range es {
		es[i] = b.coerce(es[i], t, implicit, sourcePos(sources, i))
	}
	return t
}

func sourcePos(sources []ast.Expr, i int) int {
	if i < len(sources) {
		return exprPos(sources[i])
	}
	return 0
}

// conditionalCall binds constructs that are written like function calls: COALESCE, NULLIF,
// GREATEST, LEAST, GROUPING. ok is false for any other call.
func (b *binder) conditionalCall(sc *scope, call *ast.FuncCall) (e expr.Expr, ok bool) {
	if call.Name.Schema != "" {
		return nil, false
	}
	switch call.Name.Name {
	case "coalesce":
		e = b.coalesce(sc, call)
	case "nullif":
		e = b.nullIf(sc, call)
	case "greatest", "least":
		e = b.extreme(sc, call)
	case "grouping":
		e = b.grouping(sc, call)
	default:
		return nil, false
	}
	return e, true
}

func (b *binder) coalesce(sc *scope, call *ast.FuncCall) expr.Expr {
	defer b.forbidSets(sc, "COALESCE")()
	args := b.exprs(sc, call.Args)
	return &expr.Coalesce{T: b.unify("COALESCE", args, call.Args), Args: args}
}

// nullIf binds NULLIF. Its value is the first argument, converted to the operand type of the =
// operator.
func (b *binder) nullIf(sc *scope, call *ast.FuncCall) expr.Expr {
	if len(call.Args) != 2 {
		panic(failure.At(call.Pos, sqlerr.SyntaxError, "NULLIF takes two arguments"))
	}
	args := b.exprs(sc, call.Args)
	fn, targets, err := builtin.NullIf(args[0].Type(), args[1].Type())
	failure.Check(at(err, int(call.Pos)))
	b.coerceArgs(call, args, targets)
	return &expr.Call{T: targets[0], Func: fn, Args: args, Pos: int(call.Pos)}
}

// extreme binds GREATEST and LEAST.
func (b *binder) extreme(sc *scope, call *ast.FuncCall) expr.Expr {
	args := b.exprs(sc, call.Args)
	name := "GREATEST"
	resolve := builtin.Greatest
	if call.Name.Name == "least" {
		name, resolve = "LEAST", builtin.Least
	}
	t := b.unify(name, args, call.Args)
	if t.Unordered() {
		panic(failure.At(0, sqlerr.UndefinedFunction,
			"could not identify a comparison function for type %s", typeName(t)))
	}
	return &expr.Call{T: t, Func: resolve(t), Args: args, Pos: int(call.Pos)}
}

// array binds ARRAY[…]. elem is the element type that a cast around it requires, or nil.
func (b *binder) array(sc *scope, e *ast.Array, elem *types.Type) expr.Expr {
	if len(e.Elements) == 0 && elem == nil {
		panic(failure.Of(sqlerr.New(sqlerr.IndeterminateDatatype,
			"cannot determine type of empty array").At(int(e.Pos)).
			WithHint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")))
	}
	elems := make([]expr.Expr, len(e.Elements))
	nested := false
	for i, el := range e.Elements {
		if sub, ok := el.(*ast.Array); ok {
			nested = true
			elems[i] = b.array(sc, sub, elem)
		} else {
			elems[i] = b.expr(sc, el)
		}
	}
	if elem != nil && !nested {
		for i := range elems {
			elems[i] = b.castTo(elems[i], elem, exprPos(e.Elements[i]))
		}
		return &expr.ArrayExpr{T: types.ArrayOf(elem), Elems: elems}
	}
	t := b.unify("ARRAY", elems, e.Elements)
	array := types.ArrayOf(t)
	if array == nil {
		panic(failure.At(e.Pos, sqlerr.UndefinedObject,
			"could not find array type for data type %s", typeName(t)))
	}
	return &expr.ArrayExpr{T: array, Elems: elems}
}
