package txn

import (
	"errors"
	"maps"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
)

// open returns a snapshot of everything at the transaction's read timestamp.
func (t *Txn) open() (*hints.Snapshot, error) {
	v, err := t.openAny()
	if err != nil || t.showsAll(v) {
		return v, err
	}
	return t.openFresh()
}

// openFor returns a snapshot that shows one key as it is at the read timestamp.
func (t *Txn) openFor(key []byte) (*hints.Snapshot, error) {
	v, err := t.openAny()
	if err != nil || t.showsAll(v) ||
		!hints.MayLackLarge(t.large, v, key, t.readTS) &&
			t.s.memory.Recent.UnchangedSince(v.View.Row(key), v.UpTo) {
		return v, err
	}
	return t.openFresh()
}

// showsAll reports whether nothing was committed between the snapshot and the read timestamp.
func (t *Txn) showsAll(v *hints.Snapshot) bool {
	return t.readTS <= v.UpTo || t.s.memory.Recent.Newest() <= v.UpTo
}

// Unchanged reports whether no change of the key that was acknowledged before is above the read
// timestamp. It asks memory alone, so false means that it is not known. A transaction that commits
// counts among the lock holders of the row's slot until it has raised the slot of recent commits,
// or raises that before it is acknowledged.
func (t *Txn) Unchanged(key []byte) bool {
	if t.aside(key) {
		return true
	}
	slot := t.s.memory.Recent.SlotOf(mvcc.Row(key))
	return t.s.memory.Unlocked(slot, key, nil) && t.s.memory.Unchanged(slot, t.readTS)
}

// openAny returns the present snapshot, or one that another transaction left, or a new one.
func (t *Txn) openAny() (*hints.Snapshot, error) {
	if err := t.Confirm(t.readContext()); err != nil {
		return nil, err
	}
	if t.snapshot != nil {
		return t.snapshot, t.snapshot.Covers(t.readTS) // which ReadAt may have lowered
	}
	// of its own writes another's snapshot may lack some
	if t.inspect() && t.stream == nil && len(t.loads) == 0 {
		if t.snapshot = t.s.memory.Snapshots.Take(); t.snapshot != nil {
			return t.snapshot, nil
		}
	}
	return t.openFresh()
}

// openFresh replaces the present snapshot, which is too old, by a new one. The engine may give that
// up while it is looked at.
func (t *Txn) openFresh() (*hints.Snapshot, error) {
	for {
		v, err := t.openOnce()
		if !errors.Is(err, kv.ErrSnapshotGone) {
			return v, err
		}
		if err := t.readContext().Err(); err != nil {
			return nil, err
		}
	}
}

func (t *Txn) openOnce() (*hints.Snapshot, error) {
	if t.snapshot != nil {
		t.snapshot.KeepPrivate()
		t.dropSnapshot()
	}
	known := t.inspect()
	locks := hints.Unsettled{Anywhere: true}
	if known {
		locks = hints.UnsettledOf(t.large, t.readTS)
	}
	snap, err := t.s.engine.Snapshot()
	if err != nil {
		return nil, err
	}
	v := t.s.memory.Snapshots.NewSnapshot(snap)
	v.UpTo, v.Locks = t.readTS, locks
	if t.foretold != nil {
		err = v.View.Foretell(t.readContext(), t.foretold)
	}
	if err == nil {
		v.Safepoint, err = t.s.peers.SafepointIn(t.readContext(), snap)
	}
	if err == nil {
		t.foretold = nil
		err = v.Covers(t.readTS)
	}
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	if known {
		v.SharedUpTo = hints.BelowAll(t.readTS, t.pending)
	}
	t.snapshot = v
	return v, nil
}

// inspect copies what is in flight below the read timestamp, and the large transactions that hold
// locks. It reports whether that is all (hints.Inspect).
func (t *Txn) inspect() (known bool) {
	t.pending, t.large, known = t.s.memory.Inspect(t.readTS, t.pending)
	return known
}

// readParams returns how to read in a snapshot. noLocks reports that the part to be read has no
// lock that means anything.
func (t *Txn) readParams(v *hints.Snapshot, noLocks bool) mvcc.ReadParams {
	p := mvcc.ReadParams{StartTS: t.readTS, Ignored: t.ignored, Decided: t.decided,
		NoLocks: noLocks, Own: t.reg.startTS}
	switch {
	case p.Decided == nil:
		p.Decided = v.Locks.Decided
	case v.Locks.Decided != nil:
		maps.Copy(p.Decided, v.Locks.Decided) // into the transaction's own
	}
	return p
}

// dropSnapshot makes the next read take a snapshot anew.
func (t *Txn) dropSnapshot() {
	if t.snapshot != nil {
		// Reading is over: a failure to release changes no result.
		_ = t.s.memory.Snapshots.Release(t.snapshot)
		t.snapshot = nil
	}
	t.pending, t.large = nil, nil
}

// lost reports whether an error says that the engine has given up the snapshot. Then the next read
// takes a new one, which shows the same at the read timestamp.
func (t *Txn) lost(err error) bool {
	if !errors.Is(err, kv.ErrSnapshotGone) {
		return false
	}
	t.dropSnapshot()
	return true
}

// Idle gives back what the transaction holds in the engine between statements, so that one that
// waits for its client pins no files. The next read takes a new snapshot and sees the same.
func (t *Txn) Idle() {
	t.dropSnapshot()
	if t.companion != nil {
		t.companion.dropSnapshot()
	}
}
