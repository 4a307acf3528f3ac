package memory

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

const (
	// free is what an account may hold before it asks the pool.
	free = 64 << 10
	// small accounts may take from the reserve.
	small = 1 << 20
	// leastStep and mostStep bound what an account takes from the pool at once, an eighth of what
	// it holds.
	leastStep = 256 << 10
	mostStep  = 4 << 20
)

// Owner is whose work an account counts.
type Owner interface {
	// Running is the context of the work that asks for memory. It is called by the goroutine that
	// asks.
	Running() context.Context
	// End ends what the owner runs at the moment with the cause, and reports whether it runs
	// anything. It is called by any goroutine and must not wait, nor use the pool.
	End(cause error) bool
	// PID identifies the owner in views and logs.
	PID() int32
}

// Account counts the memory of one owner. It belongs to one goroutine at a time. The nil Account
// counts nothing and refuses nothing.
type Account struct {
	pool    *Pool
	owner   Owner
	used    int64
	granted int64        // used may go so far; free of it is not the pool's
	taken   atomic.Int64 // from the pool
	ending  atomic.Pointer[ExhaustedError]
}

// ExhaustedError means that the process may hold no more, and that this statement was chosen to
// end.
type ExhaustedError struct {
	Held  int64 // bytes that the account held
	Asked int64 // bytes that it asked for; 0: another account did
	Bound int64 // of the process
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("memory: %d kB are held and the process may hold %d kB", e.Held>>10,
		e.Bound>>10)
}

// Grow counts n more bytes, which the caller is about to allocate. It fails with an *ExhaustedError
// when the pool has no more and this account is the largest, or was chosen to end before; and with
// the cause of the owner's context when that ends while Grow waits. The bytes are counted also when
// Grow fails: the caller gives them back with all others.
func (a *Account) Grow(n int64) error {
	if a == nil {
		return nil
	}
	if a.used += n; a.used <= a.granted {
		return nil
	}
	return a.more(true)
}

// TryGrow is Grow for what its caller can do without. It counts n bytes only while the pool is less
// than half full with them, and reports whether it is: the other half is left to those that cannot.
func (a *Account) TryGrow(n int64) bool {
	if a == nil {
		return true
	}
	if a.used += n; a.used <= a.granted || a.more(false) == nil {
		return true
	}
	a.used -= n
	return false
}

// Owe counts n bytes without asking for them: they are allocated already, or will be given back at
// once.
func (a *Account) Owe(n int64) {
	if a != nil {
		a.used += n
	}
}

// Move lets another account of the same pool count n bytes from now on. Both belong to the
// goroutine that calls.
func (a *Account) Move(n int64, to *Account) {
	if a == nil || to == nil {
		return
	}
	a.used -= n
	to.used += n
	if g := min(n, a.granted-max(a.used, free)); g > 0 {
		a.granted -= g
		a.taken.Add(-g)
		a.pool.enter(to, g)
	}
}

// Shrink gives n bytes back.
func (a *Account) Shrink(n int64) {
	if a == nil {
		return
	}
	a.used -= n
	if a.used == 0 {
		a.give(a.granted - free)
	} else if kept := max(a.used+2*a.step(), free); a.granted > kept+leastStep {
		a.give(a.granted - kept)
	}
}

// Used is what the account counts.
func (a *Account) Used() int64 {
	if a == nil {
		return 0
	}
	return a.used
}

// Settle is called when what the owner ran has ended: the account keeps no more than it counts. One
// that was chosen to end is then like any other again.
func (a *Account) Settle() {
	if a == nil {
		return
	}
	if kept := max(a.used, free); a.granted > kept {
		a.give(a.granted - kept)
	}
	if a.ending.Load() != nil {
		a.pool.settle(a)
	}
}

// Close gives everything back. The account may be used again.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.used = 0
	a.Settle()
	a.pool.forget(a)
}

// step is what the account takes beyond its need.
func (a *Account) step() int64 { return min(max(a.granted/8, leastStep), mostStep) }

// more takes what is missing from the pool.
func (a *Account) more(wait bool) error {
	need := a.used - a.granted
	if !wait && !a.pool.halfEmpty(need+a.step()) {
		return errFull
	}
	if wait && a.used > small && a.pool.watch.full() {
		if err := a.pool.relieve(a, need); err != nil {
			return err
		}
	}
	for _, n := range []int64{need + a.step(), need} {
		if a.pool.take(a, n) {
			return nil
		}
	}
	if !wait {
		return errFull
	}
	return a.pool.takeSlowly(a, need)
}

var errFull = errors.New("memory: the pool has no more at once")

// give returns n bytes to the pool.
func (a *Account) give(n int64) {
	if n <= 0 {
		return
	}
	a.granted -= n
	a.taken.Add(-n)
	a.pool.giveBack(n)
}
