package hints

import (
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Hints are the tables of a Store, and what follows from several of them. On an engine that other
// processes write to (alone is false) every hint is "perhaps": readers and commits look into the
// store, and nothing else changes for them.
type Hints struct {
	alone       bool
	InFlight    inflight
	LockHolders lockHolders
	Recent      *recent
	Snapshots   snapshots
	Garbage     *garbage
	rows        rowCache
}

// Init makes the hints those of a store that no other process writes to, if alone is set. Rows may
// take so many bytes, and what is kept of sections so many; with a file, columns are there too.
func (h *Hints) Init(alone bool, rowBytes, sectionBytes int64, withFile bool) {
	h.alone = alone
	if alone && rowBytes >= bytesPerPlace {
		h.rows.limit = rowBytes
	}
	h.Garbage = newGarbage()
	h.Recent = newRecent(h.Garbage)
	if alone && sectionBytes > 0 {
		h.Recent.sections.limits(sectionBytes, withFile)
	}
	if alone {
		h.Snapshots.open()
	}
}

// Unchanged reports whether no row of the slot was written, or rolled back, after a timestamp.
func (h *Hints) Unchanged(slot uint32, since tso.Timestamp) bool {
	return h.alone && tso.Timestamp(h.Recent.slots[slot].Load()) <= since
}

// Unlocked reports whether no transaction but one has a lock on the key, whose row is of the slot.
func (h *Hints) Unlocked(slot uint32, key []byte, but *LockHolder) bool {
	return h.alone && !h.LockHolders.mayLock(slot, key, but)
}

// Running returns what is known of a transaction that has locks in the store, or nil.
func (h *Hints) Running(startTS tso.Timestamp) *Liveness {
	if !h.alone {
		return nil
	}
	if k := h.LockHolders.find(startTS); k != nil {
		return &k.liveness
	}
	return nil
}

// EnterLockHolders makes the coordinator's transaction a member of the lock-holder set, before its
// first prewrite. One with more rows than are counted names the span in which they are, and is read
// through once it is decided, as one that streams. The result is nil when memory says nothing.
func (h *Hints) EnterLockHolders(startTS tso.Timestamp, muts []mvcc.Mutation) *LockHolder {
	var k *LockHolder
	if len(muts) > LockHolderRows {
		k = h.LockHolders.EnterStream(startTS)
		span := Widened(kv.Span{}, muts)
		k.Span.Store(&span)
	} else {
		k = h.LockHolders.enter(startTS)
	}
	if !h.alone {
		return nil
	}
	return k
}

// LivenessOf returns the liveness of a member, for its coordinator to keep up to date. It is nil on
// an engine that other processes write to.
func (h *Hints) LivenessOf(k *LockHolder) *Liveness {
	if !h.alone || k == nil {
		return nil
	}
	return &k.liveness
}

// Inspect copies what is in flight below a read timestamp, into room that is given, and the large
// transactions that hold locks. It reports whether that is all: no other transaction has locks that
// the reader would have to look at. What leaves either table after this is in every snapshot that
// is taken later.
func (h *Hints) Inspect(readTS tso.Timestamp, room []*Pending) (inFlight []*Pending,
	large []*LockHolder, known bool) {
	if !h.alone {
		return room, nil, false
	}
	inFlight = h.InFlight.below(readTS, room[:0])
	large, known = h.LockHolders.onlyLarge()
	if len(large) == 0 || !known {
		return inFlight, nil, known
	}
	for _, k := range large {
		if _, known := k.liveness.committed(); !known {
			return inFlight, nil, false
		}
	}
	for _, p := range inFlight {
		if p.primary {
			return inFlight, nil, false
		}
	}
	return inFlight, large, true
}

// Quiet reports whether nothing was committed above a safepoint, and no lock is left.
func (h *Hints) Quiet(safepoint tso.Timestamp) bool {
	return h.alone && h.Recent.Newest() <= safepoint && h.LockHolders.None()
}

// Collected notes that a pass over what was due at the safepoint has come to its end. Without other
// processes the places of garbage are complete from then on.
func (h *Hints) Collected(safepoint tso.Timestamp) {
	h.LockHolders.LeaveBelow(safepoint)
	if h.alone {
		h.Garbage.collected(safepoint)
	}
}
