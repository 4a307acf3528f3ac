package exec

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEqualRowsAreOrderedAsInPostgreSQL compares with SELECT i FROM generate_series(0, 29) i ORDER
// BY (i * i) % 7, which PostgreSQL 15 answered.
func TestEqualRowsAreOrderedAsInPostgreSQL(t *testing.T) {
	want := []int{
		14, 0, 7, 28, 21, 29, 1, 6, 8, 13, 15, 20, 22, 27, 25, 17, 18, 4, 3, 24, 10, 11,
		12, 26, 16, 23, 5, 19, 2, 9,
	}
	got := make([]int, len(want))
	for i := range got {
		got[i] = i
	}
	quicksort(got, func(a, b int) int { return cmp.Compare(a*a%7, b*b%7) }, never)
	if !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func never() bool { return false }

func TestASortOfManyElementsEndsEarly(t *testing.T) {
	a := rand.New(rand.NewPCG(1, 2)).Perm(40 * stopMin)
	asked, comparisons := 0, 0
	quicksort(a, func(x, y int) int {
		comparisons++
		return cmp.Compare(x, y)
	}, func() bool {
		asked++
		return asked > 3
	})
	if comparisons > 3*len(a) {
		t.Errorf("%d comparisons after it was stopped", comparisons)
	}
}

func TestQuicksortSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		a := make([]int, n)
		for i := range a {
			a[i] = r.IntN(1 + n/(1+n%7))
		}
		want := slices.Sorted(slices.Values(a))
		quicksort(a, cmp.Compare[int], never)
		if !slices.Equal(a, want) {
			t.Fatalf("%d elements: got %v, want %v", n, a, want)
		}
	}
}

// TestQuicksortIsNeverQuadratic makes the order of elements up while the sort runs, so that each
// pivot turns out to be one of the least (McIlroy, "A killer adversary for quicksort", 1999).
func TestQuicksortIsNeverQuadratic(t *testing.T) {
	const n, gas = 1 << 12, 1 << 12
	value := make([]int, n)
	a := make([]int, n)
	for i := range a {
		a[i], value[i] = i, gas
	}
	solid, candidate, comparisons := 0, 0, 0
	freeze := func(i int) {
		value[i] = solid
		solid++
	}
	quicksort(a, func(x, y int) int {
		comparisons++
		if value[x] == gas && value[y] == gas {
			if x == candidate {
				freeze(x)
			} else {
				freeze(y)
			}
		}
		if value[x] == gas {
			candidate = x
		} else if value[y] == gas {
			candidate = y
		}
		return cmp.Compare(value[x], value[y])
	}, never)
	if limit := n * 12 * 16; comparisons > limit {
		t.Errorf("%d comparisons for %d elements, at most %d are wanted", comparisons, n, limit)
	}
	for i := 1; i < n; i++ {
		if value[a[i-1]] > value[a[i]] {
			t.Fatalf("not in order at %d", i)
		}
	}
}
