// Package tikvkv is kv.Engine on a TiKV cluster, which several processes may share. It is
// experimental: it was tried on client-go's mock of a cluster only (docs/adr/0029).
//
// It owns how cells, updates and snapshots become transactions of TiKV, what the errors of its
// client mean, and the timestamps of the cluster's placement driver (PD) as package tso's. It
// relies on client-go and on package kv. The cluster is operated by others: this package sets
// nothing up, and writes nothing but keys below one prefix.
//
// # Keys
//
//	<prefix> 'c' <key>   a cell, as the layer above names it
//	<prefix> 'g' <row>   the guard of a row: it is locked and never has a value
//
// TiKV has no empty values, so a cell's value begins with a byte of this package.
//
// # An update is one optimistic transaction
//
// A step reads at one timestamp S of PD. The transaction that applies its batch has S as its
// start_ts, and the batch and a lock of the guard of each row that the update names as its
// mutations. TiKV refuses a mutation of a key on which another transaction has committed above S, a
// lock counts as well as a value, and so the step runs again. It is one transaction over any rows,
// so all rows are one group, however the regions of the cluster are cut.
//
// Two updates that name a common row mutate the same guard. Of their transactions one commits on
// that guard first, at C. The other one has either not drawn its start_ts then, so that this is
// above C and its step reads what the first one wrote, or it has, and is refused. So they follow
// one another (kv I2). Guards are locked for rows that a step only reads too: a condition that
// writes nothing does not exist in an optimistic transaction, for TiKV looks for conflicts where it
// writes.
//
// A lock leaves a record, which TiKV collects as it collects old versions. A transaction that began
// before the safepoint would not meet it. So neither a transaction nor a snapshot gets older than
// Options.Keep, for which the cluster must keep old versions.
//
// # A snapshot is a timestamp
//
// It is drawn at the first read. An Update has returned when its commit_ts was drawn and the
// commit point was written, so a timestamp that is drawn afterwards is above its commit_ts, and a
// snapshot shows it (kv I5). A transaction that has a commit_ts below the snapshot's and is not
// committed on all keys yet has left locks, which reads meet and settle. So does what a dead
// process has left: client-go looks at the transaction's primary key.
//
// This needs commit timestamps that are drawn after all keys are locked. Async commit and commit in
// one phase calculate them instead, from what TiKV has seen of readers. They keep the same promise
// on a cluster, but the mock does not have them; they are turned off.
//
// # Results
//
// Only the commit of the primary key decides. When its answer is lost and no later attempt learns
// what became of it, the result is unknown: the commit may still arrive, and applies if the lock is
// there. A later update of a row meets that lock, and either waits for the commit or rolls the
// transaction back, once its time to live is over. Every other failure is certain.
package tikvkv
