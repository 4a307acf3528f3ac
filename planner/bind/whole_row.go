package bind

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// wholeRow binds `t` used as a value. Where an outer join found no row of t it is NULL, not a row
// of NULLs: a column that is never NULL in t shows the difference. The alias of a join always means
// a row of its columns.
func (b *binder) wholeRow(t *fromTable, pos ast.Pos) expr.Expr {
	row := &expr.RowExpr{Elems: make([]expr.Expr, len(t.cols)), Names: make([]string, len(t.cols))}
	for i := range t.cols {
		row.Names[i] = t.cols[i].name
		row.Elems[i] = b.visibleRef(&t.cols[i], pos)
	}
	if row.T = rowTypeOf(t); row.T == nil {
		row.T = types.RowOf(fieldsOf(row))
	}
	if !t.padded || t.join {
		return row
	}
	missing := &expr.IsNull{Arg: b.ref(b.presenceColumn(t), pos)}
	null := &expr.Const{T: row.T, Value: types.Null}
	return &expr.Case{T: row.T, Whens: []expr.When{{Cond: missing, Result: null}},
		Else: row}
}

// rowTypeOf returns the row type of the relation that an entry of FROM is; nil: it is none, or has
// none. It has the relation's own names for its columns, whatever the entry's are.
func rowTypeOf(t *fromTable) *types.Type {
	if t.desc == nil || t.join {
		return nil
	}
	row := t.desc.Row()
	if row == nil || len(row.Fields()) != len(t.cols) {
		return nil
	}
	return row
}

// presenceColumn returns a column that is NULL only where an outer join found no row of t: the row
// key of a table, or for any other entry a constant added to its columns below the join.
func (b *binder) presenceColumn(t *fromTable) logical.ColID {
	if t.desc != nil && t.desc.HasRows() {
		return t.first + t.desc.ColumnByID(t.desc.RowKey[0].ColumnID)
	}
	if t.marked {
		return t.marker
	}
	below := *t.side
	p := &logical.Project{Child: below}
	for _, id := range below.Columns() {
		p.Items = append(p.Items, logical.Item{ID: id, Expr: b.ref(id, 0)})
	}
	t.marker, t.marked = b.newColumn(t.alias+".*", types.TBool, t.level), true
	yes := &expr.Const{T: types.TBool, Value: types.NewBool(true)}
	p.Items = append(p.Items, logical.Item{ID: t.marker, Expr: yes})
	*t.side = p
	return t.marker
}
