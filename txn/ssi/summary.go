package ssi

import "slices"

// Beyond so many committed transactions, or bytes of their sets, the oldest are folded into one.
const (
	committedMax = 1024
	bytesMax     = 32 << 20
)

// summary replaces the oldest of the committed transactions. Every check treats it as one
// transaction that has read and written all that any of them did, and has committed last.
type summary struct {
	reads, writes spanSet
	committed     uint64 // number of the newest commit
	// out is the lowest preparation of a transaction to which one of them has an edge; zero for
	// none.
	out uint64
	// oldOut: one of them has an edge to another one in here.
	oldOut bool
}

// fold puts a committed transaction into the summary.
func (g *Graph) fold(n *Node) {
	o := &g.old
	o.reads.addAll(&n.reads)
	o.writes.addAll(&n.writes)
	o.committed = n.committed
	o.oldOut = o.oldOut || n.oldOut
	for _, w := range n.out {
		if w.prepared != 0 && !w.gone() && (o.out == 0 || w.prepared < o.out) {
			o.out = w.prepared
		}
		w.oldIn = true
	}
	for _, r := range n.in {
		r.oldOut = true
	}
	g.bytes -= n.reads.bytes + n.writes.bytes
	n.cut()
}

// readOld is Read of a key, or from one, that the summary has written.
func (n *Node) readOld(key []byte) error {
	o := &n.g.old
	switch {
	case o.oldOut || o.out != 0 && (!n.reader || o.out <= n.started):
		return n.fail(&Error{Reason: "Canceled on conflict out to old pivot.",
			Key: slices.Clone(key)})
	case n.oldIn || len(n.in) > 0:
		return n.fail(&Error{
			Reason: "Canceled on identification as a pivot, with conflict out to old committed " +
				"transaction.",
			Key: slices.Clone(key),
		})
	}
	n.oldOut = true
	return nil
}

// writeOld is Write against the summary.
func (n *Node) writeOld(key []byte, over bool) error {
	o := &n.g.old
	if o.committed <= n.begun || !o.reads.contains(key) && !(over && o.writes.contains(key)) {
		return nil
	}
	return n.followOld(key)
}

// followOld notes that the transaction has written, at a key or from one, what the summary has read
// or written.
func (n *Node) followOld(key []byte) error {
	o := &n.g.old
	if n.oldOut || slices.ContainsFunc(n.out, func(out *Node) bool {
		return out.prepared != 0 && !out.gone() && out.prepared <= o.committed
	}) {
		return n.fail(&Error{Reason: "Canceled on identification as a pivot, during write.",
			Key: slices.Clone(key)})
	}
	n.oldIn = true
	return nil
}
