package ssi

import (
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Error says that a transaction cannot be placed in any serial order with the others. It may
// succeed when it is run again.
type Error struct {
	// Reason is PostgreSQL's reason code, a sentence.
	Reason string
	// Key is one that two of the transactions have read and written; nil when it is not known.
	Key     []byte
	StartTS tso.Timestamp // of the transaction that failed
}

func (e *Error) Error() string {
	return fmt.Sprintf("transaction %s cannot be serialized: %s", e.StartTS, e.Reason)
}

// during is the error of a transaction that another one doomed, when it notices.
func (e *Error) during(what string) *Error {
	return &Error{Reason: "Canceled on identification as a pivot, during " + what + ".", Key: e.Key}
}

// Read notes that the transaction has read the span at its start_ts, and finds the concurrent
// transactions that have written in it. It fails with *Error.
func (n *Node) Read(span kv.Span) error {
	g := n.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if done, err := n.mayRead(); done {
		return err
	}
	if !n.reads.add(span) {
		return nil // who wrote there since has looked here
	}
	for w := range n.concurrent() {
		if w.writes.overlaps(span) && !slices.Contains(n.out, w) {
			if err := g.edge(n, w, n, span.Start); err != nil {
				return err
			}
		}
	}
	if g.old.committed > n.begun && g.old.writes.overlaps(span) {
		return n.readOld(span.Start)
	}
	return nil
}

// ReadKey is Read of one key.
func (n *Node) ReadKey(key []byte) error {
	g := n.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if done, err := n.mayRead(); done {
		return err
	}
	if !n.reads.addPoint(key) {
		return nil // who wrote it since has looked here
	}
	for w := range n.concurrent() {
		if w.writes.contains(key) && !slices.Contains(n.out, w) {
			if err := g.edge(n, w, n, key); err != nil {
				return err
			}
		}
	}
	if g.old.committed > n.begun && g.old.writes.contains(key) {
		return n.readOld(key)
	}
	return nil
}

// mayRead reports whether nothing need be noted any more, and why not.
func (n *Node) mayRead() (done bool, err error) {
	switch {
	case n.safe || n.finished:
		return true, nil
	case n.doomed:
		return true, n.fail(n.doom.during("conflict out checking"))
	}
	return false, nil
}

// Write notes that the transaction writes the key, and finds the concurrent transactions that have
// read it. It fails with *Error.
func (n *Node) Write(key []byte) error { return n.write(key, false) }

// Overwrite is Write of a key that a concurrent transaction may have written and committed: it
// removed the key, and this one knows and writes it again. That it comes later is a dependency like
// any other.
func (n *Node) Overwrite(key []byte) error { return n.write(key, true) }

func (n *Node) write(key []byte, over bool) error {
	g := n.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.finished {
		return nil
	}
	if n.doomed {
		return n.fail(n.doom.during("conflict in checking"))
	}
	n.wrote = true
	if !n.writes.addPoint(key) {
		return nil // who read it since has looked here
	}
	for r := range n.concurrent() {
		if (r.reads.contains(key) || over && r.writes.contains(key)) && !slices.Contains(n.in, r) {
			if !over && n.follows(r, key) {
				continue
			}
			if err := g.edge(r, n, n, key); err != nil {
				return err
			}
		}
	}
	return n.writeOld(key, over)
}

// WriteSpan notes that the transaction writes every key of the span, and finds the concurrent
// transactions that have read any, or written: it comes later than these. It fails with *Error.
func (n *Node) WriteSpan(span kv.Span) error {
	g := n.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.finished {
		return nil
	}
	if n.doomed {
		return n.fail(n.doom.during("conflict in checking"))
	}
	n.wrote = true
	if !n.writes.add(span) {
		return nil // who read there since has looked here
	}
	for r := range n.concurrent() {
		if (r.reads.overlaps(span) || r.writes.overlaps(span)) && !slices.Contains(n.in, r) {
			if err := g.edge(r, n, n, span.Start); err != nil {
				return err
			}
		}
	}
	if o := &n.g.old; o.committed > n.begun && (o.reads.overlaps(span) || o.writes.overlaps(span)) {
		return n.followOld(span.Start)
	}
	return nil
}

// follows reports whether what r has read at the key was overwritten by another whom n's snapshot
// shows: the version that n replaces is that one's, not r's (ssi: I5). An edge from r alone does
// not say so: r's snapshot may show that one too, if its commit was under way when r asked; and one
// whose status nobody knows has perhaps replaced nothing.
func (n *Node) follows(r *Node, key []byte) bool {
	return slices.ContainsFunc(r.out, func(w *Node) bool {
		return w != n && w.commitTS != 0 && w.inSnapshotOf(r) == no && w.inSnapshotOf(n) == yes &&
			w.writes.contains(key)
	})
}

// concurrent yields the others whose snapshot or commit lies between the transaction's snapshot and
// now, as far as they are remembered one by one.
func (n *Node) concurrent() func(yield func(*Node) bool) {
	return func(yield func(*Node) bool) {
		for _, x := range n.g.active {
			if x != n && !x.gone() && !yield(x) {
				return
			}
		}
		for i := len(n.g.committed) - 1; i >= 0; i-- {
			x := n.g.committed[i]
			if x.committed <= n.begun {
				return
			}
			if x.inSnapshotOf(n) != yes && !yield(x) {
				return
			}
		}
	}
}

// answer is what is known of a question about timestamps that may not be known yet.
type answer uint8

const (
	no answer = iota
	maybe
	yes
)

// inSnapshotOf reports whether a transaction that writes has committed before r's snapshot (ssi:
// I2).
func (n *Node) inSnapshotOf(r *Node) answer {
	switch {
	case n.prepared == 0 || n.prepared > r.started:
		return no
	case n.committed != 0 && n.committed <= r.begun:
		return yes
	case n.commitTS == 0:
		return maybe
	case n.commitTS < r.startTS:
		return yes
	}
	return no
}

// edge adds reader -rw-> writer, unless that would complete a pair that cannot be serialized: then
// one of the three has to fail. me is the one of the two whose step found the edge.
func (g *Graph) edge(reader, writer, me *Node, key []byte) error {
	if !dangerous(reader, writer) {
		reader.out = append(reader.out, writer)
		writer.in = append(writer.in, reader)
		return nil
	}
	switch {
	case writer == me:
		return me.fail(&Error{Reason: "Canceled on identification as a pivot, during write.",
			Key: slices.Clone(key)})
	case writer.prepared != 0:
		reason := fmt.Sprintf("Canceled on conflict out to pivot %d, during read.",
			uint64(writer.startTS))
		return me.fail(&Error{Reason: reason, Key: slices.Clone(key)})
	}
	writer.doomBy(key)
	// The writer is lost; until it is gone the edge is true.
	reader.out = append(reader.out, writer)
	writer.in = append(writer.in, reader)
	return nil
}

// dangerous reports whether an edge from reader to writer would make one of them a pivot whose
// T-out has committed first, or is about to.
func dangerous(reader, writer *Node) bool {
	if writer.oldOut {
		return true
	}
	for _, out := range writer.out {
		switch {
		case out.prepared == 0 || out.gone():
		case reader.committed != 0 && out.prepared > reader.committed:
		case writer.committed != 0 && out.prepared > writer.committed:
		case reader.reader && out.inSnapshotOf(reader) == no:
		default:
			return true
		}
	}
	if writer.prepared == 0 || reader.reader {
		return false
	}
	if reader.oldIn {
		return true
	}
	return slices.ContainsFunc(reader.in, func(in *Node) bool {
		return !in.gone() && (in.committed == 0 || in.committed >= writer.prepared) &&
			(!in.reader || writer.inSnapshotOf(in) != no)
	})
}
