package gin

import (
	"slices"

	"github.com/minidb/minidb/table/codec"
	"github.com/minidb/minidb/table/types"
)

// arrayOps has the elements of an array as keys.
var arrayOps = &class{
	name: "array_ops", of: types.Array, isDefault: true,
	key: func(t *types.Type) *types.Type {
		if t.Elem == nil || !codec.Indexable(t.Elem) {
			return nil
		}
		return t.Elem.Base()
	},
	extract: func(_ *types.Type, v types.Datum) ([]types.Datum, error) { return v.Arr.Elems, nil },
	operators: map[string]operator{
		"@>":     {accepts: sameArray, query: arrayContains},
		"<@":     {accepts: sameArray, query: arrayContained},
		"&&":     {accepts: sameArray, query: arrayOverlaps},
		"=":      {accepts: sameArray, query: arrayEquals},
		AnyEqual: {accepts: elementOf, query: arrayHas},
	},
}

// AnyEqual is the operator of `argument = ANY (column)`.
const AnyEqual = "= ANY"

func sameArray(t, arg *types.Type) bool {
	return arg.Family == types.Array && arg.Elem != nil && sameKeys(t.Elem, arg.Elem)
}

func elementOf(t, arg *types.Type) bool { return sameKeys(t.Elem, arg) }

// sameKeys reports whether equal values of two types have equal keys.
func sameKeys(a, b *types.Type) bool {
	a, b = a.Base(), b.Base()
	return a.OID == b.OID || a.Family == types.String && b.Family == types.String &&
		codec.KeyExact(a) && codec.KeyExact(b)
}

func isNull(d types.Datum) bool { return d.Null }

// arrayContains is column @> arg. An array contains no NULL in the eyes of @>.
func arrayContains(c *Column, arg types.Datum) (*Query, error) {
	if slices.ContainsFunc(arg.Arr.Elems, isNull) {
		return nothing, nil
	}
	keys, err := c.keysOf(arg.Arr.Elems)
	if err != nil {
		return nil, err
	}
	return AllOf(keys), nil
}

// arrayContained is column <@ arg: a row has one of arg's elements, or none at all.
func arrayContained(c *Column, arg types.Datum) (*Query, error) {
	keys, err := c.keysOf(present(arg.Arr.Elems))
	if err != nil {
		return nil, err
	}
	return AnyOf(append(keys, c.empty())), nil
}

func arrayOverlaps(c *Column, arg types.Datum) (*Query, error) {
	keys, err := c.keysOf(present(arg.Arr.Elems))
	if err != nil {
		return nil, err
	}
	return AnyOf(keys), nil
}

// arrayEquals is column = arg, for which NULLs are equal elements.
func arrayEquals(c *Column, arg types.Datum) (*Query, error) {
	if len(arg.Arr.Elems) == 0 {
		return c.empty(), nil
	}
	keys, err := c.keysOf(arg.Arr.Elems)
	if err != nil {
		return nil, err
	}
	return AllOf(keys), nil
}

// arrayHas is arg = ANY (column).
func arrayHas(c *Column, arg types.Datum) (*Query, error) {
	keys, err := c.keysOf([]types.Datum{arg})
	if err != nil {
		return nil, err
	}
	return keys[0], nil
}

// present leaves out the NULLs of a list.
func present(list []types.Datum) []types.Datum {
	return slices.DeleteFunc(slices.Clone(list), isNull)
}
