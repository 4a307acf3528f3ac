// Package sqlhistory lets sessions of the embedded handle run SQL transactions that pause, die and
// come back, records what each of them saw, and checks the whole afterwards. It is tests/history
// some layers up: what lies above the transaction layer (row locks, rechecks, repeated statements,
// savepoints, unique and other indexes, the handle) is under test with it.
//
// It owns the statements (statement.go), the workloads (workload.go, indexed.go, policed.go,
// family.go, booking.go), a session (session.go), a run (run.go), the truth as the store has it
// (truth.go) and what is checked beside history.Check (check.go). The records, the scheduler and
// the verdicts are those of tests/history.
//
// # A run
//
// A few sessions share one database on the crashable file system. One of them moves at a time, as
// far as no session waits for a row lock; now and then several move at once. The dice choose which,
// and so one seed gives nearly one history; what several do at once may differ.
//
// A session pauses with its transaction open while others move on. It dies: it is closed in the
// middle of a transaction, its statement is cancelled while it waits, the power fails at some
// write, or the disk begins to fail; then the database is opened on what is left, and sessions come
// back.
//
// The level is one for the run, or that of each session. Transactions are blocks, with savepoints,
// or single statements, with row locks or (minidb.write_locks) without; some read the past.
//
// # What is written down
//
// Each row names the statement that wrote it. Each query asks for minidb_snapshot_timestamp(), each
// transaction for its name in the store, txid_current(), and after its commit for
// minidb_last_commit_timestamp(). The oracle is asked before and after each statement.
//
// # What is checked
//
// The truth is what the tables hold AS OF each commit timestamp that the store has a record of.
// Then:
//
//   - history.Check: every read at its timestamp, its transaction's own writes included; no commit
//     lost, torn, duplicated or risen; nothing read that began after an acknowledged commit misses
//     it; serializable transactions have a serial order. A result that the client did not receive
//     (a session died in its COMMIT, or got 40003) is resolved from the records.
//   - Every written row is what its statement makes of the version before its commit. For a
//     statement that reads what it writes this says, at each level, that no update is lost and none
//     happens twice.
//   - A row that is locked is the newest one. What a statement of READ COMMITTED did not find, or
//     found in the way (23505, ON CONFLICT), was so at some moment while it ran; at the other
//     levels at its snapshot, or later where it waited.
//   - A range read through an index is what the table had there: btrees over columns, expressions
//     and some rows only, over enums, composite types and ranges, and GIN indexes over arrays,
//     jsonb and texts. EXPLAIN shows that these reads go through the indexes.
//   - A session to which policies apply reads, locks, changes and leaves only rows that they let
//     it, by the row as it is when it is written. A row that is written through a view WITH CHECK
//     OPTION stays in it, and a value of a domain satisfies its constraints.
//   - At each commit: the bank's total is what it was, unique keys are unique, each index has the
//     rows of its table, each child the parent that its foreign key names, and no two rows exclude
//     each other by a deferrable key or an EXCLUDE constraint; at some of them and in
//     the end catalog.Check.
//   - No statement sees a child without its parent, unless its own transaction may leave it so
//     until its end.
//   - A block that locks what it writes does not fail with a conflict at COMMIT, save for
//     serializability and for checks of foreign keys, which may be deferred until then.
//   - No error comes without a reason.
//
// READ COMMITTED's own anomalies (two reads that differ, a skew, a row that comes and goes) break
// none of these.
package sqlhistory
