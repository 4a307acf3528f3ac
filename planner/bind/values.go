package bind

import (
	"fmt"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// values binds VALUES as a query with columns column1, column2, …, each of the common type of its
// values.
func (b *binder) values(sc *scope, v *ast.Values, keepUnknown bool) *logical.Query {
	src := b.expandVariables(v.Rows)
	sameLength(src)
	sc.sel.clause = clauseValues
	rows := make([][]expr.Expr, len(src))
	for i, r := range src {
		rows[i] = b.exprs(sc, r)
	}
	node := &logical.Values{Rows: rows}
	q := &logical.Query{Node: node}
	for k := range src[0] {
		t := b.unifyColumn(src, rows, k, keepUnknown)
		name := fmt.Sprintf("column%d", k+1)
		id := b.newColumn(name, t, sc.level())
		b.valuesFrom(id, node, k)
		node.Cols = append(node.Cols, id)
		q.Cols = append(q.Cols, logical.Output{Name: name, ID: id})
	}
	return q
}

// valuesFrom records where column k of VALUES has its values from. The collations of all rows are
// asked for only where one may differ from that of the type.
func (b *binder) valuesFrom(id logical.ColID, node *logical.Values, k int) {
	if t := b.meta.Cols[id].Type; b.collated == nil && typeCollation(t) == "" {
		return
	}
	from := &valuesColumn{node: node, k: k}
	b.meta.Cols[id].From = from
	if b.collated != nil {
		b.collationOf(from)
	}
}

func sameLength(rows [][]ast.Expr) {
	for _, r := range rows[1:] {
		if len(r) != len(rows[0]) {
			pos := 0
			if len(r) > 0 {
				pos = exprPos(r[0])
			}
			panic(failure.At(pos, sqlerr.SyntaxError, "VALUES lists must all be the same length"))
		}
	}
}

// unifyColumn converts column k of all rows to one type.
func (b *binder) unifyColumn(src [][]ast.Expr, rows [][]expr.Expr, k int,
	keepUnknown bool) *types.Type {
	ts := make([]*types.Type, len(rows))
	unknown, same := true, true
	for i, row := range rows {
		ts[i] = row[k].Type()
		unknown = unknown && ts[i].OID == types.OIDUnknown
		same = same && ts[i] == ts[0]
	}
	if unknown && keepUnknown {
		return types.TUnknown
	}
	if same && !unknown {
		return ts[0]
	}
	t, offender, err := builtin.CommonTypeFor("VALUES", ts)
	failure.Check(at(err, exprPos(src[offender][k])))
	for i, row := range rows {
		row[k] = b.coerce(row[k], t, implicit, exprPos(src[i][k]))
	}
	return t
}
