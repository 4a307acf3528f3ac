package hints

import (
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Snapshot is one snapshot of the engine under a transaction. Every snapshot taken after start_ts
// was drawn shows the same at start_ts, but for keys that are locked or pending in it; when a
// reader meets one of those, it settles that and goes on with a new snapshot. Iterators keep
// theirs.
//
// On an exclusive engine a snapshot outlives its transaction (snapshots.go), and answers others as
// long as memory shows that it has what they must see (txn: I14):
//
//   - It shows, durably, every commit at or below UpTo: for its first owner that is the timestamp
//     at which it was opened; for others it is lowered below the commits that were in flight then.
//   - A reader at S ≤ UpTo needs no more. For a reader at S > UpTo the question is whether some
//     commit c of its key has UpTo < c < S. Such a commit entered the table in flight before c was
//     drawn, so before S was; the reader copies that table after S was drawn. If the commit is in
//     the copy, the reader waits for it. If it has left, it had raised its rows' slots of recent
//     commits before. Either way the reader, which looks at the slot last, finds it at or above c.
//     In two phases only the primary is in the table; but as long as any row is locked, or may be,
//     its transaction is among the lock holders, and leaves them after it has raised the slots of
//     all its rows. So a slot at or below UpTo, looked at after both tables, means that there is no
//     such commit, unless there are lock holders. Of those that are all large the reader knows
//     enough (unsettled.go).
//   - No version that the reader needs was collected: its start_ts is registered, or was drawn
//     after the snapshot was taken, and so it is not below the safepoint of any pass that the
//     snapshot shows.
type Snapshot struct {
	snap  kv.Snapshot
	View  mvcc.View
	Locks Unsettled // those in the snapshot that a reader has to look at
	refs  int

	UpTo tso.Timestamp
	// SharedUpTo is UpTo for other transactions than the first; zero: the snapshot is not for them.
	SharedUpTo tso.Timestamp

	born, used uint64 // ticks of the store's snapshots

	// Safepoint is the store's in this very snapshot, on a shared engine: versions below it may be
	// gone (txn: I20).
	Safepoint tso.Timestamp
}

// BelowAll returns the highest timestamp up to readTS that is below all the commits, or zero when
// one of them has none yet. A commit whose step runs again draws a higher one.
func BelowAll(readTS tso.Timestamp, commits []*Pending) tso.Timestamp {
	for _, p := range commits {
		ts := tso.Timestamp(p.CommitTS.Load())
		if ts == 0 {
			return 0
		}
		readTS = min(readTS, ts-1)
	}
	return readTS
}

// Retain adds a reference.
func (v *Snapshot) Retain() { v.refs++ }

// KeepPrivate keeps the snapshot from being left to other transactions.
func (v *Snapshot) KeepPrivate() { v.SharedUpTo = 0 }

// Close closes the snapshot of the engine.
func (v *Snapshot) Close() error { return errors.Join(v.View.Close(), v.snap.Close()) }

// Covers refuses a read timestamp of which versions may have been collected in the snapshot.
func (v *Snapshot) Covers(readTS tso.Timestamp) error {
	if readTS < v.Safepoint {
		return &gc.SafepointError{StartTS: readTS, Safepoint: v.Safepoint}
	}
	return nil
}
