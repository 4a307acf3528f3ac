package etcdkv

import (
	"maps"
	"slices"
	"sync"

	"github.com/minidb/minidb/kv"
)

// favourites are prefixes that many readers read, whatever else they read: the layer above looks at
// a few cells of its own again and again. They are read with what a reader reads first.
type favourites struct {
	mu      sync.Mutex
	readers int
	reads   map[string]int
	now     [][]byte
}

const (
	favouriteMemory = 64      // readers after which the counts are halved
	favouriteShare  = 4       // one of so many readers reads a favourite
	favouriteMost   = 6       // at a time
	favouriteBytes  = 1 << 10 // what a favourite may hold
	prefixesNoted   = 16      // of one reader
)

// note takes in what a reader has read.
func (f *favourites) note(prefixes map[string]bool) {
	if len(prefixes) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reads == nil {
		f.reads = map[string]int{}
	}
	f.readers++
	for p := range prefixes {
		f.reads[p]++
	}
	if f.readers < favouriteMemory {
		return
	}
	f.readers /= 2
	for p, n := range f.reads {
		if f.reads[p] = n / 2; n < 2 {
			delete(f.reads, p)
		}
	}
	f.choose()
}

// choose takes the prefixes that are read most.
func (f *favourites) choose() {
	all := slices.SortedFunc(maps.Keys(f.reads), func(a, b string) int {
		return f.reads[b] - f.reads[a]
	})
	f.now = nil
	for _, p := range all[:min(len(all), favouriteMost)] {
		if f.reads[p]*favouriteShare >= f.readers {
			f.now = append(f.now, []byte(p))
		}
	}
}

// list returns them.
func (f *favourites) list() [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// noted is what a reader has read so far, for favourites.
type noted map[string]bool

// add notes that a key is read, or what follows it in its prefix, and what is known of it.
func (n *noted) add(key []byte, b *block) {
	if len(*n) == prefixesNoted || b != nil && b.bytes() > favouriteBytes {
		return
	}
	if *n == nil {
		*n = noted{}
	}
	(*n)[string(kv.Prefix(key))] = true
}
