package hints

import (
	"bytes"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// lockHolders is the set of transactions that may hold locks in the engine. While it is empty,
// readers and one-phase commits need not look for locks. A transaction enters before its first
// prewrite and leaves when all its locks are known to be gone; one whose coordinator died stays
// until the collector has settled every lock below the safepoint. On a store with other writers the
// set says nothing, and the lock column is read.
//
// Each member counts in the slots of the rows that it prewrites, so that a prewrite need not look
// for another transaction's lock on a row whose slot no member counts in. The step of a prewrite
// asks and counts under the row's latch. A large member, which streams or has more rows than are
// counted, names the span of its locks instead: before a prewrite, and when some of them are gone.
//
// A member also remembers whether another transaction has touched its locks (txn: I21). Until then
// the locks are as the member wrote them, and need not be read again to become write records. A
// resolver calls Touch before the update that pushes, rolls forward or rolls back a lock; the
// coordinator asks Pristine inside its own update, under the row's latch. So either the coordinator
// learns of the resolver and reads the lock, or the resolver finds what the coordinator wrote. The
// coordinator always reads locks whose prewrite may have been applied twice, because its result was
// lost, and locks that were streamed out.
//
// The set keeps the status of a large member from when it is durable until its locks are gone (txn:
// I23), on a store with other writers too.
type lockHolders struct {
	n        atomic.Int64
	slots    [recentSlots]atomic.Int32     // as those of recent commits
	anywhere atomic.Int64                  // members that may have locked any row
	streams  atomic.Int64                  // members that stream
	large    atomic.Pointer[[]*LockHolder] // the same; the list is replaced, never changed
	// members that do not stream, whose locks may be on any row
	small atomic.Int64
	mu    struct {
		sync.Mutex
		of map[tso.Timestamp]*LockHolder
	}
}

// LockHolder is one member.
type LockHolder struct {
	startTS tso.Timestamp

	// Under the set's mutex.
	slots    []uint32
	anywhere bool
	streams  bool
	decided  bool // its status is commitTS, zero for rolled back; its locks are being settled
	commitTS tso.Timestamp

	// of one that streams: outside of it there are none of its locks
	Span    atomic.Pointer[kv.Span]
	touched atomic.Bool // see pristine; never taken back

	liveness Liveness // what is known of its transaction
}

// Pristine reports whether each lock that the member's coordinator is known to have written is
// still there, as it was written but for heartbeats. Asked inside a step, it holds for the step's
// rows: a resolver calls Touch first, and then needs the row's latch to push, roll forward or roll
// back one of the locks. It is false for nil, the member on an engine that is shared.
func (k *LockHolder) Pristine() bool {
	return k != nil && !k.touched.Load()
}

// LockHolderRows is how many rows of one member are counted; one with more may have locked any.
const LockHolderRows = 1 << 12

// enter makes a transaction that runs a member that has locked nothing yet.
func (l *lockHolders) enter(startTS tso.Timestamp) *LockHolder {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.member(startTS)
	k.liveness.begin()
	return k
}

// EnterStream makes it one whose locks in the store may stand for row locks that it has in memory
// no more, and whose locks lie in a span, which is empty now.
func (l *lockHolders) EnterStream(startTS tso.Timestamp) *LockHolder {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.member(startTS)
	k.liveness.begin()
	if !k.streams {
		k.streams = true
		k.Span.Store(&kv.Span{End: []byte{}})
		l.streams.Add(1)
		l.listLarge()
	}
	return k
}

// listLarge lists the members that stream anew, before it counts the others: a reader that finds
// the number of others zero finds in the list each member that entered before.
func (l *lockHolders) listLarge() {
	var all []*LockHolder
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
func (l *lockHolders) find(startTS tso.Timestamp) *LockHolder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.of[startTS]
}

// Shrink notes that the locks of a member that streams are gone, but for those in a span.
func (l *lockHolders) Shrink(startTS tso.Timestamp, span kv.Span) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.mu.of[startTS]; k != nil {
		k.Span.Store(&span)
	}
}

// Streaming reports whether the transaction is one that streams, or has streamed.
func (l *lockHolders) Streaming(startTS tso.Timestamp) bool {
	if l.streams.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.mu.of[startTS]
	return k != nil && k.streams
}

// AnyStreams reports whether any member streams.
func (l *lockHolders) AnyStreams() bool { return l.streams.Load() > 0 }

// Decide notes what became of a transaction whose locks are many and stay for a while: its
// commit_ts, durable, or zero when it is rolled back.
func (l *lockHolders) Decide(startTS, commitTS tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.member(startTS)
	k.decided, k.commitTS = true, commitTS
	k.liveness.decided(commitTS)
}

// Decision returns what decide noted.
func (l *lockHolders) Decision(startTS tso.Timestamp) (commitTS tso.Timestamp, known bool) {
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

// Touch marks the transaction's locks as possibly changed by a resolver. Call it before the update
// that changes them.
func (l *lockHolders) Touch(startTS tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.mu.of[startTS]; k != nil {
		k.touched.Store(true)
	}
}

// EnterAnywhere makes it one that may have locked any row.
func (l *lockHolders) EnterAnywhere(startTS tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.markAnywhere(l.member(startTS))
}

func (l *lockHolders) member(startTS tso.Timestamp) *LockHolder {
	k := l.mu.of[startTS]
	if k == nil {
		if l.mu.of == nil {
			l.mu.of = map[tso.Timestamp]*LockHolder{}
		}
		k = &LockHolder{startTS: startTS}
		l.mu.of[startTS] = k
		l.counted()
	}
	return k
}

func (l *lockHolders) markAnywhere(k *LockHolder) {
	if !k.anywhere {
		k.anywhere = true
		l.anywhere.Add(1)
	}
}

// mayLock reports whether any member but one (nil: any member) may have a lock on a key, whose row
// is of the slot.
func (l *lockHolders) mayLock(slot uint32, key []byte, but *LockHolder) bool {
	if l.anywhere.Load() > 0 || l.slots[slot].Load() > 0 {
		return true
	}
	if large := l.large.Load(); large != nil {
		for _, k := range *large {
			if k != but && k.Span.Load().Contains(key) {
				return true
			}
		}
	}
	return false
}

// Count enters the slots of rows that the transaction is about to lock.
func (l *lockHolders) Count(startTS tso.Timestamp, slots []uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.member(startTS)
	switch {
	case k.anywhere, k.streams:
	case len(k.slots)+len(slots) > LockHolderRows:
		l.markAnywhere(k)
	default:
		for _, slot := range slots {
			l.slots[slot].Add(1)
		}
		k.slots = append(k.slots, slots...)
	}
}

// Leave removes a member whose locks are gone.
func (l *lockHolders) Leave(startTS tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(startTS)
}

// LeaveBelow removes the members below the safepoint, whose locks have all been settled.
func (l *lockHolders) LeaveBelow(safepoint tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ts := range l.mu.of {
		if ts < safepoint {
			l.drop(ts)
		}
	}
}

// Forget drops what memory knows of the members' transactions: their primaries alone know the
// status of each. Tests call it, to play a process that knows no more than the store.
func (l *lockHolders) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, k := range l.mu.of {
		k.liveness.forget()
	}
}

func (l *lockHolders) drop(startTS tso.Timestamp) {
	k := l.mu.of[startTS]
	if k == nil {
		return
	}
	delete(l.mu.of, startTS)
	k.touched.Store(true) // the set does not know it any more
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

// None reports whether no transaction holds a lock.
func (l *lockHolders) None() bool { return l.n.Load() == 0 }

// NoneBut reports whether no member but one (nil: none at all) has a lock, or is about to write
// one, in a span for which matters holds. Unlike mayLock it may be called outside of an update.
func (l *lockHolders) NoneBut(but *LockHolder, matters func(kv.Span) bool) bool {
	large, ok := l.onlyLarge()
	for _, k := range large {
		if k != but && matters(*k.Span.Load()) {
			return false
		}
	}
	return ok
}

// NoneSince reports whether no lock in the span matters to a transaction that has read it at a
// timestamp: each member that may have locks there was committed at or below it, so that the locks
// were read as the records that they become, or is rolled back.
func (l *lockHolders) NoneSince(span kv.Span, since tso.Timestamp) bool {
	large, ok := l.onlyLarge()
	for _, k := range large {
		if k.Span.Load().Overlaps(span) && !k.liveness.overBy(since) {
			return false
		}
	}
	return ok
}

// onlyLarge returns the members, if all of them say in which span their locks are. The list is not
// to be changed.
func (l *lockHolders) onlyLarge() (all []*LockHolder, ok bool) {
	if l.None() {
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

// Widened returns the span with the keys of mutations in it, which are sorted.
func Widened(span kv.Span, muts []mvcc.Mutation) kv.Span {
	low, high := muts[0].Key, muts[len(muts)-1].Key
	if span.End == nil || bytes.Compare(low, span.Start) < 0 {
		span.Start = bytes.Clone(low)
	}
	if span.End == nil || bytes.Compare(high, span.End) >= 0 {
		span.End = kv.Successor(high)
	}
	return span
}
