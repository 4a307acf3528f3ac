package ssi

import "slices"

// safety is the search for a safe snapshot. A transaction declared READ ONLY has the writers that
// it waits for; a writer has the readers that wait for it.
type safety struct {
	deferred bool // nothing happens in it before the search has ended
	safe     bool
	unsafe   bool
	awaited  []*Node // writers concurrent with the snapshot that have not ended
	watchers []*Node
	decided  chan struct{} // closed when safe or unsafe is
}

// watch begins the search: each writer that may commit above the snapshot can spoil it.
func (n *Node) watch() {
	n.decided = make(chan struct{})
	for _, w := range n.g.active {
		if !w.reader && !w.gone() {
			n.awaited = append(n.awaited, w)
			w.watchers = append(w.watchers, n)
		}
	}
	// Some may have committed between the two numbers of the beginning, above the snapshot.
	for _, w := range n.g.committed {
		if w.committed > n.begun && w.makesUnsafe(n) {
			n.unsafe = true
		}
	}
	if n.g.old.committed > n.begun {
		n.unsafe = true
	}
	n.decide()
}

// makesUnsafe reports whether a committed writer has an edge to a transaction that is in the
// reader's snapshot, while it is not there itself. It comes before that transaction in any serial
// order, so the reader's snapshot is of no point in that order.
func (n *Node) makesUnsafe(r *Node) bool {
	if n.reader || n.inSnapshotOf(r) == yes {
		return false
	}
	return n.oldOut || slices.ContainsFunc(n.out, func(out *Node) bool {
		return !out.gone() && out.inSnapshotOf(r) != no
	})
}

// notifyWatchers lets the readers know that a writer has ended.
func (n *Node) notifyWatchers() {
	for _, r := range n.watchers {
		r.awaited = without(r.awaited, n)
		if n.committed != 0 && n.makesUnsafe(r) {
			r.unsafe = true
		}
		r.decide()
	}
	n.watchers = nil
}

// unwatch ends the search of a reader that has ended.
func (n *Node) unwatch() {
	for _, w := range n.awaited {
		w.watchers = without(w.watchers, n)
	}
	n.awaited = nil
}

// decide ends the search when its result is known. A safe reader need not be remembered.
func (n *Node) decide() {
	if n.safe || n.finished || !n.unsafe && len(n.awaited) > 0 {
		return
	}
	if !n.unsafe {
		n.safe = true
		n.cut()
		n.leave()
	}
	n.unwatch()
	select {
	case <-n.decided:
	default:
		close(n.decided)
	}
}

// Decided is closed when it is known whether the snapshot of a transaction declared READ ONLY is
// safe.
func (n *Node) Decided() <-chan struct{} { return n.decided }

// Safe reports whether the transaction's snapshot is known to be safe.
func (n *Node) Safe() bool {
	n.g.mu.Lock()
	defer n.g.mu.Unlock()
	return n.safe
}

// Wait is a deferred reader that does not know yet whether its snapshot is safe.
type Wait struct {
	Owner    int64
	Blockers []int64
}

// Waits lists the searches for a safe snapshot that a session waits for.
func (g *Graph) Waits() (out []Wait) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.active {
		if !n.deferred || len(n.awaited) == 0 {
			continue
		}
		w := Wait{Owner: n.owner}
		for _, b := range n.awaited {
			w.Blockers = append(w.Blockers, b.owner)
		}
		out = append(out, w)
	}
	return out
}
