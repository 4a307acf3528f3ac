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
	if !t.padded || t.join {
		return row
	}
	missing := &expr.IsNull{Arg: b.ref(b.presenceColumn(t), pos)}
	null := &expr.Const{T: types.TRecord, Value: types.Null}
	return &expr.Case{T: types.TRecord, Whens: []expr.When{{Cond: missing, Result: null}},
		Else: row}
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
