package bind

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

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

// aggCall is an aggregate call taken out of its expression.
type aggCall struct {
	logical.AggItem
	pos int
}

// windowCall is a window call taken out of its expression, with the window that it is over.
type windowCall struct {
	logical.WindowItem
	partition []expr.Expr
	order     []opt.SortKey
	pos       int
}

// each calls fn with the place of every expression of the call.
func (w *windowCall) each(fn func(*expr.Expr)) {
	for i := range w.Args {
		fn(&w.Args[i])
	}
	for i := range w.partition {
		fn(&w.partition[i])
	}
	for i := range w.order {
		fn(&w.order[i].Expr)
	}
}

// groupingCall is a call of grouping(), whose value depends on the set that made a row.
type groupingCall struct {
	id   logical.ColID
	args []expr.Expr
	pos  int
}

// classified is a subquery whose class is known.
type classified struct {
	query *ast.Select
	class int
}
