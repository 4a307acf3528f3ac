package builtin

import (
	"slices"
	"strconv"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

var jsonbOperators = []def{
	f("@>(jsonb,jsonb) bool", jsonbContains),
	f("<@(jsonb,jsonb) bool", swapped(jsonbContains)),
	f("?(jsonb,text) bool", keyExists),
	f("?|(jsonb,text[]) bool", keysExist(false)),
	f("?&(jsonb,text[]) bool", keysExist(true)),
	f("||(jsonb,jsonb) jsonb", jsonbConcat),
	f("-(jsonb,text|text[]) jsonb", jsonBinary.reading(jsonbDeleteKeys)),
	f("-(jsonb,int4) jsonb", jsonBinary.reading(jsonbDeleteIndex)),
	f("#-(jsonb,text[]) jsonb", jsonbDeletePath),
}

var jsonbFunctions = []def{
	f("jsonb_pretty(jsonb) text", jsonBinary.reading(
		func(v *types.JSONValue, _ []types.Datum) (types.Datum, error) {
			return types.NewString(string(v.AppendPretty(nil, 0))), nil
		})),
	f("jsonb_set(jsonb,text[],jsonb,bool?) jsonb", jsonbSet),
	n("jsonb_set_lax(jsonb,text[],jsonb,bool?,text?) jsonb", jsonbSetLax),
	f("jsonb_insert(jsonb,text[],jsonb,bool?) jsonb", jsonbInsert),
	f("jsonb_concat(jsonb,jsonb) jsonb", jsonbConcat),
	f("jsonb_contains(jsonb,jsonb) bool", jsonbContains),
	f("jsonb_exists(jsonb,text) bool", keyExists),
	f("jsonb_contained(jsonb,jsonb) bool", swapped(jsonbContains)),
	f("jsonb_exists_any(jsonb,text[]) bool", keysExist(false)),
	f("jsonb_exists_all(jsonb,text[]) bool", keysExist(true)),
	f("jsonb_delete(jsonb,text) jsonb", jsonBinary.reading(jsonbDeleteKeys)),
	f("jsonb_delete(jsonb,int4) jsonb", jsonBinary.reading(jsonbDeleteIndex)),
	f("jsonb_delete_path(jsonb,text[]) jsonb", jsonbDeletePath),
	f("row_to_json(record,bool?) json", rowToJSON).stable(),
	f("array_to_json(anyarray,bool?) json", arrayToJSON).stable(),
}

func rowToJSON(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.NewString(string(appendJSONRecord(nil, rt, a[0].Arr, len(a) > 1 && a[1].Bool()))),
		nil
}

func arrayToJSON(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	lines := len(a) > 1 && a[1].Bool()
	return types.NewString(string(appendJSONArray(nil, rt, rt.ArgTypes[0].Elem, a[0].Arr, lines))),
		nil
}

// readingPair makes a function of two arguments of type jsonb.
func readingPair(op func(x, y *types.JSONValue) types.Datum) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		x, err := types.ParseJSON(a[0].S, rt)
		if err != nil {
			return types.Null, err
		}
		y, err := types.ParseJSON(a[1].S, rt)
		if err != nil {
			return types.Null, err
		}
		return op(x, y), nil
	}
}

var jsonbContains = readingPair(func(x, y *types.JSONValue) types.Datum {
	return types.NewBool(types.ContainsJSON(x, y))
})

// hasKey reports whether a string is a key of an object, an element of an array, or the scalar
// itself.
func hasKey(v *types.JSONValue, key string) bool {
	switch v.Kind {
	case types.JSONObject:
		return v.Get(key) != nil
	case types.JSONArray:
		return slices.ContainsFunc(v.Elems, func(e *types.JSONValue) bool {
			return e.Kind == types.JSONString && e.Str == key
		})
	}
	return v.Kind == types.JSONString && v.Str == key
}

var keyExists = jsonBinary.reading(func(v *types.JSONValue, a []types.Datum) (types.Datum, error) {
	return types.NewBool(hasKey(v, a[1].S)), nil
})

func keysExist(all bool) scalar {
	return jsonBinary.reading(func(v *types.JSONValue, a []types.Datum) (types.Datum, error) {
		for _, k := range a[1].Arr.Elems {
			if !k.Null && hasKey(v, k.S) != all {
				return types.NewBool(!all), nil
			}
		}
		return types.NewBool(all), nil
	})
}

var jsonbConcat = readingPair(func(x, y *types.JSONValue) types.Datum {
	if x.Kind == types.JSONObject && y.Kind == types.JSONObject {
		return jsonBinary.datum(types.NewJSONObject(slices.Concat(x.Keys, y.Keys),
			slices.Concat(x.Elems, y.Elems)))
	}
	list := func(v *types.JSONValue) []*types.JSONValue {
		if v.Kind == types.JSONArray {
			return v.Elems
		}
		return []*types.JSONValue{v}
	}
	both := slices.Concat(list(x), list(y))
	return jsonBinary.datum(&types.JSONValue{Kind: types.JSONArray, Elems: both})
})

func isScalar(v *types.JSONValue) bool {
	return v.Kind != types.JSONArray && v.Kind != types.JSONObject
}

// jsonbDeleteKeys removes keys of an object, or strings of an array.
func jsonbDeleteKeys(v *types.JSONValue, a []types.Datum) (types.Datum, error) {
	if a[1].Arr != nil && len(a[1].Arr.Dims) > 1 {
		return types.Null, errSubscripts("wrong number of array subscripts")
	}
	if isScalar(v) {
		return types.Null, errInvalid("cannot delete from scalar")
	}
	keys := []types.Datum{a[1]}
	if a[1].Arr != nil {
		keys = a[1].Arr.Elems
	}
	gone := func(s string) bool {
		return slices.ContainsFunc(keys, func(k types.Datum) bool { return !k.Null && k.S == s })
	}
	out := &types.JSONValue{Kind: v.Kind}
	for i, e := range v.Elems {
		if v.Kind == types.JSONObject {
			if !gone(v.Keys[i]) {
				out.Keys, out.Elems = append(out.Keys, v.Keys[i]), append(out.Elems, e)
			}
		} else if e.Kind != types.JSONString || !gone(e.Str) {
			out.Elems = append(out.Elems, e)
		}
	}
	return jsonBinary.datum(out), nil
}

func jsonbDeleteIndex(v *types.JSONValue, a []types.Datum) (types.Datum, error) {
	switch {
	case isScalar(v):
		return types.Null, errInvalid("cannot delete from scalar")
	case v.Kind == types.JSONObject:
		return types.Null, errInvalid("cannot delete from object using integer index")
	}
	i := int(a[1].I)
	if i < 0 {
		i += len(v.Elems)
	}
	if i < 0 || i >= len(v.Elems) {
		return a[0], nil
	}
	return jsonBinary.datum(&types.JSONValue{Kind: v.Kind,
		Elems: slices.Delete(slices.Clone(v.Elems), i, i+1)}), nil
}

// jsonEdit is a change at the end of a path.
type jsonEdit struct {
	value  *types.JSONValue // nil deletes
	create bool             // jsonb_set: add missing elements
	insert bool             // jsonb_insert
	after  bool
}

// apply returns v with the change at the path's end, or v itself if there is no such place.
func (e *jsonEdit) apply(v *types.JSONValue, path []types.Datum, depth int) (*types.JSONValue,
	error) {
	if len(path) == depth {
		return v, nil
	}
	p := path[depth]
	if p.Null {
		return nil, sqlerr.New(sqlerr.NullValueNotAllowed, "path element at position %d is null",
			depth+1)
	}
	switch v.Kind {
	case types.JSONObject:
		return e.inObject(v, path, depth, p.S)
	case types.JSONArray:
		if len(v.Elems) == 0 && e.value == nil {
			return v, nil
		}
		i, err := strconv.Atoi(p.S)
		if err != nil {
			return nil, sqlerr.New(sqlerr.InvalidTextRepresentation,
				"path element at position %d is not an integer: \"%s\"", depth+1, p.S)
		}
		return e.inArray(v, path, depth, i)
	}
	return v, nil
}

func (e *jsonEdit) inObject(v *types.JSONValue, path []types.Datum, depth int,
	key string) (*types.JSONValue, error) {
	last := depth == len(path)-1
	i := slices.Index(v.Keys, key)
	switch {
	case i < 0 && last && e.value != nil && (e.create || e.insert):
		return types.NewJSONObject(append(slices.Clone(v.Keys), key),
			append(slices.Clone(v.Elems), e.value)), nil
	case i < 0:
		return v, nil
	case last && e.insert:
		return nil, errInvalid("cannot replace existing key").
			WithHint("Try using the function jsonb_set to replace key value.")
	case last && e.value == nil:
		return &types.JSONValue{Kind: v.Kind, Keys: slices.Delete(slices.Clone(v.Keys), i, i+1),
			Elems: slices.Delete(slices.Clone(v.Elems), i, i+1)}, nil
	}
	out := &types.JSONValue{Kind: v.Kind, Keys: v.Keys, Elems: slices.Clone(v.Elems)}
	if last {
		out.Elems[i] = e.value
		return out, nil
	}
	var err error
	out.Elems[i], err = e.apply(v.Elems[i], path, depth+1)
	return out, err
}

func (e *jsonEdit) inArray(v *types.JSONValue, path []types.Datum, depth, i int) (*types.JSONValue,
	error) {
	last := depth == len(path)-1
	n := len(v.Elems)
	at := i
	if at < 0 {
		at += n
	}
	inside := at >= 0 && at < n
	out := &types.JSONValue{Kind: v.Kind, Elems: slices.Clone(v.Elems)}
	switch {
	case !inside && !last:
		return v, nil
	case !last:
		var err error
		out.Elems[at], err = e.apply(v.Elems[at], path, depth+1)
		return out, err
	case e.value == nil:
		if inside {
			out.Elems = slices.Delete(out.Elems, at, at+1)
		}
	case inside && e.insert:
		if e.after {
			at++
		}
		out.Elems = slices.Insert(out.Elems, at, e.value)
	case inside:
		out.Elems[at] = e.value
	case !e.create && !e.insert:
		return v, nil
	case at < 0:
		out.Elems = slices.Insert(out.Elems, 0, e.value)
	default:
		out.Elems = append(out.Elems, e.value)
	}
	return out, nil
}

func (e *jsonEdit) run(rt *expr.Runtime, d types.Datum, path *types.ArrayValue) (types.Datum,
	error) {
	if len(path.Dims) > 1 {
		return types.Null, errSubscripts("wrong number of array subscripts")
	}
	v, err := types.ParseJSON(d.S, rt)
	if err != nil {
		return types.Null, err
	}
	if isScalar(v) {
		if e.value == nil {
			return types.Null, errInvalid("cannot delete path in scalar")
		}
		return types.Null, errInvalid("cannot set path in scalar")
	}
	if len(v.Elems) == 0 && !e.create && !e.insert {
		return jsonBinary.datum(v), nil
	}
	if v, err = e.apply(v, path.Elems, 0); err != nil {
		return types.Null, err
	}
	return jsonBinary.datum(v), nil
}

func jsonbDeletePath(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return (&jsonEdit{}).run(rt, a[0], a[1].Arr)
}

func jsonbSet(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return (&jsonEdit{create: len(a) < 4 || a[3].Bool()}).put(rt, a)
}

// put changes the jsonb a[0] at the path a[1] to have the value a[2].
func (e *jsonEdit) put(rt *expr.Runtime, a []types.Datum) (_ types.Datum, err error) {
	if e.value, err = types.ParseJSON(a[2].S, rt); err != nil {
		return types.Null, err
	}
	return e.run(rt, a[0], a[1].Arr)
}

func jsonbSetLax(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null || a[1].Null || len(a) > 3 && a[3].Null {
		return types.Null, nil
	}
	treatment := "use_json_null"
	if len(a) > 4 {
		treatment = a[4].S // NULL: ""
	}
	switch {
	case len(a) > 4 && a[4].Null:
		return types.Null, errTreatment()
	case !a[2].Null:
		return jsonbSet(rt, a[:min(len(a), 4)])
	}
	switch treatment {
	case "raise_exception":
		return types.Null, sqlerr.New(sqlerr.NullValueNotAllowed, "JSON value must not be null").
			WithDetail("Exception was raised because null_value_treatment is \"raise_exception\".").
			WithHint("To avoid, either change the null_value_treatment argument or ensure that " +
				"an SQL NULL is not passed.")
	case "use_json_null":
		return jsonbSet(rt, append([]types.Datum{a[0], a[1], types.NewString("null")},
			a[3:min(len(a), 4)]...))
	case "delete_key":
		return jsonbDeletePath(rt, a[:2])
	case "return_target":
		return a[0], nil
	}
	return types.Null, errTreatment()
}

func errTreatment() error {
	return errInvalid("null_value_treatment must be \"delete_key\", " +
		"\"return_target\", \"use_json_null\", or \"raise_exception\"")
}

func jsonbInsert(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return (&jsonEdit{insert: true, after: len(a) > 3 && a[3].Bool()}).put(rt, a)
}
