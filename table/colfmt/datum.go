package colfmt

import (
	"encoding/binary"
	"math"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/table/types"
)

// A datum by itself is a byte with a bit for each of its fields that is not zero, and these fields
// in this order. It needs no type: elements of arrays and records are written so too.
const (
	isNull = 1 << iota
	hasI
	hasF
	hasS
	hasDec
	hasIv
	hasArr
)

func (t *Types) appendDatum(dst []byte, d *types.Datum) []byte {
	at := len(dst)
	dst = append(dst, 0)
	if d.Null {
		dst[at] |= isNull
	}
	if d.I != 0 {
		dst[at] |= hasI
		dst = binary.AppendVarint(dst, d.I)
	}
	if b := math.Float64bits(d.F); b != 0 {
		dst[at] |= hasF
		dst = binary.LittleEndian.AppendUint64(dst, b)
	}
	if d.S != "" {
		dst[at] |= hasS
		dst = appendString(dst, d.S)
	}
	if d.Dec != nil {
		dst[at] |= hasDec
		dst = appendNumeric(dst, d.Dec)
	}
	if d.Iv != (types.IntervalValue{}) {
		dst[at] |= hasIv
		dst = binary.AppendVarint(dst, int64(d.Iv.Months))
		dst = binary.AppendVarint(dst, int64(d.Iv.Days))
		dst = binary.AppendVarint(dst, d.Iv.Micros)
	}
	if d.Arr != nil {
		dst[at] |= hasArr
		dst = t.appendArray(dst, d.Arr)
	}
	return dst
}

func appendString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendNumeric appends the form, the sign, the exponent and the bytes of the coefficient.
func appendNumeric(dst []byte, d *apd.Decimal) []byte {
	form := byte(d.Form) << 1
	if d.Negative {
		form |= 1
	}
	dst = binary.AppendVarint(append(dst, form), int64(d.Exponent))
	if d.Coeff.IsUint64() {
		return binary.AppendUvarint(append(dst, 0), d.Coeff.Uint64())
	}
	b := d.Coeff.Bytes()
	return append(binary.AppendUvarint(append(dst, 1), uint64(len(b))), b...)
}

// appendArray appends the numbers of dimensions, elements, types and names, all plus one or 0 for
// nil, each with what there are of them.
func (t *Types) appendArray(dst []byte, a *types.ArrayValue) []byte {
	dst = appendLen(dst, a.Dims == nil, len(a.Dims))
	for i, n := range a.Dims {
		dst = binary.AppendVarint(dst, int64(n))
		dst = binary.AppendVarint(dst, int64(a.Lower[i]))
	}
	dst = appendLen(dst, a.Elems == nil, len(a.Elems))
	for i := range a.Elems {
		dst = t.appendDatum(dst, &a.Elems[i])
	}
	dst = appendLen(dst, a.Types == nil, len(a.Types))
	for _, field := range a.Types {
		dst = binary.AppendUvarint(dst, t.number(field))
	}
	dst = appendLen(dst, a.Names == nil, len(a.Names))
	for _, s := range a.Names {
		dst = appendString(dst, s)
	}
	return dst
}

func appendLen(dst []byte, absent bool, n int) []byte {
	if absent {
		return append(dst, 0)
	}
	return binary.AppendUvarint(dst, uint64(n)+1)
}

// nestedMost bounds how deep arrays and records lie in each other.
const nestedMost = 10_000

func (d *Decoder) datum(depth int) (out types.Datum) {
	fields := d.byte()
	out.Null = fields&isNull != 0
	if fields&hasI != 0 {
		out.I = d.varint()
	}
	if fields&hasF != 0 {
		if b := d.cut(8); len(b) == 8 {
			out.F = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	}
	if fields&hasS != 0 {
		out.S = d.str()
	}
	if fields&hasDec != 0 {
		out.Dec = d.numeric()
	}
	if fields&hasIv != 0 {
		out.Iv = types.IntervalValue{Months: int32(d.varint()), Days: int32(d.varint()),
			Micros: d.varint()}
	}
	if fields&hasArr != 0 && !d.Failed {
		if depth > nestedMost {
			d.Failed = true
			return out
		}
		out.Arr = d.array(depth + 1)
	}
	return out
}

func (d *Decoder) str() string { return string(d.cut(d.bounded(d.uvarint()))) }

// bounded returns n, which counts things of a byte at least that follow.
func (d *Decoder) bounded(n uint64) int {
	if n > uint64(len(d.Data)) {
		d.Failed = true
		return 0
	}
	return int(n)
}

func (d *Decoder) numeric() *apd.Decimal {
	form := d.byte()
	out := &apd.Decimal{Form: apd.Form(form >> 1), Negative: form&1 != 0,
		Exponent: int32(d.varint())}
	if d.byte() == 0 {
		out.Coeff.SetUint64(d.uvarint())
	} else {
		out.Coeff.SetBytes(d.cut(d.bounded(d.uvarint())))
	}
	return out
}

// len returns the number that appendLen wrote.
func (d *Decoder) len() (n int, absent bool) {
	v := d.uvarint()
	if v == 0 {
		return 0, true
	}
	return d.bounded(v - 1), false
}

func (d *Decoder) array(depth int) *types.ArrayValue {
	a := &types.ArrayValue{}
	if n, absent := d.len(); !absent {
		a.Dims, a.Lower = make([]int, n), make([]int, n)
		for i := range n {
			a.Dims[i], a.Lower[i] = int(d.varint()), int(d.varint())
		}
	}
	if n, absent := d.len(); !absent {
		a.Elems = make([]types.Datum, n)
		for i := 0; i < n && !d.Failed; i++ {
			a.Elems[i] = d.datum(depth)
		}
	}
	if n, absent := d.len(); !absent {
		a.Types = make([]*types.Type, n)
		for i := range n {
			a.Types[i] = d.recordType()
		}
	}
	if n, absent := d.len(); !absent {
		a.Names = make([]string, n)
		for i := range n {
			a.Names[i] = d.str()
		}
	}
	return a
}

func (d *Decoder) recordType() *types.Type {
	n := d.uvarint()
	if n >= uint64(len(d.Types.types)) {
		d.Failed = true
		return nil
	}
	return d.Types.types[n]
}
