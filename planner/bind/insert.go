package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// inserting is an INSERT that is being bound.
type inserting struct {
	b        *binder
	sc       *scope
	stmt     *ast.Insert
	d        *table.Desc
	columns  []int // assigned columns, in the order of the values
	defaults defaults
}

// insert binds INSERT: a child that makes whole rows, including defaults and casts, and the node
// that writes them.
func (b *binder) insert(s *ast.Insert, outer *scope) *logical.Query {
	in := &inserting{b: b, sc: outer.inner(), stmt: s}
	if s.With != nil {
		b.with(in.sc, s.With)
	}
	in.d = b.modifiedTable(s.Table, "INSERT")
	in.defaults = defaults{b: b, d: in.d}
	in.columns = in.columnList()
	node := &logical.Insert{Desc: in.d, HasRows: len(s.Returning) > 0}
	in.source(node)
	in.addGenerated(node)
	node.Row = b.newRow(in.d, in.sc.level())
	node.Checks = b.checks(in.d, node.Row)
	if s.OnConflict != nil {
		node.OnConflict = b.onConflict(in, s.OnConflict)
	}
	q := &logical.Query{Node: node}
	if node.HasRows {
		rs := in.rowScope(node.Row)
		node.Returning, q.Cols = b.returning(rs, s.Returning)
	}
	changeable(in.d)
	return q
}

// rowScope returns a scope with a row of the table under its name or alias.
func (in *inserting) rowScope(first logical.ColID) *scope {
	sc := &scope{outer: in.sc.outer, with: in.sc.with, sel: in.sc.sel}
	t := &fromTable{alias: in.d.Name, schema: in.d.Schema, desc: in.d, first: first,
		cols: relationColumns(in.d, first)}
	if in.stmt.Alias != "" {
		t.alias, t.aliased = in.stmt.Alias, true
	}
	sc.tables, sc.cols = []*fromTable{t}, t.cols
	return sc
}

func (in *inserting) columnList() []int {
	d := in.d
	var out []int
	if in.stmt.Columns == nil {
		for i := range d.Columns {
			if !d.Columns[i].Hidden {
				out = append(out, i)
			}
		}
		return out
	}
	for _, c := range in.stmt.Columns {
		i := targetColumn(d, c)
		if slices.Contains(out, i) {
			panic(failure.At(c.Pos, sqlerr.DuplicateColumn,
				"column \"%s\" specified more than once", c.Name))
		}
		out = append(out, i)
	}
	return out
}

// source makes the child: VALUES row by row, a projection over a query, or one row of defaults.
func (in *inserting) source(node *logical.Insert) {
	q := in.stmt.Query
	if q == nil {
		in.values(node, [][]ast.Expr{nil})
		return
	}
	if v, ok := q.Body.(*ast.Values); ok && q.With == nil && q.OrderBy == nil && q.Limit == nil &&
		q.Offset == nil {
		sameLength(v.Rows)
		in.values(node, v.Rows)
		return
	}
	in.query(node, q)
}

// values makes rows with an expression for every column of the table.
func (in *inserting) values(node *logical.Insert, rows [][]ast.Expr) {
	b, d := in.b, in.d
	if len(rows[0]) > 0 {
		in.checkCount(len(rows[0]),
			func(i int) int { return exprPos(rows[0][i]) })
	}
	first := b.newRow(d, in.sc.level())
	n := len(d.Columns)
	vals := &logical.Values{Rows: make([][]expr.Expr, len(rows)), Cols: make([]logical.ColID, n)}
	for i := range n {
		vals.Cols[i] = first + i
		b.meta.Cols[first+i].NotNull = false
	}
	cells := make([]expr.Expr, n*len(rows))
	in.sc.sel.clause = clauseValues
	for r, src := range rows {
		row := cells[r*n : (r+1)*n : (r+1)*n]
		in.fillRow(row, src)
		vals.Rows[r] = row
	}
	node.Child, node.ChildCols = vals, vals.Cols
}

func (in *inserting) fillRow(row []expr.Expr, src []ast.Expr) {
	b, d := in.b, in.d
	for k, e := range src {
		i := in.columns[k]
		if _, isDefault := e.(*ast.Default); isDefault || in.ignoresGiven(i) {
			continue
		}
		in.checkWritable(i)
		row[i] = b.assign(b.expr(in.sc, e), &d.Columns[i], exprPos(e))
	}
	for i := range row {
		if row[i] != nil {
			continue
		}
		row[i] = in.defaults.value(i)
	}
}

// ignoresGiven reports whether OVERRIDING USER VALUE replaces the given value by the identity's
// next value.
func (in *inserting) ignoresGiven(i int) bool {
	return in.stmt.Overriding == "user" && in.d.Columns[i].Identity != ""
}

// checkWritable refuses a value for a column that generates its own.
func (in *inserting) checkWritable(i int) {
	col := &in.d.Columns[i]
	var detail, hint string
	switch {
	case col.Generated != "":
		detail = "Column \"%s\" is a generated column."
	case col.Identity == "always" && in.stmt.Overriding != "system":
		detail = "Column \"%s\" is an identity column defined as GENERATED ALWAYS."
		hint = "Use OVERRIDING SYSTEM VALUE to override."
	default:
		return
	}
	panic(failure.Of(sqlerr.New(generatedAlways, "cannot insert a non-DEFAULT value into column "+
		"\"%s\"", col.Name).WithDetail(detail, col.Name).WithHint("%s", hint)))
}

// checkCount compares the number of values with the number of columns.
func (in *inserting) checkCount(n int, pos func(int) int) {
	switch {
	case n > len(in.columns):
		panic(failure.At(pos(len(in.columns)), sqlerr.SyntaxError,
			"INSERT has more expressions than target columns"))
	case in.stmt.Columns != nil && n < len(in.columns):
		panic(failure.At(in.stmt.Columns[n].Pos, sqlerr.SyntaxError,
			"INSERT has more target columns than expressions"))
	}
}

// query makes the child of INSERT … SELECT: a projection of the query to whole rows.
func (in *inserting) query(node *logical.Insert, sel *ast.Select) {
	b, d := in.b, in.d
	outer := &scope{outer: in.sc.outer, with: in.sc.with, sel: in.sc.sel}
	q := b.query(sel, outer, true)
	in.checkCount(len(q.Cols),
		func(i int) int { return outputPos(sel.Body, i) })
	values := make([]expr.Expr, len(d.Columns))
	for k, c := range q.Cols {
		i := in.columns[k]
		if in.ignoresGiven(i) {
			continue
		}
		in.checkWritable(i)
		if b.meta.Cols[c.ID].Type.OID == types.OIDUnknown {
			b.coerceOutput(q, k, d.Columns[i].Type, assignment, 0)
		}
		values[i] = b.assign(b.ref(q.Cols[k].ID, 0), &d.Columns[i], outputPos(sel.Body, k))
	}
	p := &logical.Project{Child: q.Node}
	for i := range values {
		if values[i] == nil {
			values[i] = in.defaults.value(i)
		}
		id := b.newColumn(d.Columns[i].Name, d.Columns[i].Type, in.sc.level())
		p.Items = append(p.Items, logical.Item{ID: id, Expr: values[i]})
		node.ChildCols = append(node.ChildCols, id)
	}
	node.Child = p
}

// addGenerated computes generated columns from the other values of the row.
func (in *inserting) addGenerated(node *logical.Insert) {
	b, d := in.b, in.d
	first := 0
	for i := range d.Columns {
		if d.Columns[i].Generated != "" {
			first = b.newRow(d, in.sc.level())
			break
		}
	}
	if first == 0 {
		return
	}
	exprs := b.generated(d, first)
	by := make([]expr.Expr, len(d.Columns))
	for i, id := range node.ChildCols {
		by[i] = b.ref(id, 0)
	}
	p := &logical.Project{Child: node.Child}
	cols := make([]logical.ColID, len(d.Columns))
	for i := range d.Columns {
		if exprs[i] == nil {
			cols[i] = node.ChildCols[i]
			p.Items = append(p.Items, logical.Item{ID: cols[i], Expr: by[i]})
			continue
		}
		cols[i] = b.newColumn(d.Columns[i].Name, d.Columns[i].Type, in.sc.level())
		p.Items = append(p.Items, logical.Item{ID: cols[i], Expr: replaceRow(exprs[i], first, by)})
	}
	node.Child, node.ChildCols = p, cols
}
