package history

import "fmt"

// Verdict is one way in which a history can be wrong.
type Verdict string

// The verdicts.
const (
	// LostCommit: a transaction's commit was acknowledged, and nothing of it is there.
	LostCommit Verdict = "lost commit"
	// TornCommit: some of a transaction's writes are there and some are not.
	TornCommit Verdict = "torn commit"
	// RisenAbort: a transaction's failure was reported, and its writes are there.
	RisenAbort Verdict = "risen abort"
	// DuplicateCommit: a transaction's writes are there more than once, or at several timestamps.
	DuplicateCommit Verdict = "duplicate commit"
	// WrongWrite: a record differs from what its transaction wrote, or has no transaction.
	WrongWrite Verdict = "wrong write"
	// StaleRead: a read missed a commit at or below its start_ts.
	StaleRead Verdict = "stale read"
	// FutureRead: a read saw a commit above its start_ts.
	FutureRead Verdict = "future read"
	// DirtyRead: a read saw what was never committed.
	DirtyRead Verdict = "dirty read"
	// LostUpdate: two transactions that wrote the same key both committed, and the second wrote
	// what it made of the key as it was before the first one's commit.
	LostUpdate Verdict = "lost update"
	// DuplicateInsert: an insert committed over a living value.
	DuplicateInsert Verdict = "duplicate insert"
	// StolenLock: a key was written while another transaction had its row lock.
	StolenLock Verdict = "stolen lock"
	// BrokenOrder: a timestamp was given twice, or not above everything acknowledged before it, or
	// a transaction read at another timestamp than its level says.
	BrokenOrder Verdict = "broken order"
	// Impatience: another transaction rolled back one whose owner lived and whose time to live was
	// not over, or ended an owner's session before the end of its lease.
	Impatience Verdict = "impatience"
	// Forsaken: a transaction was refused as below the safepoint, though its session was never
	// ended.
	Forsaken Verdict = "forsaken"
	// Cycle: serializable transactions that no serial order explains.
	Cycle Verdict = "cycle"
	// Leftover: locks or records in the store that mvcc.Check objects to, or data that differs from
	// the records that were applied.
	Leftover Verdict = "leftover"
	// Unexpected: a transaction failed with an error that nothing explains.
	Unexpected Verdict = "unexpected error"
)

// Violation is one thing that is wrong with a history.
type Violation struct {
	Verdict Verdict
	Text    string
}

func (v Violation) String() string { return fmt.Sprintf("%s: %s", v.Verdict, v.Text) }
