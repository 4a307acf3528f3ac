package types

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
	"unsafe"

	"github.com/cockroachdb/apd/v3"
)

// The mixing is wyhash's: multiply to 128 bits and fold.
const (
	hashK0 = 0xa0761d6478bd642f
	hashK1 = 0xe7037ed1a0b428db
	hashK2 = 0x8ebc6af09c88c6e3
)

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^hashK0, b^hashK1)
	return hi ^ lo
}

// HashInt hashes a number.
func HashInt(v int64, seed uint64) uint64 { return mix(uint64(v), seed^hashK2) }

// HashString hashes bytes.
func HashString(s string, seed uint64) uint64 {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	h := seed ^ uint64(len(s))*hashK2
	for len(b) >= 16 {
		h = mix(binary.LittleEndian.Uint64(b)^h, binary.LittleEndian.Uint64(b[8:]))
		b = b[16:]
	}
	var x, y uint64
	if len(b) >= 8 {
		x = binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	for i, c := range b {
		y |= uint64(c) << (8 * i)
	}
	return mix(x^h, y)
}

// HashFloat hashes a float; equal floats hash alike, -0 and 0 too.
func HashFloat(f float64, seed uint64) uint64 {
	switch {
	case f == 0:
		return HashInt(0, seed)
	case math.IsNaN(f):
		return HashInt(math.MaxInt64, seed)
	}
	return HashInt(int64(math.Float64bits(f)), seed)
}

// HashNumeric hashes a numeric; the display scale does not count.
func HashNumeric(d *apd.Decimal, seed uint64) uint64 {
	if d.Form != apd.Finite {
		return HashInt(int64(numericRank(d)), seed^hashK0)
	}
	if d.Coeff.Sign() == 0 {
		return HashInt(0, seed)
	}
	exp := int64(d.Exponent)
	if d.Coeff.IsUint64() {
		u := d.Coeff.Uint64()
		for u%10 == 0 {
			u /= 10
			exp++
		}
		return hashParts(u, exp, d.Negative, seed)
	}
	n := trailingZeros(&d.Coeff)
	exp += int64(n)
	c := &d.Coeff
	if n > 0 {
		c = new(apd.BigInt).Quo(c, pow10(n))
	}
	if c.IsUint64() {
		return hashParts(c.Uint64(), exp, d.Negative, seed)
	}
	return hashParts(HashString(string(c.Append(nil, 16)), seed), exp, d.Negative, seed)
}

func hashParts(u uint64, exp int64, neg bool, seed uint64) uint64 {
	h := mix(u, seed)
	if neg {
		h = ^h
	}
	return mix(h, uint64(exp))
}

// Hash hashes a value of type t; values that are equal by Compare hash alike.
func Hash(t *Type, d Datum, seed uint64) uint64 {
	if d.Null {
		return mix(seed, hashK2)
	}
	switch t.Family.Order() {
	case I64:
		return HashInt(d.I, seed)
	case F64:
		return HashFloat(d.F, seed)
	case Dec:
		return HashNumeric(d.Dec, seed)
	case Iv:
		hi, lo := intervalSpan(d.Iv)
		return mix(HashInt(hi, seed), lo)
	case Str:
		if t.Base().OID == OIDBPChar {
			return HashString(strings.TrimRight(d.S, " "), seed)
		}
		return HashString(d.S, seed)
	}
	switch t.Family {
	case JSON:
		v, err := ParseJSON(d.S, nil)
		if err != nil {
			return HashString(d.S, seed)
		}
		return hashJSON(v, seed)
	case JSONPath, XML, Geometric:
		return HashString(d.S, seed)
	case CIText:
		return HashString(FoldCase(d.S), seed)
	case TID:
		return HashString(d.S[:tidLen], seed)
	case Range:
		h := seed
		for i, sub := range [3]*Type{t.Sub, t.Sub, TInt8} {
			h = Hash(sub, d.Arr.Elems[i], h)
		}
		return h
	case MultiRange:
		h := HashInt(int64(len(d.Arr.Elems)), seed)
		for _, e := range d.Arr.Elems {
			h = Hash(t.Sub, e, h)
		}
		return h
	case Array:
		h := HashInt(int64(len(d.Arr.Elems)), seed)
		for _, e := range d.Arr.Elems {
			h = Hash(t.Elem, e, h)
		}
		return h
	case Record:
		h := HashInt(int64(len(d.Arr.Elems)), seed)
		for i, e := range d.Arr.Elems {
			h = Hash(d.Arr.fieldType(i), e, h)
		}
		return h
	}
	return seed
}

func hashJSON(v *JSONValue, seed uint64) uint64 {
	h := HashInt(int64(v.Kind), seed)
	switch v.Kind {
	case JSONBool:
		if v.Bool {
			h = ^h
		}
	case JSONString:
		h = HashString(v.Str, h)
	case JSONNumber:
		h = HashNumeric(v.Num, h)
	case JSONArray, JSONObject:
		for i, e := range v.Elems {
			if v.Kind == JSONObject {
				h = HashString(v.Keys[i], h)
			}
			h = hashJSON(e, h)
		}
	}
	return h
}
