package commit

import (
	"hash/maphash"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/hints"
	"github.com/minidb/minidb/txn/mvcc"
)

// streamedKeys recognizes most keys that a transaction has not streamed out, so that a bulk load
// does not read the store for each key that it writes. It never passes a key that was, or may have
// been, prewritten. It is a Bloom filter (Bloom 1970) of a fixed size, and the span of all the
// keys, which alone is enough for rows that come in order. mayHave is safe in several goroutines,
// add is not.
type streamedKeys struct {
	span   kv.Span // from the lowest key to just above the highest
	seed   maphash.Seed
	filter []uint64
}

// streamedKeysShare of Options.StreamBytes is what the filter takes: 4 MiB of 64. Of ten million
// keys it then still recognizes four in five that were not streamed out.
const streamedKeysShare = 16

// streamedKeyBits is how many bits of the filter a key has.
const streamedKeyBits = 3

func newStreamedKeys(streamBytes int) streamedKeys {
	return streamedKeys{seed: maphash.MakeSeed(),
		filter: make([]uint64, max(8, streamBytes/streamedKeysShare/8))}
}

// add notes the keys of mutations, which are sorted, after their prewrite, whether or not it
// succeeded.
func (s *streamedKeys) add(muts []mvcc.Mutation) {
	s.span = hints.Widened(s.span, muts)
	for i := range muts {
		at, step := s.bits(muts[i].Key)
		for range streamedKeyBits {
			s.filter[at>>6%uint64(len(s.filter))] |= 1 << (at & 63)
			at += step
		}
	}
}

// mayHave reports whether the key may have been added.
func (s *streamedKeys) mayHave(key []byte) bool {
	if s.span.End == nil || !s.span.Contains(key) {
		return false
	}
	at, step := s.bits(key)
	for range streamedKeyBits {
		if s.filter[at>>6%uint64(len(s.filter))]&(1<<(at&63)) == 0 {
			return false
		}
		at += step
	}
	return true
}

// bits returns the key's first bit, and how far it is to the next one.
func (s *streamedKeys) bits(key []byte) (first, step uint64) {
	h := maphash.Bytes(s.seed, key)
	return h >> 32, h&(1<<32-1) | 1<<32 | 1
}
