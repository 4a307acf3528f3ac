package mvcc

import (
	"bytes"

	"github.com/minidb/minidb/kv"
)

// gap makes look-ups of absent rows in ascending order cheap, as a load into a table makes them:
// where one row was looked for and not found, the iterator is at the next key there is, and no row
// in between need be looked for. It belongs to one iterator, which shows one state of the engine.
//
// A look-up by prefix asks filters and mostly reads nothing, but it does not find the next key. So
// a gap is looked for only behind many absent rows, and not for a while if it did not pay.
type gap struct {
	from, to []byte // no key is from from on, up to to; if there is no gap, from is the last key
	known    bool
	open     bool // nothing bounds it above
	misses   int  // absent rows in ascending order
	served   int  // rows that the gap has answered for
}

const (
	// gapMisses is behind how many absent rows a gap is looked for.
	gapMisses = 256
	// gapWorth is for how many rows a gap must answer to pay, and gapRest is how many more absent
	// rows there must be before the next one if it did not.
	gapWorth = 4
	gapRest  = 4096
)

// seek moves an iterator to the first key at or above key that begins as key's first n bytes do. It
// reports false where there is none, also where it need not look. Next leads through such keys
// alone.
func (g *gap) seek(it kv.Iterator, key []byte, n int) bool {
	switch {
	case g.covers(key, n):
		g.served++
		return false
	case g.known && g.served < gapWorth:
		g.known, g.misses = false, -gapRest
	case g.known && bytes.Compare(key, g.from) < 0:
		g.known, g.misses = false, 0
	case g.misses >= gapMisses:
		return g.find(it, key, n)
	}
	found := it.SeekPrefixGE(key) && bytes.HasPrefix(it.Key(), key[:n])
	g.count(key, found)
	return found
}

// covers reports whether all keys at or above key that begin as its first n bytes do are in the
// gap.
func (g *gap) covers(key []byte, n int) bool {
	return g.known && bytes.Compare(key, g.from) >= 0 &&
		(g.open || bytes.Compare(key, g.to) < 0 && !bytes.HasPrefix(g.to, key[:n]))
}

// count notes a look-up by prefix. Near the end of the misses it compares their order.
func (g *gap) count(key []byte, found bool) {
	switch {
	case found:
		g.misses = min(g.misses, 0)
		return
	case g.misses > gapMisses/2 && bytes.Compare(key, g.from) < 0:
		g.misses = 0
	}
	if g.misses++; g.misses > gapMisses/2 {
		g.from = append(g.from[:0], key...)
	}
}

// find is seek that looks for a gap.
func (g *gap) find(it kv.Iterator, key []byte, n int) bool {
	g.known = false
	found := it.SeekGE(key)
	switch {
	case found && bytes.HasPrefix(it.Key(), key[:n]):
		g.misses = 0
		return it.SeekPrefixGE(key)
	case !found && it.Err() != nil:
		return false
	}
	g.known, g.open, g.served = true, !found, 0
	g.from, g.to = append(g.from[:0], key...), g.to[:0]
	if found {
		g.to = append(g.to, it.Key()...)
	}
	return false
}

// reset forgets what is known of an iterator, and keeps the memory.
func (g *gap) reset() { *g = gap{from: g.from[:0], to: g.to[:0]} }
