package bind

import (
	"errors"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// columnOrVariable resolves a name that means the variable v unless it means a column.
func (b *binder) columnOrVariable(sc *scope, ref *ast.ColumnRef, v *opt.Variable) expr.Expr {
	column, ambiguous := b.env.Variables.Column()
	if !column && !ambiguous {
		return b.variable(v, ref.Pos)
	}
	found, err := b.findColumn(sc, ref)
	switch {
	case found != nil && ambiguous:
		panic(failure.Of(ambiguousColumn(ref.Name, ref.Pos).WithDetail(
			"It could refer to either a PL/pgSQL variable or a table column.")))
	case found != nil:
		return found
	case err.Code != sqlerr.UndefinedColumn && err.Code != sqlerr.UndefinedTable:
		panic(failure.Of(err))
	}
	return b.variable(v, ref.Pos)
}

// findColumn resolves a name to a column, or returns the error.
func (b *binder) findColumn(sc *scope, ref *ast.ColumnRef) (found expr.Expr, out *sqlerr.Error) {
	var err error
	func() {
		defer failure.Catch(&err)
		found = b.columnOnly(sc, ref)
	}()
	if err != nil && !errors.As(err, &out) {
		panic(failure.Of(err))
	}
	return found, out
}

// variable binds a variable, or a field of one.
func (b *binder) variable(v *opt.Variable, pos ast.Pos) expr.Expr {
	if v.Type == nil && v.Field == "" {
		unassigned := *v
		unassigned.Type = types.TRecord
		v = &unassigned
	}
	if v.Type == nil {
		panic(failure.Of(sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"record \"%s\" is not assigned yet", v.Name).
			WithDetail("The tuple structure of a not-yet-assigned record is indeterminate.")))
	}
	for len(b.meta.Params) < v.Param {
		b.meta.Params = append(b.meta.Params, nil)
	}
	b.meta.Params[v.Param-1] = v.Type
	p := &expr.Param{T: v.Type, N: v.Param, Pos: int(pos)}
	if v.Field == "" {
		return p
	}
	i := v.Type.Field(v.Field)
	if i < 0 {
		panic(failure.At(pos, sqlerr.UndefinedColumn, "record \"%s\" has no field \"%s\"",
			v.Name, v.Field))
	}
	return field(p, i)
}

// variableRow binds name.* where the name means a variable that holds a row; nil if it does not.
func (b *binder) variableRow(e *ast.Star) expr.Expr {
	if b.env.Variables == nil {
		return nil
	}
	v := b.env.Variables.Variable(e.Qualifier)
	if v == nil || v.Type != nil && v.Type.Fields() == nil {
		return nil
	}
	return b.variable(v, e.Pos)
}

// expandVariables replaces v.* in the rows of VALUES by the fields of the variable v.
func (b *binder) expandVariables(rows [][]ast.Expr) [][]ast.Expr {
	if b.env.Variables == nil {
		return rows
	}
	out := make([][]ast.Expr, len(rows))
	for i, row := range rows {
		for _, e := range row {
			out[i] = append(out[i], b.expandVariable(e)...)
		}
	}
	return out
}

// expandVariable returns the fields of the variable v for v.*, and any other expression as it is.
func (b *binder) expandVariable(e ast.Expr) []ast.Expr {
	star, ok := e.(*ast.Star)
	if !ok || len(star.Qualifier) == 0 {
		return []ast.Expr{e}
	}
	row := b.variableRow(star)
	if row == nil {
		return []ast.Expr{e}
	}
	var out []ast.Expr
	for _, f := range row.Type().Fields() {
		out = append(out, &ast.ColumnRef{Pos: star.Pos, Qualifier: star.Qualifier, Name: f.Name})
	}
	return out
}

// variableFields returns the fields of a row as columns of a select list.
func variableFields(row expr.Expr) []visible {
	fields := row.Type().Fields()
	cols := make([]visible, len(fields))
	for i, f := range fields {
		cols[i] = visible{name: f.Name, e: field(row, i)}
	}
	return cols
}
