package bind

import (
	"context"

	"github.com/minidb/minidb/internal/failure"
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
	want *types.Type) (bound expr.Expr, err error) {
	defer failure.Catch(&err)
	b := newBinder(ctx, env)
	first, c := b.newRowOf(d)
	return overRow(b.coerceToWanted(b.rowExpr(d, first, e, c), want, e), first), nil
}

// overRow replaces the IDs of a row's columns, from first on, by ordinals.
func overRow(e expr.Expr, first logical.ColID) expr.Expr {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		if col, ok := x.(*expr.Col); ok {
			return &expr.Col{T: col.T, Index: col.Index - first, Name: col.Name, Pos: col.Pos}
		}
		return x
	})
}

// IndexExpr binds an expression that an index of d has in place of a column, and returns the name
// of that column; its columns are ordinals of d.
func IndexExpr(ctx context.Context, env *opt.Env, d *table.Desc, e ast.Expr) (bound expr.Expr,
	name string, err error) {
	defer failure.Catch(&err)
	b := newBinder(ctx, env)
	first := b.newRow(d, 0)
	if name, _ = nameOf(e); name == "" {
		name = "expr"
	}
	return overRow(b.rowExpr(d, first, e, clauseIndexExpr), first), name, nil
}

// IndexPredicate binds the condition of a partial index of d; its columns are ordinals of d.
func IndexPredicate(ctx context.Context, env *opt.Env, d *table.Desc,
	e ast.Expr) (bound expr.Expr, err error) {
	defer failure.Catch(&err)
	b := newBinder(ctx, env)
	first := b.newRow(d, 0)
	cond := b.coerceBool(b.rowExpr(d, first, e, clauseIndexWhere), "WHERE", e)
	return overRow(cond, first), nil
}

// PolicyExpr binds a condition of a row security policy on d, and takes notes. path is the search
// path for its names; nil: the session's.
func PolicyExpr(ctx context.Context, env *opt.Env, d *table.Desc, e ast.Expr,
	path []string) (notes *Notes, err error) {
	defer failure.Catch(&err)
	b := newBinder(ctx, env)
	b.path = path
	b.notes = newNotes()
	func() {
		defer failure.Amend(withoutPosition) // as in PostgreSQL, whose CREATE POLICY has none
		b.policy(d, b.newRow(d, 0), 0, e)
	}()
	if len(b.meta.Params) > 0 {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
	}
	for _, t := range b.meta.Tables {
		b.notes.Reads = append(b.notes.Reads, t.ID)
	}
	return b.notes, nil
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
func Scalar(ctx context.Context, env *opt.Env, e ast.Expr,
	want *types.Type) (bound expr.Expr, err error) {
	defer failure.Catch(&err)
	return newBinder(ctx, env).constant(e, want, clauseExecute), nil
}

// Moment binds the expression of AS OF SYSTEM TIME.
func Moment(ctx context.Context, env *opt.Env, e ast.Expr, want *types.Type,
	params []*types.Type) (bound expr.Expr, err error) {
	defer failure.Catch(&err)
	b := newBinder(ctx, env)
	b.meta.Params = append(b.meta.Params, params...)
	return b.constant(e, want, clauseAsOf), nil
}

// constant binds an expression without columns.
func (b *binder) constant(e ast.Expr, want *types.Type, c clause) expr.Expr {
	return b.coerceToWanted(b.rowExpr(nil, 0, e, c), want, e)
}

func (b *binder) coerceToWanted(e expr.Expr, want *types.Type, src ast.Expr) expr.Expr {
	if want == nil {
		return b.resolveUnknown(e)
	}
	if !canCast(e.Type(), want, assignment) {
		panic(failure.At(exprPos(src), sqlerr.DatatypeMismatch,
			"expression is of type %s, which cannot be converted to type %s", typeName(e.Type()),
			typeName(want)))
	}
	return b.coerce(e, want, assignment, exprPos(src))
}

// Statement binds SELECT, VALUES, INSERT, UPDATE or DELETE. params are the declared types of the
// parameters, nil where they are to be inferred.
func Statement(ctx context.Context, env *opt.Env, stmt ast.Statement,
	params []*types.Type) (bound *logical.Statement, err error) {
	defer failure.Catch(&err)
	b := newBinder(ctx, env)
	for _, t := range params {
		if t != nil && t.OID == types.OIDUnknown {
			t = nil
		}
		b.meta.Params = append(b.meta.Params, t)
	}
	q := b.statement(stmt, nil)
	b.applyPolicies()
	b.momentParams(stmt)
	for i, t := range b.meta.Params {
		if t == nil && env.Variables != nil {
			b.meta.Params[i] = types.TUnknown // a variable that the statement does not use
			continue
		}
		if t == nil {
			return nil, sqlerr.New(sqlerr.IndeterminateDatatype,
				"could not determine data type of parameter $%d", i+1)
		}
	}
	return &logical.Statement{Query: q, Meta: b.meta, NoCache: b.momentary}, nil
}

// momentParams infers the types of the parameters in the statement's AS OF SYSTEM TIME. One that is
// the whole expression is a timestamp with time zone.
func (b *binder) momentParams(stmt ast.Statement) {
	sel, ok := stmt.(*ast.Select)
	if !ok || sel.AsOf == nil || !sel.AsOf.Params {
		return
	}
	e := b.rowExpr(nil, 0, sel.AsOf.Moment, clauseAsOf)
	if p, ok := e.(*expr.Param); ok && p.T.OID == types.OIDUnknown {
		b.inferParam(p, types.TTimestampTZ)
		return
	}
	b.resolveUnknown(e)
}

// Query binds a query that is not part of a statement, such as a view's, and takes notes. path is
// the search path for its names; nil: the session's.
func Query(ctx context.Context, env *opt.Env, q *ast.Select,
	path []string) (notes *Notes, err error) {
	defer failure.Catch(&err)
	b := newBinder(ctx, env)
	b.path = path
	b.notes = newNotes()
	out := b.query(q, nil, false)
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
func NoteRowExpr(ctx context.Context, env *opt.Env, d *table.Desc,
	e ast.Expr) (notes *Notes, err error) {
	defer failure.Catch(&err)
	b := newBinder(ctx, env)
	b.notes = newNotes()
	first, c := b.newRowOf(d)
	b.rowExpr(d, first, e, c)
	return b.notes, nil
}
