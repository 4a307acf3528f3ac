package txn

import (
	"bytes"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/gc"
)

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

// spans returns what was read, sorted and disjoint. It is not nil. A transaction that drops a span
// as a whole writes none of its keys, only the list of dropped spans; so that list belongs to what
// was read.
func (r *readSet) spans() []kv.Span {
	if len(r.list) > 0 {
		r.add(gc.DroppedSpans())
	}
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
			if last := &out[n-1]; last.End != nil &&
				(s.End == nil || bytes.Compare(s.End, last.End) > 0) {
				last.End = s.End
			}
			continue
		}
		out = append(out, s)
	}
	clear(r.list[len(out):])
	r.list = out
}
