package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// updating is the SET list of UPDATE or ON CONFLICT DO UPDATE; old is the first ID of the row that
// is updated.
type updating struct {
	b       *binder
	sc      *scope
	d       *table.Desc
	old     logical.ColID
	assigns []opt.Assign
}

// update binds UPDATE: the rows of the table, joined with FROM and filtered, and their new values.
func (b *binder) update(s *ast.Update, outer *scope) *logical.Query {
	if s.CurrentOf != "" {
		panic(failure.Unsupported(s.Pos, "WHERE CURRENT OF"))
	}
	sc := outer.inner()
	if s.With != nil {
		b.with(sc, s.With)
	}
	d := b.modifiedTable(s.Table, "UPDATE")
	node, old := b.modifiedRows(sc, d, s.Alias, s.From, s.Where)
	up := &logical.Update{Desc: d, Child: node, Old: old, HasRows: len(s.Returning) > 0}
	up.Row = b.newRow(d, sc.level())
	q := &logical.Query{Node: up}
	if up.HasRows {
		rs := &scope{outer: sc.outer, with: sc.with, sel: sc.sel}
		target := *sc.tables[0]
		target.first, target.cols = up.Row, relationColumns(d, up.Row)
		rs.tables = append([]*fromTable{&target}, sc.tables[1:]...)
		rs.cols = append(append(rs.cols, target.cols...), sc.cols[len(target.cols):]...)
		up.Returning, q.Cols = b.returning(rs, s.Returning)
	}
	set := &updating{b: b, sc: sc, d: d, old: old}
	sc.sel.clause = clauseSet
	set.set(s.Set)
	up.Set = set.assigns
	up.Checks = b.checks(d, up.Row)
	changeable(d)
	return q
}

// modifiedRows binds the rows that UPDATE and DELETE read: the table, the other tables, and WHERE.
func (b *binder) modifiedRows(sc *scope, d *table.Desc, alias string, from []ast.TableExpr,
	where ast.Expr) (logical.Node, logical.ColID) {
	target := b.scan(sc, d, alias, nil, 0)
	sc.add(target)
	node := target.node
	old := target.tables[0].first
	if len(from) > 0 {
		// LATERAL entries of FROM cannot refer to the table itself.
		fs := &scope{outer: sc.outer, with: sc.with, sel: sc.sel, hidden: target.tables}
		others := b.from(fs, from)
		checkAliases(sc.tables, fs.tables)
		sc.add(&fromItem{tables: fs.tables, cols: fs.cols})
		node = b.join(opt.Inner, node, others, nil)
	}
	conds := b.where(sc, where)
	if len(conds) > 0 {
		node = &logical.Filter{Child: node, Conds: conds}
	}
	return node, old
}

// set binds the assignments and recomputes the generated columns.
func (u *updating) set(list []ast.Assignment) {
	for i := range list {
		a := &list[i]
		values := u.values(a)
		for k, c := range a.Columns {
			u.assign(c, values[k])
		}
	}
	u.generated()
}

// assigned is one value of an assignment: src, or bound if it is bound already.
type assigned struct {
	src   ast.Expr
	bound expr.Expr
}

// values splits the right side of (a, b) = (x, y) into its values.
func (u *updating) values(a *ast.Assignment) []assigned {
	if len(a.Columns) == 1 && !a.Multi {
		return []assigned{{src: a.Value}}
	}
	switch v := a.Value.(type) {
	case *ast.Row:
		var out []assigned
		for _, e := range v.Elements {
			cols, ok := u.b.star(u.sc, e)
			if !ok {
				out = append(out, assigned{src: e})
			}
			for i := range cols {
				out = append(out, assigned{src: e, bound: u.b.visibleRef(&cols[i], e.At())})
			}
		}
		if len(out) != len(a.Columns) {
			panic(failure.At(a.Pos, sqlerr.SyntaxError,
				"number of columns does not match number of values"))
		}
		return out
	case *ast.Subquery:
		return u.subqueryValues(a, v)
	}
	if len(a.Columns) == 1 {
		return []assigned{{src: a.Value}}
	}
	panic(failure.At(exprPos(a.Value), sqlerr.FeatureNotSupported,
		"source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression"))
}

// subqueryValues makes one scalar subquery per column of (a, b) = (SELECT x, y …).
func (u *updating) subqueryValues(a *ast.Assignment, sq *ast.Subquery) []assigned {
	out := make([]assigned, len(a.Columns))
	for i := range out {
		q := u.b.bindSubquery(u.sc, sq.Query)
		if len(q.Cols) != len(a.Columns) {
			panic(failure.At(sq.Pos, sqlerr.SyntaxError,
				"number of columns does not match number of values"))
		}
		q.Cols = q.Cols[i : i+1]
		out[i] = assigned{src: sq, bound: &expr.Subquery{T: u.b.meta.Cols[q.Cols[0].ID].Type,
			Kind: expr.Scalar, Plan: q, Pos: int(sq.Pos)}}
	}
	return out
}

func (u *updating) assign(c ast.Ident, v assigned) {
	b := u.b
	i := targetColumn(u.d, c)
	for _, o := range u.assigns {
		if o.Column == i {
			panic(failure.At(0, sqlerr.SyntaxError, "multiple assignments to same column \"%s\"",
				c.Name))
		}
	}
	col := &u.d.Columns[i]
	if _, isDefault := v.src.(*ast.Default); isDefault {
		if col.Generated != "" {
			return
		}
		u.assigns = append(u.assigns, opt.Assign{Column: i, Expr: b.defaultOf(u.d, i)})
		return
	}
	if col.Generated != "" || col.Identity == "always" {
		e := sqlerr.New(generatedAlways, "column \"%s\" can only be updated to DEFAULT", col.Name)
		if col.Generated != "" {
			panic(failure.Of(e.WithDetail("Column \"%s\" is a generated column.", col.Name)))
		}
		panic(failure.Of(e.WithDetail("Column \"%s\" is an identity column defined as GENERATED "+
			"ALWAYS.",
			col.Name)))
	}
	e := v.bound
	if e == nil {
		e = b.expr(u.sc, v.src)
	}
	e = b.assign(e, col, exprPos(v.src))
	u.assigns = append(u.assigns, opt.Assign{Column: i, Expr: e})
}

// generated recomputes the generated columns over the new row.
func (u *updating) generated() {
	has := false
	for i := range u.d.Columns {
		has = has || u.d.Columns[i].Generated != ""
	}
	if !has {
		return
	}
	first := u.b.newRow(u.d, u.sc.level())
	exprs := u.b.generated(u.d, first)
	by := make([]expr.Expr, len(u.d.Columns))
	for i := range by {
		by[i] = u.b.ref(u.old+i, 0)
	}
	for _, a := range u.assigns {
		by[a.Column] = a.Expr
	}
	for i, e := range exprs {
		if e != nil {
			u.assigns = append(u.assigns, opt.Assign{Column: i, Expr: replaceRow(e, first, by)})
		}
	}
}
