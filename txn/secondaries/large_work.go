package secondaries

import (
	"context"
	"sync"
	"time"

	"github.com/minidb/minidb/txn/hints"
)

// RunLarge settles what large transactions leave, until the context ends. Then it takes one more
// step of each and returns: what is left is settled after the next Open.
func (c *Committer) RunLarge(ctx context.Context) {
	for last := false; !last; {
		select {
		case <-c.large.wake:
		case <-ctx.Done():
			last = true
		}
		for w, ok := c.large.next(); ok; w, ok = c.large.next() {
			began := time.Now()
			if c.settleStep(context.WithoutCancel(ctx), &w) && !c.closes() {
				c.large.add(w)
				c.restAfter(time.Since(began))
			}
		}
	}
}

// largeRest is how many times as long as a batch took the goroutine rests after it: no client waits
// for its work, and others want the processors.
const largeRest = 2

// restAfter rests after a batch, unless the store closes.
func (c *Committer) restAfter(batch time.Duration) {
	timer := time.NewTimer(largeRest * batch)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.opts.Closing:
	}
}

// largeWork is what large transactions have left: locks to be settled, a batch of each transaction
// in turn.
type largeWork struct {
	mu   sync.Mutex
	all  []Work
	wake chan struct{} // holds one while there may be work
}

// largeInMemory is how many of them keep in memory which locks they have. The locks of the others
// are looked for in the store. A transaction with a prewrite of an unknown result keeps its batches
// in any case: the store may not have all its locks yet.
const largeInMemory = 4

// add adds work at the end.
func (l *largeWork) add(w Work) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) >= largeInMemory && w.Streamed.End == nil && !w.uncertain() {
		for i := range w.Batches {
			if muts := w.Batches[i].Muts; len(muts) > 0 {
				w.Streamed = hints.Widened(w.Streamed, muts)
			}
		}
		w.Batches = nil
	}
	l.all = append(l.all, w)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// next takes out the first.
func (l *largeWork) next() (w Work, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 {
		return Work{}, false
	}
	w = l.all[0]
	l.all = append(l.all[:0:0], l.all[1:]...)
	return w, true
}
