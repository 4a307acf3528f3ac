package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table/types"
)

var joinKinds = map[string]opt.JoinKind{
	"inner": opt.Inner, "cross": opt.Inner, "left": opt.Left,
	"right": opt.Right, "full": opt.Full,
}

// joinExpr binds an explicit JOIN.
func (b *binder) joinExpr(sc *scope, j *ast.Join) *fromItem {
	left := b.tableExpr(sc, j.Left)
	// A lateral right side sees the left side.
	rightScope := &scope{outer: sc.outer, tables: sc.tables, cols: sc.cols, with: sc.with,
		sel: sc.sel}
	rightScope.add(left)
	right := b.tableExpr(rightScope, j.Right)
	checkAliases(left.tables, right.tables)
	kind := joinKinds[j.Kind]
	node := b.join(kind, left.node, right.node, nil)
	if node.Lateral && (kind == opt.Right || kind == opt.Full) {
		panic(failure.Of(b.lateralRefused(left, right)))
	}
	left.isSide(&node.Left, sc.level())
	right.isSide(&node.Right, sc.level())
	it := &fromItem{node: node,
		hidden: append(append([]*fromTable(nil), left.hidden...), right.hidden...)}
	it.tables = append(append(it.tables, left.tables...), right.tables...)
	if using := usingColumns(j, left, right); len(using) > 0 {
		b.joinUsing(j, kind, it, left, right, using)
	} else {
		it.cols = append(append(it.cols, left.cols...), right.cols...)
		if j.On != nil {
			node.On = b.joinOn(sc, j, it)
		}
	}
	markPadded(kind, left, right)
	if j.Alias != "" {
		t := &fromTable{alias: j.Alias, aliased: true, nested: true, join: true,
			cols: append([]visible(nil), it.cols...)}
		b.renameColumns(t, j.Columns)
		b.noteEntry(j, t)
		it.hidden = append(it.hidden, it.tables...)
		it.tables, it.cols = []*fromTable{t}, t.cols
	}
	return it
}

// isSide records the side of the join that the item is, if it is a single entry.
func (it *fromItem) isSide(side *logical.Node, level int) {
	if len(it.tables) == 1 && it.tables[0].side == nil {
		it.tables[0].side, it.tables[0].level = side, level
	}
}

// markPadded marks the entries that an outer join of this kind pads with NULLs. It is called after
// ON is bound, which sees no padded rows.
func markPadded(kind opt.JoinKind, left, right *fromItem) {
	var sides []*fromItem
	if kind == opt.Left || kind == opt.Full {
		sides = append(sides, right)
	}
	if kind == opt.Right || kind == opt.Full {
		sides = append(sides, left)
	}
	for _, side := range sides {
		for _, t := range side.tables {
			t.padded = true
		}
	}
}

// lateralRefused returns the error for a side that refers to one that the outer join may pad.
func (b *binder) lateralRefused(left, right *fromItem) error {
	alias, pos := left.tables[0].alias, 0
	var visit func(n logical.Node)
	visit = func(n logical.Node) {
		logical.EachExpr(n, func(e *expr.Expr) {
			expr.Walk(*e, func(x expr.Expr) bool {
				if c, ok := x.(*expr.Col); ok && pos == 0 {
					if t := tableOf(left.tables, c.Index); t != nil {
						alias, pos = t.alias, c.Pos
					}
				}
				return true
			})
		})
		logical.EachInput(n, func(in *logical.Node) { visit(*in) })
	}
	visit(right.node)
	return sqlerr.New(sqlerr.InvalidColumnReference,
		"invalid reference to FROM-clause entry for table \"%s\"", alias).
		WithDetail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.").At(pos)
}

// joinOn binds ON, whose scope is the two sides and the enclosing queries.
func (b *binder) joinOn(sc *scope, j *ast.Join, it *fromItem) []expr.Expr {
	on := &scope{outer: sc.outer, tables: it.tables, cols: it.cols,
		hidden: append(slices.Clip(sc.tables), it.hidden...), with: sc.with, sel: sc.sel}
	saved := sc.sel.clause
	sc.sel.clause = clauseOn
	cond := b.condition(on, j.On, "JOIN/ON")
	sc.sel.clause = saved
	return conjuncts(nil, cond)
}

// usingColumns returns the columns of USING, or for NATURAL those that both sides have.
func usingColumns(j *ast.Join, left, right *fromItem) []ast.Ident {
	if !j.Natural {
		return j.Using
	}
	var using []ast.Ident
	for _, c := range left.cols {
		for _, d := range right.cols {
			if c.name == d.name {
				using = append(using, ast.Ident{Pos: j.Pos, Name: c.name})
				break
			}
		}
	}
	return using
}

// joinUsing merges the columns of USING. They come first, once; then the other columns of the left
// side, then those of the right.
func (b *binder) joinUsing(j *ast.Join, kind opt.JoinKind, it, left, right *fromItem,
	using []ast.Ident) {
	merged := map[string]bool{}
	for i, u := range using {
		if merged[u.Name] {
			panic(failure.At(u.Pos, sqlerr.DuplicateColumn,
				"column name \"%s\" appears more than once in USING clause", u.Name))
		}
		merged[u.Name] = true
		v := b.mergeColumn(kind, it, sideColumn(left, u, "left"), sideColumn(right, u, "right"), u)
		if v.e != nil {
			v.join, v.position = j, i
			b.noteCombined(j)
		}
		it.cols = append(it.cols, v)
	}
	if j.UsingAlias != "" {
		t := &fromTable{alias: j.UsingAlias, aliased: true,
			cols: append([]visible(nil), it.cols...)}
		it.tables = append(it.tables, t)
	}
	for _, side := range []*fromItem{left, right} {
		for _, c := range side.cols {
			if !merged[c.name] {
				it.cols = append(it.cols, c)
			}
		}
	}
}

func sideColumn(it *fromItem, u ast.Ident, side string) *visible {
	var found *visible
	for i := range it.cols {
		if it.cols[i].name != u.Name {
			continue
		}
		if found != nil {
			panic(failure.At(0, sqlerr.AmbiguousColumn,
				"common column name \"%s\" appears more than once in %s table", u.Name, side))
		}
		found = &it.cols[i]
	}
	if found == nil {
		panic(failure.At(0, sqlerr.UndefinedColumn,
			"column \"%s\" specified in USING clause does not exist in %s table", u.Name, side))
	}
	return found
}

// mergeColumn adds l = r to the join and returns the merged column: that of the side which is never
// padded with NULLs, or for a full join the one that is not NULL. In an inner join it is the left
// one, unless only the right one has the common type already.
func (b *binder) mergeColumn(kind opt.JoinKind, it *fromItem, l, r *visible, u ast.Ident) visible {
	le, re := b.visibleRef(l, 0), b.visibleRef(r, 0)
	t, _, err := builtin.CommonTypeFor("JOIN/USING", []*types.Type{le.Type(), re.Type()})
	failure.Check(err)
	eq := b.binary("=", le, re, int(u.Pos))
	node := it.node.(*logical.Join)
	node.On = append(node.On, eq)
	le = b.coerce(le, t, implicit, int(u.Pos))
	re = b.coerce(re, t, implicit, int(u.Pos))
	e := le
	switch kind {
	case opt.Right:
		e = re
	case opt.Inner:
		_, left := le.(*expr.Col)
		if _, right := re.(*expr.Col); right && !left {
			e = re
		}
	case opt.Full:
		e = &expr.Coalesce{T: t, Args: []expr.Expr{le, re}}
	}
	if c, ok := e.(*expr.Col); ok {
		return visible{name: u.Name, id: c.Index}
	}
	return visible{name: u.Name, e: e}
}
