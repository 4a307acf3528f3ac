package bulk

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPartsHaveAllKeysInOrder: whatever bytes the keys share, and however long they are.
func TestPartsHaveAllKeysInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for name, key := range map[string]func(i int) []byte{
		"random":         func(int) []byte { return random(12) },
		"of any length":  func(int) []byte { return random(r.IntN(20)) },
		"few different":  func(i int) []byte { return []byte{byte(i % 7)} },
		"equal prefixes": func(int) []byte { return append([]byte("12345678"), random(3)...) },
		"two bytes vary": func(int) []byte {
			return slices.Concat(random(1), []byte("abcdef"), random(1))
		},
		"in order": func(i int) []byte { return []byte{byte(i >> 16), byte(i >> 8), byte(i)} },
	} {
		for _, n := range []int{1, 2, 300, 70_000} {
			s := Sorter{Skip: 1, Workers: 2}
			want := make([][]byte, n)
			value := make([]byte, chunkBytes/20_000)
			for i := range want {
				want[i] = append([]byte{'s'}, key(i)...)
				s.Add(want[i], append(value[:0], want[i]...))
			}
			slices.SortFunc(want, bytes.Compare)
			var got [][]byte
			for _, p := range s.Parts() {
				err := p.Each(context.Background(), func(_ uint32, key, value []byte) error {
					got = append(got, key)
					if !bytes.Equal(key, value) {
						t.Errorf("%s: %x has the value of %x", name, key, value)
					}
					return nil
				})
				require.NoError(t, err)
			}
			require.True(t, slices.EqualFunc(want, got, bytes.Equal), "%s, %d keys", name, n)
		}
	}
}

func BenchmarkSort(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var from chunk
	for range 150_000 {
		n := r.IntN(1_000_000)
		from.add(0, []byte{'s', byte(n >> 16), byte(n >> 8), byte(n), 0, 3, byte(n), 9}, nil, 1)
	}
	from.sorted = false
	entries := slices.Clone(from.entries)
	for b.Loop() {
		c := chunk{bytes: from.bytes, entries: append(from.entries[:0], entries...)}
		c.sort()
	}
}
