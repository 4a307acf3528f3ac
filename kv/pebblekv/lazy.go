package pebblekv

import "sync/atomic"

// lazyWrites reports whether all lazy updates so far are durable, so that an update that only reads
// need not sync for them.
//
// A sync covers the lazy updates that were in the log before it was asked for. With updates in
// several goroutines a count says that only at a moment when none is under way: then those that
// have begun are those that are in the log. At other moments a sync covers nothing that is
// remembered, which costs a further sync and no more.
type lazyWrites struct {
	begun   atomic.Uint64 // counted before the batch is applied
	applied atomic.Uint64 // counted behind it
	durable atomic.Uint64 // as many as have begun are durable
}

// settled returns the number of lazy updates that a sync asked for from now on takes to disk; 0
// when some are under way.
func (l *lazyWrites) settled() uint64 {
	applied := l.applied.Load()
	if l.begun.Load() != applied {
		return 0
	}
	return applied
}

// raise notes that the first n lazy updates are durable.
func (l *lazyWrites) raise(n uint64) {
	for {
		have := l.durable.Load()
		if n <= have || l.durable.CompareAndSwap(have, n) {
			return
		}
	}
}

// unsynced reports whether a lazy update that has begun may not be durable.
func (l *lazyWrites) unsynced() bool { return l.begun.Load() != l.durable.Load() }
