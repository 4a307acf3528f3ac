package bind

import (
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// generatedAlways is the SQLSTATE for a value given to a column that generates its own.
const generatedAlways = "428C9"

// modifiedTable returns the table that a statement changes.
func (b *binder) modifiedTable(name ast.Name) *table.Desc {
	d := b.relation(name, nil)
	b.modifiable(d)
	return d
}

// modifiable notes that the statement changes rows of a relation, or of what it is a view of.
func (b *binder) modifiable(d *table.Desc) {
	switch d.Kind {
	case table.KindSequence:
		panic(failure.At(0, sqlerr.WrongObjectType, "cannot change sequence \"%s\"", d.Name))
	case table.KindVirtual:
		panic(failure.At(0, sqlerr.InsufficientPrivilege, "permission denied for table %s", d.Name))
	}
	b.meta.Writes = true
	b.noteUse(d.ID, opt.Modifies)
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
	t     *destination
	bound []expr.Expr
}

// value returns the value of column i when nothing is assigned to it: identity, DEFAULT, or NULL.
func (f *defaults) value(i int) expr.Expr {
	if f.bound == nil {
		f.bound = make([]expr.Expr, len(f.t.d.Columns))
	}
	if f.bound[i] == nil {
		f.bound[i] = f.b.defaultOf(f.t, i)
	}
	return f.bound[i]
}

// defaultOf binds the default of column i of the table: that of a view above it comes first.
func (b *binder) defaultOf(t *destination, i int) expr.Expr {
	defer failure.Amend(withoutPosition)
	col := &t.d.Columns[i]
	if text := t.viewDefault(i); text != "" {
		return b.defaultValue(text, col)
	}
	switch {
	case col.Identity != "":
		seq := &expr.Const{T: types.TRegClass, Value: types.NewInt(int64(col.SequenceID))}
		next := b.call("nextval", []expr.Expr{seq}, 0)
		if call, ok := next.(*expr.Call); ok {
			call.Func = builtin.NextIdentity
		}
		return b.coerce(next, col.Type, assignment, 0)
	}
	return b.defaultValue(col.DefaultText, col)
}

// viewDefault is what UPDATE assigns for DEFAULT to a view's column: as in PostgreSQL that is the
// view's own default, or that of its domain, or NULL, whatever the default of the table's column
// is.
func (b *binder) viewDefault(c, col *table.Column) expr.Expr {
	return b.defaultValue(c.DefaultText, col)
}

// defaultValue is the value of a DEFAULT; without one that of the column's domain, or NULL, which
// the domain may refuse.
func (b *binder) defaultValue(text string, col *table.Column) expr.Expr {
	ofDomain := text == "" && col.Type.IsDomain()
	if ofDomain {
		text = col.Type.Def.Default
	}
	if text == "" {
		return b.coerce(&expr.Const{T: types.TUnknown, Value: types.Null}, col.Type, assignment, 0)
	}
	value, _ := b.storedExpr(nil, 0, text, clauseDefault)
	if base := col.Type.Def; ofDomain && base.Base.IsDomain() &&
		base.Default != base.Base.Def.Default { // its own: is a value of that domain first
		below := *col
		below.Type = col.Type.Def.Base
		value = b.assign(value, &below, 0)
	}
	return b.assign(value, col, 0)
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
		value, _ := b.storedExpr(d, first, col.Generated, clauseCheck)
		if out == nil {
			out = make([]expr.Expr, len(d.Columns))
		}
		out[i] = b.assign(value, col, 0)
	}
	return out
}

// recomputed are the assignments to generated columns, over the written row that begins at first:
// what SET computes is not computed again for them.
func (b *binder) recomputed(d *table.Desc, first logical.ColID) []opt.Assign {
	var out []opt.Assign
	for i, e := range b.generated(d, first) {
		if e != nil {
			out = append(out, opt.Assign{Column: i, Expr: e})
		}
	}
	return out
}

// checks binds the CHECK constraints over the new row.
func (b *binder) checks(d *table.Desc, first logical.ColID) []opt.Check {
	defer failure.Amend(withoutPosition)
	var out []opt.Check
	for _, c := range slices.SortedStableFunc(slices.Values(d.Checks), byName) {
		cond, parsed := b.storedExpr(d, first, c.Text, clauseCheck)
		cond = b.coerceBool(cond, "CHECK", parsed)
		out = append(out, opt.Check{Name: c.Name, Cond: cond})
	}
	return out
}

// byName orders checks by their names, which is PostgreSQL's order of testing them.
func byName(x, y table.Check) int { return strings.Compare(x.Name, y.Name) }

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
