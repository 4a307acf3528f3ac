package tso

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// The oracle's clock is the wall clock without its steps. Leases, times to live, retention and AS
// OF are judged by the physical part of timestamps. They must not stop, and no lease may end
// because an administrator corrected the time. So the physical part follows these rules:
//
//	the wall clock is    the oracle's clock
//	ahead by up to a day follows it: at once, or, where it judges leases, at most twice as fast
//	ahead by more        goes on by the monotonic clock: no such time has passed, it is an error
//	behind               goes on by the monotonic clock, slower by a tenth until the two agree
//
// A crash leaves the high-water mark ahead of the wall clock by as much as a range, and the last
// rule takes that back.

const (
	// jumpMost is the longest step forwards that is followed: a machine that slept over night is
	// right.
	jumpMost = 24 * time.Hour
	// slewPause is the time between two comparisons of the clocks, and slewPart the part of it by
	// which the oracle's clock is held back at most.
	slewPause = slewPart * time.Millisecond
	slewPart  = 10
	// agreement is how far behind the wall clock may be to be taken for right. The two clocks are
	// not read at one instant, and a client that knows the wall clock expects its time.
	agreement = 10 * time.Millisecond

	// aheadMost and behindMost are how far the wall clock may be from the newest timestamp of the
	// store when it is opened.
	aheadMost  = 10 * 365 * 24 * time.Hour
	behindMost = 2 * jumpMost
)

// The wall clock of a machine that runs this is between these.
var (
	earliest = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// ClockError is returned for an oracle that was not opened because the wall clock cannot be right.
// Going on by that clock would put its error into the store for good, for timestamps never fall.
type ClockError struct {
	Wall time.Time
	Last time.Time // of the newest timestamp of the store; zero for a new one
}

func (e *ClockError) Error() string {
	at := e.Wall.UTC().Format(time.RFC3339)
	if e.Last.IsZero() {
		return fmt.Sprintf("the clock of this machine says %s, which cannot be: set the clock", at)
	}
	return fmt.Sprintf("the clock of this machine says %s, and the newest timestamp in the store "+
		"is of %s: set the clock, "+
		"or, if it is right, accept it", at, e.Last.UTC().Format(time.RFC3339))
}

// checkClock refuses a wall clock that cannot be right. newest is the newest timestamp in the
// store, if any. A store that was made by a wrong clock proves nothing about a clock that is ahead
// of it.
func checkClock(wall int64, newest Timestamp, machine bool) error {
	e := &ClockError{Wall: time.UnixMilli(wall)}
	if newest != 0 {
		e.Last = newest.Time()
		ahead := e.Wall.Sub(e.Last)
		if ahead > aheadMost && e.Last.After(earliest) || ahead < -behindMost {
			return e
		}
	}
	if machine && (e.Wall.Before(earliest) || e.Wall.After(latest)) {
		return e
	}
	return nil
}

// clock is the oracle's clock: physical time is the monotonic clock's plus offset.
type clock struct {
	read   func() (wall, elapsed int64) // milliseconds since 1970, and of the monotonic clock
	steady bool                         // a step forwards is followed slowly
	logger *slog.Logger

	offset atomic.Int64
	looked atomic.Int64 // on the monotonic clock, when slew looked
	latest atomic.Int64 // the latest time that now returned
	wild   atomic.Bool  // the wall clock is further ahead than is followed
}

// start begins at the wall clock's time, or at that of the newest timestamp if it is later.
func (c *clock) start(wall, elapsed int64, newest Timestamp) {
	c.offset.Store(max(wall, newest.Physical()) - elapsed)
	c.looked.Store(elapsed)
	c.latest.Store(0)
}

// now returns the milliseconds since 1970. It never goes back, so what has expired stays expired.
// Where slewing or the moment of agreement would take it back, it stops for some milliseconds.
func (c *clock) now() int64 {
	now := c.estimate()
	for {
		latest := c.latest.Load()
		if now <= latest {
			return latest
		}
		if c.latest.CompareAndSwap(latest, now) {
			return now
		}
	}
}

func (c *clock) estimate() int64 {
	wall, elapsed := c.read()
	if looked := c.looked.Load(); elapsed-looked >= slewPause.Milliseconds() &&
		c.looked.CompareAndSwap(looked, elapsed) {
		c.slew(wall, elapsed, elapsed-looked)
	}
	for {
		offset := c.offset.Load()
		ahead := wall - elapsed - offset
		switch {
		case ahead <= 0 && ahead >= -agreement.Milliseconds():
			return wall
		case ahead <= 0 || c.steady || ahead > jumpMost.Milliseconds():
			return elapsed + offset
		case c.offset.CompareAndSwap(offset, offset+ahead):
			return wall
		}
	}
}

// slew moves the offset towards the wall clock, by what is due after some time.
func (c *clock) slew(wall, elapsed, since int64) {
	ahead := wall - elapsed - c.offset.Load()
	wild := ahead > jumpMost.Milliseconds()
	if c.wild.Swap(wild) != wild && wild {
		c.logger.Error("the wall clock is far ahead of the timestamps, which go on without it; "+
			"set it, or, if it is right, open the store again",
			"wall", time.UnixMilli(wall).UTC(), "timestamps", time.UnixMilli(wall-ahead).UTC())
	}
	switch {
	case wild:
	case ahead < 0:
		c.offset.Add(max(ahead, -since/slewPart))
	case c.steady:
		c.offset.Add(min(ahead, since))
	}
}

// reach moves the clock up to a timestamp of another oracle.
func (c *clock) reach(ts Timestamp) {
	_, elapsed := c.read()
	for {
		offset := c.offset.Load()
		if elapsed+offset >= ts.Physical() ||
			c.offset.CompareAndSwap(offset, ts.Physical()-elapsed) {
			return
		}
	}
}

// machine reads the clocks of the machine.
func machine() func() (wall, elapsed int64) {
	start := time.Now()
	return func() (int64, int64) {
		now := time.Now()
		return now.UnixMilli(), now.Sub(start).Milliseconds()
	}
}

// advances reads a wall clock that is not the machine's, and takes its steps forwards for time that
// has passed.
func advances(wall func() int64) func() (int64, int64) {
	var mu sync.Mutex
	last, elapsed := wall(), int64(0)
	return func() (int64, int64) {
		mu.Lock()
		defer mu.Unlock()
		now := wall()
		if d := now - last; d > 0 && d <= jumpMost.Milliseconds() {
			elapsed += d
		}
		last = now
		return now, elapsed
	}
}
