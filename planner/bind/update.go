package bind

import (
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
func (b *binder) update(s *ast.Update, outer *scope) (*logical.Query, error) {
	if s.CurrentOf != "" {
		return nil, sqlerr.Unsupported(int(s.Pos), "WHERE CURRENT OF")
	}
	sc := outer.inner()
	if s.With != nil {
		if err := b.with(sc, s.With); err != nil {
			return nil, err
		}
	}
	d, err := b.modifiedTable(s.Table, "UPDATE")
	if err != nil {
		return nil, err
	}
	node, old, err := b.modifiedRows(sc, d, s.Alias, s.From, s.Where)
	if err != nil {
		return nil, err
	}
	up := &logical.Update{Desc: d, Child: node, Old: old, HasRows: len(s.Returning) > 0}
	up.Row = b.newRow(d, sc.level())
	q := &logical.Query{Node: up}
	if up.HasRows {
		rs := &scope{outer: sc.outer, with: sc.with, sel: sc.sel}
		target := *sc.tables[0]
		target.first, target.cols = up.Row, relationColumns(d, up.Row)
		rs.tables = append([]*fromTable{&target}, sc.tables[1:]...)
		rs.cols = append(append(rs.cols, target.cols...), sc.cols[len(target.cols):]...)
		if up.Returning, q.Cols, err = b.returning(rs, s.Returning); err != nil {
			return nil, err
		}
	}
	set := &updating{b: b, sc: sc, d: d, old: old}
	sc.sel.clause = clauseSet
	if err := set.set(s.Set); err != nil {
		return nil, err
	}
	up.Set = set.assigns
	if up.Checks, err = b.checks(d, up.Row); err != nil {
		return nil, err
	}
	return q, changeable(d)
}

// modifiedRows binds the rows that UPDATE and DELETE read: the table, the other tables, and WHERE.
func (b *binder) modifiedRows(sc *scope, d *table.Desc, alias string, from []ast.TableExpr,
	where ast.Expr) (logical.Node, logical.ColID, error) {
	target, err := b.scan(sc, d, alias, nil, 0)
	if err != nil {
		return nil, 0, err
	}
	sc.add(target)
	node := target.node
	old := target.tables[0].first
	if len(from) > 0 {
		// LATERAL entries of FROM cannot refer to the table itself.
		fs := &scope{outer: sc.outer, with: sc.with, sel: sc.sel, hidden: target.tables}
		others, err := b.from(fs, from)
		if err != nil {
			return nil, 0, err
		}
		if err := checkAliases(sc.tables, fs.tables); err != nil {
			return nil, 0, err
		}
		sc.add(&fromItem{tables: fs.tables, cols: fs.cols})
		node = b.join(opt.Inner, node, others, nil)
	}
	conds, err := b.where(sc, where)
	if err != nil {
		return nil, 0, err
	}
	if len(conds) > 0 {
		node = &logical.Filter{Child: node, Conds: conds}
	}
	return node, old, nil
}

// set binds the assignments and recomputes the generated columns.
func (u *updating) set(list []ast.Assignment) error {
	for i := range list {
		a := &list[i]
		values, err := u.values(a)
		if err != nil {
			return err
		}
		for k, c := range a.Columns {
			if err := u.assign(c, values[k]); err != nil {
				return err
			}
		}
	}
	return u.generated()
}

// assigned is one value of an assignment: src, or bound if it is bound already.
type assigned struct {
	src   ast.Expr
	bound expr.Expr
}

// values splits the right side of (a, b) = (x, y) into its values.
func (u *updating) values(a *ast.Assignment) ([]assigned, error) {
	if len(a.Columns) == 1 && !a.Multi {
		return []assigned{{src: a.Value}}, nil
	}
	switch v := a.Value.(type) {
	case *ast.Row:
		var out []assigned
		for _, e := range v.Elements {
			cols, ok, err := u.b.star(u.sc, e)
			if err != nil {
				return nil, err
			}
			if !ok {
				out = append(out, assigned{src: e})
			}
			for i := range cols {
				out = append(out, assigned{src: e, bound: u.b.visibleRef(&cols[i], e.At())})
			}
		}
		if len(out) != len(a.Columns) {
			return nil, sqlerr.New(sqlerr.SyntaxError,
				"number of columns does not match number of values").At(int(a.Pos))
		}
		return out, nil
	case *ast.Subquery:
		return u.subqueryValues(a, v)
	}
	if len(a.Columns) == 1 {
		return []assigned{{src: a.Value}}, nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported,
		"source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression").At(
		exprPos(a.Value))
}

// subqueryValues makes one scalar subquery per column of (a, b) = (SELECT x, y …).
func (u *updating) subqueryValues(a *ast.Assignment, sq *ast.Subquery) ([]assigned, error) {
	out := make([]assigned, len(a.Columns))
	for i := range out {
		q, err := u.b.bindSubquery(u.sc, sq.Query)
		if err != nil {
			return nil, err
		}
		if len(q.Cols) != len(a.Columns) {
			return nil, sqlerr.New(sqlerr.SyntaxError,
				"number of columns does not match number of values").At(int(sq.Pos))
		}
		q.Cols = q.Cols[i : i+1]
		out[i] = assigned{src: sq, bound: &expr.Subquery{T: u.b.meta.Cols[q.Cols[0].ID].Type,
			Kind: expr.Scalar, Plan: q, Pos: int(sq.Pos)}}
	}
	return out, nil
}

func (u *updating) assign(c ast.Ident, v assigned) error {
	b := u.b
	i, err := targetColumn(u.d, c)
	if err != nil {
		return err
	}
	for _, o := range u.assigns {
		if o.Column == i {
			return sqlerr.New(sqlerr.SyntaxError, "multiple assignments to same column \"%s\"",
				c.Name)
		}
	}
	col := &u.d.Columns[i]
	if _, isDefault := v.src.(*ast.Default); isDefault {
		if col.Generated != "" {
			return nil
		}
		e, err := b.defaultOf(u.d, i)
		u.assigns = append(u.assigns, opt.Assign{Column: i, Expr: e})
		return err
	}
	if col.Generated != "" || col.Identity == "always" {
		e := sqlerr.New(generatedAlways, "column \"%s\" can only be updated to DEFAULT", col.Name)
		if col.Generated != "" {
			return e.WithDetail("Column \"%s\" is a generated column.", col.Name)
		}
		return e.WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.",
			col.Name)
	}
	e := v.bound
	if e == nil {
		if e, err = b.expr(u.sc, v.src); err != nil {
			return err
		}
	}
	if e, err = b.assign(e, col, exprPos(v.src)); err != nil {
		return err
	}
	u.assigns = append(u.assigns, opt.Assign{Column: i, Expr: e})
	return nil
}

// generated recomputes the generated columns over the new row.
func (u *updating) generated() error {
	has := false
	for i := range u.d.Columns {
		has = has || u.d.Columns[i].Generated != ""
	}
	if !has {
		return nil
	}
	first := u.b.newRow(u.d, u.sc.level())
	exprs, err := u.b.generated(u.d, first)
	if err != nil {
		return err
	}
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
	return nil
}
