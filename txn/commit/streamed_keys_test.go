package commit

import (
	"fmt"
	"testing"

	"github.com/minidb/minidb/txn/mvcc"
	"github.com/stretchr/testify/require"
)

// TestStreamedKeysPassNone: each key that was added may have been streamed out, and of the others,
// between them, most are known not to be.
func TestStreamedKeysPassNone(t *testing.T) {
	const n = 10_000
	key := func(i int) []byte { return fmt.Appendf(nil, "k%08d", i) }
	s := newStreamedKeys(streamedKeysShare * n) // a byte for each key
	require.False(t, s.mayHave(key(0)))
	for from := 0; from < n; from += 1000 {
		var muts []mvcc.Mutation
		for i := from; i < from+1000; i++ {
			muts = append(muts, mvcc.Mutation{Key: key(2 * i)})
		}
		s.add(muts)
	}
	taken := 0
	for i := range n {
		require.True(t, s.mayHave(key(2*i)))
		if s.mayHave(key(2*i + 1)) {
			taken++
		}
	}
	require.Less(t, taken, n/5)
	require.False(t, s.mayHave(key(2*n)), "above all")
}
