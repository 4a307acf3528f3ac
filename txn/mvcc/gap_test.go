package mvcc

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/kv/memkv"
	"github.com/minidb/minidb/txn/tso"
)

// seeks is an iterator that counts them.
type seeks struct {
	kv.Iterator
	n int
}

func (s *seeks) SeekGE(key []byte) bool {
	s.n++
	return s.Iterator.SeekGE(key)
}

func (s *seeks) SeekPrefixGE(key []byte) bool {
	s.n++
	return s.Iterator.SeekPrefixGE(key)
}

// rowsWritten returns an iterator over write records of numbered rows, two of each.
func rowsWritten(t *testing.T, numbers []int) *seeks {
	ctx := context.Background()
	e := memkv.New(memkv.Options{})
	for _, i := range numbers {
		row := numberedRow(i)
		require.NoError(t, e.Update(ctx, [][]byte{row}, func(_ kv.Reader, b *kv.Batch) error {
			b.Set(appendWriteKey(nil, row, 5), []byte("new"))
			b.Set(appendWriteKey(nil, row, 3), []byte("old"))
			return nil
		}))
	}
	snap, err := e.Snapshot()
	require.NoError(t, err)
	it, err := snap.NewIter(ctx, kv.Span{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, it.Close()) })
	return &seeks{Iterator: it}
}

func numberedRow(i int) []byte { return Row(fmt.Appendf(nil, "k%07d", i)) }

// TestAscendingAbsentRowsAreNotLookedFor: in an empty table, and between rows.
func TestAscendingAbsentRowsAreNotLookedFor(t *testing.T) {
	for name, numbers := range map[string][]int{
		"empty": nil, "below": {1_000_000}, "above": {0}, "between": {0, 1_000_000},
	} {
		it, g := rowsWritten(t, numbers), gap{}
		for i := 1; i <= 100_000; i++ {
			key := appendWriteKey(nil, numberedRow(i), tso.Max)
			require.False(t, g.seek(it, key, len(key)-tsLen))
		}
		require.LessOrEqual(t, it.n, gapMisses+2, name)
	}
	it, g := rowsWritten(t, nil), gap{}
	for i := 100_000; i > 0; i-- {
		key := appendWriteKey(nil, numberedRow(i), tso.Max)
		require.False(t, g.seek(it, key, len(key)-tsLen))
	}
	require.Equal(t, 100_000, it.n, "descending rows have no gap")
}

// TestAGapHidesNoRow: whatever rows there are, and in whatever order they are looked for, the first
// version at or below a timestamp is found.
func TestAGapHidesNoRow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const rows = 40_000
	there := map[int]bool{}
	var numbers []int
	for i := 0; i < rows; i += 1 + r.IntN([]int{3, 3000}[r.IntN(2)]) {
		there[i], numbers = true, append(numbers, i)
	}
	it, g := rowsWritten(t, numbers), gap{}
	look := func(i int) {
		at := tso.Timestamp(2 + r.IntN(5))
		key := appendWriteKey(nil, numberedRow(i), at)
		found := g.seek(it, key, len(key)-tsLen)
		require.Equal(t, there[i] && at >= 3, found, "row %d at %d", i, at)
		if found {
			require.True(t, bytes.HasPrefix(it.Key(), key[:len(key)-tsLen]))
			value, err := it.Value()
			require.NoError(t, err)
			require.Equal(t, at >= 5, string(value) == "new")
			require.Equal(t, at >= 5, it.Next(), "its versions alone follow")
		}
	}
	before := it.n
	for range 20 {
		for i := r.IntN(rows); i < rows; i += 1 + r.IntN(3) {
			look(i)
			if r.IntN(10_000) == 0 {
				i = r.IntN(rows)
			}
		}
		look(rows + 1)
	}
	require.Positive(t, it.n-before)
}
