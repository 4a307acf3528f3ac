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
)

// join makes a join node. It is lateral if the right side refers to columns of the left side.
func (b *binder) join(kind opt.JoinKind, left, right logical.Node, on []expr.Expr) *logical.Join {
	b.meta.Joins++
	return &logical.Join{Kind: kind, Left: left, Right: right, On: on,
		Lateral: isLateral(left, right)}
}

func isLateral(left, right logical.Node) bool {
	switch right.(type) {
	case *logical.Scan, *logical.CTERef:
		return false
	}
	free := logical.FreeCols(right)
	return !free.Empty() && free.Intersects(logical.MadeCols(left))
}

// scan binds a relation. Its columns get consecutive IDs.
// right, which may be nil, notes which of them are read.
func (b *binder) scan(sc *scope, d *table.Desc, alias string, columns []ast.Ident,
	right *opt.Need) *fromItem {
	t := &fromTable{alias: d.Name, schema: d.Schema, desc: d, aliased: alias != ""}
	if alias != "" {
		t.alias = alias
	}
	node := b.newScan(d, alias, sc.level())
	t.first = node.First
	t.cols = relationColumns(d, node.First)
	t.right = right
	noteReads(t.cols, d, right)
	b.renameColumns(t, columns)
	return &fromItem{node: node, tables: []*fromTable{t}, cols: t.cols}
}

func (b *binder) newScan(d *table.Desc, alias string, level int) *logical.Scan {
	first := b.newRow(d, level)
	out := make([]logical.ColID, len(d.Columns))
	for i := range out {
		out[i] = first + i
	}
	s := &logical.Scan{Desc: d, Alias: alias, First: first, Out: out}
	for i := range d.Exprs {
		e := &d.Exprs[i]
		b.meta.Add(logical.Column{Name: e.Text, Type: e.Type, Level: level})
	}
	for i := range d.Exprs {
		s.Exprs = append(s.Exprs, b.indexExpr(d, first, d.Exprs[i].Text))
	}
	b.meta.Scans = append(b.meta.Scans,
		logical.ScanColumns{Desc: d, First: first, Exprs: s.Exprs})
	for i := range d.Indexes {
		ix := &d.Indexes[i]
		if ix.WhereText == "" {
			continue
		}
		if pred, err := b.indexCondition(d, first, ix.WhereText); err == nil {
			if s.Partial == nil {
				s.Partial = map[table.IndexID][]expr.Expr{}
			}
			s.Partial[ix.ID] = pred
		}
	}
	return s
}

// newRow adds the columns of a relation and returns the ID of the first.
func (b *binder) newRow(d *table.Desc, level int) logical.ColID {
	first := len(b.meta.Cols)
	attr := 0
	for i := range d.Columns {
		c := &d.Columns[i]
		col := logical.Column{Name: c.Name, Type: c.Type, NotNull: c.NotNull, Level: level,
			Collation: c.Collation}
		if !c.Hidden {
			attr++
			col.Table, col.Attr = d.ID, int(c.ID)
		}
		b.meta.Add(col)
	}
	return first
}

// renameColumns applies an alias column list: `t AS x (a, b)`.
func (b *binder) renameColumns(t *fromTable, columns []ast.Ident) {
	what := "table"
	if t.join {
		what = "join expression"
	}
	if len(columns) > len(t.cols) {
		panic(failure.At(0, sqlerr.InvalidColumnReference,
			"%s \"%s\" has %d columns available but %d columns specified", what, t.alias,
			len(t.cols), len(columns)))
	}
	for i, c := range columns {
		t.cols[i].name = c.Name
	}
}

// derived makes a FROM item of a query's result under an alias.
func (b *binder) derived(sc *scope, q *logical.Query, alias string, columns []ast.Ident) *fromItem {
	t := &fromTable{alias: alias, aliased: true, nested: true, cols: make([]visible, len(q.Cols))}
	for i, c := range q.Cols {
		t.cols[i] = visible{name: c.Name, id: c.ID}
		b.meta.Cols[c.ID].Level = sc.level()
	}
	b.renameColumns(t, columns)
	return &fromItem{node: q.Node, tables: []*fromTable{t}, cols: t.cols}
}

// fromOuter returns the outer scope of a subquery in FROM. With LATERAL the entries before it are
// in scope, otherwise they are hidden entries, for error messages.
func (b *binder) fromOuter(sc *scope, lateral bool) *scope {
	if lateral {
		return sc
	}
	return &scope{outer: sc.outer, hidden: append(slices.Clip(sc.tables), sc.hidden...),
		with: sc.with, sel: sc.sel}
}
