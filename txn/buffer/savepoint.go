package buffer

import (
	"bytes"
	"sort"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/tidwall/btree"
)

// savepoints has what a return to the savepoints that are still wanted needs (txn: I26). Each write
// has a number, seq, and a savepoint is the number up to which the writes before it go. A write
// after a savepoint keeps the write that it replaces (Write.older), if the savepoint wants that one
// back. Of the writes of a key between two savepoints only the last is kept. When the buffer is
// streamed out, numbers and older writes go into the locks (mvcc.Lock), so that nothing of them
// stays in memory:
//
//	set k 1; SAVEPOINT s; set k 2; set k 3     buffer: k = 3 (seq 1) ─► 1 (seq 0)
//	streamed out                               lock of k: put 3, seq 1, older: put 1, seq 0
//
// What was written after a savepoint is found again by its keys, while it is in the buffer, and by
// the span of its keys, once it was streamed out.
type savepoints struct {
	seq  uint64 // of writes to come
	all  []savepoint
	keys int // in all
}

// savepoint is one savepoint, with what was written between it and the next.
type savepoint struct {
	at       uint64
	keys     [][]byte // of writes in the buffer
	streamed kv.Span  // of those streamed out
}

// keyOverhead is about what a key takes in savepoint.keys, whose bytes are the buffer's.
const keyOverhead = 32

// any reports whether a savepoint is still wanted.
func (s *savepoints) any() bool { return len(s.all) > 0 }

func (s *savepoints) held() int { return keyOverhead * s.keys }

// add makes a savepoint and returns its number. Two with nothing written between them are one.
func (s *savepoints) add() (at uint64) {
	if n := len(s.all); n > 0 && len(s.all[n-1].keys) == 0 && s.all[n-1].streamed.End == nil {
		return s.all[n-1].at
	}
	s.seq++
	s.all = append(s.all, savepoint{at: s.seq - 1})
	return s.seq - 1
}

// first returns the index of the first savepoint at or after a number.
func (s *savepoints) first(at uint64) int {
	return sort.Search(len(s.all), func(i int) bool { return s.all[i].at >= at })
}

// stamp numbers a write, and gives it as older what savepoints want back of the one that it
// replaces.
func (s *savepoints) stamp(w *Write, replaced Write, was bool) {
	w.seq = s.seq
	if len(s.all) == 0 {
		return
	}
	last := &s.all[len(s.all)-1]
	if was && replaced.seq > last.at {
		w.older = replaced.older
		return
	}
	if was {
		w.older = s.wanted(&replaced)
	}
	last.keys = append(last.keys, w.Key)
	s.keys++
}

// wanted returns a copy of a write, to be the older one of a newer write, with only those older
// ones of its own to which some savepoint returns.
func (s *savepoints) wanted(w *Write) *Write {
	copied := *w
	copied.older = nil
	for v := w.older; v != nil; v = v.older {
		// The newest savepoint that does not find w.
		if i := s.first(w.seq); i > 0 && s.all[i-1].at >= v.seq {
			copied.older = s.wanted(v)
			break
		}
	}
	return &copied
}

// note notes the key of a write that comes from the store with every savepoint that it was written
// after.
func (s *savepoints) note(w *Write) {
	for v := w; v != nil; v = v.older {
		if i := s.first(v.seq); i > 0 {
			s.all[i-1].keys = append(s.all[i-1].keys, w.Key)
			s.keys++
		}
	}
}

// cutTo forgets the savepoints after the first one at or after a number, and what was written after
// that one: it returns the keys and the span.
func (s *savepoints) cutTo(at uint64) (keys [][]byte, streamed kv.Span) {
	n := s.first(at)
	for i := n; i < len(s.all); i++ {
		keys = append(keys, s.all[i].keys...)
		streamed = union(streamed, s.all[i].streamed)
	}
	if n < len(s.all) {
		s.keys -= len(keys)
		clear(s.all[n+1:])
		s.all = s.all[:n+1]
		s.all[n].keys, s.all[n].streamed = nil, kv.Span{}
	}
	return keys, streamed
}

// streamedOut notes the spans of what was in the buffer.
func (s *savepoints) streamedOut(tree *btree.BTreeG[Write]) {
	if len(s.all) == 0 {
		return
	}
	ends := make([]struct{ low, high []byte }, len(s.all))
	tree.Scan(func(w Write) bool {
		for v := &w; v != nil; v = v.older {
			if i := s.first(v.seq); i > 0 {
				if ends[i-1].low == nil {
					ends[i-1].low = w.Key
				}
				ends[i-1].high = w.Key
			}
		}
		return true
	})
	for i := range s.all {
		if ends[i].low != nil {
			s.all[i].streamed = union(s.all[i].streamed,
				kv.Span{Start: bytes.Clone(ends[i].low), End: kv.Successor(ends[i].high)})
		}
		s.all[i].keys = nil
	}
	s.keys = 0
}

// Version puts into the mutation of a write, which is about to be streamed out, what a return to a
// savepoint needs of it.
func (b *Buffer) Version(w *Write, m *mvcc.Mutation) { b.savepoints.version(w, m) }

// version puts into the mutation what a return to a savepoint needs of the write.
func (s *savepoints) version(w *Write, m *mvcc.Mutation) {
	if s.first(w.seq) == 0 {
		return // every savepoint finds it
	}
	m.Seq = w.seq
	for v := s.wanted(w).older; v != nil; v = v.older {
		o := mvcc.OlderWrite{Seq: v.seq, Kind: v.Kind.In()}
		if v.Kind == Put {
			o.Value = v.Value
		}
		m.Older = append(m.Older, o)
	}
}

// union returns a span that has both. A span without an end is empty here.
func union(a, b kv.Span) kv.Span {
	switch {
	case a.End == nil:
		return b
	case b.End == nil:
		return a
	}
	if bytes.Compare(b.Start, a.Start) < 0 {
		a.Start = b.Start
	}
	if bytes.Compare(b.End, a.End) > 0 {
		a.End = b.End
	}
	return a
}
