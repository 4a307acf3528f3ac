package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// updating is the SET list of UPDATE or ON CONFLICT DO UPDATE; old is the first ID of the row that
// is updated.
type updating struct {
	b       *binder
	sc      *scope
	t       *destination
	old     logical.ColID
	assigns []opt.Assign
	parts   map[int]bool // the columns of which parts are assigned to
}

// update binds UPDATE: the rows of the table, joined with FROM and filtered, and their new values.
func (b *binder) update(s *ast.Update, outer *scope) *logical.Query {
	sc := outer.inner()
	if s.With != nil {
		b.with(sc, s.With)
	}
	t := b.destination(s.Table, updates)
	d := t.d
	node, old, g := b.modifiedRows(sc, t, s.Alias, s.From, rowsOf{s.Where, s.CurrentOf})
	up := &logical.Update{Desc: d, Alias: t.alias(s.Alias), Child: node, Old: old,
		HasRows: len(s.Returning) > 0}
	up.Row = b.newRow(d, sc.level())
	q := &logical.Query{Node: up}
	if up.HasRows {
		rs := &scope{outer: sc.outer, with: sc.with, sel: sc.sel}
		row, _ := t.over(b, sc, s.Alias, up.Row)
		rs.tables = append([]*fromTable{row}, sc.tables[1:]...)
		rs.cols = append(append(rs.cols, row.cols...), sc.cols[len(row.cols):]...)
		up.Returning, q.Cols = b.returning(rs, s.Returning)
	}
	set := &updating{b: b, sc: sc, t: t, old: old}
	sc.sel.clause = clauseSet
	set.assignAll(s.Set)
	up.Set, up.Generated = set.assigns, b.recomputed(d, up.Row)
	up.Checks, up.ViewChecks = b.checks(d, up.Row), t.viewChecks(b, sc, up.Row)
	if g != nil {
		g.written = &guardedWrite{checks: &up.Checks, row: up.Row}
	}
	t.settle()
	changeable(d)
	return q
}

// rowsOf is WHERE condition, or WHERE CURRENT OF cursor.
type rowsOf struct {
	where  ast.Expr
	cursor string
}

// modifiedRows binds the rows that UPDATE and DELETE read: the table, the other tables, and WHERE.
func (b *binder) modifiedRows(sc *scope, t *destination, alias string, from []ast.TableExpr,
	of rowsOf) (logical.Node, logical.ColID, *guarded) {
	target, old, g := t.scan(b, sc, alias)
	sc.add(target)
	node := target.node
	if len(from) > 0 {
		// LATERAL entries of FROM cannot refer to the table itself.
		fs := &scope{outer: sc.outer, with: sc.with, sel: sc.sel, hidden: target.tables}
		others := b.from(fs, from)
		checkAliases(sc.tables, fs.tables)
		sc.add(&fromItem{tables: fs.tables, cols: fs.cols})
		node = b.join(opt.Inner, node, others, nil)
	}
	conds := b.where(sc, of.where)
	if of.cursor != "" {
		conds = b.currentRow(t, old, of.cursor)
	}
	if len(conds) > 0 {
		node = &logical.Filter{Child: node, Conds: conds}
	}
	return node, old, g
}

// assignAll binds the assignments: first all new values, then, as in PostgreSQL, the columns that
// get them.
func (u *updating) assignAll(list []ast.Assignment) {
	all := make([][]assigned, len(list))
	for i := range list {
		all[i] = u.values(&list[i])
		for k := range all[i] {
			v := &all[i][k]
			if _, isDefault := v.src.(*ast.Default); !isDefault && v.bound == nil {
				v.bound = u.b.expr(u.sc, v.src)
			}
		}
	}
	for i := range list {
		for k := range list[i].Columns {
			u.assign(&list[i].Columns[k], all[i][k])
		}
	}
}

// assigned is one value of an assignment; bound is nil for DEFAULT.
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

func (u *updating) assign(target *ast.Target, v assigned) {
	b := u.b
	refuseSystemTarget(u.t.named, target.Ident)
	k := u.t.column(target.Ident)
	i := u.t.stored(k)
	before := u.earlier(i, target)
	col := &u.t.d.Columns[i]
	u.t.note(k, (*opt.Need).Update)
	_, isDefault := v.src.(*ast.Default)
	if isDefault && len(u.t.layers) > 0 && target.Path == nil {
		v.bound, isDefault = b.viewDefault(&u.t.named.Columns[k], col), false
	}
	if isDefault {
		if target.Path != nil {
			refuseDefault(target)
		}
		if col.Generated == "" {
			u.assigns = append(u.assigns, opt.Assign{Column: i, Expr: b.defaultOf(u.t, i)})
		}
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
	switch {
	case target.Path == nil:
		e = b.assign(e, col, exprPos(v.src))
	case before != nil:
		before.Expr = b.assignPart(u.sc, before.Expr, col, target, e)
		return
	default:
		if u.parts == nil {
			u.parts = map[int]bool{}
		}
		u.parts[i] = true
		e = b.assignPart(u.sc, b.ref(u.old+i, 0), col, target, e)
	}
	u.assigns = append(u.assigns, opt.Assign{Column: i, Expr: e})
}

// earlier returns the assignment to column i so far, or nil. There may be several to parts of a
// column, and they follow on each other.
func (u *updating) earlier(i int, target *ast.Target) *opt.Assign {
	for k := range u.assigns {
		o := &u.assigns[k]
		if o.Column != i {
			continue
		}
		if target.Path == nil || !u.parts[i] {
			panic(failure.At(0, sqlerr.SyntaxError, "multiple assignments to same column \"%s\"",
				u.t.d.Columns[i].Name))
		}
		return o
	}
	return nil
}
