// Package ssi keeps serializable transactions serializable: PostgreSQL's serializable snapshot
// isolation (Cahill, Röhm and Fekete, SIGMOD 2008; Ports and Grittner, VLDB 2012;
// src/backend/storage/lmgr/predicate.c), in memory.
//
// It owns what running and recently committed serializable transactions have read and written, and
// the read-write dependencies between them. It knows no engine, does no I/O and never blocks but
// for its one mutex. Snapshots, conflicts of two writers and the commit itself belong to package
// txn, which reports each read, write and commit here, and fails a transaction when it gets an
// error.
//
// # The rule
//
// Under snapshot isolation a history is serializable unless it has
//
//	        rw             rw
//	T-in ──────▶ T-pivot ──────▶ T-out
//
// where each edge leads from a transaction that read a key to a concurrent one that wrote its next
// version, and T-out commits first of all. T-in may be T-out. If T-in writes nothing, T-out must
// also have committed before T-in's snapshot.
//
// So a [Graph] keeps those edges. It fails one of the three when the second edge of such a pair
// appears while T-out has committed or is about to, or when T-out is about to commit. It prefers
// the pivot: T-in and T-out go on then, and the pivot can succeed when it runs again.
//
// # The order in which one meets it
//
//	n := g.Begin(…)          before start_ts is drawn
//	n.Started(start_ts)      after it
//	n.Read(span)             what was read, at the latest before the next call of the client
//	n.Write(key)             when a write is buffered
//	n.Prepare()              before the commit; after it the transaction is not failed any more
//	n.Committed(commit_ts)   once the commit is durable; or n.Aborted()
//
// # Invariants
//
//   - I1 (one sees the other): a read and a write of one key by concurrent transactions make an
//     edge, whichever comes first: both are noted and looked for under one mutex.
//   - I2 (sequence and timestamps): every beginning, preparation and commit has a number in one
//     sequence. start_ts is drawn between the numbers of Begin and Started, commit_ts between those
//     of Prepare and Committed. Where only the timestamps show which came first, and one of them is
//     not known yet, a transaction is rather refused.
//   - I3 (memory of the committed): a committed transaction stays until no running one began before
//     its commit. Past a bound the oldest are folded into one (summary.go): more may be refused,
//     never less.
//   - I4 (safe snapshots): a transaction declared READ ONLY whose concurrent writers have all
//     ended, none of them with an edge to one that committed before its snapshot, has a safe
//     snapshot: its reads need not be noted any more, and it cannot fail (safe.go).
//   - I5 (the next version): a writer of a key gets no edge from a reader whose version is known to
//     have been replaced by a third transaction, after the reader's snapshot and before the
//     writer's. That one has the edge from the reader, and it comes before the writer in any serial
//     order, because the writer's snapshot shows its commit. So every cycle through the edge that
//     is left out goes through the third transaction too.
//
// # Simple on purpose
//
// Reads are remembered as spans of keys, as fine as they were read. Each check goes over the
// concurrent transactions and searches the spans of each. With many hundreds of concurrent writers
// an index over all of them would replace that.
package ssi
