package logical

import "math/bits"

// ColSet is a set of column IDs. The zero value is empty. Copies share memory: use Copy before a
// change to one of two.
type ColSet struct {
	low  uint64 // IDs below 64, which is all that most statements have
	high []uint64
}

// Add puts an ID into the set.
func (s *ColSet) Add(id ColID) {
	if id < 64 {
		s.low |= 1 << uint(id)
		return
	}
	w := id/64 - 1
	for len(s.high) <= w {
		s.high = append(s.high, 0)
	}
	s.high[w] |= 1 << uint(id%64)
}

// AddAll puts IDs into the set.
func (s *ColSet) AddAll(ids []ColID) {
	for _, id := range ids {
		s.Add(id)
	}
}

// Remove takes an ID out.
func (s *ColSet) Remove(id ColID) {
	if id < 64 {
		s.low &^= 1 << uint(id)
		return
	}
	if w := id/64 - 1; w < len(s.high) {
		s.high[w] &^= 1 << uint(id%64)
	}
}

// Has says whether the ID is in the set.
func (s ColSet) Has(id ColID) bool {
	if id < 64 {
		return s.low&(1<<uint(id)) != 0
	}
	w := id/64 - 1
	return w < len(s.high) && s.high[w]&(1<<uint(id%64)) != 0
}

// Empty says whether the set has no element.
func (s ColSet) Empty() bool {
	if s.low != 0 {
		return false
	}
	for _, w := range s.high {
		if w != 0 {
			return false
		}
	}
	return true
}

// Len is the number of elements.
func (s ColSet) Len() int {
	n := bits.OnesCount64(s.low)
	for _, w := range s.high {
		n += bits.OnesCount64(w)
	}
	return n
}

// Copy returns a set that shares nothing with s.
func (s ColSet) Copy() ColSet {
	s.high = append([]uint64(nil), s.high...)
	return s
}

// UnionWith adds all of o.
func (s *ColSet) UnionWith(o ColSet) {
	s.low |= o.low
	for len(s.high) < len(o.high) {
		s.high = append(s.high, 0)
	}
	for i, w := range o.high {
		s.high[i] |= w
	}
}

// DifferenceWith removes all of o.
func (s *ColSet) DifferenceWith(o ColSet) {
	s.low &^= o.low
	for i := range min(len(s.high), len(o.high)) {
		s.high[i] &^= o.high[i]
	}
}

// Intersects says whether the sets share an element.
func (s ColSet) Intersects(o ColSet) bool {
	if s.low&o.low != 0 {
		return true
	}
	for i := range min(len(s.high), len(o.high)) {
		if s.high[i]&o.high[i] != 0 {
			return true
		}
	}
	return false
}

// SubsetOf says whether all elements are in o.
func (s ColSet) SubsetOf(o ColSet) bool {
	if s.low&^o.low != 0 {
		return false
	}
	for i, w := range s.high {
		if i < len(o.high) {
			w &^= o.high[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// Each calls fn for the elements in rising order.
func (s ColSet) Each(fn func(ColID)) {
	for w := s.low; w != 0; w &= w - 1 {
		fn(bits.TrailingZeros64(w))
	}
	for i, word := range s.high {
		for w := word; w != 0; w &= w - 1 {
			fn((i+1)*64 + bits.TrailingZeros64(w))
		}
	}
}

// Slice lists the elements in rising order.
func (s ColSet) Slice() []ColID {
	ids := make([]ColID, 0, s.Len())
	s.Each(func(id ColID) { ids = append(ids, id) })
	return ids
}

// SetOf makes a set of IDs.
func SetOf(ids []ColID) ColSet {
	var s ColSet
	s.AddAll(ids)
	return s
}
