package bind

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
)

// rowExpr binds an expression of the catalog over the columns of d, whose first ID is first. d is
// nil where columns are not allowed.
func (b *binder) rowExpr(d *table.Desc, first logical.ColID, e ast.Expr, c clause) (expr.Expr,
	error) {
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
	if err := refuseSubquery(e, c); err != nil {
		return nil, err
	}
	bound, err := b.expr(sc, e)
	if ref, ok := e.(*ast.ColumnRef); ok && d == nil && err != nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cannot use column reference in %s",
			clauseNoun(c)).At(int(ref.Pos))
	}
	return bound, err
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

func refuseSubquery(e ast.Expr, c clause) error {
	var err error
	r := references{onQuery: func(pos ast.Pos) {
		if err == nil {
			err = sqlerr.New(sqlerr.FeatureNotSupported, "cannot use subquery in %s",
				clauseNoun(c)).At(int(pos))
		}
	}}
	r.expr(e)
	return err
}

// indexCondition binds the predicate of a partial index over columns whose first ID is first.
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
