package codec

import (
	"encoding/binary"

	"github.com/minidb/minidb/table/types"
)

// The key of a range is emptyRange, or someRange, its lower and its upper bound. A bound is a mark
// for infinity, or finiteBound, the key of its value, and whether the bound lies before or after
// the value: a lower one lies after it when it excludes it, an upper one when it includes it.
//
// A multirange is its ranges, each behind anotherRange, and lastRange.
const (
	emptyRange byte = 0x02
	someRange  byte = 0x03

	lowestBound  byte = 0x02
	finiteBound  byte = 0x03
	highestBound byte = 0x04

	beforeValue byte = 0x02
	afterValue  byte = 0x03

	lastRange    byte = 0x01
	anotherRange byte = 0x02
)

func appendRangeKey(dst []byte, t *types.Type, r types.RangeValue) ([]byte, error) {
	if r.Empty {
		return append(dst, emptyRange), nil
	}
	dst, err := appendBoundKey(append(dst, someRange), t, r.Lower)
	if err != nil {
		return dst, err
	}
	return appendBoundKey(dst, t, r.Upper)
}

func appendBoundKey(dst []byte, t *types.Type, b types.Bound) ([]byte, error) {
	switch {
	case b.Infinite && b.Lower:
		return append(dst, lowestBound), nil
	case b.Infinite:
		return append(dst, highestBound), nil
	}
	dst, err := appendKey(append(dst, finiteBound), t.Sub, b.Value)
	if b.Lower == b.Inclusive {
		return append(dst, beforeValue), err
	}
	return append(dst, afterValue), err
}

func readRangeKey(b []byte, t *types.Type) (r types.RangeValue, rest []byte, err error) {
	switch {
	case len(b) == 0:
		return r, nil, corrupt(t, "key ends early")
	case b[0] == emptyRange:
		return types.EmptyRange(), b[1:], nil
	case b[0] != someRange:
		return r, nil, corrupt(t, "bad range key")
	}
	if r.Lower, rest, err = readBoundKey(b[1:], t, true); err != nil {
		return r, nil, err
	}
	r.Upper, rest, err = readBoundKey(rest, t, false)
	return r, rest, err
}

func readBoundKey(b []byte, t *types.Type, lower bool) (types.Bound, []byte, error) {
	bound := types.Bound{Lower: lower}
	switch {
	case len(b) == 0:
		return bound, nil, corrupt(t, "key ends early")
	case lower && b[0] == lowestBound, !lower && b[0] == highestBound:
		bound.Infinite = true
		return bound, b[1:], nil
	case b[0] != finiteBound:
		return bound, nil, corrupt(t, "bad bound")
	}
	v, rest, err := readKey(b[1:], t.Sub)
	if err != nil {
		return bound, nil, err
	}
	if len(rest) == 0 || rest[0] != beforeValue && rest[0] != afterValue {
		return bound, nil, corrupt(t, "bad bound")
	}
	bound.Value, bound.Inclusive = v, (rest[0] == beforeValue) == lower
	return bound, rest[1:], nil
}

func appendMultiRangeKey(dst []byte, t *types.Type, d types.Datum) ([]byte, error) {
	var err error
	for _, r := range types.RangesFrom(d) {
		if dst, err = appendRangeKey(append(dst, anotherRange), t.Sub, r); err != nil {
			return dst, err
		}
	}
	return append(dst, lastRange), nil
}

func readMultiRangeKey(b []byte, t *types.Type) (types.Datum, []byte, error) {
	var ranges []types.RangeValue
	for len(b) > 0 && b[0] == anotherRange {
		r, rest, err := readRangeKey(b[1:], t.Sub)
		if err != nil {
			return types.Null, nil, err
		}
		ranges, b = append(ranges, r), rest
	}
	if len(b) == 0 || b[0] != lastRange {
		return types.Null, nil, corrupt(t, "bad multirange key")
	}
	return types.MultiRangeDatum(ranges), b[1:], nil
}

// The field of a range or multirange is its elements one after the other, each with its length plus
// one as a varint, 0 for NULL: of a range the lower bound, the upper bound, and the flags.
func appendRangesField(dst []byte, t *types.Type, d types.Datum) ([]byte, error) {
	for i, e := range d.Arr.Elems {
		field, err := EncodeValue(rangeElem(t, i), e)
		if err != nil {
			return dst, err
		}
		if e.Null {
			dst = append(dst, 0)
			continue
		}
		dst = append(binary.AppendUvarint(dst, uint64(len(field))+1), field...)
	}
	return dst, nil
}

// rangeElem returns the type of element i of a value of type t.
func rangeElem(t *types.Type, i int) *types.Type {
	if t.Family == types.Range && i == 2 {
		return types.TInt8
	}
	return t.Sub
}

func decodeRanges(field []byte, t *types.Type) (types.Datum, error) {
	a := &types.ArrayValue{Elems: []types.Datum{}}
	for i := 0; len(field) > 0; i++ {
		size, n := binary.Uvarint(field)
		if n <= 0 || size > uint64(len(field)-n)+1 {
			return types.Null, corrupt(t, "bad range")
		}
		field = field[n:]
		if size == 0 {
			a.Elems = append(a.Elems, types.Null)
			continue
		}
		d, err := DecodeValue(field[:size-1:size-1], rangeElem(t, i))
		if err != nil {
			return types.Null, err
		}
		a.Elems, field = append(a.Elems, d), field[size-1:]
	}
	if t.Family == types.Range && (len(a.Elems) != 3 || a.Elems[2].Null) ||
		t.Family == types.MultiRange && containsNull(a.Elems) {
		return types.Null, corrupt(t, "bad range")
	}
	return types.Datum{Arr: a}, nil
}

func containsNull(elems []types.Datum) bool {
	for _, e := range elems {
		if e.Null {
			return true
		}
	}
	return false
}
