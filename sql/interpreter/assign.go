package interpreter

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/plpgsql"
	"github.com/minidb/minidb/table/types"
)

func (x *interpreter) assignment(ctx context.Context, s *plpgsql.Assign) error {
	if s.Target.Field != "" {
		if _, err := x.fieldOf(s.Target); err != nil {
			return x.queryFault(ctx, s.Value, err, true)
		}
	}
	d, t, err := x.value(ctx, s.Value)
	if err != nil {
		return err
	}
	return x.assign(ctx, s.Target, d, t)
}

// fieldOf returns the index of the field that a target means.
func (x *interpreter) fieldOf(to *plpgsql.Target) (int, error) {
	row := x.types[to.Variable.Number]
	if row == nil {
		return 0, notAssigned(to.Variable)
	}
	i := row.Field(to.Field)
	if i < 0 {
		return 0, sqlerr.New(sqlerr.UndefinedColumn, "record \"%s\" has no field \"%s\"",
			to.Variable.Name, to.Field)
	}
	return i, nil
}

// assign converts a value to the type of a target and stores it there.
func (x *interpreter) assign(ctx context.Context, to *plpgsql.Target, d types.Datum,
	t *types.Type) error {
	v := to.Variable
	switch {
	case to.Field != "":
		return x.assignField(ctx, to, d, t)
	case v.IsRow():
		return x.assignRow(ctx, v, d, t)
	}
	d, err := x.convert(ctx, d, t, v.Type)
	if err != nil {
		return err
	}
	return x.store(ctx, v, d)
}

// largeValue is the size from which a value is counted by itself.
const largeValue = 1 << 10

// store sets a variable to a value of its type.
func (x *interpreter) store(ctx context.Context, v *plpgsql.Variable, d types.Datum) error {
	if d.Null && v.NotNull {
		return sqlerr.New(sqlerr.NullValueNotAllowed,
			"null value cannot be assigned to variable \"%s\" declared NOT NULL", v.Name)
	}
	if d.S != "" || d.Arr != nil || x.sizes[v.Number] > 0 {
		if err := x.count(ctx, v.Number, d); err != nil {
			return err
		}
	}
	x.values[v.Number] = d
	return nil
}

// count counts the memory of a value that a variable gets.
func (x *interpreter) count(ctx context.Context, variable int, d types.Datum) error {
	size := int64(len(d.S))
	if d.Arr != nil {
		size = types.RowSize([]types.Datum{d})
	}
	if size < largeValue {
		size = 0
	}
	was := x.sizes[variable]
	if size == was {
		return nil
	}
	x.sizes[variable] = size
	account := x.currentRuntime(ctx).Memory
	if account == nil {
		return nil
	}
	account.Shrink(was)
	return account.Grow(size)
}

// release gives back the memory of the variables.
func (x *interpreter) release() {
	if x.runtime == nil || x.runtime.Memory == nil {
		return
	}
	for _, n := range x.sizes {
		x.runtime.Memory.Shrink(n)
	}
}

// convert makes a value one of another type as an assignment does: by the cast for assignments if
// there is one, else through the text of the value.
func (x *interpreter) convert(ctx context.Context, d types.Datum, from,
	to *types.Type) (types.Datum, error) {
	if from == to {
		return d, nil
	}
	if from.OID == to.OID && to.Def == nil && to.Mod == types.NoMod &&
		to.Family != types.Record && to.Family != types.Array {
		return d, nil
	}
	f := x.format(ctx)
	if d.Null {
		return to.Null(f)
	}
	base, want := from.Base(), to.Base()
	if base.Family == types.Record && want.Family == types.Record {
		made, err := x.convertRow(ctx, d, to)
		if err == nil {
			err = to.Admit(made, f)
		}
		return made, err
	}
	if c := types.CastContext(base.OID, want.OID); c == 'i' || c == 'a' {
		return types.Cast(d, from, to, false, f)
	}
	return types.ParseText(to, types.Text(from, d, f), f)
}

// convertRow converts the fields of a record by their order to those of a composite type.
func (x *interpreter) convertRow(ctx context.Context, d types.Datum,
	to *types.Type) (types.Datum, error) {
	fields := to.Fields()
	elems := make([]types.Datum, len(fields))
	for i := range fields {
		value, from := types.Null, types.TText
		if i < len(d.Arr.Elems) {
			value, from = d.Arr.Elems[i], d.Arr.Types[i]
		}
		var err error
		if elems[i], err = x.convert(ctx, value, from, fields[i].Type); err != nil {
			return types.Null, err
		}
	}
	return types.NewRecord(to, elems), nil
}

// assignRow stores a row in a variable that holds one.
func (x *interpreter) assignRow(ctx context.Context, v *plpgsql.Variable, d types.Datum,
	t *types.Type) error {
	if t.Base().Family != types.Record {
		if d.Null && t.OID == types.OIDText { // NULL has the type text
			t = types.TRecord
		} else {
			return sqlerr.New(sqlerr.DatatypeMismatch,
				"cannot assign non-composite value to a record variable")
		}
	}
	if isRecord(v) {
		x.types[v.Number] = x.rowType(v, d, t)
		return x.store(ctx, v, d)
	}
	if d.Null {
		null, err := v.Type.Null(x.format(ctx))
		if err != nil {
			return err
		}
		return x.store(ctx, v, null)
	}
	made, err := x.convert(ctx, d, t, v.Type)
	if err != nil {
		return err
	}
	return x.store(ctx, v, made)
}

// rowType returns the type that a record has with a value.
func (x *interpreter) rowType(v *plpgsql.Variable, d types.Datum, t *types.Type) *types.Type {
	switch {
	case d.Null && !t.IsComposite():
		return nil
	case t.Fields() != nil:
		return x.sameRow(v, t)
	case d.Arr == nil:
		return nil
	}
	fields := make([]types.Attribute, len(d.Arr.Elems))
	for i := range fields {
		fields[i] = types.Attribute{Name: types.FieldName(i), Type: d.Arr.Types[i]}
		if d.Arr.Names != nil {
			fields[i].Name = d.Arr.Names[i]
		}
	}
	return x.sameRow(v, types.RowOf(fields))
}

// sameRow returns the type that a record has already, if t is the same: queries that were planned
// for it stay valid.
func (x *interpreter) sameRow(v *plpgsql.Variable, t *types.Type) *types.Type {
	was := x.types[v.Number]
	if was == nil || was == t || was.Def != t.Def || len(was.Fields()) != len(t.Fields()) {
		return t
	}
	for i, f := range t.Fields() {
		w := was.Fields()[i]
		if w.Name != f.Name || w.Type != f.Type && (!w.Type.Equal(f.Type) ||
			w.Type.Mod != f.Type.Mod || w.Type.Def != f.Type.Def || w.Type.Elem != f.Type.Elem) {
			return t
		}
	}
	return was
}

// assignField stores a value in a field of a variable that holds a row.
func (x *interpreter) assignField(ctx context.Context, to *plpgsql.Target, d types.Datum,
	t *types.Type) error {
	v := to.Variable
	i, err := x.fieldOf(to)
	if err != nil {
		return err
	}
	row := x.types[v.Number]
	fields := row.Fields()
	d, err = x.convert(ctx, d, t, fields[i].Type)
	if err != nil {
		return err
	}
	elems := make([]types.Datum, len(fields))
	for j := range elems {
		elems[j] = types.Null
	}
	if was := x.values[v.Number]; !was.Null {
		copy(elems, was.Arr.Elems)
	}
	elems[i] = d
	made := types.NewRecord(row, elems)
	if err := v.Type.Admit(made, x.format(ctx)); err != nil {
		return err
	}
	return x.store(ctx, v, made)
}

func notAssigned(v *plpgsql.Variable) error {
	return sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "record \"%s\" is not assigned yet",
		v.Name).WithDetail("The tuple structure of a not-yet-assigned record is indeterminate.")
}

// row is a row of a statement.
type row struct {
	t      *types.Type
	types  []*types.Type
	names  []string
	values []types.Datum // nil: no row
}

// rowOf returns a row without values.
func rowOf(cols []physical.Column) *row {
	r := &row{types: make([]*types.Type, len(cols)), names: make([]string, len(cols))}
	fields := make([]types.Attribute, len(cols))
	for i, c := range cols {
		r.types[i], r.names[i] = c.Type, c.Name
		fields[i] = types.Attribute{Name: c.Name, Type: c.Type}
	}
	r.t = types.RowOf(fields)
	return r
}

// take sets the values to those of row i of a batch.
func (r *row) take(b *types.Batch, i int) {
	r.values = make([]types.Datum, len(b.Cols))
	for c, col := range b.Cols {
		r.values[c] = col.Get(b.Row(i))
	}
}

// into stores a row in the targets of INTO: columns that are missing are NULL, others are left out.
func (x *interpreter) into(ctx context.Context, to *plpgsql.Into, r *row) error {
	if to.Row == nil {
		for i, target := range to.Targets {
			d, t := types.Null, types.TUnknown
			if i < len(r.values) {
				d, t = r.values[i], r.types[i]
			}
			if err := x.assign(ctx, target, d, t); err != nil {
				return err
			}
		}
		return nil
	}
	v := to.Row
	if !isRecord(v) {
		if r.values == nil {
			return x.assignRow(ctx, v, types.Null, types.TRecord)
		}
		d := types.Datum{Arr: &types.ArrayValue{Elems: r.values, Types: r.types, Names: r.names}}
		return x.assignRow(ctx, v, d, r.t)
	}
	r.t = x.sameRow(v, r.t)
	x.types[v.Number] = r.t
	values := r.values
	if values == nil {
		values = make([]types.Datum, len(r.types))
		for i := range values {
			values[i] = types.Null
		}
	}
	return x.store(ctx, v, types.Datum{Arr: &types.ArrayValue{Elems: values, Types: r.types,
		Names: r.names}})
}

// format returns how values are read and written as text now.
func (x *interpreter) format(ctx context.Context) *types.Format {
	return &x.currentRuntime(ctx).Format
}

func (x *interpreter) currentRuntime(ctx context.Context) *expr.Runtime {
	if x.runtimeOf != x.generation {
		x.runtime, x.runtimeOf = x.host.Runtime(ctx), x.generation
	}
	return x.runtime
}
