package etcdkv

import "sync/atomic"

// news is whether rows of which nothing is remembered have been new lately. Each time that one was
// not, an update was sent in vain: then twice as many updates as before read such rows first.
type news struct {
	wrong atomic.Int32 // times in a row
	skip  atomic.Int32 // updates that still read first
}

const newsMostSkipped = 6 // as a power of two

// likely reports whether an update may take such rows for new.
func (n *news) likely() bool {
	if n.skip.Load() <= 0 {
		return true
	}
	n.skip.Add(-1)
	return false
}

// note takes in whether they were.
func (n *news) note(right bool) {
	if right {
		n.wrong.Store(0)
		return
	}
	n.skip.Store(1 << min(n.wrong.Add(1), newsMostSkipped))
}
