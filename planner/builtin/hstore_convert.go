package builtin

import (
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// hstoreOfPair makes an hstore of one key and its value, NULL if the key is.
func hstoreOfPair(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, nil
	}
	return types.NewHStore([]types.HStorePair{{Key: a[0].S, Value: a[1].S, Null: a[1].Null}})
}

func hstoreOfArray(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if err := rt.Grow(int64(len(a[0].Arr.Elems)) * hstorePairSize / 2); err != nil {
		return types.Null, err
	}
	return types.HStoreFromArray(a[0].Arr)
}

// hstoreOfArrays makes an hstore of an array of keys and one of values, which are all NULL if that
// is.
func hstoreOfArrays(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Null, nil
	}
	keys := a[0].Arr
	if len(keys.Dims) > 1 {
		return types.Null, errSubscripts("wrong number of array subscripts")
	}
	if !a[1].Null {
		values := a[1].Arr
		switch {
		case len(values.Dims) > 1:
			return types.Null, errSubscripts("wrong number of array subscripts")
		case !slices.Equal(keys.Dims, values.Dims) || !slices.Equal(keys.Lower, values.Lower):
			return types.Null, errSubscripts("arrays must have same bounds")
		}
	}
	if err := rt.Grow(int64(len(keys.Elems)) * hstorePairSize); err != nil {
		return types.Null, err
	}
	pairs := make([]types.HStorePair, 0, len(keys.Elems))
	for i, k := range keys.Elems {
		if k.Null {
			return types.Null, types.ErrHStoreKey()
		}
		v := types.Null
		if !a[1].Null {
			v = a[1].Arr.Elems[i]
		}
		pairs = append(pairs, types.HStorePair{Key: k.S, Value: v.S, Null: v.Null})
	}
	return types.NewHStore(pairs)
}

// hstoreOfRecord makes an hstore of the names and texts of a record's fields. Of a NULL its type
// has the names.
func hstoreOfRecord(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	p := &populator{rt: rt, base: a[0]}
	p.rowOfBase(rt.ArgTypes[0])
	if p.row == nil {
		return types.Null, errNoRowType()
	}
	fields := p.row.Fields()
	pairs := make([]types.HStorePair, len(fields))
	for i, f := range fields {
		pairs[i] = types.HStorePair{Key: f.Name, Null: true}
		if !a[0].Null && i < len(a[0].Arr.Elems) && !a[0].Arr.Elems[i].Null {
			pairs[i].Value, pairs[i].Null = textOf(rt, f.Type, a[0].Arr.Elems[i]), false
		}
		if err := rt.Tick(len(pairs[i].Value) + hstorePairSize); err != nil {
			return types.Null, err
		}
	}
	return types.NewHStore(pairs)
}

// errNoRowType returns the error of a record that is NULL, and of which no fields are known.
func errNoRowType() error {
	return sqlerr.New(sqlerr.WrongObjectType, "record type has not been registered")
}

// hstorePopulate returns the record in the first argument with the values that the hstore has for
// its fields.
func hstorePopulate(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if rt.ArgTypes[0].Family != types.Record {
		return types.Null, sqlerr.New(sqlerr.DatatypeMismatch, "first argument must be a rowtype")
	}
	base := a[0]
	if a[1].Null {
		return base, nil
	}
	h, p := types.HStoreOf(a[1]), &populator{rt: rt, base: base}
	p.rowOfBase(rt.ArgTypes[0])
	switch {
	case p.row == nil:
		return types.Null, errNoRowType()
	case h.Len() == 0 && !base.Null:
		return base, nil
	}
	fields := p.row.Fields()
	elems := make([]types.Datum, len(fields))
	for i, f := range fields {
		elems[i] = types.Null
		if !base.Null && i < len(base.Arr.Elems) {
			elems[i] = base.Arr.Elems[i]
		}
		at := h.Find(f.Name)
		if at < 0 && !base.Null {
			continue
		}
		var err error
		if elems[i], err = p.field(f.Type, h, at); err != nil {
			return types.Null, err
		}
	}
	return types.NewRecord(p.row, elems), nil
}

// field returns the value that pair at of an hstore has for a field; at is -1 if there is none.
func (p *populator) field(t *types.Type, h types.HStoreValue, at int) (types.Datum, error) {
	if at >= 0 {
		if v, ok := h.Value(at); ok {
			return types.ParseText(t, v, &p.rt.Format)
		}
	}
	return t.Null(&p.rt.Format)
}

// hstoreToJSON returns an object whose values are strings; with loose those that look so are
// numbers and booleans.
func hstoreToJSON(form jsonForm, loose bool) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if err := rt.Grow(2 * int64(len(a[0].S))); err != nil {
			return types.Null, err
		}
		text := types.HStoreJSON(a[0], loose)
		if !form.binary || !loose {
			return types.NewString(text), nil
		}
		text, err := types.CanonicalJSON(text, rt)
		return types.NewString(text), err
	}
}

func hstoreKey(h types.HStoreValue, i int) types.Datum { return types.NewString(h.Key(i)) }

// hstoreParts makes a function that returns an array with one part of each pair.
func hstoreParts(part func(types.HStoreValue, int) types.Datum) scalar {
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		elems, err := hstoreElements(rt, a[0], part)
		return types.NewArray(elems), err
	}
}

func hstoreElements(rt *expr.Runtime, d types.Datum,
	parts ...func(types.HStoreValue, int) types.Datum) ([]types.Datum, error) {
	h, out := types.HStoreOf(d), elements{rt: rt}
	for i := range h.Len() {
		for _, part := range parts {
			if err := out.add(part(h, i)); err != nil {
				return nil, err
			}
		}
	}
	return out.elems, nil
}

// hstoreSet makes a function that returns a row of parts for each pair.
func hstoreSet(parts ...func(types.HStoreValue, int) types.Datum) setBody {
	return func(rt *expr.Runtime, a []types.Datum, emit func(row []types.Datum) error) error {
		h := types.HStoreOf(a[0])
		for i := range h.Len() {
			row := make([]types.Datum, len(parts))
			for j, part := range parts {
				row[j] = part(h, i)
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	}
}

func hstoreToArray(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	elems, err := hstoreElements(rt, a[0], hstoreKey, types.HStoreValue.Datum)
	return types.NewArray(elems), err
}

func hstoreToMatrix(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	d, err := hstoreToArray(rt, a)
	if n := len(d.Arr.Elems); n > 0 {
		d.Arr.Dims, d.Arr.Lower = []int{n / 2, 2}, []int{1, 1}
	}
	return d, err
}

// intoHStore assigns to the value of a key.
func (p *assigning) intoHStore(old, key types.Datum, rest []AssignStep) (types.Datum, error) {
	was := types.Null
	var pairs []types.HStorePair
	if !old.Null {
		was = types.HStoreOf(old).Get(key.S)
		var err error
		if pairs, err = hstorePairs(p.rt, old); err != nil {
			return types.Null, err
		}
	}
	v, err := p.into(was, rest)
	if err != nil {
		return types.Null, err
	}
	return types.NewHStore(append([]types.HStorePair{{Key: key.S, Value: v.S, Null: v.Null}},
		pairs...))
}
