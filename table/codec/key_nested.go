package codec

import (
	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// Arrays: the elements, each as a key of its own with NULL above everything, 01, and then what
// orders arrays of equal elements: the number of dimensions, their lengths, their lower bounds.
const arrayEnd byte = 0x01

func appendArray(dst []byte, t *types.Type, a *types.ArrayValue) ([]byte, error) {
	if !Indexable(t) {
		return dst, sqlerr.New(sqlerr.UndefinedFunction,
			"could not identify a comparison function for type %s", t.Elem.Name)
	}
	var err error
	for _, e := range a.Elems {
		if dst, err = AppendKey(dst, t.Elem, e, false, false); err != nil {
			return dst, err
		}
	}
	dst = appendInt(append(dst, arrayEnd), int64(len(a.Dims)))
	for _, n := range a.Dims {
		dst = appendInt(dst, int64(n))
	}
	for _, n := range a.Lower {
		dst = appendInt(dst, int64(n))
	}
	return dst, nil
}

// maxDims is the most dimensions that an array may have, as in PostgreSQL.
const maxDims = 6

func readArray(b []byte, t *types.Type) (types.Datum, []byte, error) {
	a := &types.ArrayValue{}
	for {
		if len(b) == 0 {
			return types.Null, nil, corrupt(t, "key ends early")
		}
		if b[0] == arrayEnd {
			b = b[1:]
			break
		}
		var e types.Datum
		var err error
		if e, b, err = ReadKey(b, t.Elem, false, false); err != nil {
			return types.Null, nil, err
		}
		a.Elems = append(a.Elems, e)
	}
	n, b, ok := readInt(b)
	if !ok || n < 0 || n > maxDims {
		return types.Null, nil, corrupt(t, "bad dimensions")
	}
	for _, into := range []*[]int{&a.Dims, &a.Lower} {
		for range n {
			var v int64
			if v, b, ok = readInt(b); !ok {
				return types.Null, nil, corrupt(t, "bad dimensions")
			}
			*into = append(*into, int(v))
		}
	}
	return types.Datum{Arr: a}, b, nil
}

// JSON: the kind's place in jsonb's order, then the scalar, or the number of elements and they. An
// empty array at the top sorts below every value but objects, so it has a tag of its own.
const (
	jsonEmptyTop byte = 0x02
	jsonBase     byte = 0x03 // plus types.JSONKind
)

func appendJSON(dst []byte, text string) ([]byte, error) {
	v, err := types.ParseJSON(text, nil)
	if err != nil {
		return dst, err
	}
	if v.Kind == types.JSONArray && len(v.Elems) == 0 {
		return append(dst, jsonEmptyTop), nil
	}
	return appendJSONValue(dst, v), nil
}

func appendJSONValue(dst []byte, v *types.JSONValue) []byte {
	dst = append(dst, jsonBase+byte(v.Kind))
	switch v.Kind {
	case types.JSONString:
		return appendString(dst, v.Str)
	case types.JSONNumber:
		return appendDecimal(dst, v.Num)
	case types.JSONBool:
		if v.Bool {
			return appendInt(dst, 1)
		}
		return appendInt(dst, 0)
	case types.JSONArray, types.JSONObject:
		dst = appendInt(dst, int64(len(v.Elems)))
		for i, e := range v.Elems {
			if v.Kind == types.JSONObject {
				dst = appendString(dst, v.Keys[i])
			}
			dst = appendJSONValue(dst, e)
		}
	}
	return dst
}

func readJSONKey(b []byte, t *types.Type) (types.Datum, []byte, error) {
	if len(b) > 0 && b[0] == jsonEmptyTop {
		return types.Datum{S: "[]"}, b[1:], nil
	}
	v, rest, ok := readJSONValue(b, 0)
	if !ok {
		return types.Null, nil, corrupt(t, "bad jsonb key")
	}
	return types.Datum{S: v.String()}, rest, nil
}

// maxJSONDepth bounds the nesting that a damaged key can ask for.
const maxJSONDepth = 10_000

func readJSONValue(b []byte, depth int) (*types.JSONValue, []byte, bool) {
	if len(b) == 0 || b[0] < jsonBase || depth > maxJSONDepth {
		return nil, nil, false
	}
	v := &types.JSONValue{Kind: types.JSONKind(b[0] - jsonBase)}
	b = b[1:]
	var ok bool
	switch v.Kind {
	case types.JSONNull:
		return v, b, true
	case types.JSONString:
		v.Str, b, ok = readString(b)
	case types.JSONNumber:
		var d *apd.Decimal
		d, b, ok = readDecimal(b)
		v.Num = d
	case types.JSONBool:
		var n int64
		n, b, ok = readInt(b)
		v.Bool = n != 0
	case types.JSONArray, types.JSONObject:
		return readJSONElems(v, b, depth)
	}
	return v, b, ok
}

func readJSONElems(v *types.JSONValue, b []byte, depth int) (*types.JSONValue, []byte, bool) {
	n, b, ok := readInt(b)
	if !ok || n < 0 || n > int64(len(b)) {
		return nil, nil, false
	}
	for range n {
		if v.Kind == types.JSONObject {
			var key string
			if key, b, ok = readString(b); !ok {
				return nil, nil, false
			}
			v.Keys = append(v.Keys, key)
		}
		var e *types.JSONValue
		if e, b, ok = readJSONValue(b, depth+1); !ok {
			return nil, nil, false
		}
		v.Elems = append(v.Elems, e)
	}
	return v, b, true
}
