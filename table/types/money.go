package types

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
)

// A money is held as its cents. It is written as in the locale C: $ in front, two digits behind a
// point, commas between thousands.

func appendMoney(dst []byte, cents int64) []byte {
	u := uint64(cents)
	if cents < 0 {
		dst = append(dst, '-')
		u = -u
	}
	dst = append(dst, '$')
	digits := strconv.FormatUint(u/100, 10)
	for i, c := range []byte(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, c)
	}
	return append(dst, '.', byte('0'+u/10%10), byte('0'+u%10))
}

// parseMoney reads an amount: a sign on either side or parentheses, $, commas, a fraction of which
// the third digit rounds.
func parseMoney(s string) (int64, error) {
	w := strings.TrimLeft(s, spaces)
	negative := false
	w = strings.TrimLeft(strings.TrimPrefix(w, "$"), spaces)
	switch {
	case strings.HasPrefix(w, "-"):
		negative, w = true, w[1:]
	case strings.HasPrefix(w, "("):
		negative, w = true, w[1:]
	case strings.HasPrefix(w, "+"):
		w = w[1:]
	}
	w = strings.TrimLeft(w, spaces)
	w = strings.TrimLeft(strings.TrimPrefix(w, "$"), spaces)
	outOfRange := sqlerr.New(sqlerr.NumericValueOutOfRange,
		"value \"%s\" is out of range for type money", s)
	// Sums are negative, so that the smallest amount can be read.
	value, scale, point, ok := int64(0), 0, false, true
	i := 0
	for ; i < len(w) && ok; i++ {
		switch c := w[i]; {
		case isDigit(c) && (!point || scale < 2):
			if value, ok = timesTenLess(value, int64(c-'0')); point {
				scale++
			}
			continue
		case c == '.' && !point:
			point = true
			continue
		case c == ',':
			continue
		}
		break
	}
	if !ok {
		return 0, outOfRange
	}
	if i < len(w) && isDigit(w[i]) && w[i] >= '5' {
		if value, ok = addInt64(value, -1); !ok {
			return 0, outOfRange
		}
	}
	for ; scale < 2; scale++ {
		if value, ok = timesTenLess(value, 0); !ok {
			return 0, outOfRange
		}
	}
	rest := strings.TrimLeft(w[i:], "0123456789")
	for rest != "" {
		switch {
		case isSpace(rest[0]) || rest[0] == ')' || rest[0] == '$':
		case rest[0] == '-':
			negative = true
		case rest[0] == '+':
		default:
			return 0, errSyntaxFor(TMoney, s)
		}
		rest = rest[1:]
	}
	if negative {
		return value, nil
	}
	if value == math.MinInt64 {
		return 0, outOfRange
	}
	return -value, nil
}

const spaces = " \t\n\r\v\f"

// timesTenLess returns 10v − digit; false when that is out of range.
func timesTenLess(v, digit int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(-v), 10)
	if hi != 0 || lo > 1<<63 {
		return 0, false
	}
	return addInt64(-int64(lo), -digit)
}

// ErrMoneyRange is 22003 for an amount that no money can hold.
func ErrMoneyRange() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "money out of range")
}

// MoneyFromFloat rounds cents half to even.
func MoneyFromFloat(cents float64) (int64, error) {
	r := math.RoundToEven(cents)
	if !(r >= -1<<63 && r < 1<<63) {
		return 0, ErrMoneyRange()
	}
	return int64(r), nil
}

func moneyFromNumeric(v *apd.Decimal) (int64, error) {
	scaled, err := NumericMul(v, NumericFromInt(100))
	if err != nil {
		return 0, err
	}
	return NumericToInt(scaled, TInt8)
}

// moneyFromInt is the cast of an int4 or int8.
func moneyFromInt(v int64) (int64, error) {
	if hi, lo := bits.Mul64(uint64(max(v, -v)), 100); hi != 0 || lo >= 1<<63 {
		return 0, errIntRange(TInt8)
	}
	return v * 100, nil
}

func moneyToNumeric(cents int64) *apd.Decimal { return numericFromIntScale(cents, 2) }
