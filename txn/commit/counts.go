package commit

import "sync/atomic"

// counts are how many commits succeeded.
type counts struct {
	routes [Async + 1]atomic.Int64 // by protocol, Auto unused
	large  atomic.Int64
}

// Counts are how many commits succeeded on each route since the coordinator was made.
type Counts struct {
	OnePhase, TwoPhase, Async int64
	Large                     int64 // that had streamed writes out before
}

// Counts returns them.
func (co *Coordinator) Counts() Counts {
	n := &co.counts
	return Counts{OnePhase: n.routes[OnePhase].Load(), TwoPhase: n.routes[TwoPhase].Load(),
		Async: n.routes[Async].Load(), Large: n.large.Load()}
}
