package codec

import (
	"bytes"
	"math"
	"math/bits"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/table/types"
)

// Integers take one byte from 0 to 109, otherwise a byte for sign and length, and the number's low
// bytes, most significant first.
const (
	intZero  = 0x88 // below it: 8 - n is a negative number of n bytes
	intSmall = 109
	intBig   = intZero + intSmall // plus n: a number of n bytes
)

func appendInt(dst []byte, v int64) []byte {
	switch {
	case v >= 0 && v <= intSmall:
		return append(dst, intZero+byte(v))
	case v > 0:
		n := (bits.Len64(uint64(v)) + 7) / 8
		return appendLow(append(dst, intBig+byte(n)), uint64(v), n)
	}
	n := max(1, (bits.Len64(^uint64(v))+7)/8)
	return appendLow(append(dst, intZero-byte(n)), uint64(v), n)
}

func appendLow(dst []byte, v uint64, n int) []byte {
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

// intLen is the length of an integer key that begins with first, or -1.
func intLen(first byte) int {
	switch {
	case first >= intZero && first <= intBig:
		return 1
	case first > intBig && first <= intBig+8:
		return 1 + int(first-intBig)
	case first < intZero && first >= intZero-8:
		return 1 + int(intZero-first)
	}
	return -1
}

func readInt(b []byte) (int64, []byte, bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	n := intLen(b[0])
	if n < 0 || n > len(b) {
		return 0, nil, false
	}
	if n == 1 {
		return int64(b[0] - intZero), b[1:], true
	}
	var v uint64
	if b[0] < intZero {
		v = ^uint64(0)
	}
	for _, c := range b[1:n] {
		v = v<<8 | uint64(c)
	}
	if (int64(v) < 0) != (b[0] < intZero) {
		return 0, nil, false
	}
	return int64(v), b[n:], true
}

// Strings end with 01, which occurs nowhere else in them: the bytes 00, 01 and 02 are written as 02
// and 03, 04 or 05.
const (
	stringEnd    byte = 0x01
	stringEscape byte = 0x02
	escapeBase   byte = 0x03
)

func appendString(dst []byte, s string) []byte {
	from := 0
	for i := 0; i < len(s); i++ {
		if s[i] <= stringEscape {
			dst = append(append(dst, s[from:i]...), stringEscape, s[i]+escapeBase)
			from = i + 1
		}
	}
	return append(append(dst, s[from:]...), stringEnd)
}

// stringLen is the length of a string key with its end, or 0.
func stringLen(b []byte, mask byte) int { return bytes.IndexByte(b, stringEnd^mask) + 1 }

func readString(b []byte) (string, []byte, bool) {
	n := stringLen(b, 0)
	if n == 0 {
		return "", nil, false
	}
	body, rest := b[:n-1], b[n:]
	if bytes.IndexByte(body, stringEscape) < 0 {
		return string(body), rest, true
	}
	var out strings.Builder
	out.Grow(len(body))
	for i := 0; i < len(body); i++ {
		if body[i] != stringEscape {
			out.WriteByte(body[i])
			continue
		}
		i++
		if i == len(body) || body[i] < escapeBase || body[i] > escapeBase+stringEscape {
			return "", nil, false
		}
		out.WriteByte(body[i] - escapeBase)
	}
	return out.String(), rest, true
}

// Numerics: a class, and for finite ones the exponent of 0.d₁d₂… × 10ᵉ as an integer, the digits in
// pairs, each pair plus 2, and 01. All after the class is inverted for negative numbers.
const (
	decimalNegInf byte = 0x10
	decimalNeg    byte = 0x20
	decimalZero   byte = 0x30
	decimalPos    byte = 0x40
	decimalPosInf byte = 0x50
	decimalNaN    byte = 0x60

	digitsEnd byte = 0x01
	pairBase  byte = 0x02
)

func appendDecimal(dst []byte, d *apd.Decimal) []byte {
	switch {
	case d.Form == apd.NaN || d.Form == apd.NaNSignaling:
		return append(dst, decimalNaN)
	case d.Form == apd.Infinite && d.Negative:
		return append(dst, decimalNegInf)
	case d.Form == apd.Infinite:
		return append(dst, decimalPosInf)
	case d.Coeff.Sign() == 0:
		return append(dst, decimalZero)
	}
	var room [40]byte
	digits := d.Coeff.Append(room[:0], 10)
	exponent := int64(len(digits)) + int64(d.Exponent)
	digits = bytes.TrimRight(digits, "0")
	class := decimalPos
	if d.Negative {
		class = decimalNeg
	}
	dst = append(dst, class)
	at := len(dst)
	dst = appendInt(dst, exponent)
	for i := 0; i < len(digits); i += 2 {
		pair := (digits[i] - '0') * 10
		if i+1 < len(digits) {
			pair += digits[i+1] - '0'
		}
		dst = append(dst, pair+pairBase)
	}
	dst = append(dst, digitsEnd)
	if d.Negative {
		invert(dst[at:])
	}
	return dst
}

func decimalLen(b []byte, mask byte) int {
	if len(b) == 0 {
		return -1
	}
	switch b[0] ^ mask {
	case decimalNeg:
		mask = ^mask
	case decimalPos:
	case decimalNegInf, decimalZero, decimalPosInf, decimalNaN:
		return 1
	default:
		return -1
	}
	if len(b) < 2 {
		return -1
	}
	n := intLen(b[1] ^ mask)
	if n < 0 || 1+n > len(b) {
		return -1
	}
	end := bytes.IndexByte(b[1+n:], digitsEnd^mask)
	if end < 0 {
		return -1
	}
	return 1 + n + end + 1
}

func readDecimal(b []byte) (*apd.Decimal, []byte, bool) {
	n := decimalLen(b, 0)
	if n < 0 {
		return nil, nil, false
	}
	rest := b[n:]
	switch b[0] {
	case decimalNegInf, decimalPosInf:
		return types.NumericInf(b[0] == decimalNegInf), rest, true
	case decimalNaN:
		return types.NumericNaN(), rest, true
	case decimalZero:
		return types.NumericFromInt(0), rest, true
	}
	body := append([]byte(nil), b[1:n]...)
	if b[0] == decimalNeg {
		invert(body)
	}
	exponent, pairs, ok := readInt(body)
	if !ok || len(pairs) < 2 || exponent < -200_000 || exponent > 200_000 {
		return nil, nil, false
	}
	digits := make([]byte, 0, 2*len(pairs))
	for _, p := range pairs[:len(pairs)-1] {
		if p < pairBase || p-pairBase > 99 {
			return nil, nil, false
		}
		p -= pairBase
		digits = append(digits, '0'+p/10, '0'+p%10)
	}
	digits = bytes.TrimRight(digits, "0")
	scale := int64(len(digits)) - exponent
	if scale < 0 {
		digits = append(digits, bytes.Repeat([]byte{'0'}, int(-scale))...)
		scale = 0
	}
	d := &apd.Decimal{Negative: b[0] == decimalNeg, Exponent: int32(-scale)}
	if _, ok := d.Coeff.SetString(string(digits), 10); !ok {
		return nil, nil, false
	}
	return d, rest, true
}

// intervalOf turns the number by which intervals are ordered into one of the intervals that have
// it.
func intervalOf(hi, lo uint64) (types.IntervalValue, bool) {
	negative := int64(hi) < 0
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	const day = uint64(types.MicrosPerDay)
	if hi >= day {
		return types.IntervalValue{}, false
	}
	days, micros := bits.Div64(hi, lo, day)
	most := uint64(math.MaxInt32)
	if negative {
		most++
	}
	months := min(days/30, most)
	days -= months * 30
	if days > most {
		over, low := bits.Mul64(days-most, day)
		var carry uint64
		micros, carry = bits.Add64(low, micros, 0)
		if over != 0 || carry != 0 || micros > 1<<63 || micros == 1<<63 && !negative {
			return types.IntervalValue{}, false
		}
		days = most
	}
	if negative {
		return types.IntervalValue{Months: int32(-int64(months)), Days: int32(-int64(days)),
			Micros: -int64(micros)}, true
	}
	return types.IntervalValue{Months: int32(months), Days: int32(days),
		Micros: int64(micros)}, true
}
