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
	if c != clauseDefault && c != clauseCheck && c != clauseExecute && c != clauseAsOf {
		return b.expr(sc, e)
	}
	refuseSubquery(e, c)
	if ref, ok := e.(*ast.ColumnRef); ok && d == nil {
		panic(failure.At(ref.Pos, sqlerr.FeatureNotSupported, "cannot use column reference in %s",
			clauseNoun(c)))
	}
	return b.expr(sc, e)
}

func clauseNoun(c clause) string {
	switch c {
	case clauseDefault:
		return "DEFAULT expression"
	case clauseCheck:
		return "check constraint"
	}
	if c == clauseAsOf {
		return string(c)
	}
	return "EXECUTE parameter"
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
	parsed := failure.Must(b.env.ParseExpr(text))
	alone := &binder{ctx: b.ctx, env: b.env, meta: b.meta}
	return conjuncts(nil, alone.rowExpr(d, first, parsed, clauseCheck)), nil
}
