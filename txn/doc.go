// Package txn is the transaction layer: Percolator's snapshot isolation (Peng and Dabek, OSDI 2010,
// §2) over any kv.Engine. A transaction reads at its start_ts, buffers its writes, and commits them
// all or none, visible from its commit_ts on.
//
// It owns transactions, the coordinator of a commit, the settling of strangers' locks, the safepoint
// and the background work. It relies on an engine's atomic updates of rows (package kv), on mvcc for
// the columns and the steps of the protocol, and on tso for timestamps. What keys and values mean is
// for the floors above; they find here no SQL, and few errors, all typed.
//
// # In the order in which one meets them
//
//   - [Store] is opened on an engine and begins transactions.
//   - [Txn] reads (Get, GetMany, Scan), writes (Set, Insert, Delete, with savepoints), commits.
//   - [Iterator] merges a committed span with the transaction's own writes.
//   - The coordinator (commit.go) takes one phase (one_phase.go) or two (two_phase.go); with
//     Options.AsyncCommit the second may be left out (async.go).
//   - A transaction that outgrows its buffer streams it out (stream.go, stream_read.go).
//   - Store.Get (get.go) reads the newest value of one key, without a timestamp.
//   - The resolver (resolver.go) settles locks that anyone meets.
//   - Serializable transactions tell package ssi what they do (serial.go).
//   - The registry (registry.go) knows who runs, and so where the safepoint may be.
//   - Row locks (row_locks.go, package rowlock), on a shared store in the store too (row_records.go).
//   - The owner's session (owner_session.go, package session) says whether whoever left a lock lives,
//     and on a store that several processes share, who runs there (shared_safepoint.go).
//   - gc.Run collects below the safepoint; the Store runs it, or [Store.CollectGarbage] is called.
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
// Everything before the commit point rolls back, everything after it rolls forward, and whoever
// meets a lock can tell which it is by asking the primary. In one phase the last row is written at
// once, by one update of one group of rows.
//
// # What a commit costs
//
// One phase: one update, one sync, which concurrent commits share; no seek at all for keys that
// nobody wrote lately. It is for commits of one batch (Options.BatchKeys, BatchBytes): a commit holds the
// latches of one batch of a group at a time, so that no other waits longer than for that. Two phases: the prewrites are lazy, so that one sync at the commit point takes
// them to disk as well; secondaries and clean-up are lazy too, for the primary's record decides
// whether or not they survive. A prewrite looks for nothing on rows that nobody locked, wrote or
// rolled back lately, a lock is not read again before it becomes a record (I21), and the background commits
// what waits of many transactions in one update.
//
// A read of an unlocked key is one seek, in an iterator that an earlier transaction left where that is
// known to show enough (views.go). A point read without a timestamp (Store.Get) saves the way to an
// oracle that several processes share; where the oracle is the store's own it saves nothing that can be
// measured, so SQL has no path of its own for it.
//
// # Invariants
//
//   - I1 (one order): start and commit timestamps come from one oracle; no two are equal, and what
//     is drawn later is higher, also over restarts and when the wall clock steps back. Their physical part is
//     a time that neither stops nor jumps when somebody sets the wall clock (package tso).
//   - I2 (no commit is missed): a reader whose start_ts is above a commit_ts sees that commit or waits
//     for it. In two phases the locks, written before commit_ts is drawn, see to it; in one phase the
//     table of commits in flight (docs/adr/0002), where a commit stays until its result is known (doubt.go).
//     What a reader answers rests on durable commits only (but see I18).
//   - I3 (one winner): prewrite refuses on a newer write, on any lock and on its own rollback record.
//     Commit and clean-up meet on the primary's row in one atomic update.
//   - I4 (all or none): before the commit point everything rolls back, after it everything rolls
//     forward. A result that is unknown is reported as ErrAmbiguous, never guessed.
//   - I5 (no one waits for the dead): a lock names its primary, its owner and its time to live, judged
//     by the oracle's time. Whoever meets it decides at the primary: at once when the owner is dead
//     (I19), and once the time to live is over though the owner lives; a rollback leaves a record that
//     stops a late prewrite. A living writer is not waited for by readers: they push its commit_ts
//     above themselves. A heartbeat extends the primary's time to live. On an exclusive engine none of
//     this is needed for transactions that run (I24).
//   - I6 (the safepoint): below it only the newest version of a key is kept, and reads are refused
//     with *SafepointError. A running transaction holds it at or below its start_ts (on a shared store
//     as I20 says). Locks below it are settled before anything is dropped. In the background a pass goes
//     in bounded steps with pauses, and is left out when nothing was committed since the last one; on an
//     exclusive engine it looks only where something was replaced, removed or rolled back (garbage.go).
//   - I7 (cheap reads): a short value lies in its write record, and where no lock can exist the lock
//     column is not read.
//   - I8 (equal histories): one phase, two phases, async commit, groups and batches of any size give
//     the same answers to the same operations.
//   - I9 (locked rows are not stolen): no commit writes a key on which another owner has a row lock
//     that excludes the write. A commit looks at the lock table (package rowlock) once it is in the
//     table of commits in flight, or under the latch of its prewrite; a locker looks for commits once
//     it has the lock. One of the two sees the other (row_locks.go).
//   - I10 (serializable): serializable transactions that committed have a serial order. On an exclusive
//     engine package ssi fails one of every three that could break it; it is told of reads and of
//     writes when they happen, of the commit before and after (serial.go). On any other engine what was
//     read is validated after commit_ts was drawn: nothing in it, ranges and absent keys included, has
//     changed between the snapshot and commit_ts (reads.go; docs/adr/0006). Once a reader has pushed a commit
//     that validates, its primary's lock makes readers wait, so that they cannot do so for ever (decide).
//   - I11 (read timestamps): a write is checked against the timestamp at which it was read, which in
//     READ COMMITTED is above start_ts; start_ts stays the transaction's name in locks and records.
//   - I12 (async commit): the transaction is committed when all its locks are down durably, at the
//     highest of their lowest commit timestamps. Each is drawn under the rows' latches after the
//     commit entered the table in flight, so it is above every earlier read: on an exclusive engine
//     the oracle's newest timestamp is the newest read. The primary's lock lists the others, and a
//     stranger asks them all. All down: committed. One missing, and the owner gone: a protected
//     rollback takes its place first, then everything is rolled back. A lock's timestamp never
//     changes; nobody pushes it. Too many keys, spans validated over several batches, and engines
//     that are not exclusive (their reads are not known here) take two phases.
//   - I13 (large transactions): past Options.StreamBytes the writes go out as prewrites under the
//     primary, which lives as I24 says, or by a goroutine of heartbeats; the primary's commit makes them visible at once, its
//     rollback takes them all back. What was streamed out is read back from the transaction's own
//     locks, and written again over them. In memory stay the buffer, row locks (bounded, together, by
//     Options.MaxTxnBytes), and a filter that knows of most
//     keys that they were not streamed out (streamed_keys.go): nobody looks for those. What its own lock on
//     a key is like, it looks at once, and believes as in I21. Past Options.RowLocks, on an
//     exclusive engine, the row locks of what was streamed out are given back: the locks in the store stand
//     for them, and whoever waits for one lets go of its own row lock meanwhile. What a return to a
//     savepoint takes back is streamed out as well, and cannot be cancelled. A write may now meet what a
//     commit would: conflicts and locks of others; such a failure fails the transaction. So does a look
//     for its own writes that finds the primary's lock gone: strangers have begun to remove them. The
//     end of a statement's context does not, once the primary is down: a savepoint takes back what went out.
//   - I14 (views): on an exclusive engine a transaction reads through a snapshot that another one has
//     left if memory tells that no commit which it must see is missing there: none of the key, or none
//     at all for a span, since the timestamp up to which the snapshot is complete (view.go). Large
//     transactions, whose locks stay for long, do not end that: what each of them means for a reader is
//     known from memory (unsettled.go). A view is closed when nobody took it for a moment, and when it is
//     old; it pins files until then.
//   - I15 (steps repeat): every step may come twice and late, and the second run finds what the first
//     one left: its lock, its record, or its rollback. The route of a commit, one phase or two, is chosen
//     once; what was tried in one phase is found or barred, and never tried again another way.
//   - I16 (records that are no versions): readers and inserts look through records of kinds rollback
//     and lock. Conflict checks see those of kind lock, and a rollback only if it is their own.
//   - I17 (no waits in a circle): latches are taken in one order, around check and write; circles of row
//     locks are found before the wait, and those through a lock in the store by whoever asks for a row lock
//     there, after a while (lock_waits.go); a commit that has locks in the store waits for younger ones only.
//     On a store that several processes share everybody who waits in the store looks for circles, whatever
//     he waits for (wait_graph.go), and publishes the waits of its process (wait_publication.go).
//   - I18 (early locks): a one-phase commit gives back the locks of the keys it writes once it is
//     visible, before its sync. Who gets one, and asked for it, may read that key before it is durable,
//     and depends on the commit: a commit of its own that writes is behind it in the log, and
//     everything else that tells of it waits for AwaitDurable (docs/adr/0005, early.go).
//   - I19 (leases): every lock carries the session of the Store that wrote it, and the primary's the
//     client and the statement too. A session lives while its record is in the store. Who finds the
//     lease past, by the oracle's time and no other, removes the record before it touches a lock; its
//     owner renews only a record that is there: one of the two wins. An owner whose lease is past
//     takes a new session before it writes a lock or begins a transaction; those it had running go on
//     unless their primaries were rolled back, which the commit point finds.
//   - I20 (the shared safepoint): on a store that several processes write to, the safepoint is in the
//     store before anything is dropped, and whoever reads or checks at a timestamp below the one in
//     its own snapshot, or in the state that its step reads, is refused. So a process that was paused
//     beyond its lease gets an error, never wrong rows. The safepoint does not pass the oldest start_ts
//     that a living session has published, which is at or below every one that it will draw. Readers of
//     the past publish themselves, and then look for a raise under way; a collector announces its
//     target, and then looks for readers. One process collects at a time; one that lost its claim
//     while it was paused drops nothing that the recorded safepoint does not allow.
//   - I21 (own locks): on an exclusive engine a coordinator that knows its prewrites to have succeeded turns
//     the locks into records without reading them, as long as nobody else has been at one of them. Whoever
//     would push, roll forward or roll back a lock says so before his update (lockers.go), and the
//     coordinator asks inside its own, under the row's latch: either it hears of him and looks, or he finds
//     what it wrote. What may have been done before (an answer was lost), and what was streamed out, is
//     looked at.
//   - I22 (row locks in the store): on a store that several processes write to, who has a row lock in
//     memory takes it in the key's row lock column too, in a cell of its own, in the step that looks for prewrites
//     and newer writes. A prewrite refuses rows that others hold there, and takes its own place in the column away:
//     its lock stands until the commit is visible. Other row locks are removed after that, and before those
//     in memory; at a savepoint's rollback, those taken since. A holder ends with its session (I19), and
//     when its session has only younger transactions. A commit with locks of rows that it does not write
//     wants its session to have lasted beyond commit_ts. Readers never look (row_records.go). Who has waited
//     for a tenth of a second queues in the column; a row that nobody holds is the first one's of its queue
//     (row_queue.go).
//   - I23 (decided locks): a large transaction (one that streamed, or whose rows are too many to be counted)
//     leaves its locks in the store for a while after its commit point, or its rollback. Its fate is in
//     memory then (lockers.go), and a reader takes each of its locks for the record that it becomes: a
//     version from commit_ts on, or nothing at all.
//   - I24 (the living): on an exclusive engine the Store knows which of its transactions run, so no step of
//     the clock ends one, and a reader pushes its commit_ts in memory, without an update of the store. The
//     step of the commit point asks there whether its commit_ts was pushed; from then on a reader at or above
//     commit_ts waits until the result is known (living.go).
//   - I25 (dropped spans): Txn.DropSpan takes a span away as a whole, in one key. The span stays as it is
//     until the safepoint has passed that commit and every lock below it, in the whole store, is settled;
//     then the collector deletes it, and looks again later (gc/dropped.go). Whoever writes there, or rests
//     on what was there, validates a key that the drop writes; to serializable transactions the span is
//     written.
//   - I26 (savepoints): each write has a number, and below it those of the same key that a savepoint which is
//     still wanted would find. Both are streamed out with it, into the lock. So a savepoint takes no memory
//     for what is written after it, but for what the buffer holds (savepoint.go).
//
// # Memory that is believed, and what replaces it
//
// On an engine that this process alone writes to (kv.Exclusive) some state is kept in memory. A Store
// on any other engine uses none of it:
//
//	in memory                          on a store that several processes write to
//	row locks (package rowlock)        are in the store too (I22); waits across processes are looks, and
//	                                   circles are found from what sessions publish (wait_graph.go)
//	who runs, and what it was pushed   the primary's lock: heartbeats, and its lowest commit_ts
//	  to (living.go)
//	commits in flight (inflight.go)    always two phases, never async: the locks in the store
//	who may hold locks, where large    the lock column is read, by commits
//	  ones do, and who else was at       and resolutions too
//	  them (lockers.go)
//	recent commits (recent.go)         the write column is read; rollbacks count for prewrites too
//	views left by others (views.go)    each transaction takes a snapshot
//	other sessions are dead            sessions have records with leases in the store (I19)
//	reads and writes of serializable   reads are validated at Commit
//	  transactions (package ssi)
//	running transactions (registry)    what the sessions publish of theirs (I20)
//	the safepoint                      read in every snapshot
//	where something was replaced       a pass reads everything
//	  (garbage.go)
//	the own oracle                     one oracle for all, given in Options.Oracle
//
// # Locking order
//
// Store.gate (read) → Store.pass → ownerSession.mu → registry.safe → one registry shard → the oracle's
// mutex; inflight.mu, lockers.mu, views.mu, lockWaits.mu, resolver.fates, garbage.mu and the mutex of
// ssi are leaves, and so is that of living, which comes after
// lockers.mu. An engine's latches are taken inside kv.Engine.Update only; under them a step takes
// inflight.mu and draws from the oracle's memory, and never calls the engine: when the oracle's range
// is used up, the step gives up, the range is extended, and the step runs again.
//
// # Goroutines
//
// A Store owns the background committers of secondaries and of large transactions; on an exclusive engine the
// goroutine that closes idle views, one that settles the locks found at Open until they are gone
// (found_locks.go), and one for each commit whose result is unknown (doubt.go); on any other the renewal of its
// lease; and, with Options.GCInterval, the collector's ticker. A transaction that streams on a store that others
// share owns a goroutine of heartbeats until it ends. A commit's parallel prewrites end before Commit returns.
//
// Close first ends every wait for another transaction, in the lock table and for locks in the store, then
// waits for the commits under way, and then stops the goroutines, each at the end of its step.
//
// # Simple on purpose
//
// Writes are buffered in memory until Commit, or until they are too many. Commits are optimistic: no
// lock is in the store before prewrite, and row locks are this process's memory, but for shared stores.
// The primary is the lowest key. Commits in flight are compared key by key with what a reader reads;
// with hundreds of writers an index would replace that.
package txn
