package logical

import "math/bits"

// ColSet is a set of column IDs. The zero value is empty. Copies share memory: call Copy before
// changing one of two.
//
// The memory of a set grows with the span of its IDs, not with the largest ID: each of the million
// queries of a UNION ALL has few columns, whose IDs are close together.
type ColSet struct {
	low  uint64 // IDs below 64; most statements have no others
	base int    // the first ID of high, a multiple of 64
	high []uint64
}

// Add puts an ID into the set.
func (s *ColSet) Add(id ColID) {
	if id < 64 {
		s.low |= 1 << uint(id)
		return
	}
	s.growTo(id&^63, id&^63+64)
	s.high[(id-s.base)/64] |= 1 << uint(id%64)
}

// growTo extends high to the IDs from first to end, which are multiples of 64.
func (s *ColSet) growTo(first, end int) {
	if len(s.high) == 0 {
		s.base = first
	}
	if first < s.base {
		more := (s.base - first) / 64
		// Doubles the length, since IDs may be added in falling order.
		spare := min(first/64-1, len(s.high)+more)
		grown := make([]uint64, spare+more+len(s.high))
		copy(grown[spare+more:], s.high)
		s.base, s.high = first-64*spare, grown
	}
	for s.base+64*len(s.high) < end {
		s.high = append(s.high, 0)
	}
}

// word returns the bits of the 64 IDs from first on, a multiple of 64.
func (s *ColSet) word(first int) uint64 {
	if w := (first - s.base) / 64; first >= s.base && w < len(s.high) {
		return s.high[w]
	}
	return 0
}

// AddAll adds IDs to the set.
func (s *ColSet) AddAll(ids []ColID) {
	for _, id := range ids {
		s.Add(id)
	}
}

// Remove removes an ID from the set.
func (s *ColSet) Remove(id ColID) {
	if id < 64 {
		s.low &^= 1 << uint(id)
		return
	}
	if w := (id - s.base) / 64; id >= s.base && w < len(s.high) {
		s.high[w] &^= 1 << uint(id%64)
	}
}

// Has reports whether the ID is in the set.
func (s ColSet) Has(id ColID) bool {
	if id < 64 {
		return s.low&(1<<uint(id)) != 0
	}
	return s.word(id&^63)&(1<<uint(id%64)) != 0
}

// Empty reports whether the set has no elements.
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

// Len returns the number of elements.
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

// UnionWith adds all elements of o.
func (s *ColSet) UnionWith(o ColSet) {
	s.low |= o.low
	if len(o.high) == 0 {
		return
	}
	s.growTo(o.base, o.base+64*len(o.high))
	for i, w := range o.high {
		s.high[(o.base-s.base)/64+i] |= w
	}
}

// DifferenceWith removes all elements of o.
func (s *ColSet) DifferenceWith(o ColSet) {
	s.low &^= o.low
	for i := range s.high {
		s.high[i] &^= o.word(s.base + 64*i)
	}
}

// Intersects reports whether the sets have a common element.
func (s ColSet) Intersects(o ColSet) bool {
	if s.low&o.low != 0 {
		return true
	}
	if len(o.high) < len(s.high) {
		s, o = o, s
	}
	for i, w := range s.high {
		if w&o.word(s.base+64*i) != 0 {
			return true
		}
	}
	return false
}

// SubsetOf reports whether all elements are in o.
func (s ColSet) SubsetOf(o ColSet) bool {
	if s.low&^o.low != 0 {
		return false
	}
	for i, w := range s.high {
		if w&^o.word(s.base+64*i) != 0 {
			return false
		}
	}
	return true
}

// Each calls fn for the elements in ascending order.
func (s ColSet) Each(fn func(ColID)) {
	for w := s.low; w != 0; w &= w - 1 {
		fn(bits.TrailingZeros64(w))
	}
	for i, word := range s.high {
		for w := word; w != 0; w &= w - 1 {
			fn(s.base + i*64 + bits.TrailingZeros64(w))
		}
	}
}

// Slice returns the elements in ascending order.
func (s ColSet) Slice() []ColID {
	ids := make([]ColID, 0, s.Len())
	s.Each(func(id ColID) { ids = append(ids, id) })
	return ids
}

// SetOf returns the set of the given IDs.
func SetOf(ids []ColID) ColSet {
	var s ColSet
	s.AddAll(ids)
	return s
}
