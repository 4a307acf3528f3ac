package stats

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// Values begin with the number of their layout. docs/encoding.md has every byte.
const layout = 1

func corrupt(what string) error { return fmt.Errorf("stats: %s: %w", what, kv.ErrCorruption) }

func appendFloat(dst []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
}

// encodeTable encodes the statistics of the table itself.
func encodeTable(t *Table) []byte {
	b := appendFloat([]byte{layout}, t.Rows)
	b = appendFloat(b, t.RowBytes)
	return binary.AppendVarint(b, t.Counted.UnixMicro())
}

func decodeTable(b []byte) (*Table, error) {
	r := newReader(b)
	t := &Table{Rows: r.float(0, math.MaxFloat64), RowBytes: r.float(0, math.MaxFloat64)}
	t.Counted = time.UnixMicro(r.varint())
	return t, r.end("table")
}

// encodeColumn encodes the statistics of a column.
func encodeColumn(c *Column) ([]byte, error) {
	t := c.Type.Held() // statistics are read without the schema
	b := binary.AppendUvarint([]byte{layout}, uint64(t.OID))
	for _, f := range []float64{c.NullFraction, c.Width, c.Distinct, c.Correlation} {
		b = appendFloat(b, f)
	}
	complete := byte(0)
	if c.Complete {
		complete = 1
	}
	common, bounds := c.Common, c.Bounds
	if ofRecords(t) {
		common, bounds, complete = nil, nil, 0
	}
	b = append(b, complete)
	b = binary.AppendUvarint(b, uint64(len(common)))
	var err error
	for i, v := range common {
		if b, err = appendDatum(appendFloat(b, c.Frequencies[i]), t, v); err != nil {
			return nil, err
		}
	}
	b = binary.AppendUvarint(b, uint64(len(bounds)))
	for _, v := range bounds {
		if b, err = appendDatum(b, t, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// ofRecords reports whether values of a type are composite, or arrays of such: without the schema
// they cannot be read, so that no values are kept.
func ofRecords(t *types.Type) bool {
	return t.Family == types.Record || t.Family == types.Array && ofRecords(t.Elem)
}

func appendDatum(b []byte, t *types.Type, d types.Datum) ([]byte, error) {
	field, err := codec.EncodeValue(t, d)
	if err != nil {
		return nil, err
	}
	return append(binary.AppendUvarint(b, uint64(len(field))), field...), nil
}

func decodeColumn(b []byte) (*Column, error) {
	r := newReader(b)
	oid := r.uvarint(math.MaxUint32)
	t, known := types.ByOID(types.OID(oid))
	if r.bad || !known {
		return nil, corrupt("type of a column")
	}
	c := &Column{Type: t, NullFraction: r.float(0, 1), Width: r.float(0, math.MaxFloat64),
		Distinct: r.float(0, math.MaxFloat64), Correlation: r.float(-1,
			1), Complete: r.uvarint(1) == 1}
	for range r.count() {
		c.Frequencies = append(c.Frequencies, r.float(0, 1))
		c.Common = append(c.Common, r.datum(t))
		if r.bad {
			break
		}
	}
	for range r.count() {
		c.Bounds = append(c.Bounds, r.datum(t))
		if r.bad {
			break
		}
	}
	return c, r.end("column")
}

// reader decodes a value. After the first error bad is set, and it returns zeros.
type reader struct {
	b   []byte
	bad bool
}

func newReader(b []byte) *reader {
	if len(b) == 0 || b[0] != layout {
		return &reader{bad: true}
	}
	return &reader{b: b[1:]}
}

func (r *reader) end(what string) error {
	if r.bad || len(r.b) > 0 {
		return corrupt(what)
	}
	return nil
}

func (r *reader) fail() {
	r.b, r.bad = nil, true
}

func (r *reader) float(low, high float64) float64 {
	if len(r.b) < 8 {
		r.fail()
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(r.b))
	r.b = r.b[8:]
	if !(f >= low && f <= high) {
		r.fail()
		return 0
	}
	return f
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > most {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads the length of a list, of whose entries each takes a byte at least.
func (r *reader) count() uint64 { return r.uvarint(uint64(len(r.b))) }

func (r *reader) datum(t *types.Type) types.Datum {
	n := r.count()
	if r.bad || n > uint64(len(r.b)) {
		r.fail()
		return types.Null
	}
	field := r.b[:n:n]
	r.b = r.b[n:]
	d, err := codec.DecodeValue(field, t)
	if err != nil || d.Null {
		r.fail()
		return types.Null
	}
	return d
}
