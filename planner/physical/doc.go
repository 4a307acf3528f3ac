// Package physical holds physical plans: how to make the rows. Plans are data: sql/exec turns each
// node into an operator, and planner/explain formats it for EXPLAIN. A plan is immutable once built
// and may be cached and run by several sessions at once.
//
// Every node has a list of output columns. Expressions inside a node refer to columns of its input
// row by ordinal (expr.Col): the child's columns, or for joins the left child's followed by the
// right child's. Semi and anti joins output the left columns only.
package physical
