package tso

import "sync/atomic"

// Forward makes of times that are estimated ones that never go back. The zero value is ready to
// use, by several goroutines.
type Forward struct{ latest atomic.Uint64 }

// Time returns now, or the latest time that it has returned if that is later.
func (f *Forward) Time(now Timestamp) Timestamp {
	for {
		latest := f.latest.Load()
		if uint64(now) <= latest {
			return Timestamp(latest)
		}
		if f.latest.CompareAndSwap(latest, uint64(now)) {
			return now
		}
	}
}
