package builtin

import (
	"slices"
	"strconv"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// intoJSON assigns to a place in a jsonb. What is missing on the way is made: an array where the
// subscript is an integer, with JSON nulls before its element, else an object. A NULL is assigned
// as JSON's null.
func (p *assigning) intoJSON(old types.Datum, s *AssignStep,
	path []types.Datum) (types.Datum, error) {
	value := &types.JSONValue{Kind: types.JSONNull}
	var err error
	if !p.value.Null {
		if value, err = types.ParseJSON(p.value.S, p.rt); err != nil {
			return types.Null, err
		}
	}
	root := &types.JSONValue{Kind: types.JSONObject}
	switch {
	case !old.Null:
		if root, err = types.ParseJSON(old.S, p.rt); err != nil {
			return types.Null, err
		}
	case s.Subscripts[0].Int:
		root.Kind = types.JSONArray
	}
	a := &jsonAssigning{p: p, path: path, value: value}
	if root, err = a.into(root, 0); err != nil {
		return types.Null, err
	}
	return jsonBinary.datum(root), nil
}

type jsonAssigning struct {
	p     *assigning
	path  []types.Datum
	value *types.JSONValue
}

// into returns v with the new value at the end of the path from a depth on. v is nil where there is
// nothing yet.
func (a *jsonAssigning) into(v *types.JSONValue, depth int) (*types.JSONValue, error) {
	if depth == len(a.path) {
		return a.value, nil
	}
	key := a.path[depth].S
	if v == nil {
		v = &types.JSONValue{Kind: types.JSONObject}
		if _, err := strconv.ParseInt(key, 10, 32); err == nil {
			v.Kind = types.JSONArray
		}
	}
	switch v.Kind {
	case types.JSONObject:
		return a.intoObject(v, key, depth)
	case types.JSONArray:
		return a.intoElement(v, key, depth)
	}
	return nil, errInvalid("cannot replace existing key").
		WithDetail("The path assumes key is a composite object, but it is a scalar value.")
}

func (a *jsonAssigning) intoObject(v *types.JSONValue, key string,
	depth int) (*types.JSONValue, error) {
	i := slices.Index(v.Keys, key)
	var old *types.JSONValue
	if i >= 0 {
		old = v.Elems[i]
	}
	part, err := a.into(old, depth+1)
	if err != nil {
		return nil, err
	}
	keys, elems := slices.Clone(v.Keys), slices.Clone(v.Elems)
	if i >= 0 {
		elems[i] = part
		return &types.JSONValue{Kind: types.JSONObject, Keys: keys, Elems: elems}, nil
	}
	return types.NewJSONObject(append(keys, key), append(elems, part)), nil
}

func (a *jsonAssigning) intoElement(v *types.JSONValue, key string,
	depth int) (*types.JSONValue, error) {
	i64, err := strconv.ParseInt(key, 10, 32)
	if err != nil {
		return nil, sqlerr.New(sqlerr.InvalidTextRepresentation,
			"path element at position %d is not an integer: \"%s\"", depth+1, key)
	}
	i, n := int(i64), len(v.Elems)
	if i < 0 {
		if i += n; i < 0 {
			return nil, errInvalid("path element at position %d is out of range: %d", depth+1, i64)
		}
	}
	var old *types.JSONValue
	if i < n {
		old = v.Elems[i]
	}
	part, err := a.into(old, depth+1)
	if err != nil {
		return nil, err
	}
	if err := a.p.rt.Grow(int64(max(i+1, n)) * jsonElementSize); err != nil {
		return nil, err
	}
	elems := slices.Clone(v.Elems)
	for len(elems) <= i {
		elems = append(elems, &types.JSONValue{Kind: types.JSONNull})
		if err := a.p.rt.Tick(jsonElementSize); err != nil {
			return nil, err
		}
	}
	elems[i] = part
	return &types.JSONValue{Kind: types.JSONArray, Elems: elems}, nil
}

// jsonElementSize is about what an element of an array takes in memory, in bytes.
const jsonElementSize = 128
