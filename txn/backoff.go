package txn

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"
)

// backoff spaces out attempts to get past a lock: from half a millisecond, doubled each time with
// jitter, up to a tenth of a second each, or most, and limit in total.
type backoff struct {
	next  time.Duration
	most  time.Duration
	spent time.Duration
	limit time.Duration
	since time.Time  // of the first wait for a lock: to be shown, not to be judged by
	graph *storeWait // the wait in the graph of all processes that share a store

	closing <-chan struct{} // of the store; nil: the wait does not end with it
}

const (
	backoffFirst = 500 * time.Microsecond
	backoffMost  = 100 * time.Millisecond
)

// wait sleeps and reports whether there is any use in another attempt. The limit counts what was
// slept, so no clock decides. When the store closes the answer is ErrClosed.
func (b *backoff) wait(ctx context.Context) (bool, error) {
	if b.spent >= b.limit {
		return false, ctx.Err()
	}
	if b.next == 0 {
		b.next = backoffFirst
	}
	b.next = min(b.next, cmp.Or(b.most, backoffMost))
	d := min(b.next/2+rand.N(b.next/2+1), b.limit-b.spent)
	b.next = min(2*b.next, cmp.Or(b.most, backoffMost))
	b.spent += d
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case <-b.closing:
		return false, ErrClosed
	}
}
