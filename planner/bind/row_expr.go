package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
)

// rowExpr binds an expression of the catalog over the columns of d, whose first ID is first. d is
// nil where columns are not allowed.
func (b *binder) rowExpr(d *table.Desc, first logical.ColID, e ast.Expr, c clause) expr.Expr {
	sc := (*scope)(nil).inner()
	sc.sel.clause = c
	if d != nil {
		t := &fromTable{alias: d.Name, schema: d.Schema, desc: d, first: first,
			cols: relationColumns(d, first)}
		sc.tables, sc.cols = []*fromTable{t}, t.cols
	}
	if clauseNoun(c) == "" {
		return b.expr(sc, e)
	}
	refuseSubquery(e, c)
	if ref, ok := e.(*ast.ColumnRef); ok && d == nil {
		panic(failure.At(ref.Pos, sqlerr.FeatureNotSupported, "cannot use column reference in %s",
			clauseNoun(c)))
	}
	return b.expr(sc, e)
}

// storedExpr is rowExpr for a text that the catalog stores: the search path has no say in it. It
// also returns the text's tree.
func (b *binder) storedExpr(d *table.Desc, first logical.ColID, text string,
	c clause) (expr.Expr, ast.Expr) {
	parsed := failure.Must(b.env.ParseExpr(text))
	saved := b.path
	b.path = []string{}
	bound := b.rowExpr(d, first, parsed, c)
	b.path = saved
	return bound, parsed
}

// clauseNoun names a clause that has no subqueries, "" for any other.
func clauseNoun(c clause) string {
	switch c {
	case clauseDefault:
		return "DEFAULT expression"
	case clauseCheck:
		return "check constraint"
	case clauseIndexExpr:
		return "index expression"
	case clauseIndexWhere:
		return "index predicate"
	case clauseAsOf:
		return string(c)
	case clauseExecute:
		return "EXECUTE parameter"
	}
	return ""
}

func refuseSubquery(e ast.Expr, c clause) {
	r := references{onQuery: func(pos ast.Pos) {
		panic(failure.At(pos, sqlerr.FeatureNotSupported, "cannot use subquery in %s",
			clauseNoun(c)))
	}}
	r.expr(e)
}

// indexCondition binds the predicate of a partial index over columns whose first ID is first. It
// returns an error of its own, since a scan can do without the predicate.
func (b *binder) indexCondition(d *table.Desc, first logical.ColID,
	text string) (pred []expr.Expr, err error) {
	defer failure.Catch(&err)
	defer failure.Amend(withoutPosition)
	alone := &binder{ctx: b.ctx, env: b.env, meta: b.meta}
	where, _ := alone.storedExpr(d, first, text, clauseIndexWhere)
	return conjuncts(nil, where), nil
}

// indexExpr binds an expression of an index over columns whose first ID is first. It returns nil if
// that fails, since a scan can do without it.
func (b *binder) indexExpr(d *table.Desc, first logical.ColID, text string) expr.Expr {
	bound, err := func() (bound expr.Expr, err error) {
		defer failure.Catch(&err)
		alone := &binder{ctx: b.ctx, env: b.env, meta: b.meta}
		bound, _ = alone.storedExpr(d, first, text, clauseIndexExpr)
		return bound, nil
	}()
	if err != nil {
		return nil
	}
	return bound
}
