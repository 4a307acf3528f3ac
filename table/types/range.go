package types

import (
	"cmp"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Bound is an end of a range.
type Bound struct {
	Value               Datum // unless Infinite
	Infinite, Inclusive bool
	Lower               bool // which of the two ends
}

// RangeValue is a range of values of a type's Sub. Where the subtype is discrete it is in canonical
// form: [a,b).
type RangeValue struct {
	Lower, Upper Bound
	Empty        bool
}

// The flags of a range are PostgreSQL's. A range is held as an array of its bounds, NULL where one
// is infinite or the range is empty, and its flags; a multirange as an array of ranges in order,
// none of which is empty, overlaps the next one or is adjacent to it.
const (
	rangeEmpty = 1 << iota
	rangeLowerInc
	rangeUpperInc
	rangeLowerInf
	rangeUpperInf
)

// EmptyRange is the range without values.
func EmptyRange() RangeValue { return RangeValue{Empty: true} }

func (r RangeValue) flags() int64 {
	if r.Empty {
		return rangeEmpty
	}
	var flags int64
	for flag, set := range map[int64]bool{rangeLowerInc: r.Lower.Inclusive,
		rangeUpperInc: r.Upper.Inclusive, rangeLowerInf: r.Lower.Infinite,
		rangeUpperInf: r.Upper.Infinite} {
		if set {
			flags |= flag
		}
	}
	return flags
}

// Datum returns the value of a range type.
func (r RangeValue) Datum() Datum {
	lower, upper := r.Lower.Value, r.Upper.Value
	if r.Empty || r.Lower.Infinite {
		lower = Null
	}
	if r.Empty || r.Upper.Infinite {
		upper = Null
	}
	return Datum{Arr: &ArrayValue{Elems: []Datum{lower, upper, NewInt(r.flags())}}}
}

// RangeFrom returns what a datum of a range type holds.
func RangeFrom(d Datum) RangeValue {
	if d.Arr == nil || len(d.Arr.Elems) != 3 {
		return EmptyRange()
	}
	return rangeOf(d.Arr.Elems[0], d.Arr.Elems[1], d.Arr.Elems[2].I)
}

func rangeOf(lower, upper Datum, flags int64) RangeValue {
	if flags&rangeEmpty != 0 {
		return EmptyRange()
	}
	return RangeValue{
		Lower: Bound{Value: lower, Infinite: flags&rangeLowerInf != 0,
			Inclusive: flags&rangeLowerInc != 0, Lower: true},
		Upper: Bound{Value: upper, Infinite: flags&rangeUpperInf != 0,
			Inclusive: flags&rangeUpperInc != 0},
	}
}

// MakeRange returns the range of type t between two bounds, in canonical form. It is empty when no
// value is between them, and an error when the lower one is above the upper one.
func MakeRange(t *Type, lower, upper Bound) (RangeValue, error) {
	r, err := plainRange(t, lower, upper)
	if err != nil || r.Empty {
		return r, err
	}
	next := nextOf(t.Sub)
	if next == nil {
		return r, nil
	}
	finite := func(b Bound) bool {
		return !b.Infinite && !(t.Sub.Family == Date && IsInfinite(b.Value.I))
	}
	if finite(r.Lower) && !r.Lower.Inclusive {
		if r.Lower.Value.I, err = next(r.Lower.Value.I); err != nil {
			return r, err
		}
		r.Lower.Inclusive = true
	}
	if finite(r.Upper) && r.Upper.Inclusive {
		if r.Upper.Value.I, err = next(r.Upper.Value.I); err != nil {
			return r, err
		}
		r.Upper.Inclusive = false
	}
	return plainRange(t, r.Lower, r.Upper)
}

// plainRange is MakeRange without the canonical form.
func plainRange(t *Type, lower, upper Bound) (RangeValue, error) {
	lower.Lower, upper.Lower = true, false
	lower.Inclusive = lower.Inclusive && !lower.Infinite
	upper.Inclusive = upper.Inclusive && !upper.Infinite
	if !lower.Infinite && !upper.Infinite {
		switch c := Compare(t.Sub, lower.Value, upper.Value); {
		case c > 0:
			return RangeValue{}, sqlerr.New(sqlerr.DataException,
				"range lower bound must be less than or equal to range upper bound")
		case c == 0 && !(lower.Inclusive && upper.Inclusive):
			return EmptyRange(), nil
		}
	}
	return RangeValue{Lower: lower, Upper: upper}, nil
}

// nextOf returns the function from a value of a discrete type to the next one; nil for others.
func nextOf(sub *Type) func(int64) (int64, error) {
	switch sub.OID {
	case OIDInt4:
		return func(v int64) (int64, error) { return IntInRange(sub, v+1) }
	case OIDInt8:
		return func(v int64) (int64, error) {
			r, ok := addInt64(v, 1)
			if !ok {
				return 0, errIntRange(sub)
			}
			return r, nil
		}
	case OIDDate:
		return func(v int64) (int64, error) {
			if v+1 >= endDate {
				return 0, errDateRange()
			}
			return v + 1, nil
		}
	}
	return nil
}

// CompareBounds orders two bounds of ranges of type t by the values that they admit: a lower bound
// that excludes a value is above it, an upper bound below it.
func CompareBounds(t *Type, a, b Bound) int {
	if c := compareBoundValues(t, a, b); c != 0 || a.Infinite || a.Inclusive && b.Inclusive {
		return c
	}
	side := func(b Bound) int {
		switch {
		case b.Inclusive:
			return 0
		case b.Lower:
			return 1
		}
		return -1
	}
	return cmp.Compare(side(a), side(b))
}

// compareBoundValues is CompareBounds without regard to whether the bounds include their values.
func compareBoundValues(t *Type, a, b Bound) int {
	infinity := func(b Bound) int {
		switch {
		case !b.Infinite:
			return 0
		case b.Lower:
			return -1
		}
		return 1
	}
	if a.Infinite || b.Infinite {
		return cmp.Compare(infinity(a), infinity(b))
	}
	return Compare(t.Sub, a.Value, b.Value)
}

// CompareRanges orders ranges of type t: the empty one first, then by lower and by upper bounds.
func CompareRanges(t *Type, a, b RangeValue) int {
	switch {
	case a.Empty && b.Empty:
		return 0
	case a.Empty:
		return -1
	case b.Empty:
		return 1
	}
	return cmp.Or(CompareBounds(t, a.Lower, b.Lower), CompareBounds(t, a.Upper, b.Upper))
}

// BoundsAdjacent reports whether no value is between an upper and a lower bound, and none in both.
func BoundsAdjacent(t *Type, upper, lower Bound) bool {
	switch c := compareBoundValues(t, upper, lower); {
	case c > 0:
		return false
	case c == 0:
		return upper.Inclusive != lower.Inclusive
	}
	if nextOf(t.Sub) == nil || upper.Infinite || lower.Infinite {
		return false
	}
	upper.Inclusive, lower.Inclusive = !upper.Inclusive, !lower.Inclusive
	between, err := MakeRange(t, upper, lower)
	return err == nil && between.Empty
}

// RangesFrom returns the ranges that a datum of a multirange type holds.
func RangesFrom(d Datum) []RangeValue {
	if d.Arr == nil {
		return nil
	}
	out := make([]RangeValue, len(d.Arr.Elems))
	for i, e := range d.Arr.Elems {
		out[i] = RangeFrom(e)
	}
	return out
}

// MakeMultiRange returns the multirange of what any of the ranges has. t is the type of the ranges.
func MakeMultiRange(t *Type, ranges []RangeValue) []RangeValue {
	sorted := slices.DeleteFunc(slices.Clone(ranges), func(r RangeValue) bool { return r.Empty })
	slices.SortStableFunc(sorted, func(a, b RangeValue) int { return CompareRanges(t, a, b) })
	out := sorted[:0]
	for _, r := range sorted {
		if n := len(out); n > 0 && (out[n-1].Overlaps(t, r) || out[n-1].Adjacent(t, r)) {
			out[n-1] = out[n-1].Span(t, r)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// MultiRangeDatum returns the value of a multirange type. Requires: MakeMultiRange's form.
func MultiRangeDatum(ranges []RangeValue) Datum {
	a := &ArrayValue{Elems: make([]Datum, len(ranges))}
	for i, r := range ranges {
		a.Elems[i] = r.Datum()
	}
	return Datum{Arr: a}
}

func compareMultiRanges(t *Type, a, b Datum) int {
	return slices.CompareFunc(RangesFrom(a), RangesFrom(b), func(x, y RangeValue) int {
		return CompareRanges(t, x, y)
	})
}
