// Package estimate says how many rows the parts of a statement will have: the share of rows that a
// condition keeps, the size of a join, the number of groups. Costs rest on it (package opt), and
// the order of joins (package rule).
//
// It owns how the estimates of several columns and conditions combine; what follows from one
// column's statistics is table/stats'. An [Estimator] belongs to one statement, and knows the
// tables that it reads. Where nothing is known it guesses: a table counts 1000 rows, an equality
// keeps 1 in 200.
//
// # Assumptions
//
// Those of Selinger et al. (1979) and PostgreSQL: columns are independent of each other, except
// that a lower and an upper bound of one column make one range; of two columns set equal, the
// values of the one with fewer are all among those of the other; values that are not known at
// planning (parameters, columns of outer queries) are average ones.
//
// An estimate is never 0 rows: a plan chosen for nothing is the worst where there is something.
package estimate
