package txn

import (
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// snapshot is one snapshot of the engine under a transaction. Every snapshot taken after start_ts
// was drawn shows the same at start_ts, but for keys that are locked or pending in it; when a
// reader meets one of those, it settles that and goes on with a new snapshot. Iterators keep
// theirs.
//
// On an exclusive engine a snapshot outlives its transaction (snapshots.go), and answers others as
// long as memory tells that it shows what they must see (txn: I14):
//
//   - It shows, durably, every commit at or below upTo: for its first owner that is the timestamp
//     at which it was opened; for others it is lowered below the commits that were in flight then.
//   - A reader at S ≤ upTo needs no more. For a reader at S > upTo the question is whether some
//     commit c of its key has upTo < c < S. Such a commit entered the table in flight before c was
//     drawn, so before S was; the reader copies that table after S was drawn. If the commit is in
//     the copy, the reader waits for it. If it has left, it had raised its rows' slots of recent
//     commits before. Either way the reader, who looks at the slot last, finds it at or above c. In
//     two phases only the primary is in the table; but as long as any row is locked, or may be, its
//     transaction is among the lock holders, and who leaves them has raised the slots of all its
//     rows. So a slot at or below upTo, looked at after both tables, says that there is no such
//     commit, unless there are lock holders. Of those that are all large the reader knows enough
//     (unsettled.go).
//   - No version that the reader needs was collected: its start_ts is registered, or was drawn
//     after the snapshot was taken, and so it is not below the safepoint of any pass that the
//     snapshot shows.
type snapshot struct {
	snap  kv.Snapshot
	mv    mvcc.View
	locks unsettled // those in the snapshot that a reader has to look at
	refs  int

	upTo   tso.Timestamp
	shared tso.Timestamp // what upTo is for others than the first owner; zero: it is not for them

	born, used uint64 // ticks of the store's snapshots

	// safepoint is the store's in this very snapshot, on a shared engine: what is below may be gone
	// (txn: I20).
	safepoint tso.Timestamp
}

// belowAll returns the highest timestamp up to readTS that is below all the commits, or zero when
// one of them has none yet. A commit whose step runs again draws a higher one.
func belowAll(readTS tso.Timestamp, commits []*pending) tso.Timestamp {
	for _, p := range commits {
		ts := tso.Timestamp(p.commitTS.Load())
		if ts == 0 {
			return 0
		}
		readTS = min(readTS, ts-1)
	}
	return readTS
}

func (v *snapshot) close() error { return errors.Join(v.mv.Close(), v.snap.Close()) }

// covers refuses a read timestamp of which versions may have been collected in the snapshot.
func (v *snapshot) covers(readTS tso.Timestamp) error {
	if readTS < v.safepoint {
		return &SafepointError{StartTS: readTS, Safepoint: v.safepoint}
	}
	return nil
}
