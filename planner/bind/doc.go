// Package bind resolves the names in a statement tree against the catalog and the scopes of the
// query, finds the type of every expression by PostgreSQL's rules, makes implicit casts explicit,
// and builds the logical plan. It reports the errors in a statement with PostgreSQL's code, message
// and position.
//
//	stmt ──▶ from ──▶ select list, WHERE, HAVING, ORDER BY, GROUP BY, DISTINCT, LIMIT ──▶ plan
//	          │        (scope: names in sight, outward to the queries around)
//	          └─ tables, joins, subqueries, functions, WITH, views
//
// Clauses are bound in PostgreSQL's order, so that of several errors the same one is reported.
//
// Calls of aggregates, window functions and set-returning functions are taken out of their
// expressions: the call is added to the query that it belongs to (for an aggregate, that of its
// innermost argument), and a column with a new ID replaces it.
//
// Quoted literals and NULL have type unknown until their context coerces them. A parameter gets its
// type from its first use that determines it. Until then both have type types.TUnknown.
//
// Invariants:
//
//  1. No expression of a finished plan has type unknown.
//  2. A column that comes from an outer query gets a new ID where it is projected, so that an ID is
//     made by one node only (package logical, invariant 1).
//  3. A bound expression with a subquery in it is used in one place only.
//  4. The first error ends the binding as a panic (package failure), which every exported function
//     catches. A binder that has failed is not used again, so nothing is restored on the way out.
package bind
