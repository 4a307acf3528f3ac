package bulk

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// chunk is some entries, their bytes one after the other.
type chunk struct {
	bytes   []byte
	entries []entry
	sorted  bool // in the order in which they came
}

// entry is where the bytes of a chunk have a key and its value. prefix is the first bytes of the
// key behind those that all keys share, so that most comparisons need no more.
type entry struct {
	prefix          uint64
	key, value, end uint32
	row             uint32
}

// entryBytes is the size of an entry.
const entryBytes = 24

func (c *chunk) key(i int) []byte { return c.bytes[c.entries[i].key:c.entries[i].value] }

func (c *chunk) value(i int) []byte { return c.bytes[c.entries[i].value:c.entries[i].end] }

// add copies an entry into the chunk. All keys share their first skip bytes.
func (c *chunk) add(row uint32, key, value []byte, skip int) {
	e := entry{prefix: prefixOf(key, skip), key: uint32(len(c.bytes)), row: row}
	c.bytes = append(c.bytes, key...)
	e.value = uint32(len(c.bytes))
	c.bytes = append(c.bytes, value...)
	e.end = uint32(len(c.bytes))
	if n := len(c.entries); n == 0 {
		c.sorted = true
	} else if c.sorted {
		last := c.entries[n-1]
		c.sorted = c.compare(last, c, e) <= 0
	}
	c.entries = append(c.entries, e)
}

// prefixOf returns eight bytes of a key as a number that orders as they do.
func prefixOf(key []byte, skip int) uint64 {
	if len(key) >= skip+8 {
		return binary.BigEndian.Uint64(key[skip:])
	}
	var room [8]byte
	copy(room[:], key[min(skip, len(key)):])
	return binary.BigEndian.Uint64(room[:])
}

// compare compares the keys of an entry of c and one of another chunk.
func (c *chunk) compare(e entry, other *chunk, o entry) int {
	switch {
	case e.prefix < o.prefix:
		return -1
	case e.prefix > o.prefix:
		return 1
	}
	return bytes.Compare(c.bytes[e.key:e.value], other.bytes[o.key:o.value])
}

// sort sorts by prefixes first, without comparing, and then what has the same prefix.
func (c *chunk) sort() {
	if c.sorted {
		return
	}
	c.entries = sortPrefixes(c.entries)
	for from, to := 0, 0; from < len(c.entries); from = to {
		for to = from + 1; to < len(c.entries) &&
			c.entries[to].prefix == c.entries[from].prefix; {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(c.entries[from:to],
				func(a, b entry) int { return c.compare(a, c, b) })
		}
	}
	c.sorted = true
}

// sortPrefixes returns the entries in the order of their prefixes, by a radix sort that begins with
// the last byte. Bytes that all prefixes share cost no pass.
func sortPrefixes(entries []entry) []entry {
	var counts [8][256]uint32
	for i := range entries {
		for b, p := 0, entries[i].prefix; b < 8; b, p = b+1, p>>8 {
			counts[b][byte(p)]++
		}
	}
	var other []entry
	for b := range counts {
		shift, at := 8*b, &counts[b]
		if n := len(entries); n == 0 || at[byte(entries[0].prefix>>shift)] == uint32(n) {
			continue
		}
		if other == nil {
			other = make([]entry, len(entries))
		}
		sum := uint32(0)
		for v, n := range at {
			at[v], sum = sum, sum+n
		}
		for i := range entries {
			v := byte(entries[i].prefix >> shift)
			other[at[v]] = entries[i]
			at[v]++
		}
		entries, other = other, entries
	}
	return entries
}

// search returns the first entry at or above a key. Requires: the chunk is sorted.
func (c *chunk) search(key []byte) int {
	return sort.Search(len(c.entries),
		func(i int) bool { return bytes.Compare(c.key(i), key) >= 0 })
}
