package builtin

import (
	"math"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// The functions of bit strings work on their digits, '0' and '1'.

var bitFunctions = []def{
	f("length|bit_length(bit) int4", ofBits(func(s string) int64 { return int64(len(s)) })),
	f("octet_length(bit) int4", ofBits(func(s string) int64 { return int64(len(s)+7) / 8 })),
	f("bit_count(bit) int8", ofBits(func(s string) int64 {
		return int64(strings.Count(s, "1"))
	})),
	f("get_bit(bit,int4) int4", getBitOfString),
	f("set_bit(bit,int4,int4) bit", setBitOfString),
	f("position(bit,bit) int4", bitPosition),
	f("substring(bit,int4,int4?) bit", bitSubstring),
	f("overlay(bit,bit,int4,int4?) bit", bitOverlay),
}

var bitOperators = []def{
	f("&(bit,bit) bit", bitwise("AND", func(x, y byte) byte { return x & y })),
	f("|(bit,bit) bit", bitwise("OR", func(x, y byte) byte { return x | y })),
	f("#(bit,bit) bit", bitwise("XOR", func(x, y byte) byte { return x&1 ^ y&1 | '0' })),
	f("~(bit) bit", toBits(func(a []types.Datum) (string, error) {
		return strings.Map(func(c rune) rune { return c ^ 1 }, types.BitDigits(a[0].S)), nil
	})),
	f("<<(bit,int4) bit", toBits(func(a []types.Datum) (string, error) {
		return shiftBits(types.BitDigits(a[0].S), a[1].I), nil
	})),
	f(">>(bit,int4) bit", toBits(func(a []types.Datum) (string, error) {
		return shiftBits(types.BitDigits(a[0].S), -a[1].I), nil
	})),
	f("||(varbit,varbit) varbit", bitConcat),
}

var bitAggregates = []aggDef{
	agg("bit_and(bit) bit", foldBits("AND", func(x, y byte) byte { return x & y })),
	agg("bit_or(bit) bit", foldBits("OR", func(x, y byte) byte { return x | y })),
	agg("bit_xor(bit) bit", foldBits("XOR", func(x, y byte) byte { return x&1 ^ y&1 | '0' })),
}

// ofBits makes a function of a bit string's digits.
func ofBits(op func(digits string) int64) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.NewInt(op(types.BitDigits(a[0].S))), nil
	}
}

// toBits makes a function that returns the digits of a bit string.
func toBits(op func(a []types.Datum) (string, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		digits, err := op(a)
		if err != nil {
			return types.Null, err
		}
		if len(digits) > types.BitsMax {
			return types.Null, sqlerr.New(sqlerr.ProgramLimitExceeded,
				"bit string length exceeds the maximum allowed (%d)", types.BitsMax)
		}
		if err := askLarge(rt, len(digits)); err != nil {
			return types.Null, err
		}
		return types.NewString(types.PackBits(digits)), nil
	}
}

// bitwise makes an operator on two bit strings of the same length.
func bitwise(name string, op func(x, y byte) byte) scalar {
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return combineBits(name, op, a[0], a[1])
	}
}

func combineBits(name string, op func(x, y byte) byte, a, b types.Datum) (types.Datum, error) {
	x, y := []byte(types.BitDigits(a.S)), types.BitDigits(b.S)
	if len(x) != len(y) {
		return types.Null, sqlerr.New(sqlerr.StringDataLengthMismatch,
			"cannot %s bit strings of different sizes", name)
	}
	for i := range x {
		x[i] = op(x[i], y[i])
	}
	return types.NewString(types.PackBits(string(x))), nil
}

func foldBits(name string, op func(x, y byte) byte) func([]*types.Type) expr.Accumulator {
	return newFold(func(value, next types.Datum) (types.Datum, error) {
		return combineBits(name, op, value, next)
	})
}

// shiftBits shifts to the left by n bits, or to the right if n is negative. The length stays.
func shiftBits(s string, n int64) string {
	switch size := int64(len(s)); {
	case n >= size || n <= -size:
		return strings.Repeat("0", len(s))
	case n >= 0:
		return s[n:] + strings.Repeat("0", int(n))
	default:
		return strings.Repeat("0", int(-n)) + s[:size+n]
	}
}

var bitConcat = toBits(func(a []types.Datum) (string, error) {
	return types.BitDigits(a[0].S) + types.BitDigits(a[1].S), nil
})

func checkBitIndex(n int64, digits string) error {
	if n < 0 || n >= int64(len(digits)) {
		return errSubscripts("bit index %d out of valid range (0..%d)", n, len(digits)-1)
	}
	return nil
}

func getBitOfString(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	digits := types.BitDigits(a[0].S)
	if err := checkBitIndex(a[1].I, digits); err != nil {
		return types.Null, err
	}
	return types.NewInt(int64(digits[a[1].I] & 1)), nil
}

var setBitOfString = toBits(func(a []types.Datum) (string, error) {
	digits := types.BitDigits(a[0].S)
	if err := checkBitIndex(a[1].I, digits); err != nil {
		return "", err
	}
	if a[2].I != 0 && a[2].I != 1 {
		return "", errInvalid("new bit must be 0 or 1")
	}
	return digits[:a[1].I] + string([]byte{'0' + byte(a[2].I)}) + digits[a[1].I+1:], nil
})

// bitPosition returns where the second bit string begins in the first, from 1; 0 if it does not
// occur or the first is empty.
func bitPosition(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if types.BitLen(a[0].S) == 0 {
		return types.NewInt(0), nil
	}
	at := strings.Index(types.BitDigits(a[0].S), types.BitDigits(a[1].S))
	return types.NewInt(int64(at) + 1), nil
}

// bitPart returns n digits from a position counted from 1. Positions before the first one count.
func bitPart(s string, from, n int64) string {
	end := min(from+n, int64(len(s))+1)
	from = max(from, 1)
	if from > int64(len(s)) || end <= from {
		return ""
	}
	return s[from-1 : end-1]
}

var bitSubstring = toBits(func(a []types.Datum) (string, error) {
	n := intAt(a, 2, math.MaxInt32+1<<32)
	if n < 0 {
		return "", errSubstring()
	}
	return bitPart(types.BitDigits(a[0].S), a[1].I, n), nil
})

// bitOverlay replaces the bits from a position on: as many as the replacement has, or the number in
// the last argument.
var bitOverlay = toBits(func(a []types.Datum) (string, error) {
	s, part, from := types.BitDigits(a[0].S), types.BitDigits(a[1].S), a[2].I
	n := intAt(a, 3, int64(len(part)))
	switch {
	case from <= 0:
		return "", errSubstring()
	case from+n > math.MaxInt32:
		return "", errIntRange(math.MaxInt32)
	}
	return bitPart(s, 1, from-1) + part + bitPart(s, max(from+n, 1), math.MaxInt32), nil
})
