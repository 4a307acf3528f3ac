// Package incremental works out how a materialized view follows its tables: what a change of its
// tables does to its rows. It has the plans; package sql/advance runs them and writes the rows.
//
// # The algebra
//
// A delta is a change of a relation as a multiset of rows with weights. For a query Q over tables
// that go from their state before (T0) to their state after (T1), D(Q) is the delta of its result:
//
//	D(A)          the delta of a table A, which the caller has in memory
//	D(σ Q)        σ D(Q), and the same for a projection
//	D(Q1 ∪ Q2)    D(Q1) ∪ D(Q2), for UNION ALL
//	D(Q1 ⋈ Q2)    D(Q1) ⋈ Q2(T1)  ∪  Q1(T0) ⋈ D(Q2)
//	D(Q1 ⟕ Q2)    D(Q1) ⟕ Q2(T1)  ∪  Q1(T0) ⋈ D(Q2)  ∪  K ▷ Q2(T1)  −  K ▷ Q2(T0)
//	              where K are the rows of Q1(T0) with the join columns of a row of D(Q2)
//
// Take a join of two tables that each get a row, a and b, which match. Both sides at T1 would count
// the pair (a, b) twice; both at T0, never. With one side before and the other after, D(Q1) ⋈
// Q2(T1) has it, and Q1(T0) ⋈ D(Q2) has not.
//
// The delta of a left join needs no stored counts of matches. A row of Q1 that is there before and
// after gains or loses its padded row only if D(Q2) has a row that it matches: so it is in K, and
// its padded row is in K ▷ Q2(T1) if it has no match after, in K ▷ Q2(T0) if it had none before.
//
// D distributes over the tables of a query, so it is a list of [Term]s, each a plan with one table
// replaced by its delta. A term without a row in its delta is not run, and the optimizer begins the
// others with the delta: a change of one row costs a few look-ups, given indexes on the join
// columns.
//
// # Groups
//
// GROUP BY and DISTINCT (which is GROUP BY all columns without aggregates) do not distribute. Each
// is a [Stage] of its own, evaluated after those below it. It keeps its groups in a state relation:
//
//	key columns | results of the aggregates | state: count of rows, and what each aggregate needs
//
// The delta of the rows below changes the groups, and what changes of key columns and results is
// the delta of the state relation. To what is above, the stage is that relation, with a state
// before and one after: so a join of two aggregates, or an aggregate of an aggregate, needs no rule
// of its own.
//
// Where an aggregate has no exact inverse, the rows of the changed groups are read again: the query
// below joined with the keys of these groups. That is so for sums of floats, for DISTINCT within an
// aggregate, for min and max when the extreme value goes, and for numeric sums when the display
// scale would shrink, as for PostgreSQL's moving aggregates.
//
// # Invariants
//
//  1. A program's plans read, of each relation, the columns that [View.Uses] lists, and no others:
//     only changes of these are in the deltas.
//  2. In a term exactly one table is a delta. Tables to its left are read before, those to its
//     right after.
//  3. Only immutable expressions are evaluated, so that a row that is deleted gives the same values
//     as when it was inserted.
package incremental
