package planner

import (
	"context"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/bind"
	"github.com/minidb/minidb/planner/choose"
	"github.com/minidb/minidb/planner/estimate"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/planner/rule"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Catalog is the schema as the planner reads it.
type Catalog = opt.Catalog

// Env is what planning needs besides the statement.
type Env = opt.Env

// Costs are a session's settings about plans.
type Costs = opt.Costs

// Plan plans SELECT, VALUES, INSERT, UPDATE or DELETE. params are the declared types of the
// parameters, nil where they are to be inferred; the plan's ParamTypes is the complete list.
func Plan(ctx context.Context, env *Env, stmt ast.Statement, params []*types.Type) (*physical.Plan,
	error) {
	bound, err := bind.Statement(ctx, env, stmt, params)
	if err != nil {
		return nil, err
	}
	est := estimate.New(ctx, env, bound.Meta)
	rules := &rule.Context{Meta: bound.Meta, Estimator: est, Interrupt: logical.NewInterrupt(ctx)}
	if err := rule.Apply(rules, bound.Query); err != nil {
		return nil, err
	}
	return choose.Plan(ctx, env.Costs, est, bound)
}

// ResolveType finds a type by its written name, or reports 42704.
func ResolveType(ctx context.Context, env *Env, name ast.TypeName) (*types.Type, error) {
	return bind.ResolveType(ctx, env, name)
}

// BindRowExpr binds an expression over one row of d: its columns are ordinals of d.Columns. Without
// d no columns are allowed, as in DEFAULT. want, when not nil, is the type that takes the value.
func BindRowExpr(ctx context.Context, env *Env, d *table.Desc, e ast.Expr,
	want *types.Type) (expr.Expr, error) {
	return bind.RowExpr(ctx, env, d, e, want)
}

// Fold evaluates the constants of an expression as PostgreSQL does before it computes it for rows:
// an error of theirs is returned, whether there are rows or not.
func Fold(e expr.Expr) (expr.Expr, error) { return rule.Fold(e) }

// BindScalar binds an argument of EXECUTE: an expression without columns.
func BindScalar(ctx context.Context, env *Env, e ast.Expr, want *types.Type) (expr.Expr, error) {
	return bind.Scalar(ctx, env, e, want)
}

// BindMoment binds the expression of AS OF SYSTEM TIME, which has no columns and no subqueries.
// params are the types of the statement's parameters.
func BindMoment(ctx context.Context, env *Env, e ast.Expr, want *types.Type,
	params []*types.Type) (expr.Expr, error) {
	return bind.Moment(ctx, env, e, want, params)
}

// Input reads a quoted literal as a value of type t, for the statement that is about to run.
// constant is false if the value holds only for this moment, or can be found only by the statement.
func Input(env *Env, text string, t *types.Type) (v types.Datum, constant bool, err error) {
	return bind.Input(env, text, t)
}
