package bind

import (
	"fmt"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// values binds VALUES as a query with columns column1, column2, …, each of the common type of its
// values.
func (b *binder) values(sc *scope, v *ast.Values, keepUnknown bool) (*logical.Query, error) {
	if err := sameLength(v.Rows); err != nil {
		return nil, err
	}
	sc.sel.clause = clauseValues
	rows := make([][]expr.Expr, len(v.Rows))
	for i, r := range v.Rows {
		row, err := b.exprs(sc, r)
		if err != nil {
			return nil, err
		}
		rows[i] = row
	}
	node := &logical.Values{Rows: rows}
	q := &logical.Query{Node: node}
	for k := range v.Rows[0] {
		t, err := b.unifyColumn(v.Rows, rows, k, keepUnknown)
		if err != nil {
			return nil, err
		}
		name := fmt.Sprintf("column%d", k+1)
		id := b.newColumn(name, t, sc.level())
		node.Cols = append(node.Cols, id)
		q.Cols = append(q.Cols, logical.Output{Name: name, ID: id})
	}
	return q, nil
}

func sameLength(rows [][]ast.Expr) error {
	for _, r := range rows[1:] {
		if len(r) != len(rows[0]) {
			pos := 0
			if len(r) > 0 {
				pos = exprPos(r[0])
			}
			return sqlerr.New(sqlerr.SyntaxError,
				"VALUES lists must all be the same length").At(pos)
		}
	}
	return nil
}

// unifyColumn converts column k of all rows to one type.
func (b *binder) unifyColumn(src [][]ast.Expr, rows [][]expr.Expr, k int,
	keepUnknown bool) (*types.Type, error) {
	ts := make([]*types.Type, len(rows))
	unknown, same := true, true
	for i, row := range rows {
		ts[i] = row[k].Type()
		unknown = unknown && ts[i].OID == types.OIDUnknown
		same = same && ts[i] == ts[0]
	}
	if unknown && keepUnknown {
		return types.TUnknown, nil
	}
	if same && !unknown {
		return ts[0], nil
	}
	t, offender, err := builtin.CommonTypeFor("VALUES", ts)
	if err != nil {
		return nil, at(err, exprPos(src[offender][k]))
	}
	for i, row := range rows {
		if row[k], err = b.coerce(row[k], t, implicit, exprPos(src[i][k])); err != nil {
			return nil, err
		}
	}
	return t, nil
}
