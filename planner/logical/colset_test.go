package logical_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb/planner/logical"
)

// A set agrees with a map, whatever its IDs and the order in which they are added.
func TestColSetIsASet(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func() (logical.ColSet, map[int]bool) {
		var s logical.ColSet
		m := map[int]bool{}
		from, span := rnd.IntN(5)*100, 1+rnd.IntN(300)
		for range rnd.IntN(12) {
			id := from + rnd.IntN(span)
			s.Add(id)
			m[id] = true
		}
		return s, m
	}
	same := func(m map[int]bool, s logical.ColSet) {
		t.Helper()
		want := []int{}
		for id := range m {
			want = append(want, id)
		}
		slices.Sort(want)
		require.Equal(t, want, s.Slice())
		require.Equal(t, len(m), s.Len())
		require.Equal(t, len(m) == 0, s.Empty())
	}
	for range 2000 {
		a, am := random()
		b, bm := random()
		same(am, a)
		union, less, both, subset := map[int]bool{}, map[int]bool{}, false, true
		for id := range am {
			union[id] = true
			both = both || bm[id]
			subset = subset && bm[id]
			require.True(t, a.Has(id))
			require.Equal(t, bm[id], b.Has(id))
			if !bm[id] {
				less[id] = true
			}
		}
		for id := range bm {
			union[id] = true
		}
		require.Equal(t, both, a.Intersects(b))
		require.Equal(t, both, b.Intersects(a))
		require.Equal(t, subset, a.SubsetOf(b))
		c := a.Copy()
		c.UnionWith(b)
		same(union, c)
		c = a.Copy()
		c.DifferenceWith(b)
		same(less, c)
		for id := range am {
			a.Remove(id)
			a.Remove(id + 1000)
		}
		same(nil, a)
	}
}

// The memory of a set is proportional to the span of its IDs.
func TestColSetTakesRoomForItsSpan(t *testing.T) {
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() {
		s := logical.SetOf([]int{1_000_000, 1_000_063, 1_000_001})
		require.False(t, s.Has(5))
	}), 8.0)
	falling := testing.AllocsPerRun(1, func() {
		var s logical.ColSet
		for id := 1 << 20; id > 0; id-- {
			s.Add(id)
		}
	})
	require.Less(t, falling, 100.0)
}
