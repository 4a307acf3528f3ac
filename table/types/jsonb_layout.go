package types

import "github.com/cockroachdb/apd/v3"

// JSONOffsets returns where PostgreSQL's binary form of a jsonb value has each object that is in
// it, in bytes from the form's beginning: .keyvalue() of jsonpath numbers objects so.
//
// The form of an array or an object begins at a multiple of four bytes with four bytes of header
// and four for each element, key and value. Behind these are the texts of keys and strings,
// numbers and containers aligned to four bytes, and nothing of null and booleans:
//
//	[{"a": 1}]    0 header, 4 entry, 8 header of the object, 12 entries of key and value, 20 "a",
//	              24 numeric 1
func JSONOffsets(v *JSONValue, tick Tick) (map[*JSONValue]int64, error) {
	l := jsonLayout{offsets: map[*JSONValue]int64{}, tick: tick}
	_, err := l.container(v, 0)
	return l.offsets, err
}

type jsonLayout struct {
	offsets map[*JSONValue]int64
	tick    Tick
}

const jsonEntrySize = 4 // of a header, and of an entry

func alignJSON(n int64) int64 { return (n + 3) &^ 3 }

// container places an array or object at the next place from at on, and returns where it ends.
func (l *jsonLayout) container(v *JSONValue, at int64) (int64, error) {
	at = alignJSON(at)
	if v.Kind == JSONObject {
		l.offsets[v] = at
	}
	if err := l.tick(64 * (1 + len(v.Elems))); err != nil {
		return 0, err
	}
	at += jsonEntrySize * int64(1+len(v.Elems)+len(v.Keys))
	for _, k := range v.Keys {
		at += int64(len(k))
	}
	for _, e := range v.Elems {
		switch e.Kind {
		case JSONString:
			at += int64(len(e.Str))
		case JSONNumber:
			at = alignJSON(at) + numericFormSize(e.Num)
		case JSONArray, JSONObject:
			var err error
			if at, err = l.container(e, at); err != nil {
				return 0, err
			}
		}
	}
	return at, nil
}

// numericFormSize returns the size of PostgreSQL's form of a finite numeric in memory: a length, a
// short header if the scale and the weight are small, and groups of four digits.
func numericFormSize(d *apd.Decimal) int64 {
	const length, header, shortHeader, weightMax, scaleMax = 4, 4, 2, 63, 63
	groups, weight := 0, 0
	if d.Sign() != 0 {
		lead := int(d.NumDigits()) - 1 + int(d.Exponent)
		weight = floorDiv(lead, 4)
		groups = weight - floorDiv(int(d.Exponent)+trailingZeros(&d.Coeff), 4) + 1
	}
	size := int64(length + header + 2*groups)
	if NumericScale(d) <= scaleMax && weight <= weightMax && weight >= -weightMax-1 {
		size -= header - shortHeader
	}
	return size
}
