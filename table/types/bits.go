package types

import (
	"encoding/binary"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
)

// A bit string is held as groups of seven bits, so that the order of the bytes is PostgreSQL's: bit
// by bit, and a string before those that continue it. A group is a byte: its bits from the top, and
// a low bit that is set when another group follows. Behind the last group is the number of bits
// that it has: 0 only for the empty string.
//
//	B''          00 00
//	B'1'         80 01
//	B'10'        80 02
//	B'10000001'  81 80 01
const bitsPerGroup = 7

// BitsMax is the number of bits that the longest bit string has.
const BitsMax = (1<<31 - 1) - 8*4

// PackBits returns the value of a bit string of which digits are the bits, '0' or '1'.
func PackBits(digits string) string {
	groups := max(1, (len(digits)+bitsPerGroup-1)/bitsPerGroup)
	out := make([]byte, groups+1)
	for i := range len(digits) {
		out[i/bitsPerGroup] |= (digits[i] & 1) << (7 - i%bitsPerGroup)
	}
	for g := range groups - 1 {
		out[g] |= 1
	}
	out[groups] = byte(len(digits) - (groups-1)*bitsPerGroup)
	return string(out)
}

// BitLen returns the number of bits of a bit string's value.
func BitLen(s string) int {
	if len(s) < 2 {
		return 0
	}
	return (len(s)-2)*bitsPerGroup + int(s[len(s)-1])
}

// BitDigits returns the bits of a bit string's value as '0' and '1'.
func BitDigits(s string) string { return string(appendBits(nil, s)) }

func appendBits(dst []byte, s string) []byte {
	for i := range BitLen(s) {
		dst = append(dst, '0'+s[i/bitsPerGroup]>>(7-i%bitsPerGroup)&1)
	}
	return dst
}

func parseBits(t *Type, s string) (Datum, error) {
	digits, err := bitsText(s)
	if err != nil {
		return Datum{}, err
	}
	return fitBits(t, digits, false)
}

// bitsText returns the digits of bits that are written as 0101, b0101 or x1F.
func bitsText(s string) (string, error) {
	if s == "" || s[0]|0x20 != 'x' {
		if s != "" && s[0]|0x20 == 'b' {
			s = s[1:]
		}
		for i, c := range s {
			if c != '0' && c != '1' {
				return "", errBitDigit(s[i:], "binary")
			}
		}
		return s, nil
	}
	var sb strings.Builder
	for i := 1; i < len(s); i++ {
		d, ok := hexDigit(s[i])
		if !ok {
			return "", errBitDigit(s[i:], "hexadecimal")
		}
		for bit := 3; bit >= 0; bit-- {
			sb.WriteByte('0' + d>>bit&1)
		}
	}
	return sb.String(), nil
}

func errBitDigit(at, kind string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "\"%s\" is not a valid %s digit",
		firstChar(at), kind)
}

// fitBits makes the value of a bit string that fits the length of its type. Explicit casts cut it,
// or fill a bit(n) with zeros on the right; else it must have the length.
func fitBits(t *Type, digits string, explicit bool) (Datum, error) {
	n := int(t.Mod)
	switch {
	case n <= 0 || n == len(digits) || t.OID == OIDVarbit && len(digits) < n:
	case t.OID == OIDVarbit && !explicit:
		return Datum{}, sqlerr.New(sqlerr.StringDataRightTruncation,
			"bit string too long for type bit varying(%d)", n)
	case !explicit:
		return Datum{}, sqlerr.New(sqlerr.StringDataLengthMismatch,
			"bit string length %d does not match type bit(%d)", len(digits), n)
	case len(digits) > n:
		digits = digits[:n]
	default:
		digits += strings.Repeat("0", n-len(digits))
	}
	return Datum{S: PackBits(digits)}, nil
}

// bitsWithMod fits a value to the length of its type.
func bitsWithMod(t *Type, d Datum, explicit bool) (Datum, error) {
	if t.Mod <= 0 || BitLen(d.S) == int(t.Mod) {
		return d, nil
	}
	return fitBits(t, BitDigits(d.S), explicit)
}

// bitsFromInt is the cast of an integer of so many bits to bit(n): its low n bits, with its sign
// on their left. Without a length it is one bit.
func bitsFromInt(v int64, t *Type) Datum {
	digits := make([]byte, max(t.Mod, 1))
	for i := range digits {
		digits[i] = '0' + byte(v>>min(len(digits)-1-i, 63)&1)
	}
	return Datum{S: PackBits(string(digits))}
}

// bitsToInt is the cast of a bit string to int4 or int8.
func bitsToInt(s string, to *Type) (Datum, error) {
	if BitLen(s) > 8*int(to.Len) {
		return Datum{}, errIntRange(to)
	}
	var v int64
	for _, c := range []byte(BitDigits(s)) {
		v = v<<1 | int64(c&1)
	}
	if to.Len == 4 {
		v = int64(int32(v))
	}
	return Datum{I: v}, nil
}

func fromBits(d Datum, to *Type) (Datum, error) {
	switch {
	case to.Family == Bit:
		return d, nil
	case to.OID == OIDInt4 || to.OID == OIDInt8:
		return bitsToInt(d.S, to)
	}
	return Datum{}, ErrCannotCast(TBit, to)
}

// appendBitsBinary writes the number of bits, and eight of them in each byte.
func appendBitsBinary(dst []byte, s string) []byte {
	n := BitLen(s)
	dst = binary.BigEndian.AppendUint32(dst, uint32(n))
	at := len(dst)
	dst = append(dst, make([]byte, (n+7)/8)...)
	for i := range n {
		dst[at+i/8] |= s[i/bitsPerGroup] >> (7 - i%bitsPerGroup) & 1 << (7 - i%8)
	}
	return dst
}

func parseBitsBinary(b []byte) (Datum, error) {
	if len(b) < 4 {
		return Datum{}, errShortMessage()
	}
	n, b := binary.BigEndian.Uint32(b), b[4:]
	if n > BitsMax {
		return Datum{}, sqlerr.New(sqlerr.InvalidBinaryRepresentation,
			"invalid length in external bit string")
	}
	size := (int(n) + 7) / 8
	switch {
	case len(b) < size:
		return Datum{}, errShortMessage()
	case len(b) > size:
		return Datum{}, errBinaryFormat()
	}
	digits := make([]byte, n)
	for i := range digits {
		digits[i] = '0' + b[i/8]>>(7-i%8)&1
	}
	return Datum{S: PackBits(string(digits))}, nil
}

// bitsMod checks the length of bit(n) and varbit(n).
func bitsMod(t *Type, mods []int) (int32, error) {
	switch {
	case len(mods) != 1:
		return 0, errMod("invalid type modifier")
	case mods[0] < 1:
		return 0, errMod("length for type %s must be at least 1", t.Name)
	case mods[0] > 8*maxAttrSize:
		return 0, errMod("length for type %s cannot exceed %d", t.Name, 8*maxAttrSize)
	}
	return int32(mods[0]), nil
}
