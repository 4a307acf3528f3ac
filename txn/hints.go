package txn

import (
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// hints is what memory says of the store while no other process writes to it: commits in flight,
// recent commits, which transactions may hold locks, which of them run, snapshots that others left,
// where versions were replaced. A hint may say "perhaps" where the truth is no; it never says no
// where the truth is yes. On an engine that other processes write to (alone is false) every hint is
// "perhaps": readers and commits look into the store, and nothing else changes for them.
type hints struct {
	alone       bool
	inflight    inflight
	lockHolders lockHolders
	recent      *recent
	snapshots   snapshots
	garbage     *garbage
}

func (h *hints) init(alone bool) {
	h.alone = alone
	h.garbage = newGarbage()
	h.recent = newRecent(h.garbage)
	if alone {
		h.snapshots.open()
	}
}

// unchanged reports whether no row of the slot was written, or rolled back, after a timestamp.
func (h *hints) unchanged(slot uint32, since tso.Timestamp) bool {
	return h.alone && tso.Timestamp(h.recent.slots[slot].Load()) <= since
}

// unlocked reports whether no transaction but one has a lock on the key, whose row is of the slot.
func (h *hints) unlocked(slot uint32, key []byte, but *lockHolder) bool {
	return h.alone && !h.lockHolders.mayLock(slot, key, but)
}

// running returns what is known of a transaction that has locks in the store, or nil.
func (h *hints) running(startTS tso.Timestamp) *liveness {
	if !h.alone {
		return nil
	}
	if k := h.lockHolders.find(startTS); k != nil {
		return &k.liveness
	}
	return nil
}

// enterLockHolders makes the coordinator's transaction a member of the lock-holder set, before its
// first prewrite. One with more rows than are counted names the span in which they are, and is read
// through once it is decided, as one that streams. The result is nil when memory says nothing.
func (h *hints) enterLockHolders(startTS tso.Timestamp, muts []mvcc.Mutation) *lockHolder {
	var k *lockHolder
	if len(muts) > lockHolderRows {
		k = h.lockHolders.enterStream(startTS)
		span := widened(kv.Span{}, muts)
		k.span.Store(&span)
	} else {
		k = h.lockHolders.enter(startTS)
	}
	if !h.alone {
		return nil
	}
	return k
}

// livenessOf returns the liveness of a member, for its coordinator to keep up to date. It is nil on
// an engine that other processes write to.
func (h *hints) livenessOf(k *lockHolder) *liveness {
	if !h.alone || k == nil {
		return nil
	}
	return &k.liveness
}

// quiet reports whether nothing was committed above a safepoint, and no lock is left.
func (h *hints) quiet(safepoint tso.Timestamp) bool {
	return h.alone && h.recent.newest() <= safepoint && h.lockHolders.none()
}

// collected notes that a pass over what was due at the safepoint has come to its end. Without other
// processes the places of garbage are complete from then on.
func (h *hints) collected(safepoint tso.Timestamp) {
	h.lockHolders.leaveBelow(safepoint)
	if h.alone {
		h.garbage.collected(safepoint)
	}
}
