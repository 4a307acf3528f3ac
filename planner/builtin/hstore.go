package builtin

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// hstoreFunctions are those of the extension hstore.
func hstoreFunctions() []def {
	return slices.Concat(
		comparisonsNamed([]string{"hstore_eq", "hstore_ne", "hstore_lt", "hstore_le", "hstore_gt",
			"hstore_ge"}, "(hstore,hstore)", expr.Immutable, compareByArgType),
		[]def{
			f("hstore_cmp(hstore,hstore) int4", compareTwo),
			f("hstore_version_diag(hstore) int4",
				func(*expr.Runtime, []types.Datum) (types.Datum, error) {
					return types.NewInt(2), nil // of the present format, and of no older one
				}),
			f("fetchval(hstore,text) text", hstoreFetch),
			f("slice_array(hstore,text[]) text[]", hstoreFetchAll),
			f("slice(hstore,text[]) hstore", hstoreSlice),
			f("isexists|exist(hstore,text) bool", hstoreExists),
			f("exists_any(hstore,text[]) bool", hstoreExistsAny),
			f("exists_all(hstore,text[]) bool", hstoreExistsAll),
			f("isdefined|defined(hstore,text) bool", hstoreDefined),
			f("delete(hstore,text) hstore", hstoreDelete),
			f("delete(hstore,text[]) hstore", hstoreDeleteKeys),
			f("delete(hstore,hstore) hstore", hstoreDeletePairs),
			f("hs_concat(hstore,hstore) hstore", hstoreConcat),
			f("hs_contains(hstore,hstore) bool", hstoreContains),
			f("hs_contained(hstore,hstore) bool", hstoreContained),
			n("tconvert|hstore(text,text) hstore", hstoreOfPair),
			n("hstore(text[],text[]) hstore", hstoreOfArrays),
			f("hstore(text[]) hstore", hstoreOfArray),
			n("hstore(record) hstore", hstoreOfRecord).stable(),
			f("hstore_to_json(hstore) json", hstoreToJSON(jsonText, false)),
			f("hstore_to_json_loose(hstore) json", hstoreToJSON(jsonText, true)),
			f("hstore_to_jsonb(hstore) jsonb", hstoreToJSON(jsonBinary, false)),
			f("hstore_to_jsonb_loose(hstore) jsonb", hstoreToJSON(jsonBinary, true)),
			f("hstore_to_array(hstore) text[]", hstoreToArray),
			f("hstore_to_matrix(hstore) text[]", hstoreToMatrix),
			f("akeys(hstore) text[]", hstoreParts(hstoreKey)),
			f("avals(hstore) text[]", hstoreParts(types.HStoreValue.Datum)),
			s("skeys(hstore) text", "", hstoreSet(hstoreKey)),
			s("svals(hstore) text", "", hstoreSet(types.HStoreValue.Datum)),
			s("each(hstore) record", "key text,value text",
				hstoreSet(hstoreKey, types.HStoreValue.Datum)),
			n("populate_record(anyelement,hstore) anyelement", hstorePopulate).stable(),
		})
}

// hstoreOperators are those of the extension hstore.
func hstoreOperators() []def {
	return slices.Concat(
		compareBy("(hstore,hstore)", expr.Immutable, compareByArgType)[:2],
		comparisonsNamed([]string{"", "", "#<#", "#<=#", "#>#", "#>=#"}, "(hstore,hstore)",
			expr.Immutable, compareByArgType),
		[]def{
			f("->(hstore,text) text", hstoreFetch),
			f("->(hstore,text[]) text[]", hstoreFetchAll),
			f("?(hstore,text) bool", hstoreExists),
			f("?|(hstore,text[]) bool", hstoreExistsAny),
			f("?&(hstore,text[]) bool", hstoreExistsAll),
			f("-(hstore,text) hstore", hstoreDelete),
			f("-(hstore,text[]) hstore", hstoreDeleteKeys),
			f("-(hstore,hstore) hstore", hstoreDeletePairs),
			f("||(hstore,hstore) hstore", hstoreConcat),
			f("@>(hstore,hstore) bool", hstoreContains),
			f("<@(hstore,hstore) bool", hstoreContained),
			f("%%(hstore) text[]", hstoreToArray),
			f("%#(hstore) text[]", hstoreToMatrix),
			n("#=(anyelement,hstore) anyelement", hstorePopulate).stable(),
		})
}

// readHStore reads an hstore, and counts the work of passing through it once.
func readHStore(rt *expr.Runtime, d types.Datum) (types.HStoreValue, error) {
	return types.HStoreOf(d), rt.Tick(len(d.S))
}

// hstorePairSize is about what a pair takes in memory, beside its texts.
const hstorePairSize = 40

// hstorePairs returns the pairs of an hstore, whose memory is counted.
func hstorePairs(rt *expr.Runtime, d types.Datum) ([]types.HStorePair, error) {
	h, err := readHStore(rt, d)
	if err == nil {
		err = rt.Grow(int64(h.Len()) * hstorePairSize)
	}
	if err != nil {
		return nil, err
	}
	return h.Pairs(), nil
}

func hstoreFetch(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.HStoreOf(a[0]).Get(a[1].S), nil
}

// hstoreFetchAll returns an array like the second argument, with the value of each key.
func hstoreFetchAll(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	h, out := types.HStoreOf(a[0]), elements{rt: rt}
	for _, k := range a[1].Arr.Elems {
		v := types.Null
		if !k.Null {
			v = h.Get(k.S)
		}
		if err := out.add(v); err != nil {
			return types.Null, err
		}
	}
	like := *a[1].Arr
	like.Elems = out.elems
	return types.Datum{Arr: &like}, nil
}

// hstoreSlice returns the pairs that have one of the keys.
func hstoreSlice(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	h := types.HStoreOf(a[0])
	var pairs []types.HStorePair
	for _, k := range a[1].Arr.Elems {
		if i := h.Find(k.S); i >= 0 && !k.Null {
			pairs = append(pairs, h.Pair(i))
		}
		if err := rt.TickRow(); err != nil {
			return types.Null, err
		}
	}
	return types.NewHStore(pairs)
}

func hstoreExists(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.NewBool(types.HStoreOf(a[0]).Find(a[1].S) >= 0), nil
}

func hstoreDefined(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return types.NewBool(!types.HStoreOf(a[0]).Get(a[1].S).Null), nil
}

// hstoreExistsAny ignores the keys that are NULL, and so does hstoreExistsAll.
func hstoreExistsAny(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	found, err := hstoreHas(rt, a, true)
	return types.NewBool(found), err
}

func hstoreExistsAll(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	missing, err := hstoreHas(rt, a, false)
	return types.NewBool(!missing), err
}

// hstoreHas reports whether one of the keys in the second argument is there, or with want false is
// missing.
func hstoreHas(rt *expr.Runtime, a []types.Datum, want bool) (bool, error) {
	h := types.HStoreOf(a[0])
	for _, k := range a[1].Arr.Elems {
		if !k.Null && (h.Find(k.S) >= 0) == want {
			return true, nil
		}
		if err := rt.TickRow(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// hstoreWithout returns an hstore without the pairs for which drop returns true.
func hstoreWithout(rt *expr.Runtime, d types.Datum,
	drop func(p types.HStorePair) bool) (types.Datum, error) {
	pairs, err := hstorePairs(rt, d)
	if err != nil {
		return types.Null, err
	}
	return types.NewHStore(slices.DeleteFunc(pairs, drop))
}

func hstoreDelete(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return hstoreWithout(rt, a[0], func(p types.HStorePair) bool { return p.Key == a[1].S })
}

func hstoreDeleteKeys(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	keys := make(map[string]bool, len(a[1].Arr.Elems))
	for _, k := range a[1].Arr.Elems {
		if !k.Null {
			keys[k.S] = true
		}
	}
	return hstoreWithout(rt, a[0], func(p types.HStorePair) bool { return keys[p.Key] })
}

// hstoreDeletePairs removes the pairs that the second argument has with the same value.
func hstoreDeletePairs(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	other := types.HStoreOf(a[1])
	return hstoreWithout(rt, a[0], func(p types.HStorePair) bool { return hstoreHasPair(other, p) })
}

func hstoreHasPair(h types.HStoreValue, p types.HStorePair) bool {
	i := h.Find(p.Key)
	return i >= 0 && h.Pair(i) == p
}

// hstoreConcat has the pairs of both; the second argument's win.
func hstoreConcat(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	first, err := hstorePairs(rt, a[1])
	if err != nil {
		return types.Null, err
	}
	second, err := hstorePairs(rt, a[0])
	if err != nil {
		return types.Null, err
	}
	return types.NewHStore(append(first, second...))
}

// hstoreContains reports whether the first argument has all pairs of the second.
func hstoreContains(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	h, err := readHStore(rt, a[0])
	if err != nil {
		return types.Null, err
	}
	part, err := readHStore(rt, a[1])
	for i := range part.Len() {
		if !hstoreHasPair(h, part.Pair(i)) {
			return types.NewBool(false), err
		}
	}
	return types.NewBool(true), err
}

func hstoreContained(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	return hstoreContains(rt, []types.Datum{a[1], a[0]})
}
