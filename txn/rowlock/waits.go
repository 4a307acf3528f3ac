package rowlock

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// Waits counts waits for locks and the time that they took.
type Waits struct {
	Number int
	Time   time.Duration
}

// WaitCounter counts waits. Several goroutines may use it.
type WaitCounter struct {
	number, nanoseconds atomic.Int64
}

// Add adds the time of a wait, or with first false of another part of the wait before.
func (c *WaitCounter) Add(d time.Duration, first bool) {
	if first {
		c.number.Add(1)
	}
	c.nanoseconds.Add(int64(d))
}

// Waits returns what was counted.
func (c *WaitCounter) Waits() Waits {
	return Waits{int(c.number.Load()), time.Duration(c.nanoseconds.Load())}
}

// Ended returns the waits of all owners that have ended, in whatever way.
func (t *Table) Ended() Waits { return t.waits.Waits() }

// Waits returns the owner's waits since it was made.
func (o *Owner) Waits() Waits { return o.waits.Waits() }

// CountWait adds the time of a wait, or with first false of another part of the wait before. The
// batches of one commit are written by several goroutines, and each may wait.
func (o *Owner) CountWait(d time.Duration, first bool) { o.waits.Add(d, first) }

// LongWait is a wait that has lasted longer than the owner's patience: once while it goes on, and
// once more when it is over.
type LongWait struct {
	Key  []byte
	Mode Mode
	For  time.Duration // so far
	// Holders hold the lock in a mode that excludes this one, and Ahead have asked for it before,
	// by ID; both of the moment at which the patience ended.
	Holders, Ahead []int64
	Over           bool
	Err            error // why the lock was not granted; nil: it was, or the wait goes on
}

// OnLongWait sets what is called, by the owner's goroutine, for waits that last longer than the
// owner's patience; nil: nothing. It must not lock.
func (o *Owner) OnLongWait(f func(LongWait)) { o.onLongWait = f }

// wait waits for the end of a queued request.
func (t *Table) wait(ctx context.Context, w *waiter) error {
	report := w.owner.onLongWait
	var long LongWait
	var tired <-chan time.Time
	if report != nil && w.owner.Patience() > 0 {
		timer := time.NewTimer(w.owner.Patience())
		defer timer.Stop()
		tired = timer.C
	}
	var expired <-chan time.Time
	if w.req.Timeout > 0 {
		timer := time.NewTimer(w.req.Timeout)
		defer timer.Stop()
		expired = timer.C
	}
	var err error
	for waiting := true; waiting; {
		select {
		case <-tired:
			if long = t.longWait(w); long.Key != nil {
				report(long)
			}
			continue
		case err = <-w.done:
		case <-ctx.Done():
			err = t.giveUp(w, ctx.Err())
		case <-expired:
			err = t.giveUp(w, nil)
		}
		waiting = false
	}
	waited := time.Since(w.since)
	t.waits.Add(waited, true)
	w.owner.CountWait(waited, true)
	if long.Key != nil {
		long.For, long.Over, long.Err = waited, true, err
		report(long)
	}
	return err
}

// giveUp ends a wait for the reason, or for its timeout if that is nil, unless it was decided
// meanwhile.
func (t *Table) giveUp(w *waiter, reason error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.owner.waiting != w {
		return <-w.done
	}
	if reason == nil {
		reason = newTimeout(w)
	}
	t.leave(w)
	return reason
}

// longWait describes a wait that goes on; its Key is nil if it is over.
func (t *Table) longWait(w *waiter) LongWait {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.owner.waiting != w {
		return LongWait{}
	}
	l := LongWait{Key: []byte(w.entry.key), Mode: w.req.Mode, For: time.Since(w.since)}
	for b := range w.entry.blockers(w, slices.Index(w.entry.queue, w)) {
		if w.entry.holder(b) != nil {
			l.Holders = append(l.Holders, b.id)
		} else {
			l.Ahead = append(l.Ahead, b.id)
		}
	}
	return l
}
