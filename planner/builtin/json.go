package builtin

import (
	"strconv"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// A jsonForm is json or jsonb: how its text is read and how a value becomes a datum.
type jsonForm struct {
	binary bool
	name   string
}

var (
	jsonText   = jsonForm{name: "json"}
	jsonBinary = jsonForm{name: "jsonb", binary: true}
)

func (f jsonForm) parse(rt *expr.Runtime, d types.Datum) (*types.JSONValue, error) {
	if f.binary {
		return types.ParseJSON(d.S, rt)
	}
	return types.ParseJSONRaw(d.S, rt)
}

// datum returns the value as json or jsonb; nil becomes SQL's NULL.
func (f jsonForm) datum(v *types.JSONValue) types.Datum {
	switch {
	case v == nil:
		return types.Null
	case !f.binary && v.Raw != "":
		return types.NewString(v.Raw)
	}
	return types.NewString(v.String())
}

func (f jsonForm) result(v *types.JSONValue, text bool) types.Datum {
	if text {
		return types.JSONTextValue(v)
	}
	return f.datum(v)
}

// reading makes a function of the JSON in its first argument.
func (f jsonForm) reading(
	op func(v *types.JSONValue, a []types.Datum) (types.Datum, error)) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		v, err := f.parse(rt, a[0])
		if err != nil {
			return types.Null, err
		}
		return op(v, a)
	}
}

// part makes a function that returns a part of the JSON in its first argument, as JSON or as text.
func (f jsonForm) part(text bool, of func(v *types.JSONValue, a []types.Datum) *types.JSONValue,
) scalar {
	return f.reading(func(v *types.JSONValue, a []types.Datum) (types.Datum, error) {
		return f.result(of(v, a), text), nil
	})
}

// field is -> and ->> with a key.
func (f jsonForm) field(text bool) scalar {
	return f.part(text, func(v *types.JSONValue, a []types.Datum) *types.JSONValue {
		return v.Get(a[1].S)
	})
}

// element is -> and ->> with an index. A scalar jsonb counts as an array of one element, as
// PostgreSQL stores it.
func (f jsonForm) element(text bool) scalar {
	return f.part(text, func(v *types.JSONValue, a []types.Datum) *types.JSONValue {
		if f.binary && isScalar(v) && (a[1].I == 0 || a[1].I == -1) {
			return v
		}
		return v.Index(int(a[1].I))
	})
}

// step descends one level by a path element: a key, or in an array an index.
func step(v *types.JSONValue, key string) *types.JSONValue {
	switch v.Kind {
	case types.JSONObject:
		return v.Get(key)
	case types.JSONArray:
		if i, err := strconv.Atoi(key); err == nil {
			return v.Index(i)
		}
	}
	return nil
}

func follow(v *types.JSONValue, path []types.Datum) *types.JSONValue {
	for _, p := range path {
		if v == nil || p.Null {
			return nil
		}
		v = step(v, p.S)
	}
	return v
}

// path is #> and #>>.
func (f jsonForm) path(text bool) scalar {
	return f.part(text, func(v *types.JSONValue, a []types.Datum) *types.JSONValue {
		return follow(v, a[1].Arr.Elems)
	})
}

// extractPath is json_extract_path, whose other arguments are the path.
func (f jsonForm) extractPath(text bool) scalar {
	return f.part(text, func(v *types.JSONValue, a []types.Datum) *types.JSONValue {
		return follow(v, a[1:])
	})
}

func jsonTypeOf(v *types.JSONValue, _ []types.Datum) (types.Datum, error) {
	return types.NewString(v.TypeName()), nil
}

func jsonArrayLength(v *types.JSONValue, _ []types.Datum) (types.Datum, error) {
	switch v.Kind {
	case types.JSONArray:
		return types.NewInt(int64(len(v.Elems))), nil
	case types.JSONObject:
		return types.Null, errInvalid("cannot get array length of a non-array")
	}
	return types.Null, errInvalid("cannot get array length of a scalar")
}

// elements is json_array_elements and its text form.
func (f jsonForm) elements(text bool, name string) setBody {
	return func(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
		v, err := f.parse(rt, a[0])
		if err != nil {
			return err
		}
		if v.Kind != types.JSONArray {
			what := "a scalar"
			if v.Kind == types.JSONObject {
				what = "an object"
				if !f.binary {
					what = "a non-array"
				}
			}
			if f.binary {
				return errInvalid("cannot extract elements from %s", what)
			}
			return errInvalid("cannot call %s on %s", name, what)
		}
		for _, e := range v.Elems {
			if err := emit([]types.Datum{f.result(e, text)}); err != nil {
				return err
			}
		}
		return nil
	}
}

// pairs is json_each, its text form and json_object_keys.
func (f jsonForm) pairs(text, keysOnly bool, name string) setBody {
	return func(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
		v, err := f.parse(rt, a[0])
		if err != nil {
			return err
		}
		if v.Kind != types.JSONObject {
			switch {
			case v.Kind == types.JSONArray && keysOnly:
				return errInvalid("cannot call %s on an array", name)
			case keysOnly:
				return errInvalid("cannot call %s on a scalar", name)
			case f.binary:
				return errInvalid("cannot call %s on a non-object", name)
			case v.Kind == types.JSONArray:
				return errInvalid("cannot deconstruct an array as an object")
			}
			return errInvalid("cannot deconstruct a scalar")
		}
		for i, k := range v.Keys {
			row := []types.Datum{types.NewString(k)}
			if !keysOnly {
				row = append(row, f.result(v.Elems[i], text))
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	}
}

func (f jsonForm) stripNulls(v *types.JSONValue, _ []types.Datum) (types.Datum, error) {
	return types.NewString(string(f.appendStripped(nil, v))), nil
}

func (f jsonForm) appendStripped(dst []byte, v *types.JSONValue) []byte {
	colon, comma := ":", ","
	if f.binary {
		colon, comma = ": ", ", "
	}
	switch v.Kind {
	case types.JSONArray:
		dst = append(dst, '[')
		for i, e := range v.Elems {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = f.appendStripped(dst, e)
		}
		return append(dst, ']')
	case types.JSONObject:
		dst = append(dst, '{')
		first := true
		for i, e := range v.Elems {
			if e.Kind == types.JSONNull {
				continue
			}
			if !first {
				dst = append(dst, comma...)
			}
			first = false
			dst = types.AppendJSONString(dst, v.Keys[i])
			dst = append(dst, colon...)
			dst = f.appendStripped(dst, e)
		}
		return append(dst, '}')
	}
	return append(dst, f.datum(v).S...)
}

func jsonOperators() []def {
	var out []def
	for _, j := range []jsonForm{jsonText, jsonBinary} {
		t := j.name
		out = append(out,
			f("->("+t+",text) "+t, j.field(false)), f("->>("+t+",text) text", j.field(true)),
			f("->("+t+",int4) "+t, j.element(false)), f("->>("+t+",int4) text", j.element(true)),
			f("#>("+t+",text[]) "+t, j.path(false)), f("#>>("+t+",text[]) text", j.path(true)))
	}
	return append(out, jsonbOperators...)
}

func jsonFunctions() []def {
	var out []def
	for _, j := range []jsonForm{jsonText, jsonBinary} {
		t := j.name
		out = append(out, f(t+"_extract_path("+t+",text*) "+t, j.extractPath(false)),
			f(t+"_extract_path_text("+t+",text*) text", j.extractPath(true)),
			f(t+"_object_field("+t+",text) "+t, j.field(false)),
			f(t+"_object_field_text("+t+",text) text", j.field(true)),
			f(t+"_array_element("+t+",int4) "+t, j.element(false)),
			f(t+"_array_element_text("+t+",int4) text", j.element(true)),
			f(t+"_typeof("+t+") text", j.reading(jsonTypeOf)),
			f(t+"_array_length("+t+") int4", j.reading(jsonArrayLength)),
			f(t+"_strip_nulls("+t+") "+t, j.reading(j.stripNulls)),
			s(t+"_array_elements("+t+") "+t, "value "+t, j.elements(false, t+"_array_elements")),
			s(t+"_array_elements_text("+t+") text", "value text",
				j.elements(true, t+"_array_elements_text")),
			s(t+"_each("+t+") record", "key text,value "+t, j.pairs(false, false, t+"_each")),
			s(t+"_each_text("+t+") record", "key text,value text",
				j.pairs(true, false, t+"_each_text")),
			s(t+"_object_keys("+t+") text", "", j.pairs(false, true, t+"_object_keys")),
			n(t+"_build_object(any*?) "+t, j.buildObject).stable(),
			n(t+"_build_array(any*?) "+t, j.buildArray).stable(),
			f(t+"_object(text[],text[]?) "+t, j.object),
			f("to_"+t+"(anyelement) "+t, j.convert).stable())
		out = append(out, recordFunctions(j)...)
	}
	return append(out, jsonbFunctions...)
}

// object is json_object: keys and values as text, in one array or two.
func (f jsonForm) object(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	var keys, vals []types.Datum
	arr := a[0].Arr
	switch {
	case len(a) > 1:
		if len(arr.Dims) > 1 || len(arr.Dims) != len(a[1].Arr.Dims) {
			return types.Null, errSubscripts("wrong number of array subscripts")
		}
		if len(arr.Elems) != len(a[1].Arr.Elems) {
			return types.Null, errSubscripts("mismatched array dimensions")
		}
		keys, vals = arr.Elems, a[1].Arr.Elems
	case len(arr.Dims) == 2 && arr.Dims[1] != 2:
		return types.Null, errSubscripts("array must have two columns")
	case len(arr.Dims) > 2:
		return types.Null, errSubscripts("wrong number of array subscripts")
	case len(arr.Elems)%2 != 0:
		return types.Null, errSubscripts("array must have even number of elements")
	default:
		for i := 0; i < len(arr.Elems); i += 2 {
			keys, vals = append(keys, arr.Elems[i]), append(vals, arr.Elems[i+1])
		}
	}
	w := f.writer(rt)
	w.open('{')
	for i, k := range keys {
		if k.Null {
			return types.Null, sqlerr.New(sqlerr.NullValueNotAllowed,
				"null value not allowed for object key")
		}
		w.key(k.S)
		if vals[i].Null {
			w.raw("null")
		} else {
			w.string(vals[i].S)
		}
	}
	w.close('}')
	return w.datum()
}

// jsonWriter builds JSON text with the spacing of PostgreSQL's constructors. For jsonb the text is
// parsed again at the end, which sorts keys and drops duplicates.
type jsonWriter struct {
	work  types.Work // may be nil
	b     []byte
	form  jsonForm
	first bool
}

func (f jsonForm) writer(w types.Work) *jsonWriter {
	return &jsonWriter{work: w, form: f, first: true}
}

func (w *jsonWriter) open(c byte)  { w.b, w.first = append(w.b, c), true }
func (w *jsonWriter) close(c byte) { w.b, w.first = append(w.b, c), false }

// next writes the separator from the previous value.
func (w *jsonWriter) next() {
	if !w.first {
		w.b = append(w.b, ", "...)
	}
	w.first = false
}

func (w *jsonWriter) key(k string) {
	w.next()
	w.b = types.AppendJSONString(w.b, k)
	w.b = append(w.b, " : "...)
}

func (w *jsonWriter) raw(text string) { w.b = append(w.b, text...) }

func (w *jsonWriter) string(s string) { w.b = types.AppendJSONString(w.b, s) }

func (w *jsonWriter) datum() (types.Datum, error) {
	text := string(w.b)
	if !w.form.binary {
		return types.NewString(text), nil
	}
	text, err := types.CanonicalJSON(text, w.work)
	return types.NewString(text), err
}

func (f jsonForm) buildObject(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if len(a)%2 != 0 {
		return types.Null, errInvalid("argument list must have even number of elements").
			WithHint("The arguments of %s_build_object() must consist of alternating keys and "+
				"values.", f.name)
	}
	ts := rt.ArgTypes
	w := f.writer(rt)
	w.open('{')
	for i := 0; i < len(a); i += 2 {
		if a[i].Null {
			if f.binary {
				return types.Null, errInvalid("argument %d: key must not be null", i+1)
			}
			return types.Null, errInvalid("argument %d cannot be null", i+1).
				WithHint("Object keys should be text.")
		}
		if family := ts[i].Family; family == types.Array || family == types.Record ||
			ts[i].OID == types.OIDJSON || family == types.JSON {
			return types.Null, errInvalid("key value must be scalar, not array, composite, or json")
		}
		w.key(textOf(rt, ts[i], a[i]))
		w.b = appendJSON(w.b, rt, ts[i+1], a[i+1])
	}
	w.close('}')
	return w.datum()
}

func (f jsonForm) buildArray(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	w := f.writer(rt)
	w.open('[')
	for i, d := range a {
		w.next()
		w.b = appendJSON(w.b, rt, rt.ArgTypes[i], d)
	}
	w.close(']')
	return w.datum()
}

// convert is to_json and to_jsonb.
func (f jsonForm) convert(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	w := f.writer(rt)
	w.b = appendJSON(w.b, rt, rt.ArgTypes[0], a[0])
	return w.datum()
}

// appendJSON appends an SQL value as JSON.
func appendJSON(dst []byte, rt *expr.Runtime, t *types.Type, d types.Datum) []byte {
	if d.Null {
		return append(dst, "null"...)
	}
	t = t.Base()
	switch t.Family {
	case types.Bool:
		return strconv.AppendBool(dst, d.I != 0)
	case types.Array:
		return appendJSONArray(dst, rt, t.Elem, d.Arr, false)
	case types.Record:
		return appendJSONRecord(dst, rt, d.Arr, false)
	case types.JSON:
		return append(dst, d.S...)
	case types.HStore:
		return append(dst, types.HStoreJSON(d, false)...)
	case types.Int, types.Float, types.Decimal:
		text := textOf(rt, t, d)
		if t.Family == types.Int && !jsonInteger(t.OID) || strings.ContainsAny(text, "NI") {
			return types.AppendJSONString(dst, text)
		}
		return append(dst, text...)
	case types.Timestamp, types.Date:
		return appendJSONTime(dst, rt, t, d)
	}
	if t.OID == types.OIDJSON {
		return append(dst, d.S...)
	}
	return types.AppendJSONString(dst, textOf(rt, t, d))
}

// jsonInteger reports whether values of the type become JSON numbers: those of oid, xid and the
// like become strings.
func jsonInteger(t types.OID) bool {
	return t == types.OIDInt2 || t == types.OIDInt4 || t == types.OIDInt8
}

// appendJSONTime appends dates and times in ISO 8601 form.
func appendJSONTime(dst []byte, rt *expr.Runtime, t *types.Type, d types.Datum) []byte {
	return types.AppendJSONString(dst, isoText(rt, t, d))
}

// isoText returns a date or timestamp in ISO 8601 form, whatever the session's style.
func isoText(rt *expr.Runtime, t *types.Type, d types.Datum) string {
	f := rt.Format
	f.DateStyle = "ISO"
	f.Location = location(rt)
	text := types.Text(t, d, &f)
	if t.Family == types.Timestamp {
		text = strings.Replace(text, " ", "T", 1)
		if t.OID == types.OIDTimestampTZ {
			text = withZoneMinutes(text)
		}
	}
	return text
}

// withZoneMinutes completes the zone in a timestamp's ISO text, which may end in " BC", to +hh:mm.
func withZoneMinutes(text string) string {
	text, bc := strings.CutSuffix(text, " BC")
	if n := len(text); n > 3 && (text[n-3] == '+' || text[n-3] == '-') {
		text += ":00"
	}
	if bc {
		text += " BC"
	}
	return text
}

// appendJSONArray appends an array. lines puts each element of the outermost dimension on its own
// line.
func appendJSONArray(dst []byte, rt *expr.Runtime, elem *types.Type, a *types.ArrayValue,
	lines bool) []byte {
	if len(a.Elems) == 0 {
		return append(dst, "[]"...)
	}
	next := 0
	var level func(dim int, lines bool)
	level = func(dim int, lines bool) {
		dst = append(dst, '[')
		for i := range a.Dims[dim] {
			if i > 0 {
				dst = append(dst, ',')
				if lines {
					dst = append(dst, "\n "...)
				}
			}
			if dim < len(a.Dims)-1 {
				level(dim+1, false)
				continue
			}
			dst = appendJSON(dst, rt, elem, a.Elems[next])
			next++
		}
		dst = append(dst, ']')
	}
	level(0, lines)
	return dst
}

func appendJSONRecord(dst []byte, rt *expr.Runtime, a *types.ArrayValue, lines bool) []byte {
	dst = append(dst, '{')
	for i, e := range a.Elems {
		if i > 0 {
			dst = append(dst, ',')
			if lines {
				dst = append(dst, "\n "...)
			}
		}
		name := "f" + strconv.Itoa(i+1)
		if a.Names != nil {
			name = a.Names[i]
		}
		dst = types.AppendJSONString(dst, name)
		dst = append(dst, ':')
		dst = appendJSON(dst, rt, a.Types[i], e)
	}
	return append(dst, '}')
}
