package ssi

import (
	"slices"
	"sync"

	"github.com/minidb/minidb/txn/tso"
)

// Graph is the serializable transactions of a store, those that run and those that committed while
// one of these was running. The zero value is empty. Its methods may be called from any goroutine.
type Graph struct {
	mu  sync.Mutex
	seq uint64 // numbers beginnings, preparations and commits

	active    []*Node // in the order of their beginnings
	committed []*Node // in the order of their commits
	bytes     int     // of the sets of the committed
	old       summary // of those committed before them
}

// Node is a serializable transaction. Its methods belong to the transaction's goroutine.
type Node struct {
	g      *Graph
	owner  int64 // the session, for views of waits
	reader bool  // declared READ ONLY, or committed without a write

	startTS, commitTS       tso.Timestamp // zero until they are known
	begun, started          uint64        // numbers before and after start_ts was drawn
	prepared, committed     uint64        // numbers of the steps, zero before
	wrote, doomed, finished bool

	reads, writes spanSet
	in, out       []*Node // readers of what it overwrote, writers of what it read
	oldIn, oldOut bool    // the same, of some transaction in the summary
	doom          *Error  // the pair of edges that doomed it

	safety
}

// Options say what kind of transaction begins.
type Options struct {
	// ReadOnly is set for a transaction that is declared to write nothing.
	ReadOnly bool
	// Deferrable is set for one that does nothing before it is known whether its snapshot is safe.
	Deferrable bool
	// Owner is the session, as Waits names it.
	Owner int64
}

// Begin adds a transaction. It must be called before start_ts is drawn.
func (g *Graph) Begin(o Options) *Node {
	n := &Node{g: g, owner: o.Owner, reader: o.ReadOnly, safety: safety{deferred: o.Deferrable}}
	g.mu.Lock()
	defer g.mu.Unlock()
	n.begun = g.seq
	g.active = append(g.active, n)
	return n
}

// Started sets the transaction's start_ts, before anything else happens to it.
func (n *Node) Started(startTS tso.Timestamp) {
	g := n.g
	g.mu.Lock()
	defer g.mu.Unlock()
	n.startTS, n.started = startTS, g.seq
	if n.reader {
		n.watch()
	}
}

// Prepare reports why the transaction may not commit, as *Error. Without an error the transaction
// is not failed any more, and its owner calls Committed, Aborted or Unprepare. It may be repeated.
func (n *Node) Prepare() error {
	g := n.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.safe || n.prepared != 0 {
		return nil
	}
	if n.doomed {
		return n.fail(n.doom.during("commit attempt"))
	}
	for _, near := range n.in {
		if near.committed != 0 || near.gone() || !near.pivotBefore(n) {
			continue
		}
		if near.prepared != 0 {
			return n.fail(&Error{Reason: "Canceled on commit attempt with conflict in from " +
				"prepared pivot."})
		}
		near.doomBy(nil)
	}
	g.seq++
	n.prepared = g.seq
	return nil
}

// Unprepare takes Prepare back, before commit_ts is drawn: the transaction has to wait for another
// one, which should not be failed because of it meanwhile. It reports whether the transaction was
// prepared; then Prepare must be called again.
func (n *Node) Unprepare() (prepared bool) {
	n.g.mu.Lock()
	defer n.g.mu.Unlock()
	prepared = n.prepared != 0
	n.prepared = 0
	return prepared
}

// pivotBefore reports whether an edge leads into n from one that could become T-in of a pair whose
// T-out is out, which is about to commit.
func (n *Node) pivotBefore(out *Node) bool {
	return slices.ContainsFunc(n.in, func(far *Node) bool {
		return far == out || far.committed == 0 && !far.reader && !far.gone()
	})
}

// Committed notes that the transaction is committed, at commit_ts if it wrote. A transaction whose
// status is unknown counts as committed, at zero: a timestamp that is not known, but is below all
// that are drawn from now on.
func (n *Node) Committed(commitTS tso.Timestamp) {
	g := n.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.finished {
		return
	}
	g.seq++
	n.committed, n.commitTS = g.seq, commitTS
	n.reader = n.reader || !n.wrote
	n.finish()
	if !n.safe {
		g.committed = append(g.committed, n)
		g.bytes += n.reads.bytes + n.writes.bytes
	}
	g.forget()
}

// Aborted notes that the transaction is over and that nothing of it is in the store. It may be
// repeated, and after Committed it does nothing.
func (n *Node) Aborted() {
	g := n.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.finished {
		return
	}
	n.doomed = true
	n.finish()
	n.cut()
	g.forget()
}

// finish takes the transaction out of the running ones.
func (n *Node) finish() {
	n.finished = true
	n.notifyWatchers()
	n.unwatch()
	n.leave()
}

// leave takes it off the list of the active.
func (n *Node) leave() {
	if i := slices.Index(n.g.active, n); i >= 0 {
		n.g.active = slices.Delete(n.g.active, i, i+1)
	}
}

// cut removes all edges and sets of a transaction that is in no cycle any more.
func (n *Node) cut() {
	for _, r := range n.in {
		r.out = without(r.out, n)
	}
	for _, w := range n.out {
		w.in = without(w.in, n)
	}
	n.in, n.out, n.reads, n.writes = nil, nil, spanSet{}, spanSet{}
}

func without(list []*Node, n *Node) []*Node {
	if i := slices.Index(list, n); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// forget drops the committed transactions that are concurrent with no running one, and bounds the
// number of the others. The nodes at the other ends of their edges keep what the edges mean: they
// refer to the dropped nodes, which keep their numbers.
func (g *Graph) forget() {
	oldest := g.seq
	if len(g.active) > 0 {
		oldest = g.active[0].begun
	}
	k := 0
	for k < len(g.committed) && g.committed[k].committed <= oldest {
		g.drop(g.committed[k])
		k++
	}
	g.committed = slices.Delete(g.committed, 0, k)
	if g.old.committed <= oldest {
		g.old = summary{}
	}
	for len(g.committed) > committedMax || g.bytes > bytesMax {
		g.fold(g.committed[0])
		g.committed = slices.Delete(g.committed, 0, 1)
	}
}

// drop lets go of what a committed transaction holds.
func (g *Graph) drop(n *Node) {
	g.bytes -= n.reads.bytes + n.writes.bytes
	n.in, n.out, n.reads, n.writes = nil, nil, spanSet{}, spanSet{}
}

// gone reports whether the transaction will never commit.
func (n *Node) gone() bool { return n.doomed }

// doomBy makes a transaction fail at its next step.
func (n *Node) doomBy(key []byte) {
	if !n.doomed {
		n.doomed, n.doom = true, &Error{Key: slices.Clone(key)}
	}
}

// fail makes the transaction itself fail, with an error.
func (n *Node) fail(err *Error) error {
	n.doomBy(err.Key)
	err.StartTS = n.startTS
	return err
}

// Size returns how many transactions are known, running and committed.
func (g *Graph) Size() (active, committed int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.active), len(g.committed)
}
