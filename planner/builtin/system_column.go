package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// systemColumns are the columns that every relation with rows has beside its own. They are not
// stored: each is a function of the values of the row's key, or for a relation that the server
// makes, of all its columns.
var systemColumns = map[string]struct {
	t     *types.Type
	value func(d *table.Desc) scalar
}{
	"ctid":     {types.TTid, ctidOf},
	"xmin":     {types.TXid, xminOf},
	"cmin":     {types.TCid, commandOf},
	"xmax":     {types.TXid, func(*table.Desc) scalar { return xmax }},
	"cmax":     {types.TCid, commandOf},
	"tableoid": {types.TOid, relationOf},
}

// SystemColumnNames lists the system columns in the order of pg_attribute, whose attnum is -1 for
// the first and falls by one.
var SystemColumnNames = []string{"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"}

// SystemColumnType returns the type of a system column, nil if there is none of that name.
func SystemColumnType(name string) *types.Type { return systemColumns[name].t }

// systemColumnOf identifies the function of a system column (expr.Func.Same).
type systemColumnOf struct {
	relation table.ID
	name     string
}

// SystemColumn returns the function that computes a system column of d from the columns that
// SystemColumnArgs lists, nil if there is no such column.
func SystemColumn(d *table.Desc, name string) *expr.Func {
	c, ok := systemColumns[name]
	if !ok {
		return nil
	}
	fn := &expr.Func{Name: name, Returns: c.t, Volatility: expr.Stable, Scalar: c.value(d),
		Same: systemColumnOf{d.ID, name}, NotStrict: !d.HasRows()}
	for _, i := range SystemColumnArgs(d) {
		fn.Args = append(fn.Args, d.Columns[i].Type)
	}
	return fn
}

// SystemColumnArgs returns the ordinals of the columns of d that identify a row.
func SystemColumnArgs(d *table.Desc) []int {
	var args []int
	if d.HasRows() {
		for _, k := range d.RowKey {
			args = append(args, d.ColumnByID(k.ColumnID))
		}
		return args
	}
	for i := range d.Columns {
		args = append(args, i)
	}
	return args
}

// onlyRow is the tid of the row of a sequence.
var onlyRow, _ = types.NumberedTID(1)

// ctidOf numbers a row by its key where that is one integer, and otherwise by a hash.
func ctidOf(d *table.Desc) scalar {
	if d.Kind == table.KindSequence {
		return always(onlyRow)
	}
	if !d.HasRows() {
		return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
			var text []byte
			for i, c := range d.Columns {
				if text = append(text, 0); !a[i].Null {
					text = types.AppendText(append(text, 1), c.Type, a[i], &types.DefaultFormat)
				}
			}
			return types.KeyedTID(text), nil
		}
	}
	number := len(d.RowKey) == 1 &&
		d.Columns[d.ColumnByID(d.RowKey[0].ColumnID)].Type.Family == types.Int
	return func(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if number {
			if tid, ok := types.NumberedTID(a[0].I); ok {
				return tid, nil
			}
		}
		_, key, err := table.KeyOf(d, a)
		return types.KeyedTID(key), err
	}
}

// relationOf is the relation itself.
func relationOf(d *table.Desc) scalar { return always(types.NewInt(int64(d.ID))) }

// commandOf is the first command of its transaction: which one wrote a row is not recorded.
func commandOf(*table.Desc) scalar { return always(types.NewInt(0)) }

// xminOf is the transaction that wrote the row. The rows that the server makes have always been
// there, as PostgreSQL's bootstrap made its own.
func xminOf(d *table.Desc) scalar {
	const bootstrap = 1
	if !d.HasRows() {
		return always(types.NewInt(bootstrap))
	}
	return func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		if rt.Versions == nil {
			return types.Null, nil
		}
		key, _, err := table.KeyOf(d, a)
		if err != nil {
			return types.Null, err
		}
		writer, err := rt.Versions.Writer(rt.Ctx, key)
		return types.NewInt(types.XidOf(writer)), err
	}
}

// xmax is the transaction that has locked or deleted the row, of which a statement sees only its
// own, in RETURNING of ON CONFLICT DO UPDATE: it locks the row before it changes it.
func xmax(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	if !rt.Replaced || rt.Versions == nil {
		return types.NewInt(0), nil
	}
	return types.NewInt(types.XidOf(rt.Versions.Own())), nil
}
