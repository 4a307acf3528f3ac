package rowlock

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrNotAvailable is returned for a request with NoWait that would have to wait.
var ErrNotAvailable = errors.New("lock is not available")

// ErrTimeout is returned for a request whose time to wait is over.
var ErrTimeout = errors.New("lock wait timed out")

// TimeoutError is an ErrTimeout with the key that was waited for, and an owner that blocked it at
// the end.
type TimeoutError struct {
	Wait Wait
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("%v: %d waits for %d", ErrTimeout, e.Wait.Owner, e.Wait.Blocker)
}

// Is makes it an ErrTimeout.
func (e *TimeoutError) Is(target error) bool { return target == ErrTimeout }

// Wait is an edge of the wait-for graph: Owner waits for Blocker.
type Wait struct {
	Key                []byte
	Mode               Mode
	Owner, Blocker     int64  // by ID
	OwnerTransaction   uint64 // numbers, 0 when unknown
	BlockerTransaction uint64
	Since              time.Time
	// Elsewhere and BlockerElsewhere are set when the owner's or the blocker's number is that of
	// another process. Statement and BlockerStatement are what they run, if it is known here.
	Elsewhere, BlockerElsewhere bool
	Statement, BlockerStatement string
}

// DeadlockError is returned for a wait that would have closed a cycle. Its first edge is the
// victim's.
type DeadlockError struct {
	Cycle []Wait
}

func (e *DeadlockError) Error() string {
	var b strings.Builder
	b.WriteString("deadlock: ")
	for i, w := range e.Cycle {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d waits for %d", w.Owner, w.Blocker)
	}
	return b.String()
}

// cycle returns the waiters of a cycle through w, w first, or nil. An owner waits in one place at
// most, so the graph has as many nodes as there are waiters.
func (t *Table) cycle(w *waiter) []*waiter {
	seen := map[*waiter]bool{w: true}
	var search func(path []*waiter) []*waiter
	search = func(path []*waiter) []*waiter {
		last := path[len(path)-1]
		at := slices.Index(last.entry.queue, last)
		for o := range last.entry.blockers(last, at) {
			next := o.waiting
			if next == w {
				return path
			}
			if next == nil || seen[next] {
				continue
			}
			seen[next] = true
			if found := search(append(path, next)); found != nil {
				return found
			}
		}
		return nil
	}
	return search([]*waiter{w})
}

// reorderings bounds how many places in queues are changed to resolve one cycle.
const reorderings = 8

// reorder tries to resolve a cycle by letting one waiter pass another of the same queue, as
// PostgreSQL does: the passing one waited for the order of arrival only. w is the waiter that
// closed the cycle. The change nearest to the cycle's end is tried first, then what is left of the
// cycles, up to more changes.
//
// For example, A holds a table and waits for B elsewhere; C waits for that table, and B waits
// behind C in its queue, for a mode that A's hold allows. When B passes C it is granted, and no
// cycle is left.
func (t *Table) reorder(w *waiter, cycle []*waiter, more int) bool {
	for i := len(cycle) - 1; i >= 0 && more > 0; i-- {
		passing, passed := cycle[i], cycle[(i+1)%len(cycle)]
		e := passing.entry
		if passed.entry != e || passing == passed {
			continue
		}
		if h := e.holder(passed.owner); h != nil && h.held.excludes(passing.req.Mode) {
			continue
		}
		before := slices.Clone(e.queue)
		e.queue = slices.DeleteFunc(e.queue, func(x *waiter) bool { return x == passing })
		e.queue = slices.Insert(e.queue, slices.Index(e.queue, passed), passing)
		left := t.cycle(passing)
		if left == nil {
			left = t.cycle(passed)
		}
		if left == nil {
			left = t.cycle(w)
		}
		if left == nil || t.reorder(w, left, more-1) {
			t.promote(e)
			return true
		}
		e.queue = before
	}
	return false
}

// leastPatient chooses the victim: the owner of the cycle with the least patience.
func leastPatient(w *waiter, cycle []*waiter) *waiter {
	victim := w
	for _, x := range cycle {
		if x.owner.patience.Load() < victim.owner.patience.Load() {
			victim = x
		}
	}
	return victim
}

func newDeadlock(victim *waiter, cycle []*waiter) *DeadlockError {
	start := slices.Index(cycle, victim)
	e := &DeadlockError{}
	for i := range cycle {
		w := cycle[(start+i)%len(cycle)]
		e.Cycle = append(e.Cycle, w.waitFor(cycle[(start+i+1)%len(cycle)].owner))
	}
	return e
}

// newTimeout names the first of the owners for which the waiter, which is still queued, waits.
func newTimeout(w *waiter) *TimeoutError {
	e := &TimeoutError{}
	for o := range w.entry.blockers(w, slices.Index(w.entry.queue, w)) {
		e.Wait = w.waitFor(o)
		break
	}
	return e
}

func (w *waiter) waitFor(b *Owner) Wait {
	return Wait{
		Key: []byte(w.entry.key), Mode: w.req.Mode, Owner: w.owner.id, Blocker: b.id,
		OwnerTransaction: w.owner.transaction.Load(), BlockerTransaction: b.transaction.Load(),
	}
}
