// Package estimate estimates the rows of the parts of a statement: the share of rows that a
// condition keeps, the size of a join, the number of groups. Costs (package opt) and the order of
// joins (package rule) depend on it.
//
// It combines the estimates for several columns and conditions. Package table/stats makes those for
// one column, from its statistics. An [Estimator] belongs to one statement and has the statistics
// of its tables. Without statistics it guesses: a table has 1000 rows, an equality keeps 1 in 200.
//
// # Assumptions
//
// Those of Selinger et al. (1979) and PostgreSQL: columns are independent of each other, except
// that a lower and an upper bound of one column make one range; of two columns set equal, the
// values of the one with fewer are all among those of the other; values that are not known at
// planning (parameters, columns of outer queries) are average ones.
//
// An estimate is never 0 rows: a plan chosen for no rows is the worst if there are some.
package estimate
