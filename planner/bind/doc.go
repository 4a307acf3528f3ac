// Package bind gives a statement tree its meaning: it resolves names against the catalog and the
// scopes of the query, gives every expression its type with PostgreSQL's rules, writes implicit
// casts out, and builds the logical plan. What is wrong with a statement is found here, with
// PostgreSQL's code, message and position.
//
//	stmt ──▶ from ──▶ select list, WHERE, HAVING, ORDER BY, GROUP BY, DISTINCT, LIMIT ──▶ plan
//	          │        (scope: names in sight, outward to the queries around)
//	          └─ tables, joins, subqueries, functions, WITH, views
//
// Clauses are bound in PostgreSQL's order, so that of two mistakes the same one is reported.
//
// Calls of aggregates, window functions and set-returning functions are taken out of their
// expressions as they are met: the call is noted in the query that it belongs to (for an aggregate,
// the one of its innermost argument) and a column with a new ID stands in its place.
//
// Literals in quotes and NULL have type unknown until their context coerces them; parameters get
// their type from their first use that decides it. Both are leaves of type types.TUnknown
// meanwhile.
//
// Invariants:
//
//  1. No expression of a finished plan has type unknown.
//  2. A column that comes from an outer query gets a new ID where it is projected, so that an ID is
//     made by one node only (package logical, invariant 1).
//  3. A bound expression with a subquery in it is used in one place only.
package bind
