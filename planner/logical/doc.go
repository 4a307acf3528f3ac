// Package logical holds logical plans: which rows a statement means, not yet how to make them. The
// binder builds them, package rule rewrites them into equal and better ones, package choose turns
// them into physical plans.
//
// Every column of a statement has an ID of its own, from the place that makes it (a table in FROM,
// a computed expression, an aggregate) to the last place that reads it. expr.Col.Index is such an
// ID. A node can therefore move up or down the tree, and a subquery can become a join, without an
// expression changing. A query that refers to a column which nothing inside of it makes is
// correlated: the column comes from an outer query. FreeCols tells which those are.
//
// Invariants:
//
//  1. An ID is made by one node of the tree; nodes above only pass it on. (An Aggregate passes on
//     its plain group columns under their own IDs.)
//  2. Columns() is what a node's parent may use. Extra columns are allowed: who cares for the exact
//     list (a query's result, UNION) names it.
//  3. Nodes belong to one planning and may be changed in place; expressions are never changed, save
//     for the Plan of a Subquery, which is a *Query until package choose replaces it.
package logical
