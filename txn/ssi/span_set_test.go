package ssi

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/minidb/minidb/kv"
	"github.com/stretchr/testify/require"
)

// TestSpanSetHoldsWhatWasAdded compares with a set of small numbers.
func TestSpanSetHoldsWhatWasAdded(t *testing.T) {
	const keys = 40
	key := func(i int) []byte { return fmt.Appendf(nil, "%02d", i) }
	for seed := range uint64(300) {
		dice := rand.New(rand.NewPCG(seed, 0))
		var s spanSet
		var in [keys]bool
		for range 30 {
			lo := dice.IntN(keys)
			fresh := false
			switch dice.IntN(3) {
			case 0:
				fresh = !in[lo]
				in[lo] = true
				require.Equal(t, fresh, s.addPoint(key(lo)), "seed %d", seed)
			case 1:
				hi := lo + 1 + dice.IntN(keys-lo)
				for i := lo; i < hi; i++ {
					fresh = fresh || !in[i]
					in[i] = true
				}
				added := s.add(kv.Span{Start: key(lo), End: key(hi)})
				require.True(t, added || !fresh, "seed %d", seed)
			case 2:
				if dice.IntN(20) > 0 {
					continue
				}
				for i := lo; i < keys; i++ {
					in[i] = true
				}
				s.add(kv.Span{Start: key(lo)})
			}
			for i := range in {
				require.Equal(t, in[i], s.contains(key(i)), "seed %d, key %d", seed, i)
			}
			lo = dice.IntN(keys)
			hi := lo + 1 + dice.IntN(keys-lo)
			any := false
			for i := lo; i < hi; i++ {
				any = any || in[i]
			}
			if any {
				require.True(t, s.overlaps(kv.Span{Start: key(lo), End: key(hi)}), "seed %d", seed)
			}
			sum := 0
			for i, span := range s.list {
				sum += sizeOf(span)
				require.False(t, span.Empty())
				if i > 0 {
					require.LessOrEqual(t, string(s.list[i-1].End), string(span.Start), "seed %d",
						seed)
				}
			}
			require.Equal(t, sum, s.bytes)
		}
	}
}

// TestSpanSetIsBounded: past the bound nothing is lost, and little is kept.
func TestSpanSetIsBounded(t *testing.T) {
	var s spanSet
	dice := rand.New(rand.NewPCG(1, 1))
	var keys [][]byte
	for range 3 * spansMax {
		k := fmt.Appendf(nil, "%016x", dice.Uint64())
		keys = append(keys, k)
		s.addPoint(k)
		require.LessOrEqual(t, len(s.list), spansMax)
	}
	for _, k := range keys {
		require.True(t, s.contains(k))
	}
}
