// Package observer runs functions when rows change: the second half of Percolator (Peng and Dabek,
// OSDI 2010, §2.4).
//
// A transaction that writes an observed row leaves a notification beside it (txn.Txn.Notify). A
// [Pool] of workers finds notifications, woken by the commits of its own process, and for what a
// crash or a time without workers has left by a scan of the notify column, which is sparse. For
// each row with a change it begins a transaction with snapshot isolation, asks [Target.Look] what
// is pending, calls the observer's function, and commits what that wrote together with an
// acknowledgement.
//
// Another transaction may be a run too, of as many rows as it likes: [Target.Take] takes the row
// lock of the acknowledgement, by which others pass over the row, and [Target.CleanTaken] follows
// the commit. minidb_take is made of it.
//
// It owns the acknowledgements, the dead letters, the queue of a process, and the backfill of an
// observer that is to see the rows that were there before it. What a function is, and how it reads
// and writes, is for its caller. It knows rows as keys and values.
//
// # Invariants
//
//   - observer I1 (pending): a change is pending if its stamp is above the acknowledgement of its
//     row. The row's newest commit_ts says nothing, for one value holds all columns.
//   - observer I2 (at most once): the acknowledgement is the snapshot timestamp of the run, and is
//     written in the run's own transaction. Two runs of a row write the same key, so one of them
//     commits. Each change lies in (previous acknowledgement, snapshot] of exactly one committed
//     run.
//   - observer I3 (at least once): a notification is removed after the run that covers it has
//     committed, and never before. It has a stamp at or below the run's snapshot timestamp.
//   - observer I4 (no guess beside a lock): a notification without a stamp is waited for. Its
//     transaction may commit above a snapshot that does not show its write.
//   - observer I5 (rows that are gone): the acknowledgement of a row that is gone is removed after
//     its notifications. Until then a mark leads to it.
//   - observer I6 (table-level changes): what is known of a row under a key in an old place is
//     taken to its new key by one transaction, once: acknowledgement, and what is pending as an
//     image that the run deletes in its own transaction. That transaction writes the
//     acknowledgement under the old key, so no run under that key commits beside it; and no run
//     looks at the new key before. The old place is not deleted until all of its rows are carried.
//
// # Table-level changes
//
// TRUNCATE and rewrites of a table give its rows another place, and read and delete none of the old
// ones. For an observer such a transaction writes three keys: the change, with both places, where
// the walk through the old place has come to, and a hold on the dropped span (txn.HoldDropped). The
// first of them has a notification, so that the change is found, waited for and counted as those of
// rows are. A worker then takes the walk step by step ([Target.Carry]). For each row that the
// observer knows of it writes an image under the row's new key: the row as it was, and announces
// that key. A run on it sees the image as the oldest change, and the row in the new place, if there
// is one, as it is. Where keys have changed, a key of the observer's own stands for a row that is
// gone, and a backfill announces the rows of the new place as new. Old images stay encoded as they
// were; the change keeps what is needed to read them, until nothing refers to it.
//
// Changes are walked in their order, each to the next place. Nothing is written in an old place
// after the change, but a transaction that validated before may be about to commit there: a
// notification without a stamp, or above the step's snapshot, is waited for.
//
// # Keys of an observer's state, after its prefix
//
//	01 row key   acknowledgement: snapshot timestamp of the last run, 8 bytes
//	02 row key   dead letter: the run that was given up, and why
//	03           backfill: the row key from which on rows are to be announced, empty when all are
//	04 row key   the row is gone, and its acknowledgement is to be removed
//	05 number    table-level change: both places, and how to read rows of the old one
//	06 number    the row key of the old place from which on rows are to be carried
//	07 row key   stands for a row that is gone with its place: it has no value
//	08 row key   image of a row from before a table-level change that no run has seen
//
// # Processes that share a store
//
// A run has the row lock of its acknowledgement in the store, with the lease of its process
// ([Target.Claim]), and so has a step of [Target.Carry] that of the walk. Locks keep processes from
// work in vain; that each change is in one run rests on I2. What other processes have committed,
// and what the dead have left, is found by patrols (patrol.go). The locks of the dead end with
// their leases.
//
// Simple on purpose: a row is taken by one worker of a process at a time, and the steps of a
// backfill are taken by the process that commits first.
package observer
