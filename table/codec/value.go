package codec

import (
	"encoding/binary"
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// A row value is its columns one after the other, in order of column ID: the ID and the length of
// the field plus one as varints (0 for NULL), and the field. So a reader merges the columns it
// wants with those it meets and looks into no other.

// AppendColumn appends a column to a row value.
func AppendColumn(dst []byte, id uint32, t *types.Type, d types.Datum) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(id))
	if d.Null {
		return append(dst, 0), nil
	}
	// Most fields are shorter than 127 bytes: leave one byte for the length, and make room if not.
	at := len(dst)
	dst, err := appendField(append(dst, 0), t, d)
	if err != nil {
		return dst, err
	}
	n := uint64(len(dst) - at) // the field's length plus one
	if n < 0x80 {
		dst[at] = byte(n)
		return dst, nil
	}
	var room [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(room[:], n)
	dst = append(dst, room[:size-1]...)
	copy(dst[at+size:], dst[at+1:len(dst)-(size-1)])
	copy(dst[at:], room[:size])
	return dst, nil
}

// NextColumn cuts the first column off a row value. field is nil for NULL, and aliases value.
func NextColumn(value []byte) (id uint32, field, rest []byte, err error) {
	v, n := binary.Uvarint(value)
	if n <= 0 || v > math.MaxUint32 {
		return 0, nil, nil, corrupt(types.TRecord, "bad column ID")
	}
	value = value[n:]
	size, n := binary.Uvarint(value)
	if n <= 0 || size > uint64(len(value)-n)+1 {
		return 0, nil, nil, corrupt(types.TRecord, "bad column length")
	}
	value = value[n:]
	if size == 0 {
		return uint32(v), nil, value, nil
	}
	size--
	return uint32(v), value[:size:size], value[size:], nil
}

// EncodeValue encodes one datum by itself, as a field of a row value; NULL is nil.
func EncodeValue(t *types.Type, d types.Datum) ([]byte, error) {
	if d.Null {
		return nil, nil
	}
	return appendField([]byte{}, t, d)
}

// DecodeValue decodes a field. Strings are copied.
func DecodeValue(field []byte, t *types.Type) (types.Datum, error) {
	if field == nil {
		return types.Null, nil
	}
	switch t.Family.Storage() {
	case types.I64:
		if len(field) == 1 && field[0] < 0x80 {
			return types.Datum{I: int64(field[0]>>1) ^ -int64(field[0]&1)}, nil
		}
		v, n := binary.Varint(field)
		if n != len(field) {
			return types.Null, corrupt(t, "bad integer")
		}
		return types.Datum{I: v}, nil
	case types.F64:
		if len(field) != 8 {
			return types.Null, corrupt(t, "bad float")
		}
		return types.Datum{F: math.Float64frombits(binary.LittleEndian.Uint64(field))}, nil
	case types.Str:
		if !goodLen(field, t) {
			return types.Null, corrupt(t, "bad length")
		}
		return types.Datum{S: string(field)}, nil
	case types.Dec:
		return decodeDecimal(field, t)
	case types.Iv:
		return decodeInterval(field, t)
	case types.Arr:
		switch t.Family {
		case types.Array:
			return decodeArray(field, t)
		case types.Range, types.MultiRange:
			return decodeRanges(field, t)
		}
		if t.IsComposite() {
			return decodeRecord(field, t)
		}
	}
	return types.Null, corrupt(t, "no value of this type")
}

// goodLen reports whether a field has the length of the type's strings, if they all have one.
func goodLen(field []byte, t *types.Type) bool {
	n := t.Family.FixedLen()
	return n == 0 || n == len(field)
}

func decodeInterval(field []byte, t *types.Type) (types.Datum, error) {
	var v [3]int64
	for i := range v {
		var n int
		if v[i], n = binary.Varint(field); n <= 0 {
			return types.Null, corrupt(t, "bad interval")
		}
		field = field[n:]
	}
	if len(field) > 0 || int64(int32(v[0])) != v[0] || int64(int32(v[1])) != v[1] {
		return types.Null, corrupt(t, "bad interval")
	}
	return types.Datum{Iv: types.IntervalValue{Months: int32(v[0]), Days: int32(v[1]),
		Micros: v[2]}}, nil
}

func appendField(dst []byte, t *types.Type, d types.Datum) ([]byte, error) {
	switch t.Family.Storage() {
	case types.I64:
		return binary.AppendVarint(dst, d.I), nil
	case types.F64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(d.F)), nil
	case types.Str:
		return append(dst, d.S...), nil
	case types.Dec:
		return appendDecimalField(dst, d.Dec), nil
	case types.Iv:
		dst = binary.AppendVarint(dst, int64(d.Iv.Months))
		dst = binary.AppendVarint(dst, int64(d.Iv.Days))
		return binary.AppendVarint(dst, d.Iv.Micros), nil
	case types.Arr:
		switch t.Family {
		case types.Array:
			return appendArrayField(dst, t, d.Arr)
		case types.Range, types.MultiRange:
			return appendRangesField(dst, t, d)
		}
		if t.IsComposite() {
			return appendRecordField(dst, t, d.Arr)
		}
	}
	return dst, sqlerr.New(sqlerr.InvalidTableDefinition, "a column cannot hold values of type %s",
		t.Name)
}

// Numeric fields: a byte of form (bits 0-1: finite, infinite, NaN) and sign (bit 2), and for finite
// ones the exponent as a varint and the coefficient, most significant byte first.
const (
	formFinite   byte = 0
	formInfinite byte = 1
	formNaN      byte = 2
	formMask     byte = 3
	formNegative byte = 4
)

func appendDecimalField(dst []byte, d *apd.Decimal) []byte {
	form := formFinite
	switch d.Form {
	case apd.Infinite:
		form = formInfinite
	case apd.NaN, apd.NaNSignaling:
		return append(dst, formNaN)
	}
	if d.Negative {
		form |= formNegative
	}
	dst = append(dst, form)
	if d.Form == apd.Infinite {
		return dst
	}
	dst = binary.AppendVarint(dst, int64(d.Exponent))
	if d.Coeff.IsUint64() {
		v := d.Coeff.Uint64()
		for i := 56; i >= 0; i -= 8 {
			if v>>i != 0 {
				dst = append(dst, byte(v>>i))
			}
		}
		return dst
	}
	return append(dst, d.Coeff.Bytes()...)
}

func decodeDecimal(field []byte, t *types.Type) (types.Datum, error) {
	d, err := decodeDecimalInto(field, t, nil)
	if err != nil {
		return types.Null, err
	}
	return types.Datum{Dec: d}, nil
}

// decodeDecimalInto fills d, which is zero, or a new decimal when it is nil; NaN and the infinities
// are the shared ones.
func decodeDecimalInto(field []byte, t *types.Type, d *apd.Decimal) (*apd.Decimal, error) {
	if len(field) == 0 {
		return nil, corrupt(t, "bad numeric")
	}
	form := field[0]
	switch form & formMask {
	case formNaN:
		return types.NumericNaN(), nil
	case formInfinite:
		return types.NumericInf(form&formNegative != 0), nil
	case formFinite:
	default:
		return nil, corrupt(t, "bad numeric")
	}
	exponent, n := binary.Varint(field[1:])
	if n <= 0 || exponent < -200_000 || exponent > 200_000 {
		return nil, corrupt(t, "bad numeric")
	}
	if d == nil {
		d = new(apd.Decimal)
	}
	d.Negative, d.Exponent = form&formNegative != 0, int32(exponent)
	coefficient := field[1+n:]
	if len(coefficient) <= 8 {
		var v uint64
		for _, c := range coefficient {
			v = v<<8 | uint64(c)
		}
		d.Coeff.SetUint64(v)
	} else {
		d.Coeff.SetBytes(coefficient)
	}
	return d, nil
}

// Array fields: the number of dimensions, for each its length and lower bound, and the elements,
// each with its length plus one, 0 for NULL; all numbers varints.
func appendArrayField(dst []byte, t *types.Type, a *types.ArrayValue) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(len(a.Dims)))
	for i := range a.Dims {
		dst = binary.AppendUvarint(dst, uint64(a.Dims[i]))
		dst = binary.AppendVarint(dst, int64(a.Lower[i]))
	}
	for _, e := range a.Elems {
		field, err := EncodeValue(t.Elem, e)
		if err != nil {
			return dst, err
		}
		if field == nil {
			dst = append(dst, 0)
			continue
		}
		dst = binary.AppendUvarint(dst, uint64(len(field))+1)
		dst = append(dst, field...)
	}
	return dst, nil
}

func decodeArray(field []byte, t *types.Type) (types.Datum, error) {
	bad := func() (types.Datum, error) { return types.Null, corrupt(t, "bad array") }
	a := &types.ArrayValue{}
	field, total, ok := decodeDims(field, a)
	if !ok {
		return bad()
	}
	for len(field) > 0 {
		size, n := binary.Uvarint(field)
		if n <= 0 || size > uint64(len(field)-n)+1 {
			return bad()
		}
		field = field[n:]
		if size == 0 {
			a.Elems = append(a.Elems, types.Null)
			continue
		}
		d, err := DecodeValue(field[:size-1:size-1], t.Elem)
		if err != nil {
			return types.Null, err
		}
		a.Elems, field = append(a.Elems, d), field[size-1:]
	}
	if total != uint64(len(a.Elems)) {
		return bad()
	}
	return types.Datum{Arr: a}, nil
}

// decodeDims decodes the dimensions into a, and returns what follows them and the number of
// elements that they make.
func decodeDims(field []byte, a *types.ArrayValue) (rest []byte, total uint64, ok bool) {
	dims, n := binary.Uvarint(field)
	if n <= 0 || dims > maxDims {
		return nil, 0, false
	}
	field = field[n:]
	total = min(dims, 1)
	for range dims {
		size, n := binary.Uvarint(field)
		if n <= 0 {
			return nil, 0, false
		}
		lower, m := binary.Varint(field[n:])
		if m <= 0 || size == 0 || size > uint64(len(field)) {
			return nil, 0, false
		}
		field = field[n+m:]
		if total *= size; total > uint64(len(field)) {
			return nil, 0, false
		}
		a.Dims, a.Lower = append(a.Dims, int(size)), append(a.Lower, int(lower))
	}
	return field, total, true
}
