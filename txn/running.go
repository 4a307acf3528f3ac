package txn

import "github.com/minidb/minidb/txn/tso"

// Running is a transaction of this process that has begun and not ended. It holds the safepoint at
// or below its start_ts.
type Running struct {
	Session int64 // BeginOptions.Session
	StartTS tso.Timestamp
	Wrote   bool // it has called for a write
}

// Running lists the transactions of this process, in no order.
func (s *Store) Running() (all []Running) {
	s.registry.each(func(r *registration) {
		if !r.drawing {
			all = append(all, Running{Session: r.session, StartTS: r.startTS,
				Wrote: r.wrote.Load()})
		}
	})
	return all
}

// Oldest returns the transaction of this process that holds the safepoint back furthest, if there
// is any.
func (s *Store) Oldest() (oldest Running, found bool) {
	for _, r := range s.Running() {
		if !found || r.StartTS < oldest.StartTS {
			oldest, found = r, true
		}
	}
	return oldest, found
}
