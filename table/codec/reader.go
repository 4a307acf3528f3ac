package codec

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/table/types"
)

// Reader decodes fields straight into vectors. Its strings and numerics share blocks of memory with
// each other, so that a scan allocates once for many rows; they never alias the field. It belongs
// to one goroutine. The zero Reader is ready.
type Reader struct {
	strings  strings.Builder
	decimals []apd.Decimal
}

const (
	stringBlock  = 4096 // bytes; what is longer than a quarter of it is copied on its own
	decimalBlock = 64
)

// Into decodes a field into entry i of v, which must exist. A nil field is NULL. After an error the
// entry is unspecified.
func (r *Reader) Into(field []byte, v *types.Vec, i int) error {
	if field == nil {
		v.SetNull(i)
		return nil
	}
	t := v.Type
	v.Nulls[i] = false
	switch t.Family.Storage() {
	case types.I64:
		if len(field) == 1 && field[0] < 0x80 {
			v.I[i] = int64(field[0]>>1) ^ -int64(field[0]&1)
			return nil
		}
		n := 0
		if v.I[i], n = binary.Varint(field); n != len(field) {
			return corrupt(t, "bad integer")
		}
		return nil
	case types.F64:
		if len(field) != 8 {
			return corrupt(t, "bad float")
		}
		v.F[i] = math.Float64frombits(binary.LittleEndian.Uint64(field))
		return nil
	case types.Str:
		if !goodLen(field, t) {
			return corrupt(t, "bad length")
		}
		v.S[i] = r.str(field)
		return nil
	case types.Dec:
		if len(r.decimals) == 0 {
			r.decimals = make([]apd.Decimal, decimalBlock)
		}
		d, err := decodeDecimalInto(field, t, &r.decimals[0])
		if d == &r.decimals[0] {
			r.decimals = r.decimals[1:]
		}
		v.Dec[i] = d
		return err
	}
	d, err := DecodeValue(field, t)
	if err == nil {
		v.Set(i, d)
	}
	return err
}

// str copies bytes to the end of the current block.
func (r *Reader) str(b []byte) string {
	switch {
	case len(b) == 0:
		return ""
	case len(b) > stringBlock/4:
		return string(b)
	}
	if r.strings.Cap()-r.strings.Len() < len(b) {
		r.strings = strings.Builder{}
		r.strings.Grow(stringBlock)
	}
	from := r.strings.Len()
	r.strings.Write(b)
	return r.strings.String()[from:]
}
