// Package hints is what the memory of a process knows about its own store, so that reads and
// commits need not look it up there.
//
// On an engine that only this process writes to (kv.Exclusive), nothing happens to the store that
// this process does not do itself. So memory answers what a Store on any other engine reads in the
// store: which commits are in flight ([Pending]), which rows were written recently, which
// transactions may hold locks and where ([LockHolder]), whether they run ([Liveness]), which
// snapshots of the engine are left to be used again ([Snapshot]), where versions were replaced,
// what rows were read recently, and what was made of sections of spans that are read as a whole.
//
// A hint says "perhaps" or "no". It may say "perhaps" where the truth is no; it never says no where
// the truth is yes. On an engine that other processes write to, all of them say "perhaps".
//
// It owns these tables and what may be concluded from them together. It knows neither transactions
// (package txn) nor the coordinator of a commit (package commit), which keep the tables true.
//
// # Invariants
//
//   - I2, its half (no commit is missed): a commit is in the table in flight before its timestamp
//     is drawn, until its result is known and durable (inflight.go; docs/adr/0002).
//   - I14: a snapshot left by another transaction hides no commit (snapshot.go).
//   - I21: a coordinator's own locks are as it wrote them, until another transaction touches them
//     (lock_holders.go).
//   - I23: locks of a decided large transaction are read as its records (unsettled.go).
//   - I24: transactions of this process are judged in memory, by no clock (liveness.go).
//   - I28: a row in memory is given to those transactions only that would read it (row_cache.go).
//   - I31: so are the rows of a section (sections.go).
//
// # Locking order
//
// lockHolders.mu comes before Liveness.mu. All other mutexes are leaves.
package hints
