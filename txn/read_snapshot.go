package txn

import (
	"errors"
	"maps"

	"github.com/minidb/minidb/txn/mvcc"
)

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

// mayLackLarge reports whether the snapshot may lack a commit of the key, below the read timestamp,
// whose locks are not settled. It comes before the look at the slot of recent commits, which is
// raised before a span shrinks.
func (t *Txn) mayLackLarge(v *snapshot, key []byte) bool {
	for _, k := range t.large {
		if !k.span.Load().Contains(key) {
			continue
		}
		if commitTS, _ := k.liveness.committed(); v.upTo < commitTS && commitTS <= t.readTS {
			return true
		}
	}
	return false
}

// readParams tells how to read in a snapshot, of which noLocks says that the part in question has
// no lock that means anything.
func (t *Txn) readParams(v *snapshot, noLocks bool) mvcc.ReadParams {
	p := mvcc.ReadParams{StartTS: t.readTS, Ignored: t.ignored, Decided: t.decided,
		NoLocks: noLocks, Own: t.reg.startTS}
	switch {
	case p.Decided == nil:
		p.Decided = v.locks.decided
	case v.locks.decided != nil:
		maps.Copy(p.Decided, v.locks.decided) // into the transaction's own
	}
	return p
}

// dropSnapshot makes the next read take a snapshot anew.
func (t *Txn) dropSnapshot() {
	if t.snapshot != nil {
		_ = t.s.release(t.snapshot) // reading is over; a failure to release changes no answer
		t.snapshot = nil
	}
	t.pending, t.large = nil, nil
}

// release gives up one reference. The last one leaves the snapshot to the next transaction, or
// closes it.
func (s *Store) release(v *snapshot) error {
	if v.refs--; v.refs > 0 || s.snapshots.put(v) {
		return nil
	}
	return v.close()
}

// Idle lets go of what the transaction holds in the engine between statements, so that one that
// waits for its client pins no files. The next read takes a new snapshot and sees the same.
func (t *Txn) Idle() { t.dropSnapshot() }
