package bind

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// scope has the names that an expression may use: the FROM entries of its query, and through outer
// those of the enclosing queries.
type scope struct {
	outer *scope
	// tables are searched by qualifier, cols by bare name. cols is also the order of *.
	tables []*fromTable
	cols   []visible
	// hidden are FROM entries of the same query that cannot be referenced from here.
	hidden []*fromTable
	with   *withFrame
	sel    *selectState
}

// fromTable is a named entry of FROM.
type fromTable struct {
	ref     ast.TableExpr // nil for the row of a CHECK and the like
	alias   string
	aliased bool   // the alias was written, so that the relation's own name is hidden
	join    bool   // the alias of a join
	schema  string // of an unaliased relation
	desc    *table.Desc
	first   logical.ColID // of a scan of desc
	cols    []visible
	nested  bool         // rows of a query or a join under an alias
	padded  bool         // an outer join may pad its rows with NULLs
	source  logical.Node // makes the rows of a subquery, view, WITH query or function
	// side is the side of a join that consists of this entry alone; level is the level of its
	// columns.
	side  *logical.Node
	level int
	// marker is the column that wholeRow added to the entry's columns, if marked is set.
	marker logical.ColID
	marked bool
	right  *opt.Need // what the statement does with desc; nil: nothing is noted
}

// visible is a column and its name in scope. e is set for a merged column of JOIN USING that
// combines both sides.
type visible struct {
	name string
	id   logical.ColID
	e    expr.Expr
	// join is that of such a column, which is the one at position in its USING.
	join     *ast.Join
	position int
	// unexpanded is set for a column that * leaves out.
	unexpanded bool
	// right, if not nil, notes that column of the relation is read.
	right  *opt.Need
	column table.ColumnID
}

// level returns the nesting level of the scope's query.
func (sc *scope) level() int {
	if sc == nil {
		return -1
	}
	return sc.sel.level
}

// inner returns a scope for a query within this one; the outer scope of a statement is nil.
func (sc *scope) inner() *scope {
	in := &scope{outer: sc, sel: &selectState{level: sc.level() + 1}}
	if sc != nil {
		in.with = sc.with
	}
	return in
}

// add adds a FROM item's names to the scope.
func (sc *scope) add(it *fromItem) {
	if it.hidden != nil {
		sc.hidden = append(sc.hidden[:len(sc.hidden):len(sc.hidden)], it.hidden...)
	}
	if sc.tables == nil && sc.cols == nil {
		// Clipped, because the lists belong to the item.
		sc.tables, sc.cols = it.tables[:len(it.tables):len(it.tables)],
			it.cols[:len(it.cols):len(it.cols)]
		return
	}
	sc.tables = append(sc.tables, it.tables...)
	sc.cols = append(sc.cols, it.cols...)
}

// sibling returns an empty scope at the same level: each operand of a set operation has its own
// names.
func (sc *scope) sibling() *scope {
	s := sc.outer.inner()
	s.with = sc.with
	return s
}

// state returns the query at a level of nesting.
func (sc *scope) state(level int) *selectState {
	for s := sc; s != nil; s = s.outer {
		if s.sel.level == level {
			return s.sel
		}
	}
	return nil
}

// withFrame is one WITH clause; outer is that of an enclosing query.
type withFrame struct {
	outer *withFrame
	ctes  []*cteEntry
	later []string // names of later queries, which are not in scope yet
}

// cteEntry is a WITH query in scope.
type cteEntry struct {
	name string
	def  *ast.CTE
	cte  *logical.CTE
	cols []visible // names, and the IDs within cte.Query
	// outer is set for a query that refers to columns of enclosing queries, or to the working table
	// of a recursive one: its rows change, so every reference binds it anew.
	outer *scope
	// recursing is set while the second term of a recursive query is bound.
	recursing bool
	// declared is the number of columns of a recursive query without those of SEARCH and CYCLE.
	declared int
	level    int
}

// fromItem is a bound entry of FROM, or a join of entries: its rows and names.
type fromItem struct {
	node   logical.Node
	tables []*fromTable
	cols   []visible
	hidden []*fromTable // the entries that the alias of a join hides
}

func (b *binder) visibleRef(v *visible, pos ast.Pos) expr.Expr {
	if v.right != nil {
		v.right.Select(v.column)
	}
	if v.e != nil {
		return v.e
	}
	return b.ref(v.id, pos)
}
