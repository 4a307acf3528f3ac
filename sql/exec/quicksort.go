package exec

import (
	"math/bits"
	"slices"
)

// quicksort sorts with the quicksort of Bentley and McIlroy ("Engineering a sort function",
// Software: Practice and Experience 23, 1993), in the form that PostgreSQL gave it: a part that is
// in order already is left alone, a short one is sorted by insertion, and elements equal to the
// pivot are gathered once and for all.
//
// The order of equal elements depends on their order at first and on nothing else. It is the one
// that PostgreSQL's sort of the same rows has, which programs and their tests have come to know,
// although SQL promises none.
//
// A quicksort may take quadratic time. After more steps than any usual input needs, the part is
// left to a sort of the standard library, which cannot.
//
// A sort of many elements ends early, with them in any order, once stop returns true.
func quicksort[T any](a []T, cmp func(a, b T) int, stop func() bool) {
	sortParts(a, cmp, stop, 4*bits.Len(uint(len(a))))
}

// stopMin is the length of a part above which the sort asks whether it shall end.
const stopMin = 1 << 14

// insertionMax is the length below which a part is sorted by insertion.
const insertionMax = 7

func sortParts[T any](a []T, cmp func(a, b T) int, stop func() bool, steps int) {
	for len(a) >= insertionMax {
		if len(a) > stopMin && stop() {
			return
		}
		if slices.IsSortedFunc(a, cmp) {
			return
		}
		if steps--; steps < 0 {
			slices.SortStableFunc(a, cmp)
			return
		}
		less, greater := split(a, cmp)
		left, right := a[:less], a[len(a)-greater:]
		if less > greater {
			left, right = right, left
		}
		sortParts(left, cmp, stop, steps)
		a = right
	}
	for i := 1; i < len(a); i++ {
		for j := i; j > 0 && cmp(a[j-1], a[j]) > 0; j-- {
			a[j-1], a[j] = a[j], a[j-1]
		}
	}
}

// split reorders a around a pivot: elements less than it, then those equal to it, then greater
// ones. It returns the numbers of lesser and greater elements.
func split[T any](a []T, cmp func(a, b T) int) (less, greater int) {
	m := pivot(a, cmp)
	a[0], a[m] = a[m], a[0]
	// Until the end, a is: equal up to pa, less up to pb, unknown up to pc, greater up to pd, then
	// equal.
	n := len(a)
	pa, pb, pc, pd := 1, 1, n-1, n-1
	for {
		for pb <= pc {
			c := cmp(a[pb], a[0])
			if c > 0 {
				break
			}
			if c == 0 {
				a[pa], a[pb] = a[pb], a[pa]
				pa++
			}
			pb++
		}
		for pb <= pc {
			c := cmp(a[pc], a[0])
			if c < 0 {
				break
			}
			if c == 0 {
				a[pc], a[pd] = a[pd], a[pc]
				pd--
			}
			pc--
		}
		if pb > pc {
			break
		}
		a[pb], a[pc] = a[pc], a[pb]
		pb++
		pc--
	}
	d := min(pa, pb-pa)
	swapRuns(a[:d], a[pb-d:pb])
	d = min(pd-pc, n-pd-1)
	swapRuns(a[pb:pb+d], a[n-d:])
	return pb - pa, pd - pc
}

func swapRuns[T any](a, b []T) {
	for i := range a {
		a[i], b[i] = b[i], a[i]
	}
}

// pivot returns the position of the middle element of a, of the median of the first, the middle
// and the last, or of the median of three such medians, by the length of a.
func pivot[T any](a []T, cmp func(a, b T) int) int {
	n := len(a)
	middle := n / 2
	if n == insertionMax {
		return middle
	}
	first, last := 0, n-1
	if n > 40 {
		d := n / 8
		first = median(a, cmp, first, first+d, first+2*d)
		middle = median(a, cmp, middle-d, middle, middle+d)
		last = median(a, cmp, last-2*d, last-d, last)
	}
	return median(a, cmp, first, middle, last)
}

// median returns which of three positions has the element between the other two.
func median[T any](a []T, cmp func(a, b T) int, i, j, k int) int {
	if cmp(a[i], a[j]) < 0 {
		switch {
		case cmp(a[j], a[k]) < 0:
			return j
		case cmp(a[i], a[k]) < 0:
			return k
		}
		return i
	}
	switch {
	case cmp(a[j], a[k]) > 0:
		return j
	case cmp(a[i], a[k]) < 0:
		return i
	}
	return k
}
