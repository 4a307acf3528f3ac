// Package choose turns a logical plan into a physical one: which index reads a table, which way a
// join is computed, where rows must be sorted.
//
// It goes down the tree once. A parent says what it would like (an order, that it will stop after
// some rows); a node builds itself, says which columns it has at which place and whether the order
// is there, and the parent adds a Sort where it is not. Alternatives are compared by cost, for
// which opt/cost.go has the model.
//
// Without statistics a table counts 1000 rows. What follows from that, and is meant to: a unique
// lookup beats everything, any index that narrows a range beats reading the table, a hash join
// beats looking up row by row unless the outer side is provably small.
//
// A range over an index holds every row for which the condition is true. A value of another type
// than the key column's becomes a bound of that type (builtin.KeyBound): id < 2.5 is id <= 2, and
// $1 is converted when the statement runs. Where the range may hold more, the condition stays a
// filter too.
//
// Columns of outer queries become variables here: a correlated subquery has as Args the outer
// columns that it reads, and a slot for each.
//
// Invariants:
//
//  1. A condition that an access path does not cover entirely stays a filter.
//  2. Expressions of a finished plan refer to ordinals of their node's input (package physical).
package choose
