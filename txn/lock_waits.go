package txn

import (
	"context"
	"sync"
	"time"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// LockWait is a transaction of this Store that waits for a lock in the store: of a commit under way, or
// a row lock of another process. Waits for row locks of this process are the lock table's (package rowlock).
type LockWait struct {
	Client  uint64        // who waits, by the number of the floors above; zero for nobody known
	StartTS tso.Timestamp // of who waits
	Key     []byte
	Lock    mvcc.Lock // of who is waited for, with client and statement as far as its primary told them
	Since   time.Time
	// Mode is what is wanted of a row, which this process's lock table shows as granted, and Held the
	// row lock that is waited for. Both are rowlock.None where neither is one.
	Mode, Held rowlock.Mode
}

// lockWaits are those who wait now.
type lockWaits struct {
	mu   sync.Mutex
	all  map[*LockWait]struct{}
	rows map[*rowWait]struct{} // those for row locks, beside
	last uint64                // number that was given to a wait or a look

	published time.Time // when the wait-for graph was last put into the store
	searching int       // how many look for circles
}

// LockWaits lists who waits, in no order.
func (s *Store) LockWaits() []LockWait {
	s.waits.mu.Lock()
	defer s.waits.mu.Unlock()
	out := make([]LockWait, 0, len(s.waits.all)+len(s.waits.rows))
	for w := range s.waits.all {
		out = append(out, *w)
	}
	for w := range s.waits.rows {
		out = append(out, w.LockWait)
	}
	return out
}

// awaitLock waits before another look at the lock, and can be seen to wait.
func (t *Txn) awaitLock(ctx context.Context, locked *LockedError, bo *backoff) (more bool, err error) {
	if bo.since.IsZero() {
		bo.since = time.Now()
	}
	w := &LockWait{Client: t.client(), StartTS: t.reg.startTS, Key: locked.Key, Lock: locked.Lock, Since: bo.since}
	waits := &t.s.waits
	waits.mu.Lock()
	if waits.all == nil {
		waits.all = map[*LockWait]struct{}{}
	}
	waits.all[w] = struct{}{}
	waits.mu.Unlock()
	defer func() {
		waits.mu.Lock()
		delete(waits.all, w)
		waits.mu.Unlock()
	}()
	return bo.wait(ctx)
}
