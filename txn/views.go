package txn

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// views keeps the views that transactions on an exclusive engine have left, for the next ones: a read
// with a transaction of its own then costs no snapshot and no iterator. A view that nobody took for a
// moment is closed, and so is one that has become old, for it pins memtables and tables of the engine.
type views struct {
	tick atomic.Uint64 // moments since Open, counted while there are views
	mu   struct {
		sync.Mutex
		kept   []*view // the newest use is the last
		open   bool
		asleep bool // expire waits for a view
	}
	wake chan struct{}
}

const (
	// viewsMost is how many views are kept: as many as there may be readers at the same moment.
	viewsMost = 16
	// viewsTick is the length of a moment.
	viewsTick = 100 * time.Millisecond
	// viewIdleTicks and viewAgeTicks are how long a view is kept unused, and at all.
	viewIdleTicks, viewAgeTicks = 2, 20
)

func (c *views) open() {
	c.wake = make(chan struct{}, 1)
	c.mu.open = true
}

func (c *views) now() uint64 { return c.tick.Load() }

// take returns the view that was put last, or nil. Its owner is the only one.
func (c *views) take() *view {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.mu.kept)
	if n == 0 {
		return nil
	}
	v := c.mu.kept[n-1]
	c.mu.kept[n-1] = nil
	c.mu.kept = c.mu.kept[:n-1]
	v.refs = 1
	return v
}

// put keeps the view, which nobody refers to any more, unless it is not for others or there are
// enough.
func (c *views) put(v *view) bool {
	now := c.now()
	if v.shared == 0 || now-v.born > viewAgeTicks {
		return false
	}
	v.upTo, v.used = v.shared, now
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mu.open || len(c.mu.kept) == viewsMost {
		return false
	}
	c.mu.kept = append(c.mu.kept, v)
	if c.mu.asleep {
		c.mu.asleep = false
		select {
		case c.wake <- struct{}{}:
		default: // it was not asleep yet when it was woken the last time
		}
	}
	return true
}

// expire closes what is idle or old, until Close. While there are no views it sleeps.
func (c *views) expire(ctx context.Context) {
	timer := time.NewTimer(viewsTick)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		now := c.tick.Add(1)
		if c.drop(func(v *view) bool { return now-v.used > viewIdleTicks || now-v.born > viewAgeTicks }) {
			select {
			case <-ctx.Done():
				return
			case <-c.wake:
			}
		}
		timer.Reset(viewsTick)
	}
}

// drop closes the kept views for which the function holds. If none is left, the next one to be put
// wakes expire.
func (c *views) drop(which func(*view) bool) (none bool) {
	var out []*view
	c.mu.Lock()
	kept := c.mu.kept[:0]
	for _, v := range c.mu.kept {
		if which(v) {
			out = append(out, v)
		} else {
			kept = append(kept, v)
		}
	}
	clear(c.mu.kept[len(kept):])
	c.mu.kept = kept
	c.mu.asleep = len(kept) == 0
	none = c.mu.asleep
	c.mu.Unlock()
	for _, v := range out {
		_ = v.close() // nobody reads from it; a failure changes no answer
	}
	return none
}

// close closes them all, and from now on each one that is put.
func (c *views) close() {
	c.mu.Lock()
	c.mu.open = false
	c.mu.Unlock()
	c.drop(func(*view) bool { return true })
}
