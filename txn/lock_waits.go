package txn

import (
	"context"
	"sync"
	"time"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// LockWait is a transaction of this Store that waits for a lock in the store. Waits for row locks, which
// are this process's memory, are the lock table's (package rowlock).
type LockWait struct {
	Client  uint64        // who waits, by the number of the floors above; zero for nobody known
	StartTS tso.Timestamp // of who waits
	Key     []byte
	Lock    mvcc.Lock // of who is waited for, with client and statement as far as its primary told them
	Since   time.Time
}

// lockWaits are those who wait now.
type lockWaits struct {
	mu  sync.Mutex
	all map[*LockWait]struct{}
}

// LockWaits lists who waits, in no order.
func (s *Store) LockWaits() []LockWait {
	s.waits.mu.Lock()
	defer s.waits.mu.Unlock()
	out := make([]LockWait, 0, len(s.waits.all))
	for w := range s.waits.all {
		out = append(out, *w)
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
