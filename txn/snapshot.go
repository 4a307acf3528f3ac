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

// release gives up one reference. The last one leaves the snapshot to the next transaction, or
// closes it.
func (s *Store) release(v *snapshot) error {
	if v.refs--; v.refs > 0 || s.snapshots.put(v) {
		return nil
	}
	return v.close()
}

func (v *snapshot) close() error { return errors.Join(v.mv.Close(), v.snap.Close()) }

// open returns a snapshot of everything at the transaction's read timestamp.
func (t *Txn) open() (*snapshot, error) {
	v, err := t.openAny()
	if err != nil || t.showsAll(v) {
		return v, err
	}
	return t.openFresh()
}

// openFor returns a snapshot that shows one key as it is at the read timestamp.
func (t *Txn) openFor(key []byte) (*snapshot, error) {
	v, err := t.openAny()
	if err != nil || t.showsAll(v) ||
		!t.mayLackLarge(v, key) && t.s.recent.unchangedSince(v.mv.Row(key), v.upTo) {
		return v, err
	}
	return t.openFresh()
}

// showsAll reports whether nothing was committed between the snapshot and the read timestamp.
func (t *Txn) showsAll(v *snapshot) bool {
	return t.readTS <= v.upTo || t.s.recent.newest() <= v.upTo
}

// Unchanged says that no change of the key that was acknowledged before is above the read
// timestamp. It asks memory alone, so a false answer means nothing. Who commits counts among the
// lock holders of the row's slot until it has raised the slot of recent commits, or raises that
// before it is acknowledged.
func (t *Txn) Unchanged(key []byte) bool {
	slot := t.s.recent.slotOf(mvcc.Row(key))
	return t.s.unlocked(slot, key, nil) && t.s.unchanged(slot, t.readTS)
}

// openAny returns the present snapshot, or one that another transaction left, or a new one.
func (t *Txn) openAny() (*snapshot, error) {
	if t.snapshot != nil {
		return t.snapshot, t.snapshot.covers(t.readTS) // which ReadAt may have lowered
	}
	if t.inspect() && t.stream == nil { // of its own writes another's snapshot may lack some
		if t.snapshot = t.s.snapshots.take(); t.snapshot != nil {
			return t.snapshot, nil
		}
	}
	return t.openFresh()
}

// openFresh replaces the present snapshot, which is too old, by a new one.
func (t *Txn) openFresh() (*snapshot, error) {
	if t.snapshot != nil {
		t.snapshot.shared = 0
		t.dropSnapshot()
	}
	v := &snapshot{refs: 1, upTo: t.readTS, born: t.s.snapshots.now()}
	known := t.inspect()
	if v.locks = (unsettled{anywhere: true}); known {
		v.locks = unsettledOf(t.large, t.readTS)
	}
	snap, err := t.s.engine.Snapshot()
	if err != nil {
		return nil, err
	}
	v.snap = snap
	if v.safepoint, err = t.s.peers.SafepointIn(t.readContext(), snap); err == nil {
		err = v.covers(t.readTS)
	}
	if err != nil {
		return nil, errors.Join(err, snap.Close())
	}
	if known {
		v.shared = belowAll(t.readTS, t.pending)
	}
	v.mv.Init(snap)
	t.snapshot = v
	return v, nil
}

// covers refuses a read timestamp of which versions may have been collected in the snapshot.
func (v *snapshot) covers(readTS tso.Timestamp) error {
	if readTS < v.safepoint {
		return &SafepointError{StartTS: readTS, Safepoint: v.safepoint}
	}
	return nil
}

// inspect copies what is in flight below the read timestamp, and who is large among the lock
// holders. It reports whether that is all: no other transaction has locks that the reader would
// have to look at. What leaves either table after this is in every snapshot that is taken later.
func (t *Txn) inspect() (known bool) {
	t.large = nil
	if !t.s.alone {
		return false
	}
	t.pending = t.s.inflight.below(t.readTS, t.pending[:0])
	large, known := t.s.lockHolders.onlyLarge()
	if len(large) == 0 || !known {
		return known
	}
	for _, k := range large {
		if _, known := k.liveness.committed(); !known {
			return false
		}
	}
	for _, p := range t.pending {
		if p.primary {
			return false
		}
	}
	t.large = large
	return true
}

// dropSnapshot makes the next read take a snapshot anew.
func (t *Txn) dropSnapshot() {
	if t.snapshot != nil {
		_ = t.s.release(t.snapshot) // reading is over; a failure to release changes no answer
		t.snapshot = nil
	}
	t.pending, t.large = nil, nil
}
