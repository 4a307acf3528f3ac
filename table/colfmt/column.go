package colfmt

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/minidb/minidb/table/types"
)

// A column of n rows is a byte of flags, the NULLs as bits where there are any, and the
// values by their storage class. The entries of NULLs are there too, as zeros.
//
//	integers   the least, as a varint; a byte of width w (0, 1, 2, 4, 8); n differences of w bytes
//	floats     n of 8 bytes
//	strings    their lengths as integers are written; all bytes
//	others     n datums (datum.go)
const hasNulls = 1

// AppendColumn appends rows sel of a column, at most types.BatchSize.
func (t *Types) AppendColumn(dst []byte, c *types.Vec, sel []int32) []byte {
	at := len(dst)
	dst = append(dst, 0)
	if c.HasNull {
		dst = appendNulls(dst, c, sel)
		if len(dst) > at+1 {
			dst[at] = hasNulls
		}
	}
	null := func(i int32) bool { return dst[at] == hasNulls && c.Nulls[i] }
	switch c.Type.Family.Storage() {
	case types.I64:
		return appendInts(dst, len(sel), func(k int) int64 {
			if null(sel[k]) {
				return 0
			}
			return c.I[sel[k]]
		})
	case types.F64:
		for _, i := range sel {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(c.F[i]))
		}
	case types.Str:
		dst = appendInts(dst, len(sel), func(k int) int64 {
			if null(sel[k]) {
				return 0
			}
			return int64(len(c.S[sel[k]]))
		})
		for _, i := range sel {
			if !null(i) {
				dst = append(dst, c.S[i]...)
			}
		}
	case types.Dec, types.Iv, types.Arr:
		for _, i := range sel {
			d := types.Datum{}
			if !null(i) {
				d = c.Get(int(i))
			}
			dst = t.appendDatum(dst, &d)
		}
	}
	return dst
}

// appendNulls appends a bit for each row, or nothing if none is NULL.
func appendNulls(dst []byte, c *types.Vec, sel []int32) []byte {
	at := len(dst)
	any := false
	for k, i := range sel {
		if k%8 == 0 {
			dst = append(dst, 0)
		}
		if c.Nulls[i] {
			dst[len(dst)-1] |= 1 << (k % 8)
			any = true
		}
	}
	if !any {
		return dst[:at]
	}
	return dst
}

// appendInts appends n integers.
func appendInts(dst []byte, n int, value func(k int) int64) []byte {
	least, most := value(0), value(0)
	for k := 1; k < n; k++ {
		v := value(k)
		least, most = min(least, v), max(most, v)
	}
	dst = binary.AppendVarint(dst, least)
	width := widthOf(uint64(most) - uint64(least))
	dst = append(dst, byte(width))
	for k := range n {
		d := uint64(value(k)) - uint64(least)
		switch width {
		case 1:
			dst = append(dst, byte(d))
		case 2:
			dst = binary.LittleEndian.AppendUint16(dst, uint16(d))
		case 4:
			dst = binary.LittleEndian.AppendUint32(dst, uint32(d))
		case 8:
			dst = binary.LittleEndian.AppendUint64(dst, d)
		}
	}
	return dst
}

// widthOf returns how many bytes a difference takes: 0, 1, 2, 4 or 8.
func widthOf(d uint64) int {
	switch n := bits.Len64(d); {
	case n == 0:
		return 0
	case n <= 8:
		return 1
	case n <= 16:
		return 2
	case n <= 32:
		return 4
	}
	return 8
}

// Decoder takes columns apart. Failed is set when they are not what was written.
type Decoder struct {
	Types  *Types
	Data   []byte // what was not decoded
	Failed bool
}

// cut returns the next n bytes, which are zero after a failure.
func (d *Decoder) cut(n int) []byte {
	if n < 0 || n > len(d.Data) {
		d.Failed = true
		return nil
	}
	b := d.Data[:n]
	d.Data = d.Data[n:]
	return b
}

func (d *Decoder) byte() byte {
	if b := d.cut(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (d *Decoder) varint() int64 {
	v, n := binary.Varint(d.Data)
	if n <= 0 {
		d.Failed = true
		return 0
	}
	d.Data = d.Data[n:]
	return v
}

func (d *Decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.Data)
	if n <= 0 {
		d.Failed = true
		return 0
	}
	d.Data = d.Data[n:]
	return v
}

// Column decodes n values to the end of v.
func (d *Decoder) Column(v *types.Vec, n int) {
	from := v.Len
	v.Resize(from + n)
	if d.byte() == hasNulls {
		for k, b := 0, d.cut((n+7)/8); k < 8*len(b) && k < n; k++ {
			if b[k/8]&(1<<(k%8)) != 0 {
				v.SetNull(from + k)
			}
		}
	}
	switch v.Type.Family.Storage() {
	case types.I64:
		d.ints(v.I[from : from+n])
	case types.F64:
		b := d.cut(8 * n)
		for k := range len(b) / 8 {
			v.F[from+k] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*k:]))
		}
	case types.Str:
		d.strings(v.S[from : from+n])
	case types.Dec, types.Iv, types.Arr:
		for k := range n {
			x := d.datum(0)
			if d.Failed {
				return
			}
			if !v.HasNull || !v.Nulls[from+k] {
				v.Set(from+k, x)
			}
		}
	}
}

func (d *Decoder) ints(out []int64) {
	least := uint64(d.varint())
	width := int(d.byte())
	if width != 0 && width != 1 && width != 2 && width != 4 && width != 8 {
		d.Failed = true
		return
	}
	b := d.cut(width * len(out))
	if len(b) != width*len(out) {
		return
	}
	for k := range out {
		switch width {
		case 0:
			out[k] = int64(least)
		case 1:
			out[k] = int64(least + uint64(b[k]))
		case 2:
			out[k] = int64(least + uint64(binary.LittleEndian.Uint16(b[2*k:])))
		case 4:
			out[k] = int64(least + uint64(binary.LittleEndian.Uint32(b[4*k:])))
		case 8:
			out[k] = int64(least + binary.LittleEndian.Uint64(b[8*k:]))
		}
	}
}

// strings decodes strings into one block of memory.
func (d *Decoder) strings(out []string) {
	var lengths [types.BatchSize]int64
	d.ints(lengths[:len(out)])
	total := int64(0)
	for _, n := range lengths[:len(out)] {
		if n < 0 || n > int64(len(d.Data)) {
			d.Failed = true
			return
		}
		total += n
	}
	if total > int64(len(d.Data)) {
		d.Failed = true
		return
	}
	block := string(d.cut(int(total)))
	for k, n := range lengths[:len(out)] {
		out[k], block = block[:n], block[n:]
	}
}
