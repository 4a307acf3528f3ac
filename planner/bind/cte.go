package bind

import (
	"slices"

	"github.com/minidb/minidb/internal/failure"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

func (f *withFrame) find(name string) *cteEntry {
	for ; f != nil; f = f.outer {
		for i := len(f.ctes) - 1; i >= 0; i-- {
			if f.ctes[i].name == name {
				return f.ctes[i]
			}
		}
	}
	return nil
}

// with binds the queries of a WITH clause. Each sees the queries before it.
func (b *binder) with(sc *scope, w *ast.With) {
	sc.with = &withFrame{outer: sc.with}
	defs := make([]*ast.CTE, len(w.CTEs))
	for i := range w.CTEs {
		defs[i] = &w.CTEs[i]
		for _, o := range defs[:i] {
			if def := defs[i]; o.Name == def.Name {
				panic(failure.At(def.Pos, sqlerr.DuplicateAlias,
					"WITH query name \"%s\" specified more than once", def.Name))
			}
		}
	}
	if w.Recursive {
		defs = inDependencyOrder(w)
	}
	for i, def := range defs {
		sc.with.later = nil
		for _, l := range defs[i:] {
			sc.with.later = append(sc.with.later, l.Name)
		}
		entry := b.bindCTE(sc, def, w.Recursive)
		sc.with.ctes = append(sc.with.ctes, entry)
	}
	sc.with.later = nil
}

func (b *binder) bindCTE(sc *scope, def *ast.CTE, recursive bool) *cteEntry {
	outer := &scope{outer: sc.outer, with: sc.with, sel: &selectState{level: -1}}
	if sc.outer != nil {
		outer.sel = sc.outer.sel
	}
	entry := &cteEntry{name: def.Name, def: def, level: sc.level(),
		cte: &logical.CTE{Name: def.Name, Materialized: def.Materialized}}
	sel, isSelect := def.Statement.(*ast.Select)
	if recursive && isSelect && mentions(sel, def.Name) {
		b.recursive(outer, entry, sel)
		if entry.outer == nil {
			b.addCTE(entry)
		}
		return entry
	}
	if def.Search != nil || def.Cycle != nil {
		panic(failure.At(def.Pos, sqlerr.SyntaxError, "WITH query is not recursive"))
	}
	if !isSelect && sc.outer != nil {
		panic(failure.At(def.Pos, sqlerr.FeatureNotSupported,
			"WITH clause containing a data-modifying statement must be at the top level"))
	}
	q := b.cteStatement(def, outer)
	entry.cte.Query, entry.cte.Modifies = q, !isSelect
	b.nameCTE(entry, q)
	if isSelect && sc.outer != nil &&
		dependsOnOuter(q.Node) {
		entry.outer = outer
		return entry
	}
	b.addCTE(entry)
	return entry
}

// addCTE numbers a query after the queries that it reads.
func (b *binder) addCTE(entry *cteEntry) {
	entry.cte.ID = len(b.meta.CTEs)
	b.meta.CTEs = append(b.meta.CTEs, entry.cte)
}

func (b *binder) cteStatement(def *ast.CTE, outer *scope) *logical.Query {
	if s, ok := def.Statement.(*ast.Select); ok {
		return b.query(s, outer, false)
	}
	return b.statement(def.Statement, outer)
}

// nameCTE applies the column list of a WITH query.
func (b *binder) nameCTE(entry *cteEntry, q *logical.Query) {
	if len(entry.def.Columns) > len(q.Cols) {
		panic(failure.At(entry.def.Pos, sqlerr.InvalidColumnReference,
			"WITH query \"%s\" has %d columns available but %d columns specified", entry.name,
			len(q.Cols), len(entry.def.Columns)))
	}
	entry.cols = entry.cols[:0]
	for i, c := range q.Cols {
		name := c.Name
		if i < len(entry.def.Columns) {
			name = entry.def.Columns[i]
		}
		entry.cols = append(entry.cols, visible{name: name, id: c.ID})
	}
}

// recursive binds a recursive query: WITH RECURSIVE x AS (first UNION [ALL] term that reads x).
func (b *binder) recursive(outer *scope, entry *cteEntry, sel *ast.Select) {
	def := entry.def
	u, ok := sel.Body.(*ast.SetOp)
	if !ok || u.Op != "union" {
		panic(failure.At(def.Pos, sqlerr.InvalidRecursion,
			"recursive query \"%s\" does not have the form non-recursive-term UNION [ALL] "+
				"recursive-term", def.Name))
	}
	checkRecursion(sel, u, def.Name)
	noRecursiveTail(sel)
	sc := outer.inner()
	sc.with = &withFrame{outer: outer.with, ctes: []*cteEntry{entry}}
	if sel.With != nil {
		b.with(sc, sel.With)
	}
	first, second := b.recursiveTerms(sc, entry, u)
	if dependsOnOuter(first.Node) || dependsOnOuter(second.Node, entry.cte) {
		entry.outer = outer
	}
}

// recursiveTerms binds the two terms of a recursive query, of which the second reads entry.
func (b *binder) recursiveTerms(sc *scope, entry *cteEntry, u *ast.SetOp) (first,
	second *logical.Query) {
	first = b.body(sc.sibling(), u.Left, false)
	b.nameCTE(entry, first)
	right := u.Right
	entry.declared = len(entry.cols)
	more := b.traversal(sc, entry, u)
	if more != nil {
		first, right = more.begin(first), more.second(right)
		b.nameCTE(entry, first)
	}
	entry.cte.Query, entry.cte.UnionAll = first, u.All
	entry.recursing = true
	second = b.body(sc.sibling(), right, more == nil)
	entry.recursing = false
	if more != nil {
		second = more.next(second)
		own := second.Cols[:min(entry.declared, len(second.Cols))]
		b.noteResult(u.Right, &logical.Query{Node: second.Node, Cols: own})
	}
	if len(first.Cols) != len(second.Cols) {
		panic(failure.At(bodyPos(u.Right), sqlerr.SyntaxError,
			"each UNION query must have the same number of columns"))
	}
	b.recursiveTypes(entry, first, second, u)
	entry.cte.Recursive = second
	return first, second
}

// dependsOnOuter reports whether the rows of a tree change while the statement runs: it refers to
// columns of an outer query, or reads the working table of a recursive query other than own.
func dependsOnOuter(n logical.Node, own ...*logical.CTE) bool {
	return !logical.FreeCols(n).Empty() || readsWorkTable(n, own)
}

// readsWorkTable reports whether a tree reads the working table of a recursive query that is
// neither one of own nor within the tree.
func readsWorkTable(n logical.Node, own []*logical.CTE) bool {
	switch n := n.(type) {
	case *logical.CTERef:
		if n.WorkTable && !slices.Contains(own, n.CTE) {
			return true
		}
	case *logical.Recursion:
		own = append(slices.Clip(own), n.CTE)
	}
	found := false
	logical.EachExpr(n, func(e *expr.Expr) {
		logical.EachSubquery(*e, func(sq *expr.Subquery) {
			if q, ok := sq.Plan.(*logical.Query); ok {
				found = found || readsWorkTable(q.Node, own)
			}
		})
	})
	logical.EachInput(n, func(in *logical.Node) { found = found || readsWorkTable(*in, own) })
	return found
}

// noRecursiveTail refuses ORDER BY, LIMIT and the like on a recursive query: they apply to the
// whole result and cannot apply to a round.
func noRecursiveTail(sel *ast.Select) {
	what, pos := "", 0
	switch {
	case len(sel.OrderBy) > 0:
		what, pos = "ORDER BY", exprPos(sel.OrderBy[0].Expr)
	case sel.Offset != nil:
		what, pos = "OFFSET", exprPos(sel.Offset)
	case sel.Limit != nil:
		what, pos = "LIMIT", exprPos(sel.Limit)
	case sel.Locking != nil:
		what, pos = "FOR UPDATE/SHARE", 0
	default:
		return
	}
	panic(failure.At(pos, sqlerr.FeatureNotSupported, "%s in a recursive query is not implemented",
		what))
}

// laterCTE adds a hint to the error for an unknown relation if a later WITH query has its name.
func laterCTE(err error, f *withFrame, name string) error {
	e, ok := err.(*sqlerr.Error)
	for ; ok && e.Code == sqlerr.UndefinedTable && f != nil; f = f.outer {
		if slices.Contains(f.later, name) {
			return e.WithDetail("There is a WITH item named \"%s\", but it cannot be referenced "+
				"from this part of the query.", name).
				WithHint("Use WITH RECURSIVE, or re-order the WITH items to remove forward " +
					"references.")
		}
	}
	return err
}

// recursiveTypes requires that the first term has the types of the whole query.
func (b *binder) recursiveTypes(entry *cteEntry, first, second *logical.Query, u *ast.SetOp) {
	for i := range first.Cols {
		ft, st := b.meta.Cols[first.Cols[i].ID].Type, b.meta.Cols[second.Cols[i].ID].Type
		t, offender, err := builtin.CommonTypeFor("UNION", []*types.Type{ft, st})
		if err != nil {
			body := u.Left
			if offender == 1 {
				body = u.Right
			}
			panic(failure.Of(at(err, outputPos(body, i))))
		}
		if t.OID == ft.OID && ft.Mod != st.Mod {
			t = t.WithMod(types.NoMod)
		}
		if t.OID != ft.OID || t.Mod != ft.Mod {
			panic(failure.Of(sqlerr.New(sqlerr.DatatypeMismatch,
				"recursive query \"%s\" column %d has type %s in non-recursive term but type %s "+
					"overall",
				entry.name, i+1, ft.String(), t.String()).At(outputPos(u.Left, i)).
				WithHint("Cast the output of the non-recursive term to the correct type.")))
		}
		b.coerceOutput(second, i, ft, implicit, 0)
		b.recursiveCollation(entry, first, second, u, i)
	}
}

// cteRef binds a reference to a WITH query.
func (b *binder) cteRef(sc *scope, ref *ast.TableRef, entry *cteEntry) *fromItem {
	alias := ref.Name.Name
	if ref.Alias != "" {
		alias = ref.Alias
	}
	switch {
	case entry.outer != nil && entry.cte.Recursive != nil:
		return b.recursionRef(sc, ref, entry, alias)
	case entry.outer != nil:
		q := b.cteStatement(entry.def, entry.outer)
		for i := range q.Cols {
			q.Cols[i].Name = entry.cols[i].name
		}
		return b.derived(sc, q, alias, ref.Columns)
	case entry.cte.Modifies && len(entry.cols) == 0:
		panic(failure.At(ref.Name.Pos, sqlerr.FeatureNotSupported,
			"WITH query \"%s\" does not have a RETURNING clause", entry.name))
	}
	node := &logical.CTERef{CTE: entry.cte, Alias: alias}
	if entry.recursing {
		node.WorkTable = true
		sc.sel.selfReference = true
	} else {
		entry.cte.Refs++
	}
	var it *fromItem
	it, node.Cols = b.cteItem(sc, ref, entry, node, alias)
	return it
}

// cteItem makes a FROM item of node, which gives the rows of a WITH query, and new IDs for its
// columns.
func (b *binder) cteItem(sc *scope, ref *ast.TableRef, entry *cteEntry, node logical.Node,
	alias string) (*fromItem, []logical.ColID) {
	t := &fromTable{alias: alias, aliased: true, source: node}
	ids := make([]logical.ColID, len(entry.cols))
	for i, c := range entry.cols {
		col := b.meta.Cols[c.id]
		col.Name, col.Level = c.name, sc.level()
		col.From = b.ref(c.id, 0)
		if entry.cte.Recursive != nil || entry.recursing {
			col.NotNull = false
		}
		ids[i] = b.meta.Add(col)
		t.cols = append(t.cols, visible{name: c.name, id: ids[i],
			unexpanded: entry.recursing && i >= entry.declared})
	}
	b.renameColumns(t, ref.Columns)
	return &fromItem{node: node, tables: []*fromTable{t}, cols: t.cols}, ids
}

// recursionRef binds a reference to a recursive query that refers to an outer query. The query is
// bound anew, with the reference as its only reader.
func (b *binder) recursionRef(sc *scope, ref *ast.TableRef, entry *cteEntry,
	alias string) *fromItem {
	b.recursions++
	own := &cteEntry{name: entry.name, def: entry.def, level: entry.level,
		cte: &logical.CTE{ID: -b.recursions, Name: entry.name}}
	b.recursive(entry.outer, own, entry.def.Statement.(*ast.Select))
	node := &logical.Recursion{CTE: own.cte, Alias: alias}
	var it *fromItem
	it, node.Cols = b.cteItem(sc, ref, own, node, alias)
	return it
}
