package codec

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// Markers begin every key. NULL's does not take part in desc: where NULLs go is said separately.
const (
	nullFirst byte = 0x01
	present   byte = 0x02
	nullLast  byte = 0x03
)

// intervalLen is the length of an interval's key without its marker.
const intervalLen = 16

// AppendKey appends the key of a datum to dst. With desc its order is reversed; nullsFirst says
// where NULLs go in the order of the bytes, whatever desc is. Types without an order are refused
// with 42883.
func AppendKey(dst []byte, t *types.Type, d types.Datum, desc, nullsFirst bool) ([]byte, error) {
	if d.Null {
		if nullsFirst {
			return append(dst, nullFirst), nil
		}
		return append(dst, nullLast), nil
	}
	dst = append(dst, present)
	at := len(dst)
	dst, err := appendKey(dst, t, d)
	if desc {
		invert(dst[at:])
	}
	return dst, err
}

// ReadKey reads what AppendKey wrote and returns the rest. For a type that is not exact the datum
// only compares equal to the one that went in.
func ReadKey(b []byte, t *types.Type, desc, _ bool) (types.Datum, []byte, error) {
	if len(b) == 0 {
		return types.Null, nil, corrupt(t, "key ends early")
	}
	switch b[0] {
	case nullFirst, nullLast:
		return types.Null, b[1:], nil
	case present:
	default:
		return types.Null, nil, corrupt(t, "key without a marker")
	}
	if !desc {
		return readKey(b[1:], t)
	}
	n, err := keyLen(b[1:], t, 0xff)
	if err != nil {
		return types.Null, nil, err
	}
	plain := append(make([]byte, 0, n), b[1:1+n]...)
	invert(plain)
	d, _, err := readKey(plain, t)
	return d, b[1+n:], err
}

// SkipKey returns what follows a key.
func SkipKey(b []byte, t *types.Type, desc, _ bool) ([]byte, error) {
	if len(b) == 0 {
		return nil, corrupt(t, "key ends early")
	}
	if b[0] != present {
		return b[1:], nil
	}
	var mask byte
	if desc {
		mask = 0xff
	}
	n, err := keyLen(b[1:], t, mask)
	if err != nil {
		return nil, err
	}
	return b[1+n:], nil
}

// KeyExact reports whether decoding a key of the type returns exactly the datum that was encoded.
func KeyExact(t *types.Type) bool {
	switch t.Family.Order() {
	case types.I64:
		return true
	case types.Str:
		return t.Base().OID != types.OIDBPChar
	}
	return false
}

// Indexable reports whether values of the type can be part of a key.
func Indexable(t *types.Type) bool {
	switch t.Family {
	case types.Void:
		return false
	case types.Record:
		return t.IsComposite() && !slices.ContainsFunc(t.Fields(),
			func(a types.Attribute) bool { return !Indexable(a.Type) })
	case types.Array:
		return Indexable(t.Elem)
	}
	return !t.Unordered()
}

func invert(b []byte) {
	for i := range b {
		b[i] = ^b[i]
	}
}

func appendKey(dst []byte, t *types.Type, d types.Datum) ([]byte, error) {
	switch t.Family.Storage() {
	case types.I64:
		return appendInt(dst, d.I), nil
	case types.F64:
		return binary.BigEndian.AppendUint64(dst, orderedFloat(d.F)), nil
	case types.Str:
		return appendStrKey(dst, t, d.S)
	case types.Dec:
		return appendDecimal(dst, d.Dec), nil
	case types.Iv:
		hi, lo := types.IntervalSpan(d.Iv)
		dst = binary.BigEndian.AppendUint64(dst, uint64(hi)^1<<63)
		return binary.BigEndian.AppendUint64(dst, lo), nil
	case types.Arr:
		switch t.Family {
		case types.Array:
			return appendArray(dst, t, d.Arr)
		case types.Range:
			return appendRangeKey(dst, t, types.RangeFrom(d))
		case types.MultiRange:
			return appendMultiRangeKey(dst, t, d)
		}
		if t.IsComposite() {
			return appendRecord(dst, t, d.Arr)
		}
	}
	return dst, unordered(t)
}

func appendStrKey(dst []byte, t *types.Type, s string) ([]byte, error) {
	switch {
	case t.Family.FixedLen() > 0:
		return append(dst, s...), nil
	case t.Family == types.JSON:
		return appendJSON(dst, s)
	case t.Unordered():
		return dst, unordered(t)
	case t.Family == types.CIText:
		s = types.FoldCase(s)
	case t.Base().OID == types.OIDBPChar:
		s = strings.TrimRight(s, " ")
	}
	return appendString(dst, s), nil
}

func unordered(t *types.Type) error {
	return sqlerr.New(sqlerr.UndefinedFunction,
		"could not identify a comparison function for type %s", t.Name)
}

func readKey(b []byte, t *types.Type) (types.Datum, []byte, error) {
	switch t.Family.Storage() {
	case types.I64:
		v, rest, ok := readInt(b)
		if !ok {
			return types.Null, nil, corrupt(t, "bad integer key")
		}
		return types.Datum{I: v}, rest, nil
	case types.F64:
		if len(b) < 8 {
			return types.Null, nil, corrupt(t, "key ends early")
		}
		return types.Datum{F: floatOf(binary.BigEndian.Uint64(b))}, b[8:], nil
	case types.Str:
		return readStrKey(b, t)
	case types.Dec:
		d, rest, ok := readDecimal(b)
		if !ok {
			return types.Null, nil, corrupt(t, "bad numeric key")
		}
		return types.Datum{Dec: d}, rest, nil
	case types.Iv:
		if len(b) < intervalLen {
			return types.Null, nil, corrupt(t, "key ends early")
		}
		iv, ok := intervalOf(binary.BigEndian.Uint64(b)^1<<63, binary.BigEndian.Uint64(b[8:]))
		if !ok {
			return types.Null, nil, corrupt(t, "interval out of range")
		}
		return types.Datum{Iv: iv}, b[intervalLen:], nil
	case types.Arr:
		switch t.Family {
		case types.Array:
			return readArray(b, t)
		case types.Range:
			r, rest, err := readRangeKey(b, t)
			return r.Datum(), rest, err
		case types.MultiRange:
			return readMultiRangeKey(b, t)
		}
		if t.IsComposite() {
			return readRecord(b, t)
		}
	}
	return types.Null, nil, corrupt(t, "no key of this type")
}

func readStrKey(b []byte, t *types.Type) (types.Datum, []byte, error) {
	if t.Family == types.JSON {
		return readJSONKey(b, t)
	}
	if n := t.Family.FixedLen(); n > 0 {
		if len(b) < n {
			return types.Null, nil, corrupt(t, "key ends early")
		}
		return types.Datum{S: string(b[:n])}, b[n:], nil
	}
	s, rest, ok := readString(b)
	if !ok {
		return types.Null, nil, corrupt(t, "bad string key")
	}
	return types.Datum{S: s}, rest, nil
}

// keyLen is the length of a key whose bytes have been xored with mask.
func keyLen(b []byte, t *types.Type, mask byte) (int, error) {
	n := -1
	switch order := t.Family.Order(); {
	case order == types.I64:
		if len(b) > 0 {
			n = intLen(b[0] ^ mask)
		}
	case order == types.F64:
		n = 8
	case order == types.Iv:
		n = intervalLen
	case order == types.Str && t.Family.FixedLen() > 0:
		n = t.Family.FixedLen()
	case order == types.Str, t.Family == types.CIText:
		if n = stringLen(b, mask); n == 0 {
			n = -1
		}
	case order == types.Dec:
		n = decimalLen(b, mask)
	default:
		plain := append([]byte(nil), b...)
		for i := range plain {
			plain[i] ^= mask
		}
		_, rest, err := readKey(plain, t)
		if err != nil {
			return 0, err
		}
		n = len(b) - len(rest)
	}
	if n < 0 || n > len(b) {
		return 0, corrupt(t, "key ends early")
	}
	return n, nil
}

// orderedFloat maps floats to integers of the same order: -0 is 0, and NaN above everything.
func orderedFloat(f float64) uint64 {
	switch {
	case f == 0:
		return 1 << 63
	case math.IsNaN(f):
		return math.MaxUint64
	}
	if u := math.Float64bits(f); u>>63 == 0 {
		return u | 1<<63
	} else {
		return ^u
	}
}

func floatOf(u uint64) float64 {
	if u == math.MaxUint64 {
		return math.NaN()
	}
	if u>>63 == 1 {
		return math.Float64frombits(u &^ (1 << 63))
	}
	return math.Float64frombits(^u)
}
