// Package secondaries finishes decided transactions: it turns the locks that they have left into
// records, or removes them, in the background (Percolator §2.2: the primary decides, the others
// follow).
//
// The coordinator of a commit hands its [Work] to the [Committer] and returns to its client. What
// small transactions leave waits in a queue and is settled many transactions to an update. What
// large ones leave is settled a batch of each in turn, by a goroutine of its own, so that small
// ones do not wait behind it. Work that is never done is no loss: whatever meets such a lock asks
// the primary, whose record is there (package resolve).
package secondaries
