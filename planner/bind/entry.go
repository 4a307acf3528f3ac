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
	first, c := b.newRowOf(d)
	bound, err := b.rowExpr(d, first, e, c)
	if err != nil {
		return nil, err
	}
	if bound, err = b.coerceToWanted(bound, want, e); err != nil {
		return nil, err
	}
	return expr.Rewrite(bound, func(x expr.Expr) expr.Expr {
		if col, ok := x.(*expr.Col); ok {
			return &expr.Col{T: col.T, Index: col.Index - first, Name: col.Name, Pos: col.Pos}
		}
		return x
	}), nil
}

// newRowOf adds the columns of a row of d and returns the first ID, and the clause in which an
// expression over the row is bound. Without d there are no columns.
func (b *binder) newRowOf(d *table.Desc) (first logical.ColID, c clause) {
	if d == nil {
		return 0, clauseDefault
	}
	return b.newRow(d, 0), clauseCheck
}

// Scalar binds an argument of EXECUTE.
func Scalar(ctx context.Context, env *opt.Env, e ast.Expr, want *types.Type) (expr.Expr, error) {
	return newBinder(ctx, env).constant(e, want, clauseExecute)
}

// Moment binds the expression of AS OF SYSTEM TIME.
func Moment(ctx context.Context, env *opt.Env, e ast.Expr, want *types.Type,
	params []*types.Type) (expr.Expr, error) {
	b := newBinder(ctx, env)
	b.meta.Params = append(b.meta.Params, params...)
	return b.constant(e, want, clauseAsOf)
}

// constant binds an expression without columns.
func (b *binder) constant(e ast.Expr, want *types.Type, c clause) (expr.Expr, error) {
	bound, err := b.rowExpr(nil, 0, e, c)
	if err != nil {
		return nil, err
	}
	return b.coerceToWanted(bound, want, e)
}

func (b *binder) coerceToWanted(e expr.Expr, want *types.Type, src ast.Expr) (expr.Expr, error) {
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

// Statement binds SELECT, VALUES, INSERT, UPDATE or DELETE. params are the declared types of the
// parameters, nil where they are to be inferred.
func Statement(ctx context.Context, env *opt.Env, stmt ast.Statement,
	params []*types.Type) (*logical.Statement, error) {
	b := newBinder(ctx, env)
	for _, t := range params {
		if t != nil && t.OID == types.OIDUnknown {
			t = nil
		}
		b.meta.Params = append(b.meta.Params, t)
	}
	q, err := b.statement(stmt, nil)
	if err != nil {
		return nil, err
	}
	if err := b.momentParams(stmt); err != nil {
		return nil, err
	}
	for i, t := range b.meta.Params {
		if t == nil {
			return nil, sqlerr.New(sqlerr.IndeterminateDatatype,
				"could not determine data type of parameter $%d", i+1)
		}
	}
	return &logical.Statement{Query: q, Meta: b.meta, NoCache: b.momentary}, nil
}

// momentParams infers the types of the parameters in the statement's AS OF SYSTEM TIME. One that is
// the whole expression is a timestamp with time zone.
func (b *binder) momentParams(stmt ast.Statement) error {
	sel, ok := stmt.(*ast.Select)
	if !ok || sel.AsOf == nil || !sel.AsOf.Params {
		return nil
	}
	e, err := b.rowExpr(nil, 0, sel.AsOf.Moment, clauseAsOf)
	if err != nil {
		return err
	}
	if p, ok := e.(*expr.Param); ok && p.T.OID == types.OIDUnknown {
		_, err = b.inferParam(p, types.TTimestampTZ)
		return err
	}
	_, err = b.resolveUnknown(e)
	return err
}

// Query binds a query that is not part of a statement, such as a view's, and takes notes. path is
// the search path for its names; nil: the session's.
func Query(ctx context.Context, env *opt.Env, q *ast.Select, path []string) (*Notes, error) {
	b := newBinder(ctx, env)
	b.path = path
	b.notes = newNotes()
	out, err := b.query(q, nil, false)
	if err != nil {
		return nil, err
	}
	if len(b.meta.Params) > 0 {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
	}
	b.noteResult(q, out)
	for _, t := range b.meta.Tables {
		b.notes.Reads = append(b.notes.Reads, t.ID)
	}
	return b.notes, nil
}

// NoteRowExpr binds an expression as RowExpr does, and takes notes. The columns of d belong to no
// entry of FROM.
func NoteRowExpr(ctx context.Context, env *opt.Env, d *table.Desc, e ast.Expr) (*Notes, error) {
	b := newBinder(ctx, env)
	b.notes = newNotes()
	first, c := b.newRowOf(d)
	_, err := b.rowExpr(d, first, e, c)
	return b.notes, err
}
