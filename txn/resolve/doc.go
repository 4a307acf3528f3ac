// Package resolve settles the locks of transactions that have ended, or whose owner is dead
// (Percolator §2.2, end; txn: I5).
//
// A reader, a prewrite or the collector that meets another transaction's lock hands it to the
// [Resolver]. The resolver asks memory (package hints) and then the lock's primary for the status
// of the transaction, and acts on it:
//
//	status                    the lock
//	committed at c            becomes a record at c: rolled forward
//	rolled back               is removed: rolled back
//	undecided, owner dead     the primary is rolled back first, then the lock
//	undecided, owner alive    stays; a reader pushes the owner's commit_ts above its own start_ts
//
// The primary decides, and decides once: each step may be repeated, and two resolvers that meet do
// the same. A transaction that commits by its locks alone has its status in all of them together
// (async_status.go; txn: I12).
//
// The package knows an engine, hints, the oracle's time and whether an owner is dead; it knows no
// transaction of its own. A transaction that has to wait does so in package lockwait.
package resolve
