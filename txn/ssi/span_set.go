package ssi

import (
	"bytes"
	"slices"

	"github.com/minidb/minidb/kv"
)

// spansMax bounds the spans of one set. Beyond it neighbours are joined with what lies between
// them.
const spansMax = 4096

// spanOverhead is about what a span takes in memory beside its keys.
const spanOverhead = 80

// spanSet is a set of keys as spans, sorted and disjoint. The zero value is empty.
type spanSet struct {
	list  []kv.Span
	bytes int
	arena []byte
}

// addPoint adds a key and reports whether it was not there.
func (s *spanSet) addPoint(key []byte) bool {
	i := s.at(key)
	if i < len(s.list) && s.list[i].Contains(key) {
		return false
	}
	end := s.keep(key, 0x00)
	s.insert(i, kv.Span{Start: end[:len(key):len(key)], End: end})
	return true
}

// add adds a span and reports whether some of it was not there. An empty end is the end of all
// keys.
func (s *spanSet) add(span kv.Span) bool {
	i := s.at(span.Start)
	if i < len(s.list) && s.list[i].Contains(span.Start) && reaches(s.list[i], span) {
		return false
	}
	s.insert(i, kv.Span{Start: s.keep(span.Start), End: s.keepEnd(span.End)})
	return true
}

// insert puts a span before place i, and joins it with those that it overlaps.
func (s *spanSet) insert(i int, span kv.Span) {
	j := i
	for j < len(s.list) && (span.End == nil || bytes.Compare(s.list[j].Start, span.End) < 0) {
		if bytes.Compare(s.list[j].Start, span.Start) < 0 {
			span.Start = s.list[j].Start
		}
		if !reaches(span, s.list[j]) {
			span.End = s.list[j].End
		}
		s.bytes -= sizeOf(s.list[j])
		j++
	}
	s.list = slices.Replace(s.list, i, j, span)
	s.bytes += sizeOf(span)
	if len(s.list) > spansMax {
		s.joinPairs()
	}
}

// joinPairs halves the set: each pair of neighbours becomes one span.
func (s *spanSet) joinPairs() {
	out := s.list[:0]
	s.bytes = 0
	for i, span := range s.list {
		if i%2 == 1 {
			out[len(out)-1].End = span.End
			continue
		}
		out = append(out, span)
	}
	clear(s.list[len(out):])
	s.list = out
	for _, span := range s.list {
		s.bytes += sizeOf(span)
	}
}

// at returns the place of the first span that ends above the key.
func (s *spanSet) at(key []byte) int {
	lo, hi := 0, len(s.list)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if end := s.list[mid].End; end != nil && bytes.Compare(end, key) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// contains reports whether the key is in the set.
func (s *spanSet) contains(key []byte) bool {
	i := s.at(key)
	return i < len(s.list) && bytes.Compare(s.list[i].Start, key) <= 0
}

// overlaps reports whether any key of the span is in the set.
func (s *spanSet) overlaps(span kv.Span) bool {
	i := s.at(span.Start)
	return i < len(s.list) && (span.End == nil || bytes.Compare(s.list[i].Start, span.End) < 0)
}

// addAll adds another set.
func (s *spanSet) addAll(o *spanSet) {
	for _, span := range o.list {
		s.add(span)
	}
}

// keep copies a key with what follows it. Chunks grow, so that a few keys take little.
func (s *spanSet) keep(key []byte, more ...byte) []byte {
	n := len(key) + len(more)
	if len(s.arena)+n > cap(s.arena) {
		s.arena = make([]byte, 0, max(n, min(max(128, 2*cap(s.arena)), 4096)))
	}
	at := len(s.arena)
	s.arena = append(append(s.arena, key...), more...)
	return s.arena[at:len(s.arena):len(s.arena)]
}

func (s *spanSet) keepEnd(end []byte) []byte {
	if end == nil {
		return nil
	}
	return s.keep(end)
}

// reaches reports whether a ends where b does, or above.
func reaches(a, b kv.Span) bool {
	return a.End == nil || b.End != nil && bytes.Compare(a.End, b.End) >= 0
}

func sizeOf(s kv.Span) int { return spanOverhead + len(s.Start) + len(s.End) }
