// Package logical holds logical plans: which rows a statement describes, not how to make them. The
// binder builds them, package rule rewrites them into equivalent and better ones, and package
// choose turns them into physical plans.
//
// Every column of a statement has an ID of its own, from the node that makes it (a table in FROM, a
// computed expression, an aggregate) to the last node that reads it. expr.Col.Index is such an ID.
// A node can therefore move up or down the tree, and a subquery can become a join, without an
// expression changing. A query is correlated if it refers to columns that no node within it makes:
// they come from an outer query. FreeCols returns them.
//
// Invariants:
//
//  1. An ID is made by one node of the tree; nodes above only pass it on. (An Aggregate passes on
//     its plain group columns under their own IDs.)
//  2. Columns() is what a node's parent may use. Extra columns are allowed: a node that needs the
//     exact list (a query's result, UNION) has a list of its own.
//  3. Nodes belong to one planning and may be changed in place; expressions are never changed, save
//     for the Plan of a Subquery, which is a *Query until package choose replaces it.
package logical
