package stats

import (
	"slices"

	"github.com/minidb/minidb/table/types"
)

// Equal is the share of rows whose value is d.
func (c *Column) Equal(d types.Datum) float64 {
	if d.Null {
		return 0
	}
	for i, v := range c.Common {
		if types.Compare(c.Type, v, d) == 0 {
			return c.Frequencies[i]
		}
	}
	share, distinct := c.rest()
	s := share / distinct
	if n := len(c.Frequencies); n > 0 {
		s = min(s, c.Frequencies[n-1]) // a more frequent value would be among them
	}
	return s
}

// EqualAny is the share of rows that equal a value which is not known yet.
func (c *Column) EqualAny() float64 {
	if c.Distinct < 1 {
		return 0
	}
	s := (1 - c.NullFraction) / c.Distinct
	if len(c.Frequencies) > 0 {
		s = min(s, c.Frequencies[0])
	}
	return s
}

// Below is the share of rows whose value is less than d, or with orEqual at most d.
func (c *Column) Below(d types.Datum, orEqual bool) float64 {
	if d.Null {
		return 0
	}
	s := 0.0
	for i, v := range c.Common {
		if cmp := types.Compare(c.Type, v, d); cmp < 0 || cmp == 0 && orEqual {
			s += c.Frequencies[i]
		}
	}
	share, distinct := c.rest()
	if share == 0 {
		return s
	}
	f := c.belowInHistogram(d, 1/distinct, orEqual)
	return min(s+share*f, 1-c.NullFraction)
}

// nothing is the share of a bucket that is assumed where the histogram has no row: rows may have
// been added since it was made.
const nothing = 0.01

// belowInHistogram is Below among the values of the histogram; one is the share of one of them.
func (c *Column) belowInHistogram(d types.Datum, one float64, orEqual bool) float64 {
	n := len(c.Bounds)
	if n < 2 {
		return 0.5
	}
	buckets := float64(n - 1)
	cutoff := nothing / buckets
	i, exact := slices.BinarySearchFunc(c.Bounds, d,
		func(b, d types.Datum) int { return types.Compare(c.Type, b, d) })
	f := 0.0
	switch {
	case i == 0 && !exact:
	case i == n:
		f = 1
	case exact:
		f = float64(i) / buckets
		if last := c.lastEqual(i, d); orEqual {
			f = max(float64(last)/buckets, f+one)
		}
	default:
		f = (float64(i-1) + inBucket(c.Type, c.Bounds[i-1], c.Bounds[i], d)) / buckets
	}
	return max(cutoff, min(1-cutoff, f))
}

// lastEqual is the last of the bounds that equal d, of which i is the first.
func (c *Column) lastEqual(i int, d types.Datum) int {
	for i+1 < len(c.Bounds) && types.Compare(c.Type, c.Bounds[i+1], d) == 0 {
		i++
	}
	return i
}

// Between is the share of rows whose value lies between two bounds; a nil bound is none.
func (c *Column) Between(low, high *types.Datum, lowIncl, highIncl bool) float64 {
	if low != nil && low.Null || high != nil && high.Null {
		return 0
	}
	top, bottom := 1-c.NullFraction, 0.0
	if high != nil {
		top = c.Below(*high, highIncl)
	}
	if low != nil {
		bottom = c.Below(*low, !lowIncl)
	}
	least := 0.0
	if low != nil && high != nil && types.Compare(c.Type, *low, *high) <= 0 {
		// The histogram has no detail below the width of its buckets.
		share, distinct := c.rest()
		least = min(share/distinct, share*nothing)
	}
	return max(least, min(1, top-bottom))
}

// Matching is the share of rows whose value fulfils a predicate, measured on the values that are
// known: the common ones, and the histogram's bounds for the rest.
func (c *Column) Matching(is func(types.Datum) bool) float64 {
	s := 0.0
	for i, v := range c.Common {
		if is(v) {
			s += c.Frequencies[i]
		}
	}
	share, distinct := c.rest()
	if share == 0 {
		return s
	}
	n := 0.0
	for _, v := range c.Bounds {
		if is(v) {
			n++
		}
	}
	total := float64(max(len(c.Bounds), 1))
	// If none of n bounds match, or all, the share may still be off by half a bound.
	f := max(min(n/total, 1-0.5/total), 0.5/total)
	if n == 0 {
		f = min(f, max(1/distinct, nothing))
	}
	return min(1-c.NullFraction, s+share*f)
}
