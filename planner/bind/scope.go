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

// selectState is one SELECT being bound: its level of nesting, the clause at which binding stands,
// and the calls taken out of its expressions.
type selectState struct {
	level  int
	clause clause
	aggs   []aggCall
	sets   []logical.SetItem
	wins   []windowCall
	defs   []ast.Window // WINDOW clause
	// inAggregate is set while the arguments of an aggregate of this query are bound.
	inAggregate bool
	inWindow    bool
	// made are the IDs that stand for the calls above and for group expressions.
	made logical.ColSet
	// groupings are the calls of grouping(), resolved once GROUP BY is known.
	groupings []groupingCall
	// subqueries are those bound so far whose class is known: the text and the class.
	subqueries []classified
	// selfReference is set when FROM reads the working table of a recursive query.
	selfReference bool
	noSets        string // construct inside of which a set-returning call is refused
}

// clause is the part of a query whose expressions are being bound, as messages name it.
type clause string

const (
	clauseFrom       clause = "functions in FROM"
	clauseLateral    clause = "FROM clause of their own query level"
	clauseOn         clause = "JOIN conditions"
	clauseTarget     clause = "" // everything is allowed
	clauseWhere      clause = "WHERE"
	clauseHaving     clause = "HAVING"
	clauseGroupBy    clause = "GROUP BY"
	clauseOrderBy    clause = "ORDER BY"
	clauseDistinctOn clause = "DISTINCT ON"
	clauseLimit      clause = "LIMIT"
	clauseOffset     clause = "OFFSET"
	clauseValues     clause = "VALUES"
	clauseSet        clause = "UPDATE"
	clauseReturning  clause = "RETURNING"
	clauseFilter     clause = "FILTER"
	clauseDefault    clause = "DEFAULT expressions"
	clauseCheck      clause = "check constraints"
	clauseExecute    clause = "EXECUTE parameters"
	clauseAsOf       clause = "AS OF SYSTEM TIME"
	clauseWindow     clause = "window definitions"
)

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
