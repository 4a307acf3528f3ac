// Package rowlock is the lock table of a process: which transaction may change which key, before
// anything of the change is in the store. Transactions that lock before they write (explicit ones,
// by default) take a key's lock at the statement that writes it and keep it to their end. So the
// second of two writers waits its turn, instead of learning at its commit that its work was in
// vain.
//
// It owns the queues, their fairness and the search for deadlocks. What a key means, which lock a
// statement needs and what becomes of a transaction that waited is decided by the layers above.
// Package txn checks, after a lock is granted, whether the key was written since the transaction's
// snapshot.
//
// [Table] is the lock table. An [Owner] holds locks and waits for them: a session, with its
// transactions one after another. [Mode] is one of PostgreSQL's four strengths of a row lock, with
// its conflicts:
//
//	             key share  share  no key update  update
//	key share                                       x
//	share                               x           x
//	no key update             x         x           x
//	update           x        x         x           x
//
// Tables are locked by their number (LockRelation), in PostgreSQL's eight modes, of which a
// transaction may hold several of one table:
//
//	                        AS  RS  RX  SUX S   SRX X   AX
//	access share                                        x
//	row share                                       x   x
//	row exclusive                           x   x   x   x
//	share update exclusive              x   x   x   x   x
//	share                           x   x       x   x   x
//	share row exclusive             x   x   x   x   x   x
//	exclusive                   x   x   x   x   x   x   x
//	access exclusive        x   x   x   x   x   x   x   x
//
// Advisory locks are keys like others, in the modes TableShare and Exclusive; [Request.Session]
// makes them survive their transaction. On a store that several processes write to, package shared
// takes them in the store as well.
//
// A key may be claimed as one of a group (claim.go): its owner learns which keys of the group
// others have claimed, and waits for those that exclude its own, as it decides.
//
// # Invariants
//
//   - rowlock I1 (exclusion): two owners never hold conflicting modes of one key.
//   - rowlock I2 (fairness): a request that conflicts with an earlier one of the same queue is
//     granted after it. Three exceptions follow PostgreSQL. An owner that holds the key already
//     goes before those that wait for it, because behind them it would deadlock. A request for a
//     row that is compatible with all holders of the row does not queue. A waiter lets another pass
//     it where that resolves a deadlock.
//   - rowlock I3 (no silent cycle): a request that would close a cycle in the wait-for graph does
//     not begin to wait: the requester, or the least patient owner of the cycle, gets
//     *DeadlockError.
//   - rowlock I4 (nothing leaks): a key without holders and waiters has no entry.
//   - rowlock I5 (fast locks are seen): a weak lock of a table is in a slot of its owner only while
//     no owner holds or wants a strong lock of it (relation.go).
//   - rowlock I6 (claims are seen): of two owners that have claims in one group, the one whose
//     claim was granted later was given the earlier one's key, unless that was given back before.
//
// # Simple on purpose
//
// One mutex guards the whole table, because the search for cycles needs it at rest; no I/O happens
// under it. Locks live in this process's memory and end with it, which suffices as long as one
// process owns the data: the transactions that hold them end at the same moment. On a store that
// several processes write to, package txn takes the row locks that are granted here in the store as
// well.
package rowlock
