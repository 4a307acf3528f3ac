package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// generatedAlways is the SQLSTATE for a value given to a column that generates its own.
const generatedAlways = "428C9"

// modifiedTable returns the table that a statement changes.
func (b *binder) modifiedTable(name ast.Name, verb string) *table.Desc {
	d := b.relation(name, nil)
	switch d.Kind {
	case table.KindView:
		panic(failure.Unsupported(name.Pos, verb+" of a view"))
	case table.KindSequence:
		panic(failure.At(0, sqlerr.WrongObjectType, "cannot change sequence \"%s\"", d.Name))
	case table.KindVirtual:
		panic(failure.At(0, sqlerr.InsufficientPrivilege, "permission denied for table %s", d.Name))
	}
	b.meta.Writes = true
	b.noteUse(d.ID, opt.Modifies)
	return d
}

// changeable refuses to change the rows of a materialized view. It comes after all other errors of
// a statement, as in PostgreSQL.
func changeable(d *table.Desc) {
	if d.Kind == table.KindMaterializedView {
		panic(failure.At(0, sqlerr.WrongObjectType, "cannot change materialized view \"%s\"",
			d.Name))
	}
}

// targetColumn returns the ordinal of a column that is assigned to.
func targetColumn(d *table.Desc, c ast.Ident) int {
	if i := d.Column(c.Name); i >= 0 && !d.Columns[i].Hidden {
		return i
	}
	panic(failure.At(c.Pos, sqlerr.UndefinedColumn,
		"column \"%s\" of relation \"%s\" does not exist", c.Name, d.Name))
}

// assign converts a value to a column's type by an assignment cast.
func (b *binder) assign(e expr.Expr, col *table.Column, pos int) expr.Expr {
	if !canCast(e.Type(), col.Type, assignment) {
		panic(failure.Of(sqlerr.New(sqlerr.DatatypeMismatch,
			"column \"%s\" is of type %s but expression is of type %s",
			col.Name, typeName(col.Type), typeName(e.Type())).At(pos).
			WithHint("You will need to rewrite or cast the expression.")))
	}
	return b.coerce(e, col.Type, assignment, pos)
}

// defaults binds the default values of columns, each once per statement.
type defaults struct {
	b     *binder
	d     *table.Desc
	bound []expr.Expr
}

// value returns the value of column i when nothing is assigned to it: identity, DEFAULT, or NULL.
func (f *defaults) value(i int) expr.Expr {
	if f.bound == nil {
		f.bound = make([]expr.Expr, len(f.d.Columns))
	}
	if f.bound[i] == nil {
		f.bound[i] = f.b.defaultOf(f.d, i)
	}
	return f.bound[i]
}

func (b *binder) defaultOf(d *table.Desc, i int) expr.Expr {
	defer failure.Amend(withoutPosition)
	col := &d.Columns[i]
	switch {
	case col.Identity != "":
		seq := &expr.Const{T: types.TRegClass, Value: types.NewInt(int64(col.SequenceID))}
		return b.coerce(b.call("nextval", []expr.Expr{seq}, 0), col.Type, assignment, 0)
	case col.DefaultText == "":
		return &expr.Const{T: col.Type, Value: types.Null}
	}
	parsed := failure.Must(b.env.ParseExpr(col.DefaultText))
	return b.assign(b.rowExpr(nil, 0, parsed, clauseDefault), col, 0)
}

// generated binds the expressions of generated columns over a row of IDs. The entries of other
// columns are nil.
func (b *binder) generated(d *table.Desc, first logical.ColID) []expr.Expr {
	defer failure.Amend(withoutPosition)
	var out []expr.Expr
	for i := range d.Columns {
		col := &d.Columns[i]
		if col.Generated == "" {
			continue
		}
		parsed := failure.Must(b.env.ParseExpr(col.Generated))
		if out == nil {
			out = make([]expr.Expr, len(d.Columns))
		}
		out[i] = b.assign(b.rowExpr(d, first, parsed, clauseCheck), col, 0)
	}
	return out
}

// checks binds the CHECK constraints over the new row.
func (b *binder) checks(d *table.Desc, first logical.ColID) []opt.Check {
	defer failure.Amend(withoutPosition)
	var out []opt.Check
	for _, c := range d.Checks {
		parsed := failure.Must(b.env.ParseExpr(c.Text))
		cond := b.coerceBool(b.rowExpr(d, first, parsed, clauseCheck), "CHECK", parsed)
		out = append(out, opt.Check{Name: c.Name, Cond: cond})
	}
	return out
}

// replaceRow replaces column first+i by by[i].
func replaceRow(e expr.Expr, first logical.ColID, by []expr.Expr) expr.Expr {
	return expr.Rewrite(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Col); ok && c.Index >= first && c.Index < first+len(by) {
			return by[c.Index-first]
		}
		return x
	})
}

// returning binds RETURNING into result columns.
func (b *binder) returning(sc *scope, items []ast.SelectItem) ([]logical.Item, []logical.Output) {
	sc.sel.clause = clauseReturning
	targets := b.targetList(sc, items)
	var out []logical.Item
	var cols []logical.Output
	for _, t := range targets {
		e := b.resolveUnknown(t.e)
		col := logical.Column{Name: t.name, Type: e.Type(), Level: sc.level()}
		if c, ok := e.(*expr.Col); ok {
			col.Table, col.Attr = b.meta.Cols[c.Index].Table, b.meta.Cols[c.Index].Attr
		}
		id := b.meta.Add(col)
		out = append(out, logical.Item{ID: id, Expr: e})
		cols = append(cols, logical.Output{Name: t.name, ID: id})
	}
	return out, cols
}
