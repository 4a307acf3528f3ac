package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// caseExpr binds CASE. A simple CASE evaluates its operand once and compares it with each WHEN.
func (b *binder) caseExpr(sc *scope, e *ast.Case) (expr.Expr, error) {
	defer b.forbidSets(sc, "CASE")()
	out := &expr.Case{Whens: make([]expr.When, len(e.Whens))}
	if e.Operand != nil {
		operand, err := b.expr(sc, e.Operand)
		if err != nil {
			return nil, err
		}
		if out.Operand, err = b.resolveUnknown(operand); err != nil {
			return nil, err
		}
	}
	results := make([]expr.Expr, len(e.Whens)+1)
	sources := make([]ast.Expr, len(e.Whens)+1)
	for i, w := range e.Whens {
		cond, err := b.caseCondition(sc, out, w.Cond)
		if err != nil {
			return nil, err
		}
		out.Whens[i].Cond = cond
		if results[i+1], err = b.expr(sc, w.Result); err != nil {
			return nil, err
		}
		sources[i+1] = w.Result
	}
	// As in PostgreSQL, ELSE comes first in the search for the common type.
	results[0] = &expr.Const{T: types.TUnknown, Value: types.Null}
	if e.Else != nil {
		var err error
		if results[0], err = b.expr(sc, e.Else); err != nil {
			return nil, err
		}
	}
	sources[0] = e.Else
	t, err := b.unify("CASE", results, sources)
	if err != nil {
		return nil, err
	}
	out.T = t
	for i := range out.Whens {
		out.Whens[i].Result = results[i+1]
	}
	if e.Else != nil {
		out.Else = results[0]
	}
	return out, nil
}

func (b *binder) caseCondition(sc *scope, c *expr.Case, cond ast.Expr) (expr.Expr, error) {
	if c.Operand == nil {
		return b.condition(sc, cond, "CASE/WHEN")
	}
	value, err := b.expr(sc, cond)
	if err != nil {
		return nil, err
	}
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
func (b *binder) unify(construct string, es []expr.Expr, sources []ast.Expr) (*types.Type, error) {
	t, offender, err := builtin.CommonTypeFor(construct, typesOf(es))
	if err != nil {
		return nil, at(err, sourcePos(sources, offender))
	}
	for i := range es {
		if es[i], err = b.coerce(es[i], t, implicit, sourcePos(sources, i)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func sourcePos(sources []ast.Expr, i int) int {
	if i < len(sources) {
		return exprPos(sources[i])
	}
	return 0
}

// conditionalCall binds constructs that are written like function calls: COALESCE, NULLIF,
// GREATEST, LEAST, GROUPING. ok is false for any other call.
func (b *binder) conditionalCall(sc *scope, call *ast.FuncCall) (e expr.Expr, ok bool, err error) {
	if call.Name.Schema != "" {
		return nil, false, nil
	}
	switch call.Name.Name {
	case "coalesce":
		e, err = b.coalesce(sc, call)
	case "nullif":
		e, err = b.nullIf(sc, call)
	case "greatest", "least":
		e, err = b.extreme(sc, call)
	case "grouping":
		e, err = b.grouping(sc, call)
	default:
		return nil, false, nil
	}
	return e, true, err
}

func (b *binder) coalesce(sc *scope, call *ast.FuncCall) (expr.Expr, error) {
	defer b.forbidSets(sc, "COALESCE")()
	args, err := b.exprs(sc, call.Args)
	if err != nil {
		return nil, err
	}
	t, err := b.unify("COALESCE", args, call.Args)
	if err != nil {
		return nil, err
	}
	return &expr.Coalesce{T: t, Args: args}, nil
}

// nullIf binds NULLIF. Its value is the first argument, converted to the operand type of the =
// operator.
func (b *binder) nullIf(sc *scope, call *ast.FuncCall) (expr.Expr, error) {
	if len(call.Args) != 2 {
		return nil, sqlerr.New(sqlerr.SyntaxError, "NULLIF takes two arguments").At(int(call.Pos))
	}
	args, err := b.exprs(sc, call.Args)
	if err != nil {
		return nil, err
	}
	fn, targets, err := builtin.NullIf(args[0].Type(), args[1].Type())
	if err != nil {
		return nil, at(err, int(call.Pos))
	}
	if err := b.coerceArgs(call, args, targets); err != nil {
		return nil, err
	}
	return &expr.Call{T: targets[0], Func: fn, Args: args, Pos: int(call.Pos)}, nil
}

// extreme binds GREATEST and LEAST.
func (b *binder) extreme(sc *scope, call *ast.FuncCall) (expr.Expr, error) {
	args, err := b.exprs(sc, call.Args)
	if err != nil {
		return nil, err
	}
	name := "GREATEST"
	resolve := builtin.Greatest
	if call.Name.Name == "least" {
		name, resolve = "LEAST", builtin.Least
	}
	t, err := b.unify(name, args, call.Args)
	if err != nil {
		return nil, err
	}
	return &expr.Call{T: t, Func: resolve(t), Args: args, Pos: int(call.Pos)}, nil
}

// array binds ARRAY[…]. elem is the element type that a cast around it requires, or nil.
func (b *binder) array(sc *scope, e *ast.Array, elem *types.Type) (expr.Expr, error) {
	if len(e.Elements) == 0 && elem == nil {
		return nil, withHint(sqlerr.New(sqlerr.IndeterminateDatatype,
			"cannot determine type of empty array").At(int(e.Pos)),
			"Explicitly cast to the desired type, for example ARRAY[]::integer[].")
	}
	elems := make([]expr.Expr, len(e.Elements))
	nested := false
	for i, el := range e.Elements {
		var err error
		if sub, ok := el.(*ast.Array); ok {
			nested = true
			elems[i], err = b.array(sc, sub, elem)
		} else {
			elems[i], err = b.expr(sc, el)
		}
		if err != nil {
			return nil, err
		}
	}
	if elem != nil && !nested {
		for i := range elems {
			var err error
			if elems[i], err = b.castTo(elems[i], elem, exprPos(e.Elements[i])); err != nil {
				return nil, err
			}
		}
		return &expr.ArrayExpr{T: types.ArrayOf(elem), Elems: elems}, nil
	}
	t, err := b.unify("ARRAY", elems, e.Elements)
	if err != nil {
		return nil, err
	}
	array := types.ArrayOf(t)
	if array == nil {
		return nil, sqlerr.New(sqlerr.UndefinedObject, "could not find array type for data type %s",
			typeName(t)).At(int(e.Pos))
	}
	return &expr.ArrayExpr{T: array, Elems: elems}, nil
}
