package bind

import (
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
func (b *binder) modifiedTable(name ast.Name, verb string) (*table.Desc, error) {
	d, err := b.relation(name)
	if err != nil {
		return nil, err
	}
	switch d.Kind {
	case table.KindView:
		return nil, sqlerr.Unsupported(int(name.Pos), verb+" of a view")
	case table.KindSequence:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "cannot change sequence \"%s\"", d.Name)
	case table.KindVirtual:
		return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for table %s",
			d.Name)
	}
	b.meta.Writes = true
	b.noteUse(d.ID, opt.Modifies)
	return d, nil
}

// changeable refuses to change the rows of a materialized view. It comes after all other errors of
// a statement, as in PostgreSQL.
func changeable(d *table.Desc) error {
	if d.Kind == table.KindMaterializedView {
		return sqlerr.New(sqlerr.WrongObjectType, "cannot change materialized view \"%s\"", d.Name)
	}
	return nil
}

// targetColumn returns the ordinal of a column that is assigned to.
func targetColumn(d *table.Desc, c ast.Ident) (int, error) {
	if i := d.Column(c.Name); i >= 0 && !d.Columns[i].Hidden {
		return i, nil
	}
	return 0, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist",
		c.Name, d.Name).At(int(c.Pos))
}

// assign converts a value to a column's type by an assignment cast.
func (b *binder) assign(e expr.Expr, col *table.Column, pos int) (expr.Expr, error) {
	if !canCast(e.Type(), col.Type, assignment) {
		return nil, withHint(sqlerr.New(sqlerr.DatatypeMismatch,
			"column \"%s\" is of type %s but expression is of type %s",
			col.Name, typeName(col.Type), typeName(e.Type())).At(pos),
			"You will need to rewrite or cast the expression.")
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
func (f *defaults) value(i int) (expr.Expr, error) {
	if f.bound == nil {
		f.bound = make([]expr.Expr, len(f.d.Columns))
	}
	if f.bound[i] == nil {
		e, err := f.b.defaultOf(f.d, i)
		if err != nil {
			return nil, err
		}
		f.bound[i] = e
	}
	return f.bound[i], nil
}

func (b *binder) defaultOf(d *table.Desc, i int) (expr.Expr, error) {
	col := &d.Columns[i]
	switch {
	case col.Identity != "":
		seq := &expr.Const{T: types.TRegClass, Value: types.NewInt(int64(col.SequenceID))}
		e, err := b.call("nextval", []expr.Expr{seq}, 0)
		if err != nil {
			return nil, err
		}
		return b.coerce(e, col.Type, assignment, 0)
	case col.DefaultText == "":
		return &expr.Const{T: col.Type, Value: types.Null}, nil
	}
	parsed, err := b.env.ParseExpr(col.DefaultText)
	if err != nil {
		return nil, err
	}
	e, err := b.rowExpr(nil, 0, parsed, clauseDefault)
	if err != nil {
		return nil, withoutPosition(err)
	}
	e, err = b.assign(e, col, 0)
	return e, withoutPosition(err)
}

// generated binds the expressions of generated columns over a row of IDs. The entries of other
// columns are nil.
func (b *binder) generated(d *table.Desc, first logical.ColID) ([]expr.Expr, error) {
	var out []expr.Expr
	for i := range d.Columns {
		col := &d.Columns[i]
		if col.Generated == "" {
			continue
		}
		parsed, err := b.env.ParseExpr(col.Generated)
		if err != nil {
			return nil, err
		}
		e, err := b.rowExpr(d, first, parsed, clauseCheck)
		if err != nil {
			return nil, withoutPosition(err)
		}
		if e, err = b.assign(e, col, 0); err != nil {
			return nil, withoutPosition(err)
		}
		if out == nil {
			out = make([]expr.Expr, len(d.Columns))
		}
		out[i] = e
	}
	return out, nil
}

// checks binds the CHECK constraints over the new row.
func (b *binder) checks(d *table.Desc, first logical.ColID) ([]opt.Check, error) {
	var out []opt.Check
	for _, c := range d.Checks {
		parsed, err := b.env.ParseExpr(c.Text)
		if err != nil {
			return nil, err
		}
		e, err := b.rowExpr(d, first, parsed, clauseCheck)
		if err != nil {
			return nil, withoutPosition(err)
		}
		if e, err = b.coerceBool(e, "CHECK", parsed); err != nil {
			return nil, withoutPosition(err)
		}
		out = append(out, opt.Check{Name: c.Name, Cond: e})
	}
	return out, nil
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
func (b *binder) returning(sc *scope, items []ast.SelectItem) ([]logical.Item, []logical.Output,
	error) {
	sc.sel.clause = clauseReturning
	targets, err := b.targetList(sc, items)
	if err != nil {
		return nil, nil, err
	}
	var out []logical.Item
	var cols []logical.Output
	for _, t := range targets {
		e, err := b.resolveUnknown(t.e)
		if err != nil {
			return nil, nil, err
		}
		col := logical.Column{Name: t.name, Type: e.Type(), Level: sc.level()}
		if c, ok := e.(*expr.Col); ok {
			col.Table, col.Attr = b.meta.Cols[c.Index].Table, b.meta.Cols[c.Index].Attr
		}
		id := b.meta.Add(col)
		out = append(out, logical.Item{ID: id, Expr: e})
		cols = append(cols, logical.Output{Name: t.name, ID: id})
	}
	return out, cols, nil
}
