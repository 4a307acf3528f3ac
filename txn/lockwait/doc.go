// Package lockwait makes transactions wait for locks in the store: reads, commits and requests for
// row locks that meet the lock of a transaction which still runs.
//
// [Waits] are those of a store, for the views of locks. A transaction waits as a [Waiter], which
// names it to the other transactions, and paces its attempts by a [Backoff]. After each wait the
// caller tries again, or asks whether the lock is still there (package resolve). Waits for row
// locks of this process are those of the lock table (package rowlock).
//
// # No deadlock lasts (txn: I17)
//
//   - Latches are taken in one order, around check and write (package kv).
//   - Cycles of row locks are found by the lock table before a wait begins (package rowlock).
//   - A cycle through a lock in the store is found by the transaction in it that waits for a row
//     lock: it searches once a second (Waiter.AwaitHolder).
//   - A commit that has locks in the store waits for younger transactions only (package
//     commit).
//   - On a store that several processes share, every waiter searches (package shared).
package lockwait
