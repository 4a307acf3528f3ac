// Package commit is the coordinator of commits (Percolator §2.2): it brings the writes of a
// transaction into the store, all or none, at one commit_ts.
//
// A [Coordinator] is that of a store. For each commit it gets values: the [Transaction], its
// [Writes] and its [Checks], which are what others must not have changed since it was read. It
// chooses a [Protocol] and keeps to it. A large transaction commits by a [Stream], which takes its
// writes in many calls. The package works with an engine, the steps of the protocol (mvcc), what
// memory knows (hints), the resolver of locks in its way (resolve) and the background that finishes
// what is decided (secondaries). It knows neither buffers nor savepoints nor reads, which are those
// of package txn.
//
// # In the order in which one meets them
//
//   - committer.run chooses the protocol (commit.go, protocol.go); committer.go is its state.
//   - One phase is one update of the engine (one_phase.go).
//   - Two phases lock all keys, a batch of a group at a time (batches.go, prewrite.go), draw
//     commit_ts, and replace the primary's lock by its record (two_phase.go). The primary's lock
//     shows that the owner lives (primary_lock.go).
//   - Async locks all keys, and is committed by that (async.go).
//   - A Stream locks keys while the transaction still runs (stream.go, streamed_keys.go).
//   - What was read is validated (validate.go), row locks of others are waited for (row_locks.go).
//   - A commit of which the result is unknown is asked for until it is known (doubt.go).
//
// # The steps of two phases
//
//	step              what is in the store            a resolver, if the owner dies after it
//	prewrite          locks, the primary's first      rolls the primary back, then the others
//	draw commit_ts    the same                        the same
//	commit point      the primary's record            rolls the others forward
//	secondaries       records                         finds no lock
//
// On a store that several processes share the commit point of a commit that goes into one update
// takes the secondaries along (committer.whole).
//
// # Invariants of package txn that are kept here
//
//   - I2, its half (no commit is missed): a commit enters the table in flight before its commit_ts
//     is drawn, and leaves it when its result is known, durable, and visible. So a reader above
//     commit_ts finds the records or the locks in its snapshot, or the commit in the table
//     (tryOnePhase, prewriteAsync, tryCommitPrimary, doubt.go; docs/adr/0002). In two phases
//     commit_ts is drawn after the last prewrite has succeeded: a snapshot above it has the locks.
//   - I4 (all or none): the primary is a key that is written, the first of all. One atomic update
//     replaces its lock by its record. A failed commit removes that lock first, with a record that
//     stops a late prewrite, and the others after it. When the result of an update is lost, the
//     coordinator runs the step again or asks for the status, a few times. If it learns nothing,
//     the error is ErrAmbiguous: no failure is reported of what may have happened.
//   - I9, its half (locked rows are not stolen): a commit looks at the lock table after it has
//     entered the table in flight (one phase), or under the latch under which it writes its locks
//     (prewrites). A request for a row lock takes the lock and looks for writes then. So at least
//     one of the two sees the other.
//   - I10, its half (serializable): without a graph of package ssi, what was read is validated
//     after commit_ts was drawn and before the commit point (decide). What others write below
//     commit_ts is locked or committed by then, so nothing that was read has changed below it.
//   - I12 (async): once all locks are durable the transaction is committed at the highest of their
//     lowest commit timestamps (async.go).
//   - I13, its half (large transactions): what streams out is prewritten under one primary, which
//     is first (stream.go).
//   - I15 (every step may come twice and late; the protocol is chosen once): the second run of a
//     step finds the lock, the record or the rollback of the first. One phase leaves no lock that
//     two phases would find, so a commit whose one update was lost is never tried in two.
//   - I18, its half: a one-phase commit gives back the row locks of the keys that it writes once
//     the engine shows its batch. Its entry in the table in flight guards the keys from then on
//     (shown).
//
// # Simple on purpose
//
// The primary is the lowest key, whatever its group has to do.
package commit
