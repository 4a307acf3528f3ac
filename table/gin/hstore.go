package gin

import "github.com/minidb/minidb/table/types"

// hstoreOps has the keys of an hstore as keys, and its values. It belongs to the extension hstore.
// As in PostgreSQL a key of the index begins with a letter: K for a key, V for a value, N for the
// value NULL.
var hstoreOps = &class{
	name: "gin_hstore_ops", of: types.HStore, isDefault: true,
	key: func(*types.Type) *types.Type { return types.TText },
	extract: func(_ *types.Type, v types.Datum) ([]types.Datum, error) {
		return hstoreKeys(v), nil
	},
	operators: map[string]operator{
		"@>": {accepts: isHStore, query: hstoreContains},
		"?": {accepts: isText, query: func(c *Column, arg types.Datum) (*Query, error) {
			keys, err := c.keysOf([]types.Datum{hstoreKey(arg.S)})
			return AllOf(keys), err
		}},
		"?|": {accepts: isTextArray, query: hstoreHas(AnyOf)},
		"?&": {accepts: isTextArray, query: hstoreHas(AllOf)},
	},
}

func isHStore(_, arg *types.Type) bool { return arg.Family == types.HStore }

func hstoreKey(key string) types.Datum { return types.NewString("K" + key) }

func hstoreKeys(d types.Datum) []types.Datum {
	h := types.HStoreOf(d)
	out := make([]types.Datum, 0, 2*h.Len())
	for i := range h.Len() {
		value := types.NewString("N")
		if v, ok := h.Value(i); ok {
			value = types.NewString("V" + v)
		}
		out = append(out, hstoreKey(h.Key(i)), value)
	}
	return out
}

// hstoreContains is column @> arg: a row has all keys of arg, and all its values.
func hstoreContains(c *Column, arg types.Datum) (*Query, error) {
	keys, err := c.keysOf(hstoreKeys(arg))
	return AllOf(keys), err
}

// hstoreHas makes the query of an operator over an array of keys, which ignores those that are
// NULL.
func hstoreHas(of func([]*Query) *Query) func(c *Column, arg types.Datum) (*Query, error) {
	return func(c *Column, arg types.Datum) (*Query, error) {
		var keys []types.Datum
		for _, k := range present(arg.Arr.Elems) {
			keys = append(keys, hstoreKey(k.S))
		}
		list, err := c.keysOf(keys)
		return of(list), err
	}
}
