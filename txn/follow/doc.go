// Package follow finds what has changed in a table since a timestamp: exactly the changes that were
// committed in (since, at], where at is the timestamp at which a transaction reads. Incremental
// views are advanced by it.
//
// It uses the notifications that package txn's transactions leave for an observer beside each row
// that they change. Unlike package observer it acknowledges no single rows: its caller keeps one
// timestamp for a whole group of views, the frontier, in the transaction that advances them.
//
//	commits ──keys──▶ Tracker ──┐
//	commits under way ──keys────┤── Look, in the transaction ─▶ Changes ─▶ Clean, after its commit
//	the notify column ──────────┘   that advances
//
// # Invariants
//
//   - follow I1 (nothing is missed): Look considers the key of every notification that is, or will
//     be, stamped at or below at. A commit lists its keys in memory before it draws its timestamp,
//     and passes them to the Tracker before it leaves that list; Look reads the list and then the
//     Tracker, both after at was drawn. Where memory does not hold the keys (a process has just
//     begun, other processes share the store, there were too many), the store is scanned, after
//     that.
//   - follow I2 (at is resolved, key by key): Look reads the row at at before it reads the row's
//     notifications. The read waits for a commit in flight below at, settles the lock of an ended
//     transaction, and pushes the commit of a running one above at. So a notification that has no
//     stamp afterwards is of a commit above at.
//   - follow I3 (nothing newer is taken): a notification stamped above at, or without a stamp, is
//     no part of Changes. Its key stays with the Tracker.
//   - follow I4 (nothing is lost): notifications are removed after the transaction that covers them
//     has committed, and never before, by their stamp: at or below at. A key stays with the Tracker
//     until then.
//
// # What a change is
//
// The value before is that of the key's first notification above since: its transaction found it,
// and no other changed the row between since and it. The value after is what is read at at. If both
// are the same, there is no change. What lies between is not seen: a row that was inserted and
// deleted within (since, at] did not change.
//
// Simple on purpose: all changes are in memory at once. Past a bound Look says so, and the caller
// computes what it wants from the rows as they are.
package follow
