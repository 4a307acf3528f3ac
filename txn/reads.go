package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// ReadConflictError says that a serializable transaction read what another has written since.
type ReadConflictError struct {
	Key     []byte
	StartTS tso.Timestamp
}

func (e *ReadConflictError) Error() string {
	return fmt.Sprintf("transaction %s read key %q, which was written since", e.StartTS, e.Key)
}

// TrackReads makes the transaction serializable: Commit fails with *ReadConflictError unless all it
// has read from now on, empty spans too, is still as it was when its writes appear (txn: I10). A
// transaction that writes nothing always commits: its snapshot is one instant of the serial order.
func (t *Txn) TrackReads() {
	if t.reads == nil {
		t.reads = &readSet{}
	}
}

// HasRead reports whether a serializable transaction has read the key, or a span around it.
func (t *Txn) HasRead(key []byte) bool {
	if t.reads == nil {
		return false
	}
	return slices.ContainsFunc(t.reads.list, func(s kv.Span) bool { return s.Contains(key) })
}

// readSetMax bounds the spans that a transaction remembers. Beyond it neighbours are joined, with
// what lies between them: more may conflict than has to, never less.
const readSetMax = 4096

// readSet is what a transaction has read.
type readSet struct {
	list   []kv.Span
	sorted int // the list was compacted when it was so long
}

func (r *readSet) addPoint(key []byte) {
	if n := len(r.list); n > 0 && r.list[n-1].Contains(key) {
		return
	}
	end := make([]byte, len(key)+1)
	copy(end, key)
	r.add(kv.Span{Start: end[:len(key):len(key)], End: end})
}

func (r *readSet) add(s kv.Span) {
	r.list = append(r.list, s)
	if len(r.list) >= readSetMax && len(r.list) >= 2*r.sorted {
		r.compact()
	}
}

// spans returns what was read, sorted and disjoint. It is not nil.
func (r *readSet) spans() []kv.Span {
	r.compact()
	if r.list == nil {
		r.list = []kv.Span{}
	}
	return r.list
}

// compact joins spans that touch, and pairs of neighbours while there are too many.
func (r *readSet) compact() {
	slices.SortFunc(r.list, func(a, b kv.Span) int { return bytes.Compare(a.Start, b.Start) })
	r.join(func(a, b kv.Span) bool { return a.End == nil || bytes.Compare(b.Start, a.End) <= 0 })
	for len(r.list) > readSetMax/2 {
		odd := false
		r.join(func(_, _ kv.Span) bool { odd = !odd; return odd })
	}
	r.sorted = len(r.list)
}

// join makes one span of neighbours for which touch holds.
func (r *readSet) join(touch func(a, b kv.Span) bool) {
	out := r.list[:0]
	for _, s := range r.list {
		if n := len(out); n > 0 && touch(out[n-1], s) {
			if last := &out[n-1]; last.End != nil && (s.End == nil || bytes.Compare(s.End, last.End) > 0) {
				last.End = s.End
			}
			continue
		}
		out = append(out, s)
	}
	clear(r.list[len(out):])
	r.list = out
}

// recordRead tells a serializable transaction what the iterator has seen: all of its span, or as far
// as it came.
func (it *Iterator) recordRead() {
	if it.recorded {
		return
	}
	it.recorded = true
	s := it.span
	switch {
	case it.ended || it.err != nil:
	case it.key == nil:
		return // nothing was asked for
	case it.opts.Reverse:
		s.Start = bytes.Clone(it.key)
	default:
		s.End = successor(it.key)
	}
	if !s.Empty() {
		it.t.reads.add(s)
	}
}

// validateReads checks, inside the update of a one-phase commit, that nobody changed what was read.
// The commit timestamp is drawn already. A commit with a lower one is in flight, and found there, or
// has been applied, and found in the engine; one that comes later draws a higher one, and does not
// concern us. So of two commits that each read what the other writes, one is refused, though their
// updates may be under way at once.
func (c *committer) validateReads(ctx context.Context, r kv.Reader, own *pending) error {
	if len(c.reads) == 0 {
		return nil
	}
	if key := c.s.inflight.overlap(own, c.reads); key != nil {
		return &ReadConflictError{Key: key, StartTS: c.startTS}
	}
	noLocks := c.s.lockers.none()
	for _, span := range c.reads {
		if noLocks && isPoint(span) && c.s.recent.unchangedSince(mvcc.Row(span.Start), c.startTS) {
			continue
		}
		if err := mvcc.Validate(ctx, r, c.startTS, span, noLocks); err != nil {
			return readConflict(err)
		}
	}
	return nil
}

// readConflict turns what a validation says about a written key into what it means for a reader.
func readConflict(err error) error {
	var w *WriteConflictError
	if errors.As(err, &w) {
		return &ReadConflictError{Key: w.Key, StartTS: w.StartTS}
	}
	return err
}

// overlap returns a key of the spans that a commit in flight writes below own's timestamp, or may
// do so. The spans are sorted and disjoint.
func (f *inflight) overlap(own *pending, spans []kv.Span) []byte {
	if f.n.Load() <= 1 {
		return nil
	}
	mine := tso.Timestamp(own.commitTS.Load())
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.mu.commits {
		if ts := tso.Timestamp(p.commitTS.Load()); p == own || ts > mine {
			continue
		}
		for i := range p.muts {
			if key := p.muts[i].Key; covered(spans, key) {
				return bytes.Clone(key)
			}
		}
	}
	return nil
}

// covered says whether one of the sorted, disjoint spans holds the key.
func covered(spans []kv.Span, key []byte) bool {
	i, found := slices.BinarySearchFunc(spans, key, func(s kv.Span, k []byte) int { return bytes.Compare(s.Start, k) })
	return found || i > 0 && spans[i-1].Contains(key)
}
