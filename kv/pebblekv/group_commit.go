package pebblekv

import (
	"runtime"
	"sync/atomic"
	"time"
)

// groupCommit lets those whose commit has just become durable write their next one before the log's
// next sync begins, so that it takes them all. Pebble's flush loop wakes them and at once syncs
// again for the committers that came meanwhile; the woken ones then need one more sync. With 64
// committers on 2 processors that makes 0.2 syncs a commit where 0.03 do.
//
// afterSync is given to Pebble as WALMinSyncInterval, which it asks after each sync, in the
// goroutine of the flush loop, once the waiters are woken and before it looks for new ones. The
// loop holds its own mutex there. A goroutine that wants that mutex (a writer that has filled a
// block of the log, and behind it all others) waits until the loop runs again. The loop is runnable
// and not parked, so it runs again without help. A yield therefore costs time but cannot deadlock,
// as long as afterSync neither blocks nor calls Pebble.
//
// A yield is expensive where other goroutines keep the processors busy: the yielding goroutine goes
// to the end of the scheduler's queue, and each goroutine that computes without a pause may run for
// 10 ms before it. Four of them made commits ten times slower. So a single committer, which gains
// nothing, never yields. After a yield that took long there is none for a multiple of that time,
// which bounds the loss to a fiftieth.
type groupCommit struct {
	committing *atomic.Int64 // updates under way, those just woken among them
	resume     atomic.Int64  // no yield before this time, in nanoseconds since start

	yield func()
	now   func() time.Duration // since any fixed time; monotonic
}

// A yield is long when it takes more than yieldMax, and yieldMaxEach for each committer: they run
// meanwhile. After a long one there is none for yieldRest times its duration.
const (
	yieldMax     = time.Millisecond
	yieldMaxEach = 100 * time.Microsecond
	yieldRest    = 50
)

func newGroupCommit(committing *atomic.Int64) *groupCommit {
	start := time.Now()
	return &groupCommit{
		committing: committing,
		yield:      runtime.Gosched,
		now:        func() time.Duration { return time.Since(start) },
	}
}

// afterSync yields the processor if that is promising, and never asks Pebble to wait with the next
// sync.
func (g *groupCommit) afterSync() time.Duration {
	n := g.committing.Load()
	if n < 2 {
		return 0
	}
	before := g.now()
	if int64(before) < g.resume.Load() {
		return 0
	}
	g.yield()
	after := g.now()
	if took := after - before; took > yieldMax+time.Duration(n)*yieldMaxEach {
		g.resume.Store(int64(after + yieldRest*took))
	}
	return 0
}
