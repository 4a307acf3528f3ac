package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

// typedColumn is a column of a FROM function and its type.
type typedColumn struct {
	name      string
	t         *types.Type
	collation string    // of a column definition, "" for that of its type
	from      expr.Expr // the only result of a function; nil for others
}

// funcRef binds functions in FROM: set-returning functions, or scalar functions, which give one
// row.
func (b *binder) funcRef(sc *scope, ref *ast.FuncRef) *fromItem {
	funcs := fromFunctions(ref)
	node := &logical.FuncScan{Ordinality: ref.Ordinality, Alias: ref.Alias}
	if node.Alias == "" {
		node.Alias = funcs[0].Call.Name.Name
	}
	var cols []typedColumn
	saved := sc.sel.clause
	sc.sel.clause = clauseFrom
	for i := range funcs {
		f, own := b.fromFunction(sc, &funcs[i])
		node.Funcs, cols = append(node.Funcs, f), append(cols, own...)
	}
	sc.sel.clause = saved
	if len(funcs) == 1 && len(cols) == 1 && cols[0].name == funcs[0].Call.Name.Name {
		cols[0].name = node.Alias // a single unnamed column has the name of the alias
	}
	if ref.Ordinality {
		cols = append(cols, typedColumn{name: "ordinality", t: types.TInt8})
	}
	t := &fromTable{alias: node.Alias, aliased: true, source: node}
	for _, c := range cols {
		id := b.newColumn(c.name, c.t, sc.level())
		b.meta.Cols[id].Collation, b.meta.Cols[id].From = c.collation, c.from
		node.Cols = append(node.Cols, id)
		t.cols = append(t.cols, visible{name: c.name, id: id})
	}
	b.renameColumns(t, ref.Columns)
	return &fromItem{node: node, tables: []*fromTable{t}, cols: t.cols}
}

// fromFunctions returns the functions of an entry of FROM, each with its column definitions.
func fromFunctions(ref *ast.FuncRef) []ast.FromFunc {
	if ref.ColumnDefs == nil {
		return ref.Funcs
	}
	refuse := func(message, hint string) {
		panic(failure.Of(sqlerr.New(sqlerr.SyntaxError, "%s", message).
			At(int(ref.ColumnDefs[0].Name.Pos)).WithHint("%s", hint)))
	}
	if len(ref.Funcs) > 1 {
		refuse("ROWS FROM() with multiple functions cannot have a column definition list",
			"Put a separate column definition list for each function inside ROWS FROM().")
	}
	if ref.Ordinality {
		refuse("WITH ORDINALITY cannot be used with a column definition list",
			"Put the column definition list inside ROWS FROM().")
	}
	return []ast.FromFunc{{Call: ref.Funcs[0].Call, ColumnDefs: ref.ColumnDefs}}
}

// fromFunction binds one function and names its columns.
func (b *binder) fromFunction(sc *scope, f *ast.FromFunc) (opt.TableFunc, []typedColumn) {
	call := b.tableFunction(sc, f.Call)
	out := opt.TableFunc{Func: call.fn, Args: call.args, Scalar: call.scalar}
	single := types.Attribute{Name: f.Call.Name.Name, Type: call.t}
	if call.fn != nil {
		fields := call.fields()
		if len(fields) > 1 {
			b.refuseColumnDefs(f, "a column definition list is redundant for a function with OUT "+
				"parameters")
			return withColumns(out, fields)
		}
		if len(fields) == 1 {
			single = fields[0]
		}
	}
	switch t := single.Type; {
	case t.Family != types.Record:
		b.refuseColumnDefs(f,
			"a column definition list is only allowed for functions returning \"record\"")
		out, cols := withColumns(out, []types.Attribute{single})
		cols[0].from = call.result()
		return out, cols
	case t.OID != types.OIDRecord:
		b.refuseColumnDefs(f, "a column definition list is redundant for a function returning a "+
			"named composite type")
		out.Record = t
	case f.ColumnDefs != nil:
		out.Record = types.RowOf(b.columnDefs(f.ColumnDefs))
		b.noteDefinition(f.Call, out.Record.Fields())
		if call.fn != nil && call.fn.ForRow != nil {
			out.Func = call.fn.ForRow(out.Record)
		} else if c, ok := call.scalar.(*expr.Call); ok && c.Func.ForRow != nil {
			of := *c
			of.T, of.Func = out.Record, c.Func.ForRow(out.Record)
			out.Scalar = &of
		}
	case t.Fields() != nil && call.declaresRow():
		out.Record = t
	default:
		panic(failure.At(f.Call.Pos, sqlerr.SyntaxError,
			"a column definition list is required for functions returning \"record\""))
	}
	return withColumns(out, out.Record.Fields())
}

// result stands for what computes the only column of the function.
func (c *setCall) result() expr.Expr {
	if c.scalar != nil {
		return c.scalar
	}
	return &collectedFrom{t: c.t, args: c.args}
}

// declaresRow reports whether the function itself determines the fields of the records that it
// returns, and not one of its arguments.
func (c *setCall) declaresRow() bool {
	scalar, ok := c.scalar.(*expr.Call)
	return ok && scalar.Func.Returns != nil
}

func (b *binder) refuseColumnDefs(f *ast.FromFunc, message string) {
	if f.ColumnDefs != nil {
		panic(failure.At(f.ColumnDefs[0].Name.Pos, sqlerr.SyntaxError, "%s", message))
	}
}

// columnDefs returns the fields of a column definition list.
func (b *binder) columnDefs(defs []ast.ColumnType) []types.Attribute {
	fields := make([]types.Attribute, len(defs))
	for i, d := range defs {
		for _, before := range defs[:i] {
			if before.Name.Name == d.Name.Name {
				panic(failure.At(d.Name.Pos, sqlerr.DuplicateColumn,
					"column name \"%s\" specified more than once", d.Name.Name))
			}
		}
		fields[i] = types.Attribute{Name: d.Name.Name, Type: b.resolveType(d.Type)}
		if t := fields[i].Type; t.Family == types.Void || t.OID == types.OIDUnknown {
			panic(failure.At(d.Name.Pos, sqlerr.InvalidTableDefinition,
				"column \"%s\" has pseudo-type %s", d.Name.Name, typeName(t)))
		}
		if d.Collation != nil {
			fields[i].Collation = b.collationName(fields[i].Type, *d.Collation, d.Collation.Pos)
		}
	}
	return fields
}

// withColumns completes a function that has these columns.
func withColumns(f opt.TableFunc, fields []types.Attribute) (opt.TableFunc, []typedColumn) {
	cols := make([]typedColumn, len(fields))
	for i, a := range fields {
		cols[i] = typedColumn{name: a.Name, t: a.Type, collation: a.Collation}
	}
	f.Width = len(cols)
	return f, cols
}
