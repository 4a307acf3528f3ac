package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// fieldSelect binds (x).f: a column of an entry of FROM of the name x, or a field of the value x.
func (b *binder) fieldSelect(sc *scope, e *ast.FieldSelect) expr.Expr {
	if e.Field == "*" {
		panic(failure.At(e.Pos, sqlerr.FeatureNotSupported,
			"row expansion via \"*\" is not supported here"))
	}
	if t := rowOperand(sc, e.Operand); t != nil {
		return b.columnOf(t, e)
	}
	arg := b.expr(sc, e.Operand)
	i := arg.Type().Field(e.Field)
	if i < 0 {
		panic(failure.Of(noField(arg.Type(), e)))
	}
	return field(arg, i)
}

// columnOf binds (t).f, where t is an entry of FROM.
func (b *binder) columnOf(t *fromTable, e *ast.FieldSelect) expr.Expr {
	column := &ast.ColumnRef{Pos: e.Operand.At(), Name: e.Field}
	v := columnNamed(t.cols, column)
	if v == nil {
		panic(failure.At(e.Pos, sqlerr.UndefinedColumn, "column %s.%s does not exist", t.alias,
			e.Field))
	}
	b.noteColumn(e, []*fromTable{t}, v)
	return b.visibleRef(v, e.Pos)
}

// rowOperand returns the entry of FROM whose row an expression means: a bare name that no column
// has.
func rowOperand(sc *scope, e ast.Expr) *fromTable {
	ref, ok := e.(*ast.ColumnRef)
	if !ok || len(ref.Qualifier) > 0 {
		return nil
	}
	for s := sc; s != nil; s = s.outer {
		if columnNamed(s.cols, ref) != nil {
			return nil
		}
	}
	t, _ := findTable(sc, []string{ref.Name})
	return t
}

// noField returns the error that a value has no such field.
func noField(t *types.Type, e *ast.FieldSelect) error {
	pos := int(e.Pos)
	operand := e.Operand
	for f, ok := operand.(*ast.FieldSelect); ok; f, ok = operand.(*ast.FieldSelect) {
		pos, operand = int(f.Pos), f.Operand // a field is where its value is
	}
	if c, ok := operand.(*ast.Cast); ok { // a literal of the type is the literal
		if lit, ok := c.Operand.(*ast.Literal); ok {
			pos = int(lit.At())
		}
	}
	switch {
	case t.Family != types.Record:
		return sqlerr.New(sqlerr.WrongObjectType,
			"column notation .%s applied to type %s, which is not a composite type", e.Field,
			typeName(t)).At(pos)
	case t.OID == types.OIDRecord:
		return sqlerr.New(sqlerr.UndefinedColumn,
			"could not identify column \"%s\" in record data type", e.Field).At(pos)
	}
	return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" not found in data type %s", e.Field,
		typeName(t)).At(pos)
}

// field selects field i of a value whose type has known fields. That of a row that the statement
// itself makes is the expression behind it.
func field(arg expr.Expr, i int) expr.Expr {
	if row, ok := arg.(*expr.RowExpr); ok {
		return row.Elems[i]
	}
	t := arg.Type()
	return &expr.Call{T: t.Fields()[i].Type, Func: builtin.Field(t, i), Args: []expr.Expr{arg}}
}

// expand returns the fields of (x).*, as columns of a select list. x is evaluated for each.
func (b *binder) expand(sc *scope, e *ast.FieldSelect) []visible {
	t := b.expr(sc, e.Operand).Type()
	fields := t.Fields()
	switch {
	case t.Family != types.Record:
		panic(failure.At(0, sqlerr.WrongObjectType, "type %s is not composite", typeName(t)))
	case fields == nil:
		panic(failure.At(0, sqlerr.WrongObjectType, "record type has not been registered"))
	}
	cols := make([]visible, len(fields))
	for i, f := range fields {
		cols[i] = visible{name: f.Name, e: field(b.expr(sc, e.Operand), i)}
	}
	b.noteFields(e, fields)
	return cols
}

// projection binds f(x), where x is composite and has a field f, but there is no such function: as
// in PostgreSQL that is another notation for (x).f. It returns nil for other calls.
func (b *binder) projection(sc *scope, call *ast.FuncCall, args []expr.Expr) expr.Expr {
	if len(args) != 1 || call.Name.Schema != "" || call.Distinct || call.Filter != nil ||
		call.OrderBy != nil || call.Variadic || call.ArgNames != nil {
		return nil
	}
	i := args[0].Type().Field(call.Name.Name)
	if i < 0 {
		return nil
	}
	fn, _, err := b.function(call.Name).ResolveFunction(typesOf(args))
	if err == nil && !isCast(fn) {
		return nil
	}
	b.noteProjection(call, rowOperand(sc, call.Args[0]))
	return field(args[0], i)
}

// isCast reports whether a function is what a call of a type's name means: a conversion to it.
func isCast(fn *expr.Func) bool {
	return len(fn.Args) == 1 && fn.Returns != nil && fn.Returns.Name == fn.Name
}

// functionOfRow binds t.f, where the entry t of FROM has no column f, but there is a function f of
// its rows; nil if there is none.
func (b *binder) functionOfRow(t *fromTable, ref *ast.ColumnRef) expr.Expr {
	row := b.wholeRow(t, ref.Pos)
	name := b.function(ast.Name{Name: ref.Name})
	fn, targets, err := name.ResolveFunction([]*types.Type{row.Type()})
	if err != nil || fn.Set != nil || isCast(fn) {
		return nil
	}
	b.noteCall(ref, fn.Name, t)
	args := []expr.Expr{b.coerce(row, targets[0], implicit, int(ref.Pos))}
	return b.newCall(fn, args, builtin.ReturnType(fn, targets), int(ref.Pos))
}
