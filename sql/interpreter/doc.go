// Package interpreter runs programs of PL/pgSQL (sql/plpgsql).
//
// It owns the values of a program's variables, its control flow, its errors with the context that
// PostgreSQL gives them, and the decision how each query of the program is run. It relies on its
// [Host], the session, for plans, for running them in the transaction of the caller, for savepoints
// and for messages.
//
// # Queries and variables
//
// A variable is a parameter of every query of the program: $n is variable n-1, and the names of
// variables are resolved when a query is planned ([opt.Variables]). So a query is planned once, and
// runs with the present values. An expression that reads no table and writes nothing is a compiled
// program (eval.Program) that is evaluated over the variables, without a statement of its own; all
// others run as statements, with a snapshot of their own in READ COMMITTED.
//
// A variable of type record takes the type of the row assigned to it. A query that uses one is
// planned again when it runs with another type.
//
// # Invariants
//
//   - interpreter I1: an expression is evaluated by a plan that is valid for the present schema and
//     settings: what may change them is a statement, and after each statement plans are validated
//     again before they are used.
//   - interpreter I2: the context is looked at with every few steps, so that a loop that does
//     nothing ends with it.
//   - interpreter I3: an error that an EXCEPTION clause handles has been undone before the handler
//     runs: the writes, locks, settings and cursors since the block's BEGIN. An error of a context
//     that has ended is handled by none.
//   - interpreter I4: what variables hold is counted in the host's account.
package interpreter
