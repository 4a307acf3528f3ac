package bind

import (
	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// localSystemColumn resolves a bare name to a system column of one of the relations in a query's
// FROM, nil if it is none.
func (b *binder) localSystemColumn(sc *scope, ref *ast.ColumnRef) expr.Expr {
	if builtin.SystemColumnType(ref.Name) == nil {
		return nil
	}
	var found expr.Expr
	for _, t := range sc.tables {
		e := b.systemColumn(sc, t, ref)
		if e != nil && found != nil {
			panic(failure.Of(ambiguousColumn(ref.Name, ref.Pos)))
		}
		if e != nil {
			found = e
		}
	}
	return found
}

// systemColumn returns a system column of an entry of FROM; nil if the name is none, or the entry
// has none: views, queries and functions.
func (b *binder) systemColumn(sc *scope, t *fromTable, ref *ast.ColumnRef) expr.Expr {
	if t.desc == nil || t.nested || t.join || t.desc.IsQuery() {
		return nil
	}
	fn := builtin.SystemColumn(t.desc, ref.Name)
	if fn == nil {
		return nil
	}
	b.refuseSystemColumn(sc, ref)
	call := &expr.Call{Func: fn, T: fn.Returns, Pos: int(ref.Pos)}
	for _, i := range builtin.SystemColumnArgs(t.desc) {
		call.Args = append(call.Args, b.ref(t.first+i, ref.Pos))
	}
	b.noteSystemColumn(ref, t, call.T)
	if t.desc.HasRows() || !t.padded {
		return call
	}
	missing := &expr.IsNull{Arg: b.ref(b.presenceColumn(t), ref.Pos)}
	null := &expr.Const{T: call.T, Value: types.Null}
	return &expr.Case{T: call.T, Whens: []expr.When{{Cond: missing, Result: null}}, Else: call}
}

// refuseSystemColumn returns an error where an expression must depend on the row's own columns.
func (b *binder) refuseSystemColumn(sc *scope, ref *ast.ColumnRef) {
	switch sc.sel.clause {
	case clauseIndexExpr, clauseIndexWhere:
		panic(failure.At(0, sqlerr.FeatureNotSupported,
			"index creation on system columns is not supported"))
	case clauseMergeWhen:
		if ref.Name == "tableoid" {
			return
		}
		panic(failure.At(ref.Pos, sqlerr.InvalidColumnReference,
			"cannot use system column \"%s\" in MERGE WHEN condition", ref.Name))
	case clauseCheck:
	default:
		return
	}
	if ref.Name == "tableoid" {
		panic(failure.Unsupported(int(ref.Pos), "tableoid in a constraint"))
	}
	panic(failure.At(ref.Pos, sqlerr.InvalidColumnReference,
		"system column \"%s\" reference in check constraint is invalid", ref.Name))
}

// refuseSystemTarget returns an error for an assignment to a system column.
func refuseSystemTarget(d *table.Desc, c ast.Ident) {
	if builtin.SystemColumnType(c.Name) != nil && d.HasRows() {
		panic(failure.At(c.Pos, sqlerr.FeatureNotSupported, "cannot assign to system column "+
			"\"%s\"", c.Name))
	}
}
