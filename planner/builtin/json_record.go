package builtin

import (
	"fmt"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// recordFunctions make records of JSON objects: json_populate_record and its like, whose first
// argument has the type and the default values, and json_to_record and its like, whose fields are
// in a column definition list.
func recordFunctions(j jsonForm) []def {
	t, more := j.name, ""
	if !j.binary {
		more = ",bool?"
	}
	one := jsonRecords{form: j, name: t + "_populate_record", base: true}
	set := jsonRecords{form: j, name: t + "_populate_recordset", base: true, inSet: true}
	toOne := jsonRecords{form: j, name: t + "_to_record"}
	toSet := jsonRecords{form: j, name: t + "_to_recordset", inSet: true}
	all := []def{
		n(one.name+"(anyelement,"+t+more+") anyelement", one.scalar).stable(),
		s(set.name+"(anyelement,"+t+more+") anyelement", "", set.set).stable(),
		f(toOne.name+"("+t+") record", toOne.scalar).stable(),
		s(toSet.name+"("+t+") record", "", toSet.set).stable(),
	}
	all[1].nulls = true
	all[0].forRow, all[1].forRow = one.withRow, set.withRow
	all[2].forRow, all[3].forRow = toOne.withRow, toSet.withRow
	return all
}

// jsonRecords is one of these functions.
type jsonRecords struct {
	form  jsonForm
	name  string
	base  bool        // the first argument is a record with default values
	inSet bool        // it returns a set of records
	row   *types.Type // of a column definition list; nil: there is none
}

// withRow sets the bodies of a function for a call with a column definition list.
func (j jsonRecords) withRow(fn *expr.Func, row *types.Type) {
	j.row = row
	if fn.Set != nil {
		fn.Set = j.set
	} else {
		fn.Scalar = j.scalar
	}
}

// populator returns what fills records in one call, and the JSON, which is nil if it is NULL.
func (j jsonRecords) populator(rt *expr.Runtime, a []types.Datum) (*populator, *types.JSONValue,
	error) {
	p := &populator{rt: rt, form: j.form, row: j.row, base: types.Null}
	if j.base {
		if t := rt.ArgTypes[0]; t.Family != types.Record {
			return nil, nil, sqlerr.New(sqlerr.DatatypeMismatch,
				"first argument of %s must be a row type", j.name)
		}
		p.base, a = a[0], a[1:]
		p.rowOfBase(rt.ArgTypes[0])
	}
	switch {
	case p.row == nil && (j.inSet || !a[0].Null):
		return nil, nil, j.noRow()
	case a[0].Null:
		return p, nil, nil
	case j.row != nil && j.base && !p.base.Null:
		if _, err := Fields(j.row, p.base); err != nil {
			return nil, nil, err
		}
	}
	v, err := j.form.parse(rt, a[0])
	return p, v, err
}

// noRow returns the error that nothing determines the fields of the records.
func (j jsonRecords) noRow() error {
	return sqlerr.New(sqlerr.FeatureNotSupported,
		"could not determine row type for result of %s", j.name).
		WithHint("Provide a non-null record argument, or call the function in the FROM clause " +
			"using a column definition list.")
}

func (j jsonRecords) scalar(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
	p, v, err := j.populator(rt, a)
	if err != nil {
		return types.Null, err
	}
	if v == nil {
		return p.base, nil
	}
	return p.object(p.row, p.base, v)
}

func (j jsonRecords) set(rt *expr.Runtime, a []types.Datum,
	emit func(row []types.Datum) error) error {
	p, v, err := j.populator(rt, a)
	if err != nil || v == nil {
		return err
	}
	if v.Kind != types.JSONArray {
		what := "a scalar"
		switch {
		case j.form.binary:
			what = "a non-array"
		case v.Kind == types.JSONObject:
			what = "an object"
		}
		return errInvalid("cannot call %s on %s", j.name, what)
	}
	for _, e := range v.Elems {
		if e.Kind != types.JSONObject {
			return errInvalid("argument of %s must be an array of objects", j.name)
		}
		d, err := p.object(p.row, p.base, e)
		if err != nil {
			return err
		}
		if err := emit([]types.Datum{d}); err != nil {
			return err
		}
	}
	return nil
}

// populator fills records.
type populator struct {
	rt   *expr.Runtime
	form jsonForm
	row  *types.Type // of the records; nil: unknown
	base types.Datum // has the fields that the JSON lacks
}

// rowOfBase takes the fields from the first argument, unless a column definition list has them.
func (p *populator) rowOfBase(t *types.Type) {
	switch {
	case p.row != nil:
	case t.Fields() != nil:
		p.row = t
	case !p.base.Null:
		fields := make([]types.Attribute, len(p.base.Arr.Elems))
		for i, ft := range p.base.Arr.Types {
			fields[i] = types.Attribute{Name: types.FieldName(i), Type: ft}
			if p.base.Arr.Names != nil {
				fields[i].Name = p.base.Arr.Names[i]
			}
		}
		p.row = types.RowOf(fields)
	}
}

// object makes a record of type t of an object. What the object lacks is taken from base.
func (p *populator) object(t *types.Type, base types.Datum,
	v *types.JSONValue) (types.Datum, error) {
	if v.Kind != types.JSONObject {
		what := "a scalar"
		if v.Kind == types.JSONArray {
			what = "an array"
		}
		return types.Null, errInvalid("cannot call populate_composite on %s", what)
	}
	fields := t.Fields()
	elems := make([]types.Datum, len(fields))
	for i, f := range fields {
		elems[i] = types.Null
		if !base.Null && i < len(base.Arr.Elems) {
			elems[i] = base.Arr.Elems[i]
		}
		member, err := v.Get(f.Name), error(nil)
		switch {
		case member == nil && base.Null:
			if elems[i], err = f.Type.Null(&p.rt.Format); err != nil {
				return types.Null, err
			}
			continue
		case member == nil:
			continue
		}
		if elems[i], err = p.value(f.Type, f.Name, member, elems[i]); err != nil {
			return types.Null, err
		}
		if err := p.rt.Tick(types.DatumSize); err != nil {
			return types.Null, err
		}
	}
	return types.NewRecord(t, elems), nil
}

// value makes a value of type t for a field of a name, "" for an element of an array. A string is
// read as any type's text.
func (p *populator) value(t *types.Type, name string, v *types.JSONValue,
	base types.Datum) (types.Datum, error) {
	if v.Kind == types.JSONNull {
		return t.Null(&p.rt.Format)
	}
	if t.IsDomain() {
		d, err := p.value(t.Base(), name, v, base)
		if err == nil {
			err = t.Admit(d, &p.rt.Format)
		}
		return d, err
	}
	if v.Kind != types.JSONString {
		switch {
		case t.Nests():
			a := &populatedArray{p: p, elem: t.Elem, name: name, out: elements{rt: p.rt}}
			return a.array(v)
		case t.Family == types.Record && t.Fields() != nil:
			return p.object(t, base, v)
		}
	}
	return types.ParseText(t, p.text(t, v), &p.rt.Format)
}

// text returns the text from which a scalar is read.
func (p *populator) text(t *types.Type, v *types.JSONValue) string {
	json := t.OID == types.OIDJSON || t.Family == types.JSON
	if v.Kind == types.JSONString && !json {
		return v.Str
	}
	return p.form.datum(v).S
}

// populatedArray is an array that is made of JSON. The first element that is not an array itself
// determines the number of dimensions.
type populatedArray struct {
	p     *populator
	elem  *types.Type
	name  string // of the field, for messages
	dims  []int  // -1 where the length is not known yet
	sizes []int  // elements so far, in the arrays that are being read
	depth int    // number of dimensions; 0: not known yet
	out   elements
}

func (a *populatedArray) array(v *types.JSONValue) (types.Datum, error) {
	if err := a.level(v, 0); err != nil {
		return types.Null, err
	}
	if err := a.close(0); err != nil {
		return types.Null, err
	}
	if len(a.out.elems) == 0 {
		return types.Datum{Arr: &types.ArrayValue{}}, nil
	}
	return types.Datum{Arr: &types.ArrayValue{Elems: a.out.elems, Dims: a.dims,
		Lower: slices.Repeat([]int{1}, len(a.dims))}}, nil
}

// level reads an array within level others.
func (a *populatedArray) level(v *types.JSONValue, level int) error {
	if v.Kind != types.JSONArray {
		return a.expectedArray(level)
	}
	if level == len(a.sizes) {
		if level >= maxArrayDims {
			return sqlerr.New(sqlerr.ProgramLimitExceeded,
				"number of array dimensions (%d) exceeds the maximum allowed (%d)", level+1,
				maxArrayDims)
		}
		a.sizes, a.dims = append(a.sizes, 0), append(a.dims, -1)
	}
	if a.depth == 0 && (len(v.Elems) == 0 || v.Elems[0].Kind != types.JSONArray) {
		a.depth = level + 1
	}
	for _, e := range v.Elems {
		if level+1 < a.depth || a.depth == 0 {
			if err := a.level(e, level+1); err != nil {
				return err
			}
			if err := a.close(level + 1); err != nil {
				return err
			}
			a.sizes[level]++
			continue
		}
		d, err := a.p.value(a.elem, "", e, types.Null)
		if err != nil {
			return err
		}
		if err := a.out.add(d); err != nil {
			return err
		}
		a.sizes[level]++
	}
	return nil
}

// maxArrayDims is PostgreSQL's MAXDIM.
const maxArrayDims = 6

// close ends an array within level others: all have one length.
func (a *populatedArray) close(level int) error {
	n := a.sizes[level]
	if a.dims[level] >= 0 && a.dims[level] != n {
		return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed JSON array").WithDetail(
			"Multidimensional arrays must have sub-arrays with matching dimensions.")
	}
	a.dims[level], a.sizes[level] = n, 0
	return nil
}

// expectedArray returns the error that a value within level arrays is not an array.
func (a *populatedArray) expectedArray(level int) error {
	err := sqlerr.New(sqlerr.InvalidTextRepresentation, "expected JSON array")
	at := ""
	for _, n := range a.sizes[:level] {
		at += fmt.Sprintf("[%d]", n)
	}
	switch {
	case at != "" && a.name != "":
		return err.WithHint("See the array element %s of key \"%s\".", at, a.name)
	case at != "":
		return err.WithHint("See the array element %s.", at)
	case a.name != "":
		return err.WithHint("See the value of key \"%s\".", a.name)
	}
	return err
}
