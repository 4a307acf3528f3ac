package codec

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// Fields of composite values are kept like the columns of a row, by the number of the attribute:
// one that was added later is not there and NULL, one that was dropped is passed over.
func appendRecordField(dst []byte, t *types.Type, r *types.ArrayValue) ([]byte, error) {
	fields := t.Fields()
	if len(r.Elems) != len(fields) {
		return dst, sqlerr.New(sqlerr.DatatypeMismatch, "a value of type %s has %d fields, not %d",
			t.Name, len(fields), len(r.Elems))
	}
	for i, a := range fields {
		if r.Elems[i].Null {
			continue
		}
		var err error
		if dst, err = AppendColumn(dst, uint32(a.Number), a.Type, r.Elems[i]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func decodeRecord(field []byte, t *types.Type) (types.Datum, error) {
	fields := t.Fields()
	elems := make([]types.Datum, len(fields))
	for i := range elems {
		elems[i] = types.Null
	}
	next := 0
	for len(field) > 0 {
		number, value, rest, err := NextColumn(field)
		if err != nil {
			return types.Null, err
		}
		field = rest
		for next < len(fields) && uint32(fields[next].Number) < number {
			next++
		}
		if next == len(fields) || uint32(fields[next].Number) != number {
			continue // it was dropped
		}
		if elems[next], err = DecodeValue(value, fields[next].Type); err != nil {
			return types.Null, err
		}
	}
	return types.NewRecord(t, elems), nil
}

// A composite value in a key is its fields, each as a key of its own with NULL above everything.
// recordEnd stands for the NULLs at its end, so that a field that is added leaves the keys as they
// are. It is above the first byte of every field: a NULL at the end is the highest value there.
const recordEnd byte = 0xff

func appendRecord(dst []byte, t *types.Type, r *types.ArrayValue) ([]byte, error) {
	fields := t.Fields()
	last := len(r.Elems)
	for last > 0 && r.Elems[last-1].Null {
		last--
	}
	for i, e := range r.Elems[:last] {
		var err error
		if dst, err = AppendKey(dst, fields[i].Type, e, false, false); err != nil {
			return dst, err
		}
	}
	return append(dst, recordEnd), nil
}

func readRecord(b []byte, t *types.Type) (types.Datum, []byte, error) {
	fields := t.Fields()
	elems := make([]types.Datum, len(fields))
	for i := range elems {
		elems[i] = types.Null
	}
	for i := 0; ; i++ {
		if len(b) == 0 {
			return types.Null, nil, corrupt(t, "key ends early")
		}
		if b[0] == recordEnd {
			return types.NewRecord(t, elems), b[1:], nil
		}
		if i == len(fields) {
			return types.Null, nil, corrupt(t, "key has too many fields")
		}
		var err error
		if elems[i], b, err = ReadKey(b, fields[i].Type, false, false); err != nil {
			return types.Null, nil, err
		}
	}
}
