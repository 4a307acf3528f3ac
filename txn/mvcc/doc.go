// Package mvcc keeps many versions of a key in an engine's rows, in Percolator's columns (OSDI
// 2010, §2.1, figures 4 and 5), and holds each step of the protocol as a function over a reader and
// a batch.
//
// It owns the encoding of keys, locks and write records, the steps, and reading at a timestamp. It
// keeps no state and starts nothing: packages txn, commit and resolve decide when a step runs, on
// which transaction, and what its error means. Steps run inside kv.Engine.Update on the rows that
// they are given, so each is atomic, and an engine that is shared by several processes needs
// nothing more.
//
// # Columns
//
//	family  key                     value
//	d       row, ^start_ts          the value, when it is longer than ShortValueMax
//	l       row                     Lock: kind, start_ts, primary, time to live, short value
//	m       name                    the store's own cells: the oracle's mark, the safepoint,
//	                                the sessions that own locks
//	n       row, observer, start_ts Notification: an observer has perhaps not seen the row
//	r       row, rank, start_ts     RowHolder: a transaction that has a row lock, on a shared
//	                                store; or, with its place before start_ts, one that queues for
//	                                a row lock (row_lock_cell.go)
//	w       row, ^commit_ts         Write: kind, start_ts, short value
//
// A row is the user's key with 00 escaped as 00 FF and ended by 00 01 (see AppendRow), so rows sort
// as keys do and no row is a prefix of another. Timestamps are eight bytes, inverted, big endian:
// the newest version comes first. Key "Bob" at commit_ts 8:
//
//	77 42 6f 62 00 01 ff ff ff ff ff ff ff f7      w  B o b  end  ^8
//
// The families sort apart. A scan of the write column never steps over locks or long values, locks
// are few and lie together, and their coming and going leaves no tombstones among the versions.
//
// # Steps
//
//	Prewrite       lock the keys and store the data, or refuse           prewrite.go
//	Commit         lock → write record; on the primary, the commit point commit.go
//	Rollback       erase a lock, leave a rollback record                 rollback.go
//	CheckStatus    what became of a transaction; decide if its owner
//	               is dead; push a living one above a reader             status.go
//	Heartbeat      extend the primary's time to live                     status.go
//	Resolve        roll another transaction's locks forward or back     resolve.go
//	PrewriteAsync, CheckLocks      locks that commit by themselves, and the
//	               status that a resolver finds in them                  async.go
//	LockRow, UnlockRows            row locks in the store                row_lock.go
//	ConvertRowLocks                before a prewrite, which replaces them  row_lock.go
//	CheckOnePhase, WriteOnePhase   prewrite's checks, then the records   one_phase.go
//	Acknowledge    remove the notifications that an observer has seen     notify.go
//	Collect        drop versions below the safepoint                     collect.go
//	View.Get, View.Scan            read at a timestamp                   get.go, scan.go
//
// Every step may be repeated: the second run finds what the first one left and changes nothing.
//
// # Records
//
// A write record of kind put or delete makes a version visible at its commit_ts. One of kind lock
// says that the key was locked and not changed: readers look through it, conflict checks see it.
// One of kind rollback lies at the start_ts of a transaction that is rolled back, where no
// commit_ts can be, for timestamps are unique; it stops a late prewrite. A rollback of a primary is
// protected; of the others only the newest in a row of them is kept (rollback.go says why that is
// enough).
//
// # Invariants
//
//   - mvcc I1: a key has at most one lock.
//   - mvcc I2: for each start_ts a row has at most one write record, and never a record and a lock.
//   - mvcc I3: a put of more than ShortValueMax bytes has its data at start_ts, from prewrite until
//     rollback or collection; no other put has any.
//   - mvcc I4: the newest record of kind put or delete at or below a timestamp is what a reader at
//     that timestamp sees, provided that the row has no lock that blocks it.
//   - mvcc I5: the row locks of a row do not exclude each other, and a transaction has at most one,
//     but for what it failed to give back.
//   - mvcc I6: a notification without a stamp lies beside the lock of its transaction; one with a
//     stamp has the commit_ts of its transaction.
//
// # For tools
//
// Decode turns a raw pair into a Cell; Cells, Locks, RowLocks and Keys walk a store. Package
// mvcctest, for tests, checks a store and lays a key's cells side by side as the paper does.
//
// Simple on purpose: a lock is found by a look-up of its own; an engine with row caches could fetch
// lock and newest version together.
package mvcc
