package types

import "github.com/minidb/minidb/internal/sqlerr"

// The operations on ranges of type t. What is empty has no place, so that it is neither before nor
// beside anything.

// ContainsValue reports whether the range has a value.
func (r RangeValue) ContainsValue(t *Type, v Datum) bool {
	point := RangeValue{Lower: Bound{Value: v, Inclusive: true, Lower: true},
		Upper: Bound{Value: v, Inclusive: true}}
	return r.Contains(t, point)
}

// Contains reports whether r has all values of s.
func (r RangeValue) Contains(t *Type, s RangeValue) bool {
	if s.Empty || r.Empty {
		return s.Empty
	}
	return CompareBounds(t, r.Lower, s.Lower) <= 0 && CompareBounds(t, r.Upper, s.Upper) >= 0
}

// Overlaps reports whether some value is in both.
func (r RangeValue) Overlaps(t *Type, s RangeValue) bool {
	if r.Empty || s.Empty {
		return false
	}
	if CompareBounds(t, r.Lower, s.Lower) >= 0 {
		return CompareBounds(t, r.Lower, s.Upper) <= 0
	}
	return CompareBounds(t, s.Lower, r.Upper) <= 0
}

// Before reports whether r ends before s begins.
func (r RangeValue) Before(t *Type, s RangeValue) bool {
	return !r.Empty && !s.Empty && CompareBounds(t, r.Upper, s.Lower) < 0
}

// Adjacent reports whether one begins where the other ends, without a value between them or in
// both.
func (r RangeValue) Adjacent(t *Type, s RangeValue) bool {
	return !r.Empty && !s.Empty &&
		(BoundsAdjacent(t, r.Upper, s.Lower) || BoundsAdjacent(t, s.Upper, r.Lower))
}

// NoFurtherRight reports whether r does not extend to the right of s.
func (r RangeValue) NoFurtherRight(t *Type, s RangeValue) bool {
	return !r.Empty && !s.Empty && CompareBounds(t, r.Upper, s.Upper) <= 0
}

// NoFurtherLeft reports whether r does not extend to the left of s.
func (r RangeValue) NoFurtherLeft(t *Type, s RangeValue) bool {
	return !r.Empty && !s.Empty && CompareBounds(t, r.Lower, s.Lower) >= 0
}

// Span returns the smallest range that contains both. Of equal bounds that print differently it has
// that of s, as in PostgreSQL.
func (r RangeValue) Span(t *Type, s RangeValue) RangeValue {
	switch {
	case r.Empty:
		return s
	case s.Empty:
		return r
	}
	if CompareBounds(t, s.Lower, r.Lower) <= 0 {
		r.Lower = s.Lower
	}
	if CompareBounds(t, s.Upper, r.Upper) >= 0 {
		r.Upper = s.Upper
	}
	return r
}

// Union returns the range of what either has.
func (r RangeValue) Union(t *Type, s RangeValue) (RangeValue, error) {
	if !r.Empty && !s.Empty && !r.Overlaps(t, s) && !r.Adjacent(t, s) {
		return r, sqlerr.New(sqlerr.DataException,
			"result of range union would not be contiguous")
	}
	return r.Span(t, s), nil
}

// Intersect returns the range of what both have.
func (r RangeValue) Intersect(t *Type, s RangeValue) RangeValue {
	if !r.Overlaps(t, s) {
		return EmptyRange()
	}
	if CompareBounds(t, s.Lower, r.Lower) > 0 {
		r.Lower = s.Lower
	}
	if CompareBounds(t, s.Upper, r.Upper) < 0 {
		r.Upper = s.Upper
	}
	return r
}

// Minus returns the range of what r has and s has not.
func (r RangeValue) Minus(t *Type, s RangeValue) (RangeValue, error) {
	left, right, err := r.without(t, s)
	if err == nil && !left.Empty && !right.Empty {
		err = sqlerr.New(sqlerr.DataException, "result of range difference would not be contiguous")
	}
	return left.Span(t, right), err
}

// without returns what r has to the left and to the right of s. If they do not overlap that is r
// on one side.
func (r RangeValue) without(t *Type, s RangeValue) (left, right RangeValue, err error) {
	if !r.Overlaps(t, s) {
		return r, EmptyRange(), nil
	}
	left, right = EmptyRange(), EmptyRange()
	if CompareBounds(t, r.Lower, s.Lower) < 0 {
		end := s.Lower
		end.Inclusive = !end.Inclusive
		if left, err = MakeRange(t, r.Lower, end); err != nil {
			return left, right, err
		}
	}
	if CompareBounds(t, r.Upper, s.Upper) > 0 {
		start := s.Upper
		start.Inclusive = !start.Inclusive
		right, err = MakeRange(t, start, r.Upper)
	}
	return left, right, err
}

// IntersectRanges returns the multirange of what both have.
func IntersectRanges(t *Type, a, b []RangeValue) (out []RangeValue) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if both := a[i].Intersect(t, b[j]); !both.Empty {
			out = append(out, both)
		}
		if CompareBounds(t, a[i].Upper, b[j].Upper) < 0 {
			i++
		} else {
			j++
		}
	}
	return out
}

// MinusRanges returns the multirange of what a has and b has not.
func MinusRanges(t *Type, a, b []RangeValue) (out []RangeValue, err error) {
	for _, r := range a {
		for len(b) > 0 && b[0].Before(t, r) {
			b = b[1:]
		}
		for _, s := range b {
			if r.Empty || r.Before(t, s) {
				break
			}
			left, right, err := r.without(t, s)
			if err != nil {
				return nil, err
			}
			if r = right; !left.Empty {
				out = append(out, left)
			}
		}
		if !r.Empty {
			out = append(out, r)
		}
	}
	return out, nil
}
