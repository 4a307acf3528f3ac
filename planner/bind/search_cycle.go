package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
)

// traversal adds the columns of SEARCH and CYCLE to a recursive query, as PostgreSQL's
// rewriteSearchCycle does. For
//
//	WITH RECURSIVE g (f, t) AS (first UNION ALL second)
//	    SEARCH DEPTH FIRST BY f SET seq CYCLE t SET mark USING path
//
// the first term gets ARRAY[ROW(f)] AS seq, false AS mark, ARRAY[ROW(t)] AS path. The second reads
// the columns of the row before, if that is not marked, and gets seq || ARRAY[ROW(f)] AS seq,
// ROW(t) = ANY (path) AS mark, path || ARRAY[ROW(t)] AS path.
type traversal struct {
	b     *binder
	entry *cteEntry
	sc    *scope   // at the level of the terms
	names []string // of the columns added
	// columns is the number of columns without them.
	columns int
	// What a row of a cycle is marked with, and any other.
	mark, other ast.Expr
	types       []expr.Expr // of the first term's columns added
}

// traversal returns nil for a query without the clauses. Requires: the entry has the columns of the
// first term.
func (b *binder) traversal(sc *scope, entry *cteEntry, u *ast.SetOp) *traversal {
	def := entry.def
	if def.Search == nil && def.Cycle == nil {
		return nil
	}
	for i, side := range []ast.QueryBody{u.Left, u.Right} {
		if _, ok := withoutParens(side).(*ast.SetOp); ok {
			// PostgreSQL has two codes for it.
			code := [...]string{sqlerr.FeatureNotSupported, sqlerr.SyntaxError}[i]
			panic(failure.At(0, code, "with a SEARCH or CYCLE clause, the %s side of the UNION "+
				"must be a SELECT", [...]string{"left", "right"}[i]))
		}
	}
	t := &traversal{b: b, entry: entry, sc: sc, columns: len(entry.cols)}
	if s := def.Search; s != nil {
		t.checkColumns("search", s.Pos, s.Columns)
		t.add("search sequence", s.Sequence, s.Pos)
	}
	if c := def.Cycle; c != nil {
		t.checkColumns("cycle", c.Pos, c.Columns)
		t.mark, t.other = c.Value, c.Default
		if t.mark == nil {
			t.mark = &ast.Literal{Kind: ast.LiteralBool, Text: "t", Pos: c.Pos}
			t.other = &ast.Literal{Kind: ast.LiteralBool, Text: "f", Pos: c.Pos}
		}
		t.add("cycle mark", c.Mark, c.Pos)
		t.add("cycle path", c.Path, c.Pos)
		t.distinct()
	}
	return t
}

// withoutParens returns the body of a query in parentheses.
func withoutParens(body ast.QueryBody) ast.QueryBody {
	for {
		sel, ok := body.(*ast.Select)
		if !ok {
			return body
		}
		body = sel.Body
	}
}

// checkColumns refuses columns of a clause that the query does not have, or that are there twice.
func (t *traversal) checkColumns(clause string, pos ast.Pos, columns []string) {
	for i, c := range columns {
		if !t.has(c) {
			panic(failure.At(pos, sqlerr.SyntaxError,
				"%s column \"%s\" not in WITH query column list", clause, c))
		}
		if slices.Contains(columns[:i], c) {
			panic(failure.At(pos, sqlerr.DuplicateColumn,
				"%s column \"%s\" specified more than once", clause, c))
		}
	}
}

func (t *traversal) has(column string) bool {
	return slices.ContainsFunc(t.entry.cols, func(v visible) bool { return v.name == column })
}

// add adds a column.
func (t *traversal) add(what, name string, pos ast.Pos) {
	if t.has(name) {
		panic(failure.At(pos, sqlerr.SyntaxError,
			"%s column name \"%s\" already used in WITH query column list", what, name))
	}
	t.names = append(t.names, name)
}

// distinct refuses equal names for the columns added.
func (t *traversal) distinct() {
	def := t.entry.def
	same := func(a, b, what string, pos ast.Pos) {
		if a == b {
			panic(failure.At(pos, sqlerr.SyntaxError, "%s are the same", what))
		}
	}
	c := def.Cycle
	same(c.Mark, c.Path, "cycle mark column name and cycle path column name", c.Pos)
	if s := def.Search; s != nil {
		same(s.Sequence, c.Mark, "search sequence column name and cycle mark column name", s.Pos)
		same(s.Sequence, c.Path, "search sequence column name and cycle path column name", s.Pos)
	}
}

// begin adds the columns to the first term.
func (t *traversal) begin(q *logical.Query) *logical.Query {
	def := t.entry.def
	s := t.scope(q, nil)
	var out []expr.Expr
	if c := def.Search; c != nil {
		start := array(rowOf(c.Columns))
		if c.Breadth {
			zero := &ast.Literal{Kind: ast.LiteralInt, Text: "0"}
			start = rowOf(c.Columns, int8Of(zero))
		}
		out = append(out, t.b.expr(s, start))
	}
	if c := def.Cycle; c != nil {
		marks := []expr.Expr{t.b.expr(s, t.mark), t.b.expr(s, t.other)}
		t.b.unify("CYCLE", marks, []ast.Expr{t.mark, t.other})
		out = append(out, marks[1], t.b.expr(s, array(rowOf(c.Columns))))
	}
	t.types = out
	return t.extended(q, out)
}

// second returns the second term with the columns of the row that it reads.
func (t *traversal) second(body ast.QueryBody) ast.QueryBody {
	var core ast.SelectCore
	if sel, ok := body.(*ast.Select); ok && sel.With == nil {
		body = sel.Body
	}
	if c, ok := body.(*ast.SelectCore); ok {
		core = *c
	}
	alias := recursiveAlias(core.From, t.entry.name)
	if alias == "" {
		panic(failure.At(0, sqlerr.FeatureNotSupported, "with a SEARCH or CYCLE clause, the "+
			"recursive reference to WITH query \"%s\" must be at the top level of its right-hand "+
			"SELECT", t.entry.name))
	}
	column := func(name string) ast.Expr {
		return &ast.ColumnRef{Qualifier: []string{alias}, Name: name}
	}
	core.Items = slices.Clone(core.Items)
	for _, name := range t.names {
		core.Items = append(core.Items, ast.SelectItem{Expr: column(name)})
	}
	if c := t.entry.def.Cycle; c != nil {
		var going ast.Expr = &ast.Binary{Op: "<>", Left: column(c.Mark), Right: t.mark}
		if core.Where != nil {
			going = &ast.Binary{Op: "and", Left: core.Where, Right: going}
		}
		core.Where = going
	}
	return &core
}

// recursiveAlias returns the name under which FROM reads the recursive query, "" if it does not.
func recursiveAlias(from []ast.TableExpr, query string) string {
	for _, te := range from {
		switch te := te.(type) {
		case *ast.TableRef:
			if te.Name.Schema == "" && te.Name.Name == query {
				if te.Alias != "" {
					return te.Alias
				}
				return query
			}
		case *ast.Join:
			if a := recursiveAlias([]ast.TableExpr{te.Left, te.Right}, query); a != "" {
				return a
			}
		}
	}
	return ""
}

// next replaces, in the rows of the second term, the columns of the row before by those of the row.
func (t *traversal) next(q *logical.Query) *logical.Query {
	if len(q.Cols) != t.columns+len(t.names) {
		return q // the caller refuses it
	}
	def := t.entry.def
	s := t.scope(q, t.names)
	var out []ast.Expr
	longer := func(column string, row ast.Expr) ast.Expr {
		return &ast.Binary{Op: "||", Left: &ast.ColumnRef{Name: column}, Right: array(row)}
	}
	if c := def.Search; c != nil {
		next := longer(c.Sequence, rowOf(c.Columns))
		if c.Breadth {
			depth := &ast.FieldSelect{Operand: &ast.ColumnRef{Name: c.Sequence}, Field: "f1"}
			one := int8Of(&ast.Literal{Kind: ast.LiteralInt, Text: "1"})
			next = rowOf(c.Columns, &ast.Binary{Op: "+", Left: depth, Right: one})
		}
		out = append(out, next)
	}
	if c := def.Cycle; c != nil {
		seen := &ast.Quantified{Op: "=", Left: rowOf(c.Columns),
			Array: &ast.ColumnRef{Name: c.Path}}
		out = append(out, &ast.Case{Whens: []ast.When{{Cond: seen, Result: t.mark}},
			Else: t.other}, longer(c.Path, rowOf(c.Columns)))
	}
	exprs := make([]expr.Expr, len(out))
	for i, e := range out {
		exprs[i] = t.b.coerce(t.b.expr(s, e), t.types[i].Type(), implicit, 0)
	}
	return t.extended(&logical.Query{Node: q.Node, Cols: q.Cols[:t.columns:t.columns]}, exprs)
}

// scope returns a scope with the columns of a term under the names that the query gives them, and
// the names of those added to it.
func (t *traversal) scope(q *logical.Query, added []string) *scope {
	s := t.sc.sibling()
	for i, c := range q.Cols {
		v := visible{id: c.ID}
		if i < t.columns {
			v.name = t.entry.cols[i].name
		} else {
			v.name = added[i-t.columns]
		}
		s.cols = append(s.cols, v)
	}
	s.tables = []*fromTable{{alias: "*TLOCRN*", aliased: true, nested: true, cols: s.cols}}
	return s
}

// extended returns a query with further columns.
func (t *traversal) extended(q *logical.Query, more []expr.Expr) *logical.Query {
	p := &logical.Project{Child: q.Node}
	out := &logical.Query{Node: p, Cols: slices.Clone(q.Cols)}
	var passed logical.ColSet
	for _, c := range q.Cols {
		if !passed.Has(c.ID) {
			p.Items = append(p.Items, logical.Item{ID: c.ID, Expr: t.b.ref(c.ID, 0)})
			passed.Add(c.ID)
		}
	}
	for i, e := range more {
		id := t.b.newColumn(t.names[i], e.Type(), t.sc.level())
		t.b.meta.Cols[id].From = e
		p.Items = append(p.Items, logical.Item{ID: id, Expr: e})
		out.Cols = append(out.Cols, logical.Output{Name: t.names[i], ID: id})
	}
	return out
}

func array(e ast.Expr) ast.Expr { return &ast.Array{Elements: []ast.Expr{e}} }

func int8Of(e ast.Expr) ast.Expr {
	return &ast.Cast{Operand: e, Type: ast.TypeName{Name: "int8"}}
}

// rowOf returns ROW(first…, columns…).
func rowOf(columns []string, first ...ast.Expr) ast.Expr {
	row := &ast.Row{Elements: first}
	for _, c := range columns {
		row.Elements = append(row.Elements, &ast.ColumnRef{Name: c})
	}
	return row
}
