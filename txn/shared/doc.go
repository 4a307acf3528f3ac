// Package shared is what a store that several processes write to needs beside the memory of each. A
// store of one process has no [Peers]: nil stands for that, and its methods do nothing then.
//
// It owns the lease of this process's session (lease.go), the safepoint of all (safepoint.go), row
// locks in the store with their queues (row_locks.go, row_queue.go), locks that clients keep over
// their transactions (session_locks.go), what could not be given back of all these (left.go), and
// the search for deadlock cycles through several processes (wait_graph.go, publication.go).
//
// Package lease has the records of sessions, mvcc the cells and steps of row locks, gc the
// safepoint's cell. It knows neither transactions nor the resolver: package txn passes what is
// needed of them (Options, Waiter).
//
// # What replaces the memory of a single process
//
//	one process, in memory            several, in the store
//	row locks (package rowlock)       the same, and a cell in the key's row lock column (txn: I22)
//	advisory locks (package rowlock)  the same, and such a cell, of no transaction (SessionLocks)
//	deadlocks (package rowlock)       cycles of the waits that sessions publish (txn: I17)
//	sessions other than the own       records with leases (txn: I19): an owner is dead when its
//	  are dead                          record is gone, or its lease has expired
//	the oldest running transaction    what the sessions publish of theirs (txn: I20)
//	the safepoint                     read in every snapshot and every step (txn: I20)
//	running transactions, and what    the primary's lock: heartbeats, and its lowest commit_ts
//	  readers pushed them to
//	commits in flight                 always two phases: the locks in the store
//	recent commits, lock holders      the write and lock columns are read
//	snapshots left by others          each transaction takes one
//	the serializable graph            reads are validated at Commit
//	where versions were replaced      a collection reads everything
package shared
