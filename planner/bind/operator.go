package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// binaryExpr binds AND, OR and binary operators.
func (b *binder) binaryExpr(sc *scope, e *ast.Binary) expr.Expr {
	switch e.Op {
	case "and", "or":
		return b.logic(sc, e)
	}
	if isRow(e.Left) || isRow(e.Right) {
		return b.rowComparison(sc, e.Op, e.Left, e.Right, int(e.Pos))
	}
	return b.binary(e.Op, b.expr(sc, e.Left), b.expr(sc, e.Right), int(e.Pos))
}

// logic binds a chain of one connective as a list, without recursion along its left side.
func (b *binder) logic(sc *scope, e *ast.Binary) expr.Expr {
	operands := e.Chain()
	name := "AND"
	if e.Op == "or" {
		name = "OR"
	}
	args := make([]expr.Expr, 0, len(operands))
	for _, operand := range operands {
		arg := b.condition(sc, operand, name)
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
		return &expr.And{Args: args}
	}
	return &expr.Or{Args: args}
}

// unaryExpr binds NOT and prefix operators. A sign before a number is part of the number.
func (b *binder) unaryExpr(sc *scope, e *ast.Unary) expr.Expr {
	if e.Op == "not" {
		return &expr.Not{Arg: b.condition(sc, e.Operand, "NOT")}
	}
	if lit, ok := e.Operand.(*ast.Literal); ok && e.Op == "-" &&
		(lit.Kind == ast.LiteralInt || lit.Kind == ast.LiteralNumber) {
		if lit.Text[0] == '-' {
			return number(lit.Text[1:], int(e.Pos))
		}
		return number("-"+lit.Text, int(e.Pos))
	}
	arg := b.expr(sc, e.Operand)
	fn, targets, err := b.resolveOperator(e.Op, nil, arg.Type())
	failure.Check(at(err, int(e.Pos)))
	arg = b.coerce(arg, targets[0], implicit, int(e.Pos))
	return &expr.Call{T: builtin.ReturnType(fn, targets), Func: fn, Args: []expr.Expr{arg},
		Pos: int(e.Pos)}
}

// isTest binds IS [NOT] NULL, TRUE, FALSE, UNKNOWN, DOCUMENT.
func (b *binder) isTest(sc *scope, e *ast.IsTest) expr.Expr {
	if e.Test == "null" {
		arg := b.expr(sc, e.Operand)
		if c, ok := arg.(*expr.Const); ok && c.T.OID == types.OIDUnknown {
			arg = b.resolveUnknown(arg)
		}
		return &expr.IsNull{Arg: arg, Not: e.Not}
	}
	if e.Test == "document" {
		return b.isDocument(sc, e)
	}
	name := map[string]string{"true": "IS TRUE", "false": "IS FALSE",
		"unknown": "IS UNKNOWN"}[e.Test]
	if e.Not {
		name = "IS NOT" + name[2:]
	}
	arg := b.condition(sc, e.Operand, name)
	if e.Test == "unknown" {
		return &expr.IsNull{Arg: arg, Not: e.Not}
	}
	return &expr.IsBool{Arg: arg, Want: e.Test == "true", Not: e.Not}
}

// isDistinct binds IS [NOT] DISTINCT FROM.
func (b *binder) isDistinct(sc *scope, e *ast.IsDistinct) expr.Expr {
	if isRow(e.Left) && isRow(e.Right) {
		return b.rowDistinct(sc, e)
	}
	return b.distinct(b.expr(sc, e.Left), b.expr(sc, e.Right), e.Not, int(e.Pos))
}

// like binds LIKE, ILIKE and SIMILAR TO as operators.
func (b *binder) like(sc *scope, e *ast.Like) expr.Expr {
	pos := int(e.Pos)
	operand := b.expr(sc, e.Operand)
	pattern := b.expr(sc, e.Pattern)
	args := []expr.Expr{pattern}
	if e.Escape != nil {
		args = append(args, b.expr(sc, e.Escape))
	}
	op := map[string]string{"like": "~~", "ilike": "~~*", "similar": "~"}[e.Op]
	if e.Not {
		op = "!" + op
	}
	if e.Op == "similar" {
		pattern = b.call("similar_to_escape", args, pos)
	} else if e.Escape != nil {
		pattern = b.call("like_escape", args, pos)
	}
	return b.binary(op, operand, pattern, pos)
}

// between binds BETWEEN as two comparisons. As in PostgreSQL the operand is bound for each.
func (b *binder) between(sc *scope, e *ast.Between) expr.Expr {
	compare := func(op string, bound ast.Expr) expr.Expr {
		return b.binaryExpr(sc, &ast.Binary{Pos: e.Pos, Op: op, Left: e.Operand, Right: bound})
	}
	pair := func(low, high ast.Expr) expr.Expr {
		lo, hi := ">=", "<="
		if e.Not {
			lo, hi = "<", ">"
		}
		l := compare(lo, low)
		h := compare(hi, high)
		if e.Not {
			return &expr.Or{Args: []expr.Expr{l, h}}
		}
		return &expr.And{Args: []expr.Expr{l, h}}
	}
	first := pair(e.Low, e.High)
	if !e.Symmetric {
		return first
	}
	second := pair(e.High, e.Low)
	if e.Not {
		return &expr.And{Args: []expr.Expr{first, second}}
	}
	return &expr.Or{Args: []expr.Expr{first, second}}
}

// inList binds IN (…): as a list if all values have one type, otherwise as a chain of comparisons.
func (b *binder) inList(sc *scope, e *ast.InList) expr.Expr {
	op := "="
	if e.Not {
		op = "<>"
	}
	if isRow(e.Operand) {
		return b.inChain(sc, e, op)
	}
	arg := b.expr(sc, e.Operand)
	if len(e.List) == 1 {
		return b.binary(op, arg, b.expr(sc, e.List[0]), int(e.Pos))
	}
	list := b.exprs(sc, e.List)
	if in := b.inCommonType(arg, list, e); in != nil {
		return in
	}
	args := make([]expr.Expr, len(list))
	for i, r := range list {
		args[i] = b.binary(op, arg, r, int(e.Pos))
	}
	if e.Not {
		return &expr.And{Args: args}
	}
	return &expr.Or{Args: args}
}

// inCommonType makes an InList if the operand and the list have a common type with equality. It
// returns nil if they do not.
func (b *binder) inCommonType(arg expr.Expr, list []expr.Expr, e *ast.InList) expr.Expr {
	all := append([]expr.Expr{arg}, list...)
	t, _, err := builtin.CommonTypeFor("IN", typesOf(all))
	if err != nil || t.OID == types.OIDRecord {
		return nil
	}
	t = t.WithMod(types.NoMod)
	eq, targets, err := b.resolveOperator("=", t, t)
	if err != nil {
		return nil
	}
	if e.Not && t.Unordered() { // a type that has = may have no <>
		return nil
	}
	in := &expr.InList{Eq: eq, Not: e.Not, List: make([]expr.Expr, len(list))}
	in.Arg = b.coerce(arg, targets[0], implicit, int(e.Pos))
	for i, r := range list {
		in.List[i] = b.coerce(r, targets[1], implicit, exprPos(e.List[i]))
	}
	return in
}

// inChain compares rows one by one.
func (b *binder) inChain(sc *scope, e *ast.InList, op string) expr.Expr {
	args := make([]expr.Expr, len(e.List))
	for i, r := range e.List {
		args[i] = b.binaryExpr(sc, &ast.Binary{Pos: e.Pos, Op: op, Left: e.Operand, Right: r})
	}
	if len(args) == 1 {
		return args[0]
	}
	if e.Not {
		return &expr.And{Args: args}
	}
	return &expr.Or{Args: args}
}
