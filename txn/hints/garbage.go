package hints

import (
	"bytes"
	"slices"
	"sync"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// garbage remembers where in the store a collection may find something: a commit knows which keys
// it replaced or removed, and a rollback where it left records. So a pass after a load that only
// inserted reads nothing, and one beside a small hot table reads that table. It is this process's
// memory: on an exclusive engine it is complete once a pass over everything has come to its end,
// for no other process writes; on any other it is not used.
//
// What is noted may be more than there is, never less: a place is forgotten only after a pass over
// it at a safepoint at or above everything noted there.
type garbage struct {
	mu       sync.Mutex
	complete bool // a pass over everything has ended: what is older than it is in places
	length   int  // of a place
	places   map[place]noted
}

// place is the first bytes of rows.
type place struct {
	n     uint8
	bytes [placeLength]byte
}

func placeOf(row []byte, length int) (p place) {
	p.n = uint8(copy(p.bytes[:length], row))
	return p
}

func (p place) prefix() []byte { return p.bytes[:p.n] }

// noted is when garbage came to be in a place: timestamps at or above those of the records that
// replaced something.
type noted struct{ first, last tso.Timestamp }

// placeLength is how many bytes of a row are a place at first: of a table with an integer key, its
// rows by the upper bytes of that. placesMax bounds their number; beyond it they become shorter.
const (
	placeLength = 8
	placesMax   = 1 << 14
)

func newGarbage() *garbage { return &garbage{length: placeLength, places: map[place]noted{}} }

// Places returns in how many places of the store a collection may find something.
func (g *garbage) Places() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.places)
}

// note notes records at the timestamp in rows that had others, or may have had.
func (g *garbage) note(at tso.Timestamp, rows ...[]byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, row := range rows {
		g.noteAt(placeOf(row, g.length), at)
	}
}

// NoteReplaced is note for what a transaction has replaced.
func (g *garbage) NoteReplaced(at tso.Timestamp, r *Replaced) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range r.places {
		g.noteAt(placeOf(p.prefix(), g.length), at)
	}
}

func (g *garbage) noteAt(p place, at tso.Timestamp) {
	n, known := g.places[p]
	if !known {
		n.first = at
	}
	g.places[p] = noted{min(n.first, at), max(n.last, at)}
	for len(g.places) > placesMax {
		g.shorten()
	}
}

// shorten joins the places that differ in their last byte.
func (g *garbage) shorten() {
	g.length--
	joined := map[place]noted{}
	for p, n := range g.places {
		short := placeOf(p.prefix(), g.length)
		if old, there := joined[short]; there {
			n = noted{min(n.first, old.first), max(n.last, old.last)}
		}
		joined[short] = n
	}
	g.places = joined
}

// Due returns the spans of rows in which a pass at the safepoint may find something: everything as
// long as the memory is not complete.
func (g *garbage) Due(safepoint tso.Timestamp) []kv.Span {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.complete {
		return []kv.Span{{}}
	}
	var due []place
	for p, n := range g.places {
		if n.first <= safepoint {
			due = append(due, p)
		}
	}
	slices.SortFunc(due, func(a, b place) int { return bytes.Compare(a.prefix(), b.prefix()) })
	var spans []kv.Span
	for _, p := range due {
		s := kv.Span{Start: bytes.Clone(p.prefix()), End: kv.PrefixEnd(p.prefix())}
		last := len(spans) - 1
		switch {
		case last < 0 || spans[last].End != nil && bytes.Compare(s.Start, spans[last].End) > 0:
			spans = append(spans, s)
		case spans[last].End != nil && (s.End == nil || bytes.Compare(s.End, spans[last].End) > 0):
			spans[last].End = s.End
		}
	}
	return spans
}

// collected notes that a pass over what was due at the safepoint has come to its end.
func (g *garbage) collected(safepoint tso.Timestamp) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.complete = true
	for p, n := range g.places {
		switch {
		case n.last <= safepoint:
			delete(g.places, p)
		case n.first <= safepoint:
			g.places[p] = noted{first: safepoint + 1, last: n.last}
		}
	}
	if len(g.places) == 0 {
		g.length = placeLength
	}
}

// Replaced gathers the places of a transaction's writes that replace or remove something, or may.
type Replaced struct {
	places []place
	less   int // so much shorter are they than placeLength
}

// Empty reports whether nothing was replaced.
func (r *Replaced) Empty() bool { return len(r.places) == 0 }

// Add notes a row. Neighbours in one place count once.
func (r *Replaced) Add(row []byte) {
	p := placeOf(row, placeLength-r.less)
	if n := len(r.places); n > 0 && r.places[n-1] == p {
		return
	}
	if r.places = append(r.places, p); len(r.places) > placesMax {
		r.compact()
	}
}

// compact makes the list short enough that as much again may come.
func (r *Replaced) compact() {
	for ; len(r.places) > placesMax/2; r.less++ {
		for i, p := range r.places {
			r.places[i] = placeOf(p.prefix(), placeLength-r.less)
		}
		slices.SortFunc(r.places,
			func(a, b place) int { return bytes.Compare(a.prefix(), b.prefix()) })
		r.places = slices.Compact(r.places)
	}
	r.less = max(0, r.less-1)
}
