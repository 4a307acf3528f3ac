package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// inserting is an INSERT that is being bound.
type inserting struct {
	b    *binder
	sc   *scope
	stmt *ast.Insert
	t    *destination
	d    *table.Desc // the table
	// The assigned columns, in the order of the values: of the relation that is named, and of the
	// table, -1 for one that cannot be assigned to.
	named, columns []int
	defaults       defaults
}

// insert binds INSERT: a child that makes whole rows, including defaults and casts, and the node
// that writes them.
func (b *binder) insert(s *ast.Insert, outer *scope) *logical.Query {
	in := &inserting{b: b, sc: outer.inner(), stmt: s}
	if s.With != nil {
		b.with(in.sc, s.With)
	}
	in.t = b.destination(s.Table, inserts)
	in.t.storesDefaults()
	in.d = in.t.d
	in.defaults = defaults{b: b, t: in.t}
	in.columnList()
	if in.stmt.Columns != nil {
		in.given(len(in.columns))
	}
	node := &logical.Insert{Desc: in.d, Alias: in.t.alias(s.Alias),
		HasRows: len(s.Returning) > 0}
	in.source(node)
	in.addGenerated(node)
	node.Row = b.newRow(in.d, in.sc.level())
	node.Checks, node.ViewChecks = b.checks(in.d, node.Row), in.t.viewChecks(b, in.sc, node.Row)
	if s.OnConflict != nil {
		failure.Check(in.t.refusal)
		node.OnConflict = b.onConflict(in, s.OnConflict)
	}
	if g := in.t.guard(b, in.sc, "insert"); g != nil {
		g.written = &guardedWrite{checks: &node.Checks, row: node.Row}
		if node.OnConflict != nil && node.OnConflict.Update {
			g.written.upsert = node.OnConflict
		}
	}
	q := &logical.Query{Node: node}
	if node.HasRows {
		rs := in.rowScope(node.Row)
		node.Returning, q.Cols = b.returning(rs, s.Returning)
	}
	in.t.settle()
	changeable(in.d)
	return q
}

// rowScope returns a scope with a row of the table under its name or alias.
func (in *inserting) rowScope(first logical.ColID) *scope {
	sc := &scope{outer: in.sc.outer, with: in.sc.with, sel: in.sc.sel}
	t, _ := in.t.over(in.b, in.sc, in.stmt.Alias, first)
	sc.tables, sc.cols = []*fromTable{t}, t.cols
	return sc
}

// columnList resolves the list of columns; without one, all are assigned to.
func (in *inserting) columnList() {
	in.named = in.namedColumns()
	for _, k := range in.named {
		in.columns = append(in.columns, in.t.shown(0, k))
	}
}

func (in *inserting) namedColumns() []int {
	d := in.t.named
	var out []int
	if in.stmt.Columns == nil {
		for i := range d.Columns {
			if !d.Columns[i].Hidden {
				out = append(out, i)
			}
		}
		return out
	}
	for k := range in.stmt.Columns {
		c := &in.stmt.Columns[k]
		i := targetColumn(d, c.Ident)
		if before := slices.Index(out, i); before >= 0 &&
			(c.Path == nil || in.stmt.Columns[before].Path == nil) {
			panic(failure.At(c.Pos, sqlerr.DuplicateColumn,
				"column \"%s\" specified more than once", c.Name))
		}
		out = append(out, i)
	}
	return out
}

// part returns the target of value k if it is a part of a column, else nil.
func (in *inserting) part(k int) *ast.Target {
	if in.stmt.Columns == nil || in.stmt.Columns[k].Path == nil {
		return nil
	}
	return &in.stmt.Columns[k]
}

// typeOf returns the type that value k is converted to.
func (in *inserting) typeOf(k int) *types.Type {
	col := &in.d.Columns[in.t.stored(in.named[k])]
	target := in.part(k)
	if target == nil {
		return col.Type
	}
	p := &part{b: in.b, sc: in.sc, name: col.Name, pos: int(target.Pos), t: col.Type}
	p.walk(target.Path)
	return p.t
}

// give assigns value k of a row to its column, or to a part of that: what the row has no value for
// yet is NULL before.
func (in *inserting) give(row []expr.Expr, k int, e expr.Expr, pos int) {
	i := in.columns[k]
	col := &in.d.Columns[i]
	target := in.part(k)
	if target == nil {
		if row[i] != nil { // by two columns of a view
			panic(failure.At(0, sqlerr.SyntaxError, "multiple assignments to same column \"%s\"",
				col.Name))
		}
		row[i] = in.b.assign(e, col, pos)
		return
	}
	if row[i] == nil {
		row[i] = &expr.Const{T: col.Type, Value: types.Null}
	}
	row[i] = in.b.assignPart(in.sc, row[i], col, target, e)
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
		rows := in.b.expandVariables(v.Rows)
		sameLength(rows)
		in.values(node, rows)
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
		in.given(len(rows[0]))
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
	for k, e := range src {
		i := in.columns[k]
		_, isDefault := e.(*ast.Default)
		if target := in.part(k); isDefault && target != nil {
			refuseDefault(target)
		}
		stored := in.t.stored(in.named[k])
		if isDefault || in.ignoresGiven(i) {
			continue
		}
		in.checkWritable(stored)
		in.give(row, k, in.b.expr(in.sc, e), exprPos(e))
	}
	for i := range row {
		if row[i] != nil {
			continue
		}
		row[i] = in.defaults.value(i)
	}
}

// given notes that the first n columns get values.
func (in *inserting) given(n int) {
	for _, k := range in.named[:n] {
		in.t.note(k, (*opt.Need).Insert)
	}
}

// ignoresGiven reports whether OVERRIDING USER VALUE replaces the given value by the identity's
// next value.
func (in *inserting) ignoresGiven(i int) bool {
	return i >= 0 && in.stmt.Overriding == "user" && in.d.Columns[i].Identity != ""
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
	in.given(len(q.Cols))
	values := make([]expr.Expr, len(d.Columns))
	for k, c := range q.Cols {
		i := in.columns[k]
		if in.ignoresGiven(i) {
			continue
		}
		in.checkWritable(in.t.stored(in.named[k]))
		if b.meta.Cols[c.ID].Type.OID == types.OIDUnknown {
			b.coerceOutput(q, k, in.typeOf(k), assignment, 0)
		}
		in.give(values, k, b.ref(q.Cols[k].ID, 0), outputPos(sel.Body, k))
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
