package lru

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsNotUsedIsForgotten(t *testing.T) {
	c := New[int, string](2)
	has := func(key int, want string) {
		t.Helper()
		v, known := c.Get(key)
		require.Equal(t, want, v)
		require.Equal(t, want != "", known)
	}
	c.Put(1, "a")
	c.Put(2, "b")
	c.Put(3, "c") // 1 and 2 are old
	has(1, "a")   // and 1 young again
	c.Put(4, "d") // 1 and 3 are old, 2 is forgotten
	has(2, "")
	has(3, "c")
	c.Put(3, "C")
	has(3, "C")
	c.Delete(3)
	has(3, "")
	c.Delete(1) // of the old ones
	has(1, "")
	for i := range 100 {
		c.Put(i, "x")
		require.LessOrEqual(t, len(c.mu.young)+len(c.mu.old), 4)
	}
	has(99, "x")
	has(98, "x")
}
