package types

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// JSONKind is the kind of a JSON value.
type JSONKind uint8

// The kinds, in the order in which jsonb's btree sorts them.
const (
	JSONNull JSONKind = iota
	JSONString
	JSONNumber
	JSONBool
	JSONArray
	JSONObject
)

// JSONValue is a parsed JSON value. Values are shared: never change one in place.
type JSONValue struct {
	Kind  JSONKind
	Bool  bool
	Str   string       // JSONString: the text, unescaped
	Num   *apd.Decimal // JSONNumber
	Elems []*JSONValue // elements of an array, or values of an object
	Keys  []string     // keys of an object, beside Elems
	// Raw is the text that the value was read from; only ParseJSONRaw sets it.
	Raw string
}

// TypeName is the result of jsonb_typeof.
func (v *JSONValue) TypeName() string {
	return [...]string{"null", "string", "number", "boolean", "array", "object"}[v.Kind]
}

// ParseJSON reads JSON as jsonb holds it: keys sorted by length and bytes, the last of equal keys
// kept. w may be nil here and below.
func ParseJSON(s string, w Work) (*JSONValue, error) {
	p := &jsonParser{s: s, binary: true, pieces: pieces{work: w}}
	return p.document()
}

// ParseJSONRaw reads JSON as json holds it: keys in their order, duplicates and all, each value
// with its own text.
func ParseJSONRaw(s string, w Work) (*JSONValue, error) {
	p := &jsonParser{s: s, raw: true, pieces: pieces{work: w}}
	return p.document()
}

// CheckJSON returns an error unless the text is JSON, as the input function of json does.
func CheckJSON(s string, w Work) error {
	p := &jsonParser{s: s, check: true, pieces: pieces{work: w}}
	_, err := p.document()
	return err
}

// CanonicalJSON returns the text that a jsonb datum of this text holds.
func CanonicalJSON(s string, w Work) (string, error) {
	v, err := ParseJSON(s, w)
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

// Get returns the value of a key, or nil: the last one when there are duplicates.
func (v *JSONValue) Get(key string) *JSONValue {
	if v.Kind != JSONObject {
		return nil
	}
	for i := len(v.Keys) - 1; i >= 0; i-- {
		if v.Keys[i] == key {
			return v.Elems[i]
		}
	}
	return nil
}

// Member returns the value of a key of an object as jsonb holds it, or nil.
func (v *JSONValue) Member(key string) *JSONValue {
	i, ok := slices.BinarySearchFunc(v.Keys, key, compareJSONKeys)
	if !ok || v.Kind != JSONObject {
		return nil
	}
	return v.Elems[i]
}

// Index returns element i of an array, counted from the end when negative, or nil.
func (v *JSONValue) Index(i int) *JSONValue {
	if v.Kind != JSONArray {
		return nil
	}
	if i < 0 {
		i += len(v.Elems)
	}
	if i < 0 || i >= len(v.Elems) {
		return nil
	}
	return v.Elems[i]
}

// NewJSONObject makes an object as jsonb holds it: it sorts the keys and drops all but the last of
// equal ones.
func NewJSONObject(keys []string, vals []*JSONValue) *JSONValue {
	v := &JSONValue{Kind: JSONObject, Keys: keys, Elems: vals}
	v.sortKeys()
	return v
}

func compareJSONKeys(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func (v *JSONValue) sortKeys() {
	sorted := true
	for i := 1; i < len(v.Keys) && sorted; i++ {
		sorted = compareJSONKeys(v.Keys[i-1], v.Keys[i]) < 0
	}
	if sorted {
		return
	}
	order := make([]int, len(v.Keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return compareJSONKeys(v.Keys[a], v.Keys[b]) })
	keys := make([]string, 0, len(v.Keys))
	vals := make([]*JSONValue, 0, len(v.Keys))
	for _, o := range order {
		if n := len(keys); n > 0 && keys[n-1] == v.Keys[o] {
			vals[n-1] = v.Elems[o]
			continue
		}
		keys = append(keys, v.Keys[o])
		vals = append(vals, v.Elems[o])
	}
	v.Keys, v.Elems = keys, vals
}

// String is the value in jsonb's own text form.
func (v *JSONValue) String() string { return string(v.Append(nil)) }

// Append writes the value in jsonb's own text form.
func (v *JSONValue) Append(dst []byte) []byte {
	switch v.Kind {
	case JSONNull:
		return append(dst, "null"...)
	case JSONBool:
		return strconv.AppendBool(dst, v.Bool)
	case JSONNumber:
		return AppendNumeric(dst, v.Num)
	case JSONString:
		return AppendJSONString(dst, v.Str)
	case JSONArray:
		dst = append(dst, '[')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = e.Append(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = AppendJSONString(dst, v.Keys[i])
		dst = append(dst, ": "...)
		dst = e.Append(dst)
	}
	return append(dst, '}')
}

// AppendPretty writes the value as jsonb_pretty does.
func (v *JSONValue) AppendPretty(dst []byte, depth int) []byte {
	if v.Kind != JSONArray && v.Kind != JSONObject {
		return v.Append(dst)
	}
	open, end := byte('['), byte(']')
	if v.Kind == JSONObject {
		open, end = '{', '}'
	}
	indent := func(n int) {
		dst = append(dst, '\n')
		for range n * 4 {
			dst = append(dst, ' ')
		}
	}
	dst = append(dst, open)
	for i, e := range v.Elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		indent(depth + 1)
		if v.Kind == JSONObject {
			dst = append(AppendJSONString(dst, v.Keys[i]), ": "...)
		}
		dst = e.AppendPretty(dst, depth+1)
	}
	indent(depth)
	return append(dst, end)
}

// jsonEscapes has the character after the backslash for the bytes that have one.
var jsonEscapes = [256]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r',
	'\t': 't'}

// AppendJSONString writes a JSON string with its quotes.
func AppendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if e := jsonEscapes[c]; e != 0 {
			dst = append(dst, '\\', e)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}

// CompareJSON orders parsed values as jsonb's btree does.
func CompareJSON(a, b *JSONValue) int {
	// An empty array at the top sorts below everything: PostgreSQL holds top-level scalars as
	// arrays of one element, and compares the numbers of elements first.
	ea := a.Kind == JSONArray && len(a.Elems) == 0
	eb := b.Kind == JSONArray && len(b.Elems) == 0
	switch {
	case ea && eb:
		return 0
	case ea && b.Kind != JSONObject:
		return -1
	case eb && a.Kind != JSONObject:
		return 1
	}
	return compareJSONNested(a, b)
}

func compareJSONNested(a, b *JSONValue) int {
	if a.Kind != b.Kind {
		return int(a.Kind) - int(b.Kind)
	}
	switch a.Kind {
	case JSONString:
		return strings.Compare(a.Str, b.Str)
	case JSONNumber:
		return NumericCmp(a.Num, b.Num)
	case JSONBool:
		return int(NewBool(a.Bool).I - NewBool(b.Bool).I)
	case JSONArray, JSONObject:
		if len(a.Elems) != len(b.Elems) {
			return len(a.Elems) - len(b.Elems)
		}
		for i := range a.Elems {
			if a.Kind == JSONObject {
				if c := strings.Compare(a.Keys[i], b.Keys[i]); c != 0 {
					return c
				}
			}
			if c := compareJSONNested(a.Elems[i], b.Elems[i]); c != 0 {
				return c
			}
		}
	}
	return 0
}

// ContainsJSON is a @> b of jsonb.
func ContainsJSON(a, b *JSONValue) bool {
	// An array may contain a scalar, at the top only.
	if a.Kind == JSONArray && b.Kind != JSONArray && b.Kind != JSONObject {
		return slices.ContainsFunc(a.Elems,
			func(e *JSONValue) bool { return compareJSONNested(e, b) == 0 })
	}
	return containsNested(a, b)
}

func containsNested(a, b *JSONValue) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case JSONObject:
		for i, k := range b.Keys {
			if v := a.Get(k); v == nil || !containsNested(v, b.Elems[i]) {
				return false
			}
		}
		return true
	case JSONArray:
		for _, want := range b.Elems {
			same := func(e *JSONValue) bool { return containsNested(e, want) }
			if !slices.ContainsFunc(a.Elems, same) {
				return false
			}
		}
		return true
	}
	return compareJSONNested(a, b) == 0
}
