// Package choose turns a logical plan into a physical one: which index reads a table, which way a
// join is computed, where rows must be sorted.
//
// It descends the tree once. A parent passes down the properties that it requires: an order, or the
// number of rows after which it stops reading. The child returns its plan, the places of its
// columns, and whether the rows have the required order; if they do not, the parent adds a Sort.
// Alternatives are compared by cost, for which opt/cost.go has the model.
//
// Without statistics a table is assumed to have 1000 rows. As intended, a unique look-up then beats
// everything, any index that restricts a range beats reading the whole table, and a hash join beats
// look-ups row by row unless the outer side is provably small.
//
// A range over an index holds every row for which the condition is true. A value of another type
// than the key column's becomes a bound of that type (builtin.KeyBound): id < 2.5 is id <= 2, and
// $1 is converted when the statement runs. Where the range may hold more rows, the condition also
// stays as a filter.
//
// Columns of outer queries become variables: the Args of a correlated subquery are the outer
// columns that it reads, each with a slot.
//
// Invariants:
//
//  1. A condition that an access path does not cover entirely stays a filter.
//  2. Expressions of a finished plan refer to ordinals of their node's input (package physical).
package choose
