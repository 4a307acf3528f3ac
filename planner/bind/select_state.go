package bind

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/planner/opt"
)

// selectState is the state of one SELECT being bound: its level of nesting, the current clause, and
// the calls taken out of its expressions.
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
	// made has the IDs that replace these calls, and those of group expressions.
	made logical.ColSet
	// groupings are the calls of grouping(), which are resolved once GROUP BY is bound.
	groupings []groupingCall
	// subqueries are those bound so far, with their class.
	subqueries []classified
	// selfReference is set when FROM reads the working table of a recursive query.
	selfReference bool
	noSets        string // the construct within which set-returning calls are refused
}

// clause is the part of a query whose expressions are being bound, with its name in messages.
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
	clauseMergeWhen  clause = "MERGE WHEN conditions"
	clauseReturning  clause = "RETURNING"
	clauseFilter     clause = "FILTER"
	clauseDefault    clause = "DEFAULT expressions"
	clauseCheck      clause = "check constraints"
	clausePolicy     clause = "policy expressions"
	clauseIndexExpr  clause = "index expressions"
	clauseIndexWhere clause = "index predicates"
	clauseExecute    clause = "EXECUTE parameters"
	clauseAsOf       clause = "AS OF SYSTEM TIME"
	clauseWindow     clause = "window definitions"
)

// aggCall is an aggregate call taken out of its expression.
type aggCall struct {
	logical.AggItem
	pos int
}

// windowCall is a window call taken out of its expression, and its window.
type windowCall struct {
	logical.WindowItem
	partition []expr.Expr
	order     []opt.SortKey
	pos       int
}

// each calls fn with a pointer to every expression of the call.
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

// classified is a subquery and its class.
type classified struct {
	query *ast.Select
	class int
}
