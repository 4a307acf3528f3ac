// Package txn is the transaction layer: Percolator's snapshot isolation (Peng and Dabek, OSDI 2010,
// §2) over any kv.Engine. A transaction reads at its start_ts, buffers its writes, and commits them
// all or none, visible from its commit_ts on.
//
// It owns transactions, the coordinator of a commit, the resolution of locks that other
// transactions left, the safepoint and the background work. It relies on an engine's atomic updates
// of rows (package kv), on mvcc for the columns and the steps of the protocol, and on tso for
// timestamps. It speaks no SQL and returns few errors, all typed.
//
// # In the order in which one meets them
//
//   - [Store] (store.go) is opened on an engine (open.go) and begins transactions (begin.go).
//   - [Txn] (txn.go) reads (read.go, read_snapshot.go), writes into its buffer (write.go, package
//     buffer), returns to savepoints (rollback_to.go), commits (commit.go) and ends (end.go).
//   - [Iterator] merges a committed span with the transaction's own writes.
//   - The coordinator (package commit) chooses a [Protocol]: one phase, two, or locks that commit
//     by themselves. Locks that are left become records in the background (package secondaries).
//   - Keys of a companion store, which ends with the process, are read and written in a transaction
//     of that store, which ends as the transaction does (companion.go).
//   - A transaction that outgrows its buffer streams it out (stream.go, stream_read.go).
//   - A new span is filled with sorted files (load.go, load_list.go, package bulk).
//   - A state of the past is held for a reader that outlives a process (hold.go), and all that is
//     committed up to it made records (settle_at.go): for package clone, which copies a store.
//   - Package resolve rolls locks of ended transactions forward or back.
//   - Row locks are in memory (row_locks.go, package rowlock); serializable transactions are
//     checked by package ssi (serial.go). No deadlock lasts (package lockwait).
//   - The registry (registry.go) lists running transactions, which hold the safepoint (package gc).
//   - What the memory of a process says of its own store, so that it need not be read there, is
//     package hints: commits in flight, lock holders, snapshots of the engine and more.
//   - What several processes on one store need besides is package shared, with package lease. On an
//     engine of this process's own, which is that of a directory, there is none of it (owner.go).
//
// # A transfer in two phases
//
// Bob has 10, Joe 2; move 7. start_ts is 7, commit_ts 8 (testdata/steps/bob_and_joe is this run):
//
//	               Bob: data  lock            write      Joe: data  lock           write
//	begin (7)           10                    6: data@5       2                    6: data@5
//	prewrite          7: 3    7: I am primary               7: 9    7: primary@Bob
//	draw commit_ts 8
//	commit point      7: 3                    8: data@7     7: 9    7: primary@Bob
//	secondaries       7: 3                    8: data@7     7: 9                   8: data@7
//
// Before the commit point everything rolls back, after it everything rolls forward; the primary
// decides which. In one phase a single update writes the last line at once. One phase costs one
// sync, which concurrent commits share. Two phases cost one as well: prewrites, secondaries and
// clean-up are lazy, and the commit point is later in the same log.
//
// # Invariants
//
//   - I1 (one order): all timestamps come from one oracle; no two are equal, and a later one is
//     higher.
//   - I2 (no commit is missed): a reader whose start_ts is above a commit_ts sees that commit or
//     waits for it (packages hints and commit; docs/adr/0002).
//   - I3 (one winner): a prewrite refuses a newer write, any lock, and its own rollback record;
//     commit and clean-up meet on the primary's row in one atomic update (package mvcc).
//   - I4 (all or none): the primary decides for all keys; an unknown result is ErrAmbiguous, never
//     a guess (package commit).
//   - I5 (liveness): no transaction waits for one whose owner is dead, or whose primary's time to
//     live is over by the oracle's time. A reader does not wait for a writer that runs: it pushes
//     the writer's commit_ts above itself (package resolve).
//   - I6 (the safepoint): below it only the newest version of a key is kept and reads are refused;
//     no running transaction is below it (registry.go, package gc).
//   - I9 (locked rows are not stolen): no commit writes a key on which another owner has a row lock
//     that excludes the write (row_locks.go, package commit).
//   - I10 (serializable): serializable transactions that committed have a serial order (serial.go).
//   - I13 (large transactions): what outgrew the buffer is in the store as locks under one primary,
//     read back from there, and visible or gone as a whole (stream.go, package commit).
//   - I19 (leases): every lock names its owner's session. A session is ended before its end is
//     acted upon, and its owner learns of that before it writes again (package shared).
//
// Smaller ones, each explained where it is kept:
//
//	I7  cheap reads: where no lock can exist the lock column is not read    mvcc/get.go
//	I8  every protocol, group and batch size gives the same answers         tests/history
//	I11 a write is checked against the timestamp at which it was read       read_timestamp.go
//	I12 async: committed when all locks are down, at their highest          package commit
//	I14 a snapshot left by another transaction hides no commit              package hints
//	I15 every step may come twice and late; the protocol is chosen once     package commit
//	I16 readers and inserts ignore records of kinds rollback and lock       mvcc/doc.go
//	I17 no deadlock lasts                                                   package lockwait
//	I18 no client learns what rests on a commit that is not durable         early.go
//	I20 a shared safepoint is in the store before anything is dropped       package shared
//	I21 a coordinator's own locks are as it wrote them, until touched       package hints
//	I22 on a shared store, row locks are in the store too                   package shared
//	I23 locks of a decided large transaction are read as its records        package hints
//	I24 transactions of this process are judged in memory, by no clock      package hints
//	I25 a dropped span stays until no transaction can read it               drop_span.go
//	I26 a savepoint costs no memory for what is written after it            package buffer
//	I27 the companion's writes are committed if the store's are, else not   companion.go
//	I28 a row in memory is the one that the transaction would read          package hints
//	I29 a loaded key is seen wherever what leads to it is seen              load.go
//	I30 several readers of a span read what the transaction would           parallel.go
//	I31 rows kept of a section are those that the transaction would read    sections.go
//	I32 a read that loses its snapshot goes on in another and shows the same iterator.go
//	I33 a hold keeps the state at a timestamp, notifications too            hold.go
//
// # Locking order
//
// Store.gate (read) → Store.pass → shared.session.turn → registry.safe → one registry shard → the
// oracle's mutex; package hints has its own order. All others are leaves. Under an engine's
// latches, which are taken inside kv.Engine.Update only, a step never calls the engine: when the
// oracle's range is used up it gives up, the range is extended, and the step runs again.
//
// The goroutines of a Store are listed in docs/ARCHITECTURE.md. Close ends every wait for another
// transaction, waits for commits under way, and stops the goroutines at the end of their steps.
//
// # Simple on purpose
//
// A reader compares commits in flight key by key; with hundreds of writers an index would replace
// that.
package txn
