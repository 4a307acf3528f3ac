package txn

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/minidb/minidb/txn/tso"
)

// recentSlots is the size of the table of recent commits: 256 KiB.
const recentSlots = 1 << 15

// recent remembers, for each slot of rows, the newest commit timestamp that this process gave to any
// of them. A row whose slot is at or below a start_ts was not written after it, so a one-phase
// commit need not look. Slots are raised before the write records are applied, under the rows'
// latches or before them; what was there before Open is below every start_ts drawn since. On a
// store with other writers the table says nothing, and the records are read.
type recent struct {
	seed  maphash.Seed
	last  atomic.Uint64 // the newest of all
	slots [recentSlots]atomic.Uint64
}

func newRecent() *recent { return &recent{seed: maphash.MakeSeed()} }

func (r *recent) slot(row []byte) *atomic.Uint64 {
	return &r.slots[maphash.Bytes(r.seed, row)%recentSlots]
}

func (r *recent) unchangedSince(row []byte, startTS tso.Timestamp) bool {
	return tso.Timestamp(r.slot(row).Load()) <= startTS
}

// newest returns the newest of all.
func (r *recent) newest() tso.Timestamp { return tso.Timestamp(r.last.Load()) }

func (r *recent) raise(row []byte, commitTS tso.Timestamp) {
	raise(r.slot(row), uint64(commitTS))
	raise(&r.last, uint64(commitTS))
}

func raise(a *atomic.Uint64, to uint64) {
	for {
		old := a.Load()
		if old >= to || a.CompareAndSwap(old, to) {
			return
		}
	}
}

// lockers is the set of transactions that may hold locks in the engine. While it is empty, readers
// and one-phase commits need not look for locks. A transaction enters before its first prewrite and
// leaves when all its locks are known to be gone; one whose coordinator died stays until the
// collector has settled every lock below the safepoint. On a store with other writers the set says
// nothing, and the lock column is read.
type lockers struct {
	n  atomic.Int64
	mu struct {
		sync.Mutex
		startTS map[tso.Timestamp]struct{}
	}
}

func (l *lockers) enter(startTS tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.startTS == nil {
		l.mu.startTS = map[tso.Timestamp]struct{}{}
	}
	l.mu.startTS[startTS] = struct{}{}
	l.n.Store(int64(len(l.mu.startTS)))
}

func (l *lockers) leave(startTS tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.mu.startTS, startTS)
	l.n.Store(int64(len(l.mu.startTS)))
}

// leaveBelow removes everyone below the safepoint, whose locks have all been settled.
func (l *lockers) leaveBelow(safepoint tso.Timestamp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ts := range l.mu.startTS {
		if ts < safepoint {
			delete(l.mu.startTS, ts)
		}
	}
	l.n.Store(int64(len(l.mu.startTS)))
}

func (l *lockers) none() bool { return l.n.Load() == 0 }
