// Package txntest holds the transaction layer to its promises on any engine: a workload whose state
// can be recomputed, and tests that let processes die and updates fail under it. An engine's own
// tests call them, as those of package txn do.
//
//   - [Bank] is the workload: transfers, which notify an observer, and readers that lock.
//   - [CheckBank] and [CheckStore] recompute what it must have left.
//   - [Deaths] lets processes on one store die in the middle of their commits, and recover.
//   - [FailedUpdate] fails chosen updates of one transfer.
package txntest
