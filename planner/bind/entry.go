package bind

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// RowExpr binds an expression over one row of d, as CHECK constraints, generated columns and index
// expressions have; its columns are ordinals of d. Without d no columns are allowed, as in DEFAULT.
// want, when not nil, is the type of the column that takes the value.
func RowExpr(ctx context.Context, env *opt.Env, d *table.Desc, e ast.Expr,
	want *types.Type) (expr.Expr, error) {
	b := newBinder(ctx, env)
	first, c := 0, clauseDefault
	if d != nil {
		first, c = b.newRow(d, 0), clauseCheck
	}
	bound, err := b.rowExpr(d, first, e, c)
	if err != nil {
		return nil, err
	}
	if bound, err = b.wanted(bound, want, e); err != nil {
		return nil, err
	}
	return expr.Rewrite(bound, func(x expr.Expr) expr.Expr {
		if col, ok := x.(*expr.Col); ok {
			return &expr.Col{T: col.T, Index: col.Index - first, Name: col.Name, Pos: col.Pos}
		}
		return x
	}), nil
}

// Scalar binds an argument of EXECUTE.
func Scalar(ctx context.Context, env *opt.Env, e ast.Expr, want *types.Type) (expr.Expr, error) {
	return constant(ctx, env, e, want, clauseExecute)
}

// Moment binds the expression of AS OF SYSTEM TIME.
func Moment(ctx context.Context, env *opt.Env, e ast.Expr, want *types.Type,
	params []*types.Type) (expr.Expr, error) {
	return constant(ctx, env, e, want, clauseAsOf, params...)
}

// constant binds an expression without columns.
func constant(ctx context.Context, env *opt.Env, e ast.Expr, want *types.Type, c clause,
	params ...*types.Type) (expr.Expr, error) {
	b := newBinder(ctx, env)
	b.meta.Params = append(b.meta.Params, params...)
	bound, err := b.rowExpr(nil, 0, e, c)
	if err != nil {
		return nil, err
	}
	return b.wanted(bound, want, e)
}

func (b *binder) wanted(e expr.Expr, want *types.Type, src ast.Expr) (expr.Expr, error) {
	if want == nil {
		return b.resolveUnknown(e)
	}
	if !canCast(e.Type(), want, assignment) {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch,
			"expression is of type %s, which cannot be converted to type %s",
			typeName(e.Type()), typeName(want)).At(exprPos(src))
	}
	return b.coerce(e, want, assignment, exprPos(src))
}

// indexCondition binds the predicate of a partial index over columns whose IDs go from first on.
func (b *binder) indexCondition(d *table.Desc, first logical.ColID, text string) ([]expr.Expr,
	error) {
	parsed, err := b.env.ParseExpr(text)
	if err != nil {
		return nil, err
	}
	alone := &binder{ctx: b.ctx, env: b.env, meta: b.meta}
	bound, err := alone.rowExpr(d, first, parsed, clauseCheck)
	if err != nil {
		return nil, withoutPosition(err)
	}
	return conjuncts(nil, bound), nil
}
