package bind

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// binaryExpr binds AND, OR and binary operators.
func (b *binder) binaryExpr(sc *scope, e *ast.Binary) (expr.Expr, error) {
	switch e.Op {
	case "and", "or":
		return b.logic(sc, e)
	}
	if isRow(e.Left) || isRow(e.Right) {
		return b.rowComparison(sc, e.Op, e.Left, e.Right, int(e.Pos))
	}
	l, err := b.expr(sc, e.Left)
	if err != nil {
		return nil, err
	}
	r, err := b.expr(sc, e.Right)
	if err != nil {
		return nil, err
	}
	return b.binary(e.Op, l, r, int(e.Pos))
}

// logic binds a chain of one connective as a list, without recursion along its left side.
func (b *binder) logic(sc *scope, e *ast.Binary) (expr.Expr, error) {
	operands := e.Chain()
	name := "AND"
	if e.Op == "or" {
		name = "OR"
	}
	args := make([]expr.Expr, 0, len(operands))
	for _, operand := range operands {
		arg, err := b.condition(sc, operand, name)
		if err != nil {
			return nil, err
		}
		switch a := arg.(type) {
		case *expr.And:
			if e.Op == "and" {
				args = append(args, a.Args...)
				continue
			}
		case *expr.Or:
			if e.Op == "or" {
				args = append(args, a.Args...)
				continue
			}
		}
		args = append(args, arg)
	}
	if e.Op == "and" {
		return &expr.And{Args: args}, nil
	}
	return &expr.Or{Args: args}, nil
}

// unaryExpr binds NOT and prefix operators. A sign before a number is part of the number.
func (b *binder) unaryExpr(sc *scope, e *ast.Unary) (expr.Expr, error) {
	if e.Op == "not" {
		arg, err := b.condition(sc, e.Operand, "NOT")
		if err != nil {
			return nil, err
		}
		return &expr.Not{Arg: arg}, nil
	}
	if lit, ok := e.Operand.(*ast.Literal); ok && e.Op == "-" &&
		(lit.Kind == ast.LiteralInt || lit.Kind == ast.LiteralNumber) {
		if lit.Text[0] == '-' {
			return number(lit.Text[1:], int(e.Pos))
		}
		return number("-"+lit.Text, int(e.Pos))
	}
	arg, err := b.expr(sc, e.Operand)
	if err != nil {
		return nil, err
	}
	fn, targets, err := builtin.ResolveOperator(e.Op, nil, arg.Type())
	if err != nil {
		return nil, at(err, int(e.Pos))
	}
	if arg, err = b.coerce(arg, targets[0], implicit, int(e.Pos)); err != nil {
		return nil, err
	}
	return &expr.Call{T: builtin.ReturnType(fn, targets), Func: fn, Args: []expr.Expr{arg},
		Pos: int(e.Pos)}, nil
}

// isTest binds IS [NOT] NULL, TRUE, FALSE, UNKNOWN.
func (b *binder) isTest(sc *scope, e *ast.IsTest) (expr.Expr, error) {
	if e.Test == "null" {
		arg, err := b.expr(sc, e.Operand)
		if err != nil {
			return nil, err
		}
		if c, ok := arg.(*expr.Const); ok && c.T.OID == types.OIDUnknown {
			if arg, err = b.resolveUnknown(arg); err != nil {
				return nil, err
			}
		}
		return &expr.IsNull{Arg: arg, Not: e.Not}, nil
	}
	name := map[string]string{"true": "IS TRUE", "false": "IS FALSE",
		"unknown": "IS UNKNOWN"}[e.Test]
	if e.Not {
		name = "IS NOT" + name[2:]
	}
	arg, err := b.condition(sc, e.Operand, name)
	if err != nil {
		return nil, err
	}
	if e.Test == "unknown" {
		return &expr.IsNull{Arg: arg, Not: e.Not}, nil
	}
	return &expr.IsBool{Arg: arg, Want: e.Test == "true", Not: e.Not}, nil
}

// isDistinct binds IS [NOT] DISTINCT FROM.
func (b *binder) isDistinct(sc *scope, e *ast.IsDistinct) (expr.Expr, error) {
	if isRow(e.Left) && isRow(e.Right) {
		return b.rowDistinct(sc, e)
	}
	l, err := b.expr(sc, e.Left)
	if err != nil {
		return nil, err
	}
	r, err := b.expr(sc, e.Right)
	if err != nil {
		return nil, err
	}
	return b.distinct(l, r, e.Not, int(e.Pos))
}

// like binds LIKE, ILIKE and SIMILAR TO as operators.
func (b *binder) like(sc *scope, e *ast.Like) (expr.Expr, error) {
	pos := int(e.Pos)
	operand, err := b.expr(sc, e.Operand)
	if err != nil {
		return nil, err
	}
	pattern, err := b.expr(sc, e.Pattern)
	if err != nil {
		return nil, err
	}
	args := []expr.Expr{pattern}
	if e.Escape != nil {
		esc, err := b.expr(sc, e.Escape)
		if err != nil {
			return nil, err
		}
		args = append(args, esc)
	}
	op := map[string]string{"like": "~~", "ilike": "~~*", "similar": "~"}[e.Op]
	if e.Not {
		op = "!" + op
	}
	if e.Op == "similar" {
		pattern, err = b.call("similar_to_escape", args, pos)
	} else if e.Escape != nil {
		pattern, err = b.call("like_escape", args, pos)
	}
	if err != nil {
		return nil, err
	}
	return b.binary(op, operand, pattern, pos)
}

// between binds BETWEEN as two comparisons. As in PostgreSQL the operand is bound for each.
func (b *binder) between(sc *scope, e *ast.Between) (expr.Expr, error) {
	compare := func(op string, bound ast.Expr) (expr.Expr, error) {
		return b.binaryExpr(sc, &ast.Binary{Pos: e.Pos, Op: op, Left: e.Operand, Right: bound})
	}
	pair := func(low, high ast.Expr) (expr.Expr, error) {
		lo, hi := ">=", "<="
		if e.Not {
			lo, hi = "<", ">"
		}
		l, err := compare(lo, low)
		if err != nil {
			return nil, err
		}
		h, err := compare(hi, high)
		if err != nil {
			return nil, err
		}
		if e.Not {
			return &expr.Or{Args: []expr.Expr{l, h}}, nil
		}
		return &expr.And{Args: []expr.Expr{l, h}}, nil
	}
	first, err := pair(e.Low, e.High)
	if err != nil || !e.Symmetric {
		return first, err
	}
	second, err := pair(e.High, e.Low)
	if err != nil {
		return nil, err
	}
	if e.Not {
		return &expr.And{Args: []expr.Expr{first, second}}, nil
	}
	return &expr.Or{Args: []expr.Expr{first, second}}, nil
}

// inList binds IN (…): as a list if all values have one type, otherwise as a chain of comparisons.
func (b *binder) inList(sc *scope, e *ast.InList) (expr.Expr, error) {
	op := "="
	if e.Not {
		op = "<>"
	}
	if isRow(e.Operand) {
		return b.inChain(sc, e, op)
	}
	arg, err := b.expr(sc, e.Operand)
	if err != nil {
		return nil, err
	}
	if len(e.List) == 1 {
		r, err := b.expr(sc, e.List[0])
		if err != nil {
			return nil, err
		}
		return b.binary(op, arg, r, int(e.Pos))
	}
	list, err := b.exprs(sc, e.List)
	if err != nil {
		return nil, err
	}
	in, err := b.inCommonType(arg, list, e)
	if in != nil || err != nil {
		return in, err
	}
	args := make([]expr.Expr, len(list))
	for i, r := range list {
		if args[i], err = b.binary(op, arg, r, int(e.Pos)); err != nil {
			return nil, err
		}
	}
	if e.Not {
		return &expr.And{Args: args}, nil
	}
	return &expr.Or{Args: args}, nil
}

// inCommonType makes an InList if the operand and the list have a common type with equality. It
// returns nil if they do not.
func (b *binder) inCommonType(arg expr.Expr, list []expr.Expr, e *ast.InList) (expr.Expr, error) {
	all := append([]expr.Expr{arg}, list...)
	t, _, err := builtin.CommonTypeFor("IN", typesOf(all))
	if err != nil || t.OID == types.OIDRecord {
		return nil, nil
	}
	t = t.WithMod(types.NoMod)
	eq, targets, err := builtin.ResolveOperator("=", t, t)
	if err != nil {
		return nil, nil
	}
	in := &expr.InList{Eq: eq, Not: e.Not, List: make([]expr.Expr, len(list))}
	if in.Arg, err = b.coerce(arg, targets[0], implicit, int(e.Pos)); err != nil {
		return nil, err
	}
	for i, r := range list {
		if in.List[i], err = b.coerce(r, targets[1], implicit, exprPos(e.List[i])); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// inChain compares rows one by one.
func (b *binder) inChain(sc *scope, e *ast.InList, op string) (expr.Expr, error) {
	args := make([]expr.Expr, len(e.List))
	for i, r := range e.List {
		cmp, err := b.binaryExpr(sc, &ast.Binary{Pos: e.Pos, Op: op, Left: e.Operand, Right: r})
		if err != nil {
			return nil, err
		}
		args[i] = cmp
	}
	if len(args) == 1 {
		return args[0], nil
	}
	if e.Not {
		return &expr.And{Args: args}, nil
	}
	return &expr.Or{Args: args}, nil
}
