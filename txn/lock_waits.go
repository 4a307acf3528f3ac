package txn

import (
	"sync"

	"github.com/minidb/minidb/txn/wait"
)

// LockWait is a transaction of this Store that waits for a lock in the store.
type LockWait = wait.LockWait

// lockWaits are the transactions that wait now, on an engine of this process's own.
type lockWaits struct {
	mu  sync.Mutex
	all map[*LockWait]struct{}
}

// enter adds a wait until leave removes it.
func (l *lockWaits) enter(w *LockWait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[*LockWait]struct{}{}
	}
	l.all[w] = struct{}{}
}

func (l *lockWaits) leave(w *LockWait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, w)
}

// list returns the waits in no order.
func (l *lockWaits) list() []LockWait {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]LockWait, 0, len(l.all))
	for w := range l.all {
		out = append(out, *w)
	}
	return out
}
