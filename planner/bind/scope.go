package bind

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table"
)

// scope is the names that an expression may use: the FROM entries of its query, and by outer those
// of the queries around it.
type scope struct {
	outer *scope
	// tables are found by a qualifier, cols by a bare name; cols is also the order of *.
	tables []*fromTable
	cols   []visible
	// hidden are FROM entries of the same query that cannot be referenced from here.
	hidden []*fromTable
	with   *withFrame
	sel    *selectState
}

// fromTable is an entry of FROM that has a name.
type fromTable struct {
	ref     ast.TableExpr // where the statement has it; nil for the row of a CHECK and its like
	alias   string
	aliased bool   // alias was written, so that the relation's own name is hidden
	join    bool   // an alias of a join
	schema  string // of an unaliased relation
	desc    *table.Desc
	first   logical.ColID // of a scan of desc
	cols    []visible
	nested  bool         // rows of a query or a join under an alias
	padded  bool         // an outer join may have no row of it
	source  logical.Node // of a subquery, view, WITH query or function: what makes its rows
	// side is the side of a join that is this entry alone, level that of its columns.
	side  *logical.Node
	level int
	// marker is the column that wholeRow has put beside its columns, once marked is set.
	marker logical.ColID
	marked bool
}

// visible is a column under the name by which it is in sight. e is set for a merged column of a
// join USING that is more than one of its sides.
type visible struct {
	name string
	id   logical.ColID
	e    expr.Expr
}

// level is the depth of the scope's query.
func (sc *scope) level() int {
	if sc == nil {
		return -1
	}
	return sc.sel.level
}

// inner makes the scope of a query inside of this one; nil is the outside of all.
func (sc *scope) inner() *scope {
	in := &scope{outer: sc, sel: &selectState{level: sc.level() + 1}}
	if sc != nil {
		in.with = sc.with
	}
	return in
}

// add puts a FROM item's names in sight.
func (sc *scope) add(it *fromItem) {
	if it.hidden != nil {
		sc.hidden = append(sc.hidden[:len(sc.hidden):len(sc.hidden)], it.hidden...)
	}
	if sc.tables == nil && sc.cols == nil {
		// Clipped: the lists are the item's own.
		sc.tables, sc.cols = it.tables[:len(it.tables):len(it.tables)],
			it.cols[:len(it.cols):len(it.cols)]
		return
	}
	sc.tables = append(sc.tables, it.tables...)
	sc.cols = append(sc.cols, it.cols...)
}

// sibling makes an empty scope at the same place: an operand of a set operation has names of its
// own.
func (sc *scope) sibling() *scope {
	s := sc.outer.inner()
	s.with = sc.with
	return s
}

// state finds the query at a level of nesting.
func (sc *scope) state(level int) *selectState {
	for s := sc; s != nil; s = s.outer {
		if s.sel.level == level {
			return s.sel
		}
	}
	return nil
}

// withFrame is one WITH clause; outer is that of a query around.
type withFrame struct {
	outer *withFrame
	ctes  []*cteEntry
	later []string // names that are not in sight yet
}

// cteEntry is a WITH query as names see it.
type cteEntry struct {
	name string
	def  *ast.CTE
	cte  *logical.CTE
	cols []visible // names, and the IDs inside of cte.Query
	// outer is set for a query that refers to columns around it, or to the working table of a
	// recursive one: its rows change, so that every reference binds it anew.
	outer *scope
	// recursing is set while the second term of a recursive query is bound
	recursing bool
	level     int
}

// fromItem is a bound entry of FROM, or a join of such: its rows and the names that it brings.
type fromItem struct {
	node   logical.Node
	tables []*fromTable
	cols   []visible
	hidden []*fromTable // those that an alias of a join hides
}

func (b *binder) visibleRef(v *visible, pos ast.Pos) expr.Expr {
	if v.e != nil {
		return v.e
	}
	return b.ref(v.id, pos)
}
