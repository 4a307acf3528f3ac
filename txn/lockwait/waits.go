package lockwait

import (
	"sync"
	"time"

	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/shared"
	"github.com/minidb/minidb/txn/wait"
)

// Options is what the waits of a store work with.
type Options struct {
	RowLocks *rowlock.Table
	Peers    *shared.Peers // nil when no other process writes to the store
	// LockWait bounds a wait of a request for a row lock where deadlock cycles cannot be found.
	LockWait time.Duration
	Closing  <-chan struct{} // closed when the store begins to close
}

// Waits are the transactions of a store that wait for locks in it. The methods may be called from
// any goroutine.
type Waits struct {
	o   Options
	mu  sync.Mutex
	all map[*wait.LockWait]struct{} // on an engine of this process's own

	// counter counts those of readers, commits and requests, however many attempts they take.
	counter rowlock.WaitCounter
}

// New returns the waits of a store in which none waits yet.
func New(o Options) *Waits { return &Waits{o: o, all: map[*wait.LockWait]struct{}{}} }

// enter adds a wait until leave removes it.
func (s *Waits) enter(w *wait.LockWait) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[w] = struct{}{}
}

func (s *Waits) leave(w *wait.LockWait) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, w)
}

// Counted returns the waits until now, with those that go on.
func (s *Waits) Counted() rowlock.Waits { return s.counter.Waits() }

// List returns the waits in no order.
func (s *Waits) List() []wait.LockWait {
	s.mu.Lock()
	out := make([]wait.LockWait, 0, len(s.all))
	for w := range s.all {
		out = append(out, *w)
	}
	s.mu.Unlock()
	return append(out, s.o.Peers.Waits()...)
}
