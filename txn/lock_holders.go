package txn

import (
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// lockHolders is the set of transactions that may hold locks in the engine. While it is empty,
// readers and one-phase commits need not look for locks. A transaction enters before its first
// prewrite and leaves when all its locks are known to be gone; one whose coordinator died stays
// until the collector has settled every lock below the safepoint. On a store with other writers the
// set says nothing, and the lock column is read.
//
// Each member counts in the slots of the rows that it prewrites, so that a prewrite need not look
// for another transaction's lock on a row whose slot nobody counts in. Looking and counting happen
// under the row's latch. A large one, which streams or has more rows than are counted, says instead
// in which span its locks are: before a prewrite, and when some of them are gone.
//
// A member also remembers whether anybody else has been at its locks (txn: I21). Until then they
// are what it wrote, and need not be read again to become write records. A resolver that would
// push, roll forward or roll back a lock calls touch before its update; the coordinator asks
// pristine inside its own update, under the row's latch. Either the coordinator hears of the
// resolver and reads the lock, or the resolver finds what the coordinator wrote. Locks are read in
// any case if an answer was lost, so that they may be there twice, and if they were streamed out.
//
// Of a large one, the set tells the status from when it is durable until its locks are gone (txn:
// I23). That much is true on a store with other writers too.
type lockHolders struct {
	n        atomic.Int64
	slots    [recentSlots]atomic.Int32     // as those of recent commits
	anywhere atomic.Int64                  // members that may have locked any row
	streams  atomic.Int64                  // members that stream
	large    atomic.Pointer[[]*lockHolder] // the same; the list is replaced, never changed
	// members that do not: nobody can tell where else their locks are
	small atomic.Int64
	mu    struct {
		sync.Mutex
		of map[tso.Timestamp]*lockHolder
	}
}

// lockHolder is one member.
type lockHolder struct {
	startTS tso.Timestamp

	// Under the set's mutex.
	slots    []uint32
	anywhere bool
	streams  bool
	decided  bool // its status is commitTS, zero for rolled back; its locks are being settled
	commitTS tso.Timestamp

	// of one that streams: outside of it there are none of its locks
	span    atomic.Pointer[kv.Span]
	touched atomic.Bool // see pristine; never taken back

	liveness liveness // what is known of its transaction
}

// pristine reports whether each lock that the member's coordinator is known to have written is
// still there, as it was written but for heartbeats. Asked inside a step, it holds for the step's
// rows: whoever else would push, roll forward or roll back one of the locks says so first (touch),
// and then needs the row's latch. Nil, a store on which memory says nothing, knows of nothing.
func (k *lockHolder) pristine() bool {
	return k != nil && !k.touched.Load()
}

// lockHolderRows is how many rows of one member are counted; one with more may have locked any.
const lockHolderRows = 1 << 12

// enter makes a transaction that runs a member that has locked nothing yet.
func (l *lockHolders) enter(startTS tso.Timestamp) *lockHolder {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.member(startTS)
	k.liveness.begin()
	return k
}

// enterStream makes it one whose locks in the store may stand for row locks that it has in memory
// no more, and whose locks lie in a span, which is empty now.
func (l *lockHolders) enterStream(startTS tso.Timestamp) *lockHolder {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.member(startTS)
	k.liveness.begin()
	if !k.streams {
		k.streams = true
		k.span.Store(&kv.Span{End: []byte{}})
		l.streams.Add(1)
		l.listLarge()
	}
	return k
}

// listLarge lists the members that stream anew, before it counts the others: whoever finds no other
// one finds in the list each member that entered before.
func (l *lockHolders) listLarge() {
	var all []*lockHolder
	for _, k := range l.mu.of {
		if k.streams {
			all = append(all, k)
		}
	}
	l.large.Store(&all)
	l.counted()
}

func (l *lockHolders) counted() {
	l.n.Store(int64(len(l.mu.of)))
	l.small.Store(int64(len(l.mu.of)) - l.streams.Load())
}

// find returns the member, or nil.
func (l *lockHolders) find(startTS tso.Timestamp) *lockHolder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.of[startTS]
}

// shrink notes that the locks of a member that streams are gone, but for those in a span.
func (l *lockHolders) shrink(startTS tso.Timestamp, span kv.Span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.mu.of[startTS]; k != nil {
		k.span.Store(&span)
	}
}

// streaming reports whether the transaction is one that streams, or has streamed.
func (l *lockHolders) streaming(startTS tso.Timestamp) bool {
	if l.streams.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.mu.of[startTS]
	return k != nil && k.streams
}

// decide notes what became of a transaction whose locks are many and stay for a while: its
// commit_ts, durable, or zero when it is rolled back.
func (l *lockHolders) decide(startTS, commitTS tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.member(startTS)
	k.decided, k.commitTS = true, commitTS
	k.liveness.decided(commitTS)
}

// decision returns what decide noted.
func (l *lockHolders) decision(startTS tso.Timestamp) (commitTS tso.Timestamp, known bool) {
	if l.streams.Load() == 0 {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.mu.of[startTS]
	if k == nil || !k.decided {
		return 0, false
	}
	return k.commitTS, true
}

// touch marks the transaction's locks as possibly changed by a resolver. Call it before the update
// that changes them.
func (l *lockHolders) touch(startTS tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.mu.of[startTS]; k != nil {
		k.touched.Store(true)
	}
}

// enterAnywhere makes it one that may have locked any row.
func (l *lockHolders) enterAnywhere(startTS tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.markAnywhere(l.member(startTS))
}

func (l *lockHolders) member(startTS tso.Timestamp) *lockHolder {
	k := l.mu.of[startTS]
	if k == nil {
		if l.mu.of == nil {
			l.mu.of = map[tso.Timestamp]*lockHolder{}
		}
		k = &lockHolder{startTS: startTS}
		l.mu.of[startTS] = k
		l.counted()
	}
	return k
}

func (l *lockHolders) markAnywhere(k *lockHolder) {
	if !k.anywhere {
		k.anywhere = true
		l.anywhere.Add(1)
	}
}

// mayLock reports whether anyone but one (nil: anyone at all) may have a lock on a key, whose row
// is of the slot.
func (l *lockHolders) mayLock(slot uint32, key []byte, but *lockHolder) bool {
	if l.anywhere.Load() > 0 || l.slots[slot].Load() > 0 {
		return true
	}
	if large := l.large.Load(); large != nil {
		for _, k := range *large {
			if k != but && k.span.Load().Contains(key) {
				return true
			}
		}
	}
	return false
}

// count enters the slots of rows that the transaction is about to lock.
func (l *lockHolders) count(startTS tso.Timestamp, slots []uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.member(startTS)
	switch {
	case k.anywhere, k.streams:
	case len(k.slots)+len(slots) > lockHolderRows:
		l.markAnywhere(k)
	default:
		for _, slot := range slots {
			l.slots[slot].Add(1)
		}
		k.slots = append(k.slots, slots...)
	}
}

func (l *lockHolders) leave(startTS tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(startTS)
}

// leaveBelow removes everyone below the safepoint, whose locks have all been settled.
func (l *lockHolders) leaveBelow(safepoint tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ts := range l.mu.of {
		if ts < safepoint {
			l.drop(ts)
		}
	}
}

func (l *lockHolders) drop(startTS tso.Timestamp) {
	k := l.mu.of[startTS]
	if k == nil {
		return
	}
	delete(l.mu.of, startTS)
	k.touched.Store(true) // nobody would tell it any more
	for _, slot := range k.slots {
		l.slots[slot].Add(-1)
	}
	if k.anywhere {
		l.anywhere.Add(-1)
	}
	if k.streams {
		l.streams.Add(-1)
		l.listLarge()
	}
	l.counted()
}

func (l *lockHolders) none() bool { return l.n.Load() == 0 }

// noneBut reports whether no member but one (nil: none at all) has a lock, or is about to write
// one, in a span of which the function tells that it matters. Unlike mayLock it may be asked
// outside of an update.
func (l *lockHolders) noneBut(but *lockHolder, matters func(kv.Span) bool) bool {
	large, ok := l.onlyLarge()
	for _, k := range large {
		if k != but && matters(*k.span.Load()) {
			return false
		}
	}
	return ok
}

// onlyLarge returns the members, if all of them say in which span their locks are. The list is not
// to be changed.
func (l *lockHolders) onlyLarge() (all []*lockHolder, ok bool) {
	if l.none() {
		return nil, true
	}
	if l.small.Load() > 0 {
		return nil, false
	}
	if large := l.large.Load(); large != nil {
		return *large, true
	}
	return nil, true
}
