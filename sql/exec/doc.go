// Package exec runs physical plans: it turns each node into an operator and pulls batches of typed
// columns through the tree.
//
// An operator has three methods. Open makes it ready to give its rows from the start, and may be
// called again after any number of Nexts: the inner side of an Apply and a correlated subquery are
// rerun that way, with their memory and compiled expressions kept. Next returns a batch, or nil at
// the end. Close gives up iterators and memory; a closed operator may be opened again.
//
//	Cursor
//	└─ Sort            keeps rows by column, sorts a permutation
//	   └─ Aggregate    key table → group numbers → typed kernels of package builtin
//	      └─ HashJoin  key table over the right side; pairs of row numbers; gather
//	         ├─ Scan   table.Scanner → vectors; filter → selection
//	         └─ Scan
//
// Rows travel in types.Batch: vectors of up to types.BatchSize entries and a selection of those
// that count. Nothing is boxed per value: loops switch on the storage class of a column
// (types.Storage) outside of the loop. The exceptions are the edges where single rows are the
// subject: rows to be written, arguments of subqueries, lookup keys, and volatile functions where
// not all rows may be asked for (stepwise.go).
//
// # Joins
//
// All joins produce candidates, which are pairs of row numbers (left row of the current batch,
// right row in memory), and hand them to a joinMatcher, which tests the rest of the condition on
// just the columns that it reads, does what the kind of join asks, and gathers the output columns.
// Left rows keep their order in every join, so a plan may rely on the order of a join's left side.
//
// # Writes
//
// A statement must not see what it writes itself. An open iterator of a transaction does not, but
// one opened later does, and so does a point read. Therefore INSERT, UPDATE and DELETE read their
// whole input before they write, except where the input is a single section of one table read by
// one iterator, or does not read the table. Statements that go on reading after their first write,
// with WITH queries that modify or with subqueries in RETURNING or ON CONFLICT, freeze what the
// transaction's reads see of its own writes, and write as they go. Of several changes of a row by
// such a statement only the first counts.
//
// # Memory
//
// Operators that keep rows (sort, join, aggregate, distinct, WITH) count them against the
// statement's budget. One that holds more than its share writes rows to disk (spilling.go); what
// cannot be written ends the statement with 53200 at its bound.
//
// # Invariants
//
//  1. A batch belongs to the operator that returned it and is valid until its next Next, Open or
//     Close. No operator changes the batch of another: a filter returns a batch header of its own
//     over the same vectors.
//  2. Every Next looks at its context at least once per batch.
//  3. A plan is never written to; everything that changes lives in the operators of one Cursor.
//  4. The plans of subqueries and of WITH queries are built when they first run. What they keep is
//     forgotten when a variable changes that they read and do not set (free_slots.go).
package exec
