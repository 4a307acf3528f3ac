package types

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
)

// A numeric is an apd.Decimal whose exponent is never positive: -Exponent is the display scale.
// Zero is never negative, and the only special forms are NaN and the two infinities.

// Limits of PostgreSQL's numeric.
const (
	numericMaxPrecision    = 1000
	numericMaxDisplayScale = 1000
	numericMaxResultScale  = 2000
	numericMinSigDigits    = 16
	numericMaxScale        = 16383
	numericMaxIntDigits    = 131072
)

var (
	numericNaN    = &apd.Decimal{Form: apd.NaN}
	numericInf    = &apd.Decimal{Form: apd.Infinite}
	numericNegInf = &apd.Decimal{Form: apd.Infinite, Negative: true}
	numericZero   = apd.New(0, 0)
	numericOne    = apd.New(1, 0)
	numericTen    = apd.New(10, 0)
)

// NumericNaN returns the shared NaN.
func NumericNaN() *apd.Decimal { return numericNaN }

// NumericInf returns the shared infinity of the given sign.
func NumericInf(negative bool) *apd.Decimal {
	if negative {
		return numericNegInf
	}
	return numericInf
}

// NumericFromInt returns i with scale 0.
func NumericFromInt(i int64) *apd.Decimal { return apd.New(i, 0) }

// numericFromIntScale returns i / 10^scale.
func numericFromIntScale(i int64, scale int) *apd.Decimal { return apd.New(i, int32(-scale)) }

// NumericScale returns the display scale, 0 for NaN and infinities.
func NumericScale(d *apd.Decimal) int {
	if d.Form != apd.Finite {
		return 0
	}
	return int(-d.Exponent)
}

func isNaN(d *apd.Decimal) bool { return d.Form == apd.NaN || d.Form == apd.NaNSignaling }
func isInf(d *apd.Decimal) bool { return d.Form == apd.Infinite }

// NumericSign returns -1, 0 or 1; NaN counts as positive.
func NumericSign(d *apd.Decimal) int {
	if d.Form == apd.Finite && d.Coeff.Sign() == 0 {
		return 0
	}
	if d.Negative {
		return -1
	}
	return 1
}

func errNumericOverflow() error {
	return sqlerr.New(sqlerr.NumericValueOutOfRange, "value overflows numeric format")
}

// checkNumeric enforces the size limits and that zero has no sign. It may change d.
func checkNumeric(d *apd.Decimal) (*apd.Decimal, error) {
	if d.Form != apd.Finite {
		return d, nil
	}
	if d.Coeff.Sign() == 0 {
		d.Negative = false
		if d.Exponent < -numericMaxScale {
			return nil, errNumericOverflow()
		}
		return d, nil
	}
	if d.Exponent < -numericMaxScale {
		return nil, errNumericOverflow()
	}
	// A cheap bound first: counting digits is slow.
	if d.Coeff.BitLen() > 4*numericMaxIntDigits/2 &&
		d.NumDigits()+int64(d.Exponent) > numericMaxIntDigits {
		return nil, errNumericOverflow()
	}
	return d, nil
}

var pow10Table = func() (t [128]apd.BigInt) {
	t[0].SetInt64(1)
	ten := apd.NewBigInt(10)
	for i := 1; i < len(t); i++ {
		t[i].Mul(&t[i-1], ten)
	}
	return t
}()

// pow10 returns 10^n for n >= 0; the result must not be changed.
func pow10(n int) *apd.BigInt {
	if n < len(pow10Table) {
		return &pow10Table[n]
	}
	return new(apd.BigInt).Exp(apd.NewBigInt(10), apd.NewBigInt(int64(n)), nil)
}

// ParseNumeric reads a numeric as PostgreSQL's input function does.
func ParseNumeric(s string) (*apd.Decimal, error) {
	bad := func() error {
		return sqlerr.New(sqlerr.InvalidTextRepresentation,
			"invalid input syntax for type numeric: \"%s\"", s)
	}
	t := strings.Trim(s, " \t\n\r\v\f")
	if t == "" {
		return nil, bad()
	}
	neg := false
	body := t
	switch t[0] {
	case '-':
		neg, body = true, t[1:]
	case '+':
		body = t[1:]
	}
	switch {
	case strings.EqualFold(t, "nan"):
		return numericNaN, nil
	case strings.EqualFold(body, "infinity"), strings.EqualFold(body, "inf"):
		return NumericInf(neg), nil
	}
	digits, scale, length := mantissa(body)
	if length == 0 {
		return nil, bad()
	}
	exp := 0
	if rest := body[length:]; rest != "" {
		if !isExponent(rest) {
			return nil, bad()
		}
		var err error
		exp, err = strconv.Atoi(rest[1:])
		if err != nil || exp > math.MaxInt32/2 || exp < -math.MaxInt32/2 {
			return nil, errNumericOverflow()
		}
	}
	return numericFromDigits(neg, digits, scale-exp)
}

// mantissa reads the digits and the point at the beginning of a number. It returns the digits
// without leading zeros, how many are behind the point, and the length of all; 0: there is none.
func mantissa(s string) (digits []byte, scale, length int) {
	digits = make([]byte, 0, len(s))
	point := -1
	for ; length < len(s); length++ {
		c := s[length]
		if c == '.' && point < 0 {
			point = length
			continue
		}
		if !isDigit(c) {
			break
		}
		if c != '0' || len(digits) > 0 {
			digits = append(digits, c)
		}
	}
	if point >= 0 {
		scale = length - point - 1
	}
	if length == 0 || length == 1 && point == 0 {
		return nil, 0, 0
	}
	return digits, scale, length
}

// isExponent reports whether s is e or E, at most one sign, and digits.
func isExponent(s string) bool {
	u := strings.TrimLeft(s[1:], "+-")
	return s[0]|0x20 == 'e' && len(s)-1-len(u) <= 1 && u != "" && digitsPrefix(u) == len(u)
}

// numericFromDigits returns ±digits / 10^scale; for a negative scale it appends zeros.
func numericFromDigits(neg bool, digits []byte, scale int) (*apd.Decimal, error) {
	d := new(apd.Decimal)
	if len(digits) == 0 {
		if scale > numericMaxScale {
			return nil, errNumericOverflow()
		}
		d.Exponent = int32(-max(scale, 0))
		return d, nil
	}
	if len(digits)-scale > numericMaxIntDigits || scale > numericMaxScale {
		return nil, errNumericOverflow()
	}
	if len(digits) <= 18 {
		var u int64
		for _, c := range digits {
			u = u*10 + int64(c-'0')
		}
		d.Coeff.SetInt64(u)
	} else {
		d.Coeff.SetString(string(digits), 10)
	}
	if scale < 0 {
		d.Coeff.Mul(&d.Coeff, pow10(-scale))
		scale = 0
	}
	d.Negative, d.Exponent = neg, int32(-scale)
	return d, nil
}

// AppendNumeric writes d with all digits of its display scale.
func AppendNumeric(dst []byte, d *apd.Decimal) []byte {
	switch {
	case isNaN(d):
		return append(dst, "NaN"...)
	case isInf(d) && d.Negative:
		return append(dst, "-Infinity"...)
	case isInf(d):
		return append(dst, "Infinity"...)
	}
	if d.Negative {
		dst = append(dst, '-')
	}
	scale := int(-d.Exponent)
	if scale <= 0 {
		dst = d.Coeff.Append(dst, 10)
		if d.Coeff.Sign() != 0 {
			for i := 0; i > scale; i-- {
				dst = append(dst, '0')
			}
		}
		return dst
	}
	var buf [64]byte
	digits := d.Coeff.Append(buf[:0], 10)
	if n := len(digits) - scale; n > 0 {
		dst = append(dst, digits[:n]...)
		dst = append(dst, '.')
		return append(dst, digits[n:]...)
	}
	dst = append(dst, '0', '.')
	for i := len(digits); i < scale; i++ {
		dst = append(dst, '0')
	}
	return append(dst, digits...)
}

// NumericString returns the text form.
func NumericString(d *apd.Decimal) string { return string(AppendNumeric(nil, d)) }

// NumericFromFloat converts with the 15 (float8) or 6 (float4) digits that PostgreSQL trusts.
func NumericFromFloat(f float64, bits int) *apd.Decimal {
	switch {
	case math.IsNaN(f):
		return numericNaN
	case math.IsInf(f, 0):
		return NumericInf(f < 0)
	}
	prec := 15
	if bits == 32 {
		prec = 6
	}
	s := strconv.FormatFloat(f, 'e', prec-1, 64)
	// %g drops trailing zeros of the mantissa.
	m, e, _ := strings.Cut(s, "e")
	if strings.Contains(m, ".") {
		m = strings.TrimRight(strings.TrimRight(m, "0"), ".")
	}
	d, err := ParseNumeric(m + "e" + e)
	if err != nil {
		return numericNaN // no finite float is out of numeric's range
	}
	return d
}

// NumericToFloat converts to the nearest float8; 22003 when it is too large.
func NumericToFloat(d *apd.Decimal) (float64, error) {
	switch {
	case isNaN(d):
		return math.NaN(), nil
	case isInf(d) && d.Negative:
		return math.Inf(-1), nil
	case isInf(d):
		return math.Inf(1), nil
	}
	if d.Coeff.IsUint64() && d.Exponent > -22 {
		// Both are exact floats, so one division rounds correctly.
		if u := d.Coeff.Uint64(); u < 1<<53 {
			f := float64(u) / math.Pow10(int(-d.Exponent))
			if d.Negative {
				f = -f
			}
			return f, nil
		}
	}
	s := NumericString(d)
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f == 0 && d.Coeff.Sign() != 0 {
		return 0, sqlerr.New(sqlerr.NumericValueOutOfRange,
			"\"%s\" is out of range for type double precision", s)
	}
	return f, nil
}

// NumericToInt64 rounds half away from zero; ok is false for NaN, infinities and overflow.
func NumericToInt64(d *apd.Decimal) (i int64, ok bool) {
	if d.Form != apd.Finite {
		return 0, false
	}
	var r apd.Decimal
	setScale(&r, d, 0, roundHalfAway)
	if r.Coeff.IsUint64() {
		u := r.Coeff.Uint64()
		switch {
		case r.Negative && u <= 1<<63:
			return -int64(u), true
		case !r.Negative && u < 1<<63:
			return int64(u), true
		}
	}
	return 0, false
}

// NumericCmp orders numerics as PostgreSQL's btree does: -Infinity, finite, Infinity, NaN.
func NumericCmp(a, b *apd.Decimal) int {
	if a.Form != apd.Finite || b.Form != apd.Finite {
		return numericRank(a) - numericRank(b)
	}
	sa, sb := NumericSign(a), NumericSign(b)
	if sa != sb || sa == 0 {
		return cmp.Compare(sa, sb)
	}
	var c int
	if a.Exponent == b.Exponent {
		c = a.Coeff.CmpAbs(&b.Coeff)
	} else {
		c = cmpCoeffs(a, b)
	}
	return sa * c
}

func cmpCoeffs(a, b *apd.Decimal) int {
	var t apd.BigInt
	if a.Exponent > b.Exponent {
		t.Mul(&a.Coeff, pow10(int(a.Exponent-b.Exponent)))
		return t.CmpAbs(&b.Coeff)
	}
	t.Mul(&b.Coeff, pow10(int(b.Exponent-a.Exponent)))
	return -t.CmpAbs(&a.Coeff)
}

func numericRank(d *apd.Decimal) int {
	switch {
	case isNaN(d):
		return 2
	case isInf(d) && d.Negative:
		return -1
	case isInf(d):
		return 1
	}
	return 0
}

// trailingZeros counts the decimal zeros at the end of a coefficient, which is not zero.
func trailingZeros(c *apd.BigInt) int {
	n := 0
	if c.IsUint64() {
		for u := c.Uint64(); u%10 == 0; u /= 10 {
			n++
		}
		return n
	}
	var buf [64]byte
	digits := c.Append(buf[:0], 10)
	for digits[len(digits)-1-n] == '0' {
		n++
	}
	return n
}
