package ssi

import (
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// Error is returned for a transaction that cannot be placed in any serial order with the others. It
// may succeed when it is run again.
type Error struct {
	// Reason is PostgreSQL's reason code, a sentence.
	Reason string
	// Key was read and written by two of the transactions; nil when it is not known.
	Key     []byte
	StartTS tso.Timestamp // of the transaction that failed
}

func (e *Error) Error() string {
	return fmt.Sprintf("transaction %s cannot be serialized: %s", e.StartTS, e.Reason)
}

// during returns the error of a transaction that was doomed by another one, for the step at which
// it learns of that.
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
		return nil // a writer of the span since then has found this read
	}
	err := n.precede(span.Start, func(w *Node) bool { return w.writes.overlaps(span) })
	if err != nil {
		return err
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
		return nil // a writer of the key since then has found this read
	}
	err := n.precede(key, func(w *Node) bool { return w.writes.contains(key) })
	if err != nil {
		return err
	}
	if g.old.committed > n.begun && g.old.writes.contains(key) {
		return n.readOld(key)
	}
	return nil
}

// mayRead reports whether a read need not be noted, and the error of a doomed transaction.
func (n *Node) mayRead() (done bool, err error) {
	switch {
	case n.safe || n.finished:
		return true, nil
	case n.doomed:
		return true, n.fail(n.doom.during("conflict out checking"))
	}
	return false, nil
}

// precede adds edges to the concurrent transactions that wrote what was read, at a key or from one.
func (n *Node) precede(key []byte, wrote func(*Node) bool) error {
	for w := range n.concurrent() {
		if wrote(w) && !slices.Contains(n.out, w) {
			if err := n.g.edge(n, w, n, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// Write notes that the transaction writes the key, and finds the concurrent transactions that have
// read it. It fails with *Error.
func (n *Node) Write(key []byte) error { return n.write(key, false) }

// Overwrite is Write of a key that a concurrent transaction may have removed and committed, when
// this one knows of it: it comes after that transaction, which is a dependency like any other.
func (n *Node) Overwrite(key []byte) error { return n.write(key, true) }

func (n *Node) write(key []byte, over bool) error {
	n.g.mu.Lock()
	defer n.g.mu.Unlock()
	if done, err := n.mayWrite(); done {
		return err
	}
	if !n.writes.addPoint(key) {
		return nil // a reader of the key since then has found this write
	}
	err := n.follow(key, func(r *Node) bool {
		if over {
			return r.reads.contains(key) || r.writes.contains(key)
		}
		return r.reads.contains(key) && !n.follows(r, key)
	})
	if err != nil {
		return err
	}
	return n.writeOld(key, over)
}

// WriteSpan notes that the transaction writes every key of the span, and finds the concurrent
// transactions that have read any of them, or written: it comes after these. It fails with *Error.
func (n *Node) WriteSpan(span kv.Span) error {
	n.g.mu.Lock()
	defer n.g.mu.Unlock()
	if done, err := n.mayWrite(); done {
		return err
	}
	if !n.writes.add(span) {
		return nil // a reader of the span since then has found this write
	}
	touched := func(reads, writes *spanSet) bool {
		return reads.overlaps(span) || writes.overlaps(span)
	}
	err := n.follow(span.Start, func(r *Node) bool { return touched(&r.reads, &r.writes) })
	if err != nil {
		return err
	}
	if o := &n.g.old; o.committed > n.begun && touched(&o.reads, &o.writes) {
		return n.followOld(span.Start)
	}
	return nil
}

// mayWrite reports whether a write need not be noted, and the error of a doomed transaction.
func (n *Node) mayWrite() (done bool, err error) {
	switch {
	case n.finished:
		return true, nil
	case n.doomed:
		return true, n.fail(n.doom.during("conflict in checking"))
	}
	n.wrote = true
	return false, nil
}

// follow adds edges from the concurrent transactions that come before a write, at a key or from
// one.
func (n *Node) follow(key []byte, comesBefore func(*Node) bool) error {
	for r := range n.concurrent() {
		if !slices.Contains(n.in, r) && comesBefore(r) {
			if err := n.g.edge(r, n, n, key); err != nil {
				return err
			}
		}
	}
	return nil
}

// follows reports whether the version of the key that r read was overwritten by a third transaction
// that n's snapshot shows: n replaces that one's version, not the one r read (ssi: I5). An edge
// from r to the third one does not suffice: r's snapshot may show it too, if its commit was under
// way when r asked. And one whose status is unknown may have replaced nothing.
func (n *Node) follows(r *Node, key []byte) bool {
	return slices.ContainsFunc(r.out, func(w *Node) bool {
		return w != n && w.commitTS != 0 && w.inSnapshotOf(r) == no && w.inSnapshotOf(n) == yes &&
			w.writes.contains(key)
	})
}

// concurrent yields the transactions whose snapshot or commit lies between this one's snapshot and
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

// answer is to a question about timestamps, which may not be known yet.
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
	// The writer is doomed; the edge holds until it is gone.
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
