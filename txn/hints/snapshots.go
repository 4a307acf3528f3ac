package hints

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minidb/minidb/kv"
)

// snapshots is a cache of the snapshots that transactions on an engine of this process's own have
// left, for the next ones: a read with a transaction of its own then costs no snapshot of the
// engine and no iterator. A cached snapshot is closed when it was not taken for a moment, and when
// it has become old, for it pins memtables and tables of the engine.
type snapshots struct {
	tick atomic.Uint64 // moments since Open, counted while there are snapshots
	mu   struct {
		sync.Mutex
		kept   []*Snapshot // the newest use is the last
		open   bool
		asleep bool // expire waits for a snapshot
	}
	wake chan struct{}
}

const (
	// snapshotsMost is how many snapshots are kept: as many as there may be readers at the same
	// moment.
	snapshotsMost = 16
	// snapshotsTick is the length of a moment.
	snapshotsTick = 100 * time.Millisecond
	// snapshotIdleTicks and snapshotAgeTicks are how long a snapshot is kept unused, and at all.
	snapshotIdleTicks, snapshotAgeTicks = 2, 20
)

func (c *snapshots) open() {
	c.wake = make(chan struct{}, 1)
	c.mu.open = true
}

func (c *snapshots) now() uint64 { return c.tick.Load() }

// NewSnapshot returns the first reference to a snapshot of the engine.
func (c *snapshots) NewSnapshot(snap kv.Snapshot) *Snapshot {
	v := &Snapshot{snap: snap, refs: 1, born: c.now()}
	v.View.Init(snap)
	return v
}

// Take returns the snapshot that was put last, or nil. The caller is its only owner.
func (c *snapshots) Take() *Snapshot {
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

// Release gives up one reference. The last one leaves the snapshot to the next transaction, or
// closes it.
func (c *snapshots) Release(v *Snapshot) error {
	if v.refs--; v.refs > 0 || c.put(v) {
		return nil
	}
	return v.Close()
}

// put returns an unreferenced snapshot to the cache. It reports false if the snapshot cannot be
// shared, is too old, or the cache is full.
func (c *snapshots) put(v *Snapshot) bool {
	now := c.now()
	if v.SharedUpTo == 0 || now-v.born > snapshotAgeTicks {
		return false
	}
	v.UpTo, v.used = v.SharedUpTo, now
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mu.open || len(c.mu.kept) == snapshotsMost {
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

// Expire closes what is idle or old, until Close. While there are no snapshots it sleeps.
func (c *snapshots) Expire(ctx context.Context) {
	timer := time.NewTimer(snapshotsTick)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		now := c.tick.Add(1)
		if c.drop(func(v *Snapshot) bool {
			return now-v.used > snapshotIdleTicks ||
				now-v.born > snapshotAgeTicks
		}) {
			select {
			case <-ctx.Done():
				return
			case <-c.wake:
			}
		}
		timer.Reset(snapshotsTick)
	}
}

// drop closes the kept snapshots for which the function holds. If none is left, the next one to be
// put wakes expire.
func (c *snapshots) drop(which func(*Snapshot) bool) (none bool) {
	var out []*Snapshot
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
		_ = v.Close() // no transaction reads from it: a failure changes no result
	}
	return none
}

// Close closes them all, and from now on each one that is put.
func (c *snapshots) Close() {
	c.mu.Lock()
	c.mu.open = false
	c.mu.Unlock()
	c.drop(func(*Snapshot) bool { return true })
}
