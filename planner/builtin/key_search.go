package builtin

import (
	"cmp"
	"math"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// keySpace numbers all values of a key's type in their order.
type keySpace struct {
	first, last int64
	at          func(number int64) types.Datum
}

func keySpaceOf(key *types.Type) keySpace {
	switch key.OID {
	case types.OIDFloat4:
		return keySpace{first: -infinity32, last: infinity32 + 1, at: float4Key}
	case types.OIDDate:
		first, last := types.FiniteDates()
		return keySpace{first: first - 1, last: last + 1, at: func(number int64) types.Datum {
			switch {
			case number < first:
				return types.NewInt(types.NegInfinity)
			case number > last:
				return types.NewInt(types.PosInfinity)
			}
			return types.NewInt(number)
		}}
	}
	most := int64(1)<<(uint(key.Len)*8-1) - 1
	return keySpace{first: -most - 1, last: most, at: types.NewInt}
}

// infinity32 is the number of infinity among the float4 values: the bits of the positive values are
// in order.
const infinity32 = 0x7f800000

func float4Key(number int64) types.Datum {
	switch {
	case number > infinity32:
		return types.NewFloat(math.NaN())
	case number < 0:
		return types.NewFloat(-float64(math.Float32frombits(uint32(-number))))
	}
	return types.NewFloat(float64(math.Float32frombits(uint32(number))))
}

// least returns the number of the first key for which holds is true. If it is true for none, it
// returns the last number and false. Requires: holds is true for every key after the first for
// which it is.
func (s *keySpace) least(holds func(key types.Datum) bool) (number int64, found bool) {
	low, high := s.first, s.last
	if !holds(s.at(high)) {
		return high, false
	}
	for low < high {
		middle := low + int64(uint64(high-low)/2)
		if holds(s.at(middle)) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return high, true
}

// searchedBound makes bounds by a binary search among all keys. compare compares a key with the
// value, and never decreases from one key to the next.
func searchedBound(compare func(rt *expr.Runtime, key, value types.Datum) int) func(*types.Type,
	string) (scalar, bool) {
	return func(key *types.Type, op string) (scalar, bool) {
		space := keySpaceOf(key)
		// The first key greater than the value decides, or else the first that is not less.
		above := op == ">" || op == "<="
		return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			number, found := space.least(func(key types.Datum) bool {
				c := compare(rt, key, a[0])
				return c > 0 || c == 0 && !above
			})
			switch {
			case op == "<" || op == "<=":
				if found {
					if number == space.first {
						return types.Null, nil
					}
					number--
				}
			case !found, op == "=" && compare(rt, space.at(number), a[0]) != 0:
				return types.Null, nil
			}
			return space.at(number), nil
		}, true
	}
}

func intFloatCompare(_ *expr.Runtime, key, value types.Datum) int {
	return types.CompareFloats(float64(key.I), value.F)
}

func floatCompare(_ *expr.Runtime, key, value types.Datum) int {
	return types.CompareFloats(key.F, value.F)
}

func dateCompare(_ *expr.Runtime, key, value types.Datum) int {
	return cmp.Compare(dateMicros(key.I), value.I)
}

func zonedDateCompare(rt *expr.Runtime, key, value types.Datum) int {
	return cmp.Compare(zonedDateMicros(key.I, location(rt)), value.I)
}
