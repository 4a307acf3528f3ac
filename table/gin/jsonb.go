package gin

import (
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"

	"github.com/cockroachdb/apd/v3"

	"github.com/minidb/minidb/table/types"
)

// jsonbOps has as keys: of each object its keys, and of each object and array the scalars in it.
// Which object a key or a scalar belongs to is not part of it.
var jsonbOps = &class{
	name: "jsonb_ops", of: types.JSON, isDefault: true,
	key: func(*types.Type) *types.Type { return types.TText },
	extract: func(_ *types.Type, v types.Datum) ([]types.Datum, error) {
		doc, err := types.ParseJSON(v.S, nil)
		if err != nil {
			return nil, err
		}
		return jsonKeys(nil, doc, inArray), nil
	},
	operators: map[string]operator{
		"@>": {accepts: isJSONB, query: jsonbContains},
		"?":  {accepts: isText, query: jsonbHasKey},
		"?|": {accepts: isTextArray, query: jsonbHasKeys(AnyOf)},
		"?&": {accepts: isTextArray, query: jsonbHasKeys(AllOf)},
		"@?": {accepts: isJSONPath, query: jsonbPathExists},
		"@@": {accepts: isJSONPath, query: jsonbPathMatches},
	},
}

// jsonbPathOps has as keys the scalars of a document, each hashed with the object keys on the way
// to it.
var jsonbPathOps = &class{
	name: "jsonb_path_ops", of: types.JSON,
	key: func(*types.Type) *types.Type { return types.TInt8 },
	extract: func(_ *types.Type, v types.Datum) ([]types.Datum, error) {
		doc, err := types.ParseJSON(v.S, nil)
		if err != nil {
			return nil, err
		}
		return jsonPaths(nil, doc, pathSeed), nil
	},
	operators: map[string]operator{
		"@>": {accepts: isJSONB, query: jsonbContains},
		"@?": {accepts: isJSONPath, query: jsonbPathExists},
		"@@": {accepts: isJSONPath, query: jsonbPathMatches},
	},
}

func isJSONB(_, arg *types.Type) bool { return arg.Family == types.JSON }

func isText(_, arg *types.Type) bool { return arg.Family == types.String }

func isTextArray(_, arg *types.Type) bool {
	return arg.Family == types.Array && arg.Elem.Family == types.String
}

// jsonbContains is column @> arg, in both classes: a document that contains another has its keys.
func jsonbContains(c *Column, arg types.Datum) (*Query, error) {
	keys, err := c.class.extract(c.typ, arg)
	if err != nil {
		return nil, err
	}
	list, err := c.keysOf(keys)
	if err != nil {
		return nil, err
	}
	return AllOf(list), nil
}

func jsonbHasKey(c *Column, arg types.Datum) (*Query, error) {
	keys, err := c.keysOf([]types.Datum{keyDatum(tagKey, arg.S)})
	if err != nil {
		return nil, err
	}
	return keys[0], nil
}

func jsonbHasKeys(combine func([]*Query) *Query) func(*Column, types.Datum) (*Query, error) {
	return func(c *Column, arg types.Datum) (*Query, error) {
		var keys []types.Datum
		for _, e := range arg.Arr.Elems {
			if !e.Null {
				keys = append(keys, keyDatum(tagKey, e.S))
			}
		}
		list, err := c.keysOf(keys)
		if err != nil {
			return nil, err
		}
		return combine(list), nil
	}
}

// The first byte of a key of jsonb_ops is its kind. A string in an array is a key, because ?
// finds it as it finds the key of an object.
const (
	tagKey    = 'k'
	tagString = 's'
	tagNumber = 'n'
	tagBool   = 'b'
	tagNull   = '0'
	// tagHashed follows the tag where the hash is kept of a text that is longer than maxText.
	tagHashed = '#'
	tagPlain  = ':'
	maxText   = 125
)

func keyDatum(tag byte, text string) types.Datum {
	if len(text) <= maxText {
		return types.NewString(string([]byte{tag, tagPlain}) + text)
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	return types.NewString(string([]byte{tag, tagHashed}) + hex.EncodeToString(h.Sum(nil)))
}

// place is where a scalar is.
type place bool

const (
	inArray  place = true // or alone: the whole document
	inObject place = false
)

// jsonKeys appends the keys of a value for jsonb_ops.
func jsonKeys(dst []types.Datum, v *types.JSONValue, at place) []types.Datum {
	switch v.Kind {
	case types.JSONArray:
		for _, e := range v.Elems {
			dst = jsonKeys(dst, e, inArray)
		}
		return dst
	case types.JSONObject:
		for i, e := range v.Elems {
			dst = jsonKeys(append(dst, keyDatum(tagKey, v.Keys[i])), e, inObject)
		}
		return dst
	}
	return append(dst, ScalarKey(v, at == inArray))
}

// ScalarKey returns the key of a scalar in jsonb_ops: element reports whether it is the element of
// an array, or the whole document.
func ScalarKey(v *types.JSONValue, element bool) types.Datum {
	switch v.Kind {
	case types.JSONString:
		if element {
			return keyDatum(tagKey, v.Str)
		}
		return keyDatum(tagString, v.Str)
	case types.JSONNumber:
		return keyDatum(tagNumber, numberText(v.Num))
	case types.JSONBool:
		if v.Bool {
			return keyDatum(tagBool, "t")
		}
		return keyDatum(tagBool, "f")
	}
	return keyDatum(tagNull, "")
}

// numberText returns the same text for equal numbers.
func numberText(d *apd.Decimal) string {
	if d.IsZero() {
		return "0"
	}
	var r apd.Decimal
	r.Reduce(d)
	return r.Text('E')
}

// pathSeed is the hash of the empty path.
const pathSeed uint64 = 0xcbf29ce484222325

// jsonPaths appends the keys of a value for jsonb_path_ops. path is the hash of the object keys
// that lead to it.
func jsonPaths(dst []types.Datum, v *types.JSONValue, path uint64) []types.Datum {
	switch v.Kind {
	case types.JSONArray:
		for _, e := range v.Elems {
			dst = jsonPaths(dst, e, path)
		}
		return dst
	case types.JSONObject:
		for i, e := range v.Elems {
			dst = jsonPaths(dst, e, PathHash(path, v.Keys[i]))
		}
		return dst
	}
	return append(dst, PathKey(path, v))
}

// PathHash is the hash of a path with another object key at its end. EmptyPath is that of the
// whole document.
func PathHash(path uint64, key string) uint64 { return mixHash(path, tagKey, key) }

// EmptyPath is the hash of the path to the whole document.
func EmptyPath() uint64 { return pathSeed }

// PathKey returns the key in jsonb_path_ops of a scalar at the end of a path.
func PathKey(path uint64, scalar *types.JSONValue) types.Datum {
	text, tag := "", byte(tagNull)
	switch scalar.Kind {
	case types.JSONString:
		text, tag = scalar.Str, tagString
	case types.JSONNumber:
		text, tag = numberText(scalar.Num), tagNumber
	case types.JSONBool:
		text, tag = "f", tagBool
		if scalar.Bool {
			text = "t"
		}
	}
	return types.NewInt(int64(mixHash(path, tag, text)))
}

// mixHash is FNV-1a, continued from h with a tagged text and its length.
func mixHash(h uint64, tag byte, text string) uint64 {
	const prime = 0x100000001b3
	step := func(b byte) { h = (h ^ uint64(b)) * prime }
	step(tag)
	for i := range len(text) {
		step(text[i])
	}
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(len(text)))
	for _, b := range n {
		step(b)
	}
	return h
}
