package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// fieldOf identifies the function that selects a field.
type fieldOf struct {
	record types.OID
	index  int
	name   string
	result types.OID
}

// Field returns the function of (x).f: field i of a record of type t, whose fields are known.
func Field(t *types.Type, i int) *expr.Func {
	f := t.Fields()[i]
	return &expr.Func{
		Name: "." + f.Name, Args: []*types.Type{t}, Returns: f.Type,
		Same: fieldOf{record: t.OID, index: i, name: f.Name, result: f.Type.OID},
		Scalar: func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			r := a[0].Arr
			if i >= len(r.Elems) || r.Types[i].OID != f.Type.OID {
				return types.Null, sqlerr.New(sqlerr.DatatypeMismatch,
					"attribute %d of type %s has wrong type", i+1, t.String())
			}
			return r.Elems[i], nil
		},
	}
}

// Fields returns the fields of a record, which must be those of type t: where the query names the
// columns of a function, it may return records of other fields. NULL has NULLs.
func Fields(t *types.Type, d types.Datum) ([]types.Datum, error) {
	want := t.Fields()
	if d.Null {
		out := make([]types.Datum, len(want))
		for i := range out {
			out[i] = types.Null
		}
		return out, nil
	}
	mismatch := sqlerr.New(sqlerr.DatatypeMismatch,
		"function return row and query-specified return row do not match")
	if len(d.Arr.Elems) != len(want) {
		noun := "attributes"
		if len(d.Arr.Elems) == 1 {
			noun = "attribute"
		}
		return nil, mismatch.WithDetail("Returned row contains %d %s, but query expects %d.",
			len(d.Arr.Elems), noun, len(want))
	}
	for i, have := range d.Arr.Types {
		if have.OID != want[i].Type.OID {
			return nil, mismatch.WithDetail(
				"Returned type %s at ordinal position %d, but query expects %s.", have.String(),
				i+1, want[i].Type.String())
		}
	}
	return d.Arr.Elems, nil
}

// FieldOf returns the field that a function made by Field selects; nil for any other function.
func FieldOf(fn *expr.Func) *types.Attribute {
	if f, ok := fn.Same.(fieldOf); ok {
		return &fn.Args[0].Fields()[f.index]
	}
	return nil
}
