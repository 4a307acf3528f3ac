package minidb

import (
	"fmt"
	"slices"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/observer"
)

// Change is what an observer's function runs on: a row that was written since the last run on it.
type Change struct {
	// Key are the values of the primary key; of a table without one there are none.
	Key []any
	// Row is the row as it is; nil when it is gone.
	Row *Image
	// Before is the row as it was at the last run of the observer that was acknowledged; nil when
	// there was no row, or no run since a backfill was asked for. Columns that are not observed are
	// as they were before the first of the changes, which may be later.
	Before *Image
	// Origin is the commit timestamp of the earliest change from outside that led to the run,
	// through the writes of other observers perhaps, and Generation is the number of their runs in
	// between.
	Origin     int64
	Generation int
}

// Image is a row of an observed table.
type Image struct {
	cols []physical.Column
	row  []types.Datum
}

// Columns returns the names of the table's columns.
func (m *Image) Columns() []string {
	names := make([]string, len(m.cols))
	for i := range m.cols {
		names[i] = m.cols[i].Name
	}
	return names
}

// Scan copies the columns, in their order in the table, as [Rows.Scan] does.
func (m *Image) Scan(dest ...any) error {
	return scanRow(m.cols, m.row, dest, &types.DefaultFormat)
}

// Get copies the column of a name into a pointer, as [Rows.Scan] does.
func (m *Image) Get(column string, dest any) error {
	i := slices.IndexFunc(m.cols, func(c physical.Column) bool { return c.Name == column })
	if i < 0 {
		return fmt.Errorf("minidb: column %q does not exist", column)
	}
	return scanRow(m.cols[i:i+1], m.row[i:i+1], []any{dest}, &types.DefaultFormat)
}

// change decodes what a function gets. same reports whether the observed columns are as they were
// at the last run.
func (w *observation) change(o catalog.Observed, c *observer.Change) (out Change, same bool,
	err error) {
	dec, err := table.NewRowDecoder(o.Table)
	if err != nil {
		return out, false, err
	}
	out = Change{Origin: int64(c.Origin), Generation: int(c.Generation)}
	cols := make([]physical.Column, 0, len(dec.Columns()))
	for _, i := range dec.Columns() {
		cols = append(cols, physical.Column{Name: o.Table.Columns[i].Name,
			Type: o.Table.Columns[i].Type})
	}
	image := func(value []byte) (*Image, error) {
		if value == nil {
			return nil, nil
		}
		row, err := dec.Decode(c.Key, value)
		return &Image{cols: cols, row: row}, err
	}
	if out.Row, err = image(c.Value); err != nil {
		return out, false, err
	}
	old, err := image(c.Old)
	if err != nil {
		return out, false, err
	}
	if !o.Observer.Backfill || c.Previous != 0 {
		out.Before = old
	}
	if out.Before != nil && out.Row != nil {
		same = !o.Observer.Changed(o.Table, whole(o.Table, dec, old), whole(o.Table, dec, out.Row))
	}
	for _, some := range []*Image{out.Row, old} {
		if some != nil && out.Key == nil {
			out.Key = keyOf(o.Table, dec, some)
		}
	}
	return out, same, nil
}

// whole is a row with a datum for each column of the descriptor.
func whole(d *table.Desc, dec *table.RowDecoder, m *Image) []types.Datum {
	row := make([]types.Datum, len(d.Columns))
	for k, i := range dec.Columns() {
		row[i] = m.row[k]
	}
	return row
}

// keyOf returns the values of the primary key of a row.
func keyOf(d *table.Desc, dec *table.RowDecoder, m *Image) []any {
	pk := d.PrimaryKey()
	if pk == nil {
		return nil
	}
	row := whole(d, dec, m)
	key := make([]any, len(pk.Columns))
	for i, c := range pk.Columns {
		at := d.ColumnByID(c.ColumnID)
		key[i] = goValue(d.Columns[at].Type, row[at], &types.DefaultFormat)
	}
	return key
}
