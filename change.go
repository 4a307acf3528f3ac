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
	// as they were before the first of the changes, which may be later. After ALTER TABLE has
	// rewritten the table it has the columns, and their types, of the time before.
	Before *Image
	// Origin is the commit timestamp of the earliest change from outside that led to the run,
	// through the writes of other observers perhaps, and Generation is the number of their runs in
	// between.
	Origin     int64
	Generation int
	// At is the snapshot timestamp of the run: Row is the row as of it. Of two runs on a row, the
	// one with the higher At has seen all that the other one has.
	At int64
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
	out = Change{Origin: int64(c.Origin), Generation: int(c.Generation),
		At: int64(c.At)}
	row, err := newRowImage(o.Table, c.Key, c.Value)
	if err != nil {
		return out, false, err
	}
	then, key, err := o.Former(c)
	if err != nil {
		return out, false, err
	}
	old, err := newRowImage(then, key, c.Old)
	if err != nil {
		return out, false, err
	}
	out.Row, out.Before = row.image(), old.image()
	if o.Observer.Backfill && c.Previous == 0 {
		out.Before = nil
	}
	switch same = out.Before == nil && out.Row == nil; { // it came and went
	case out.Before != nil && out.Row != nil:
		same = !o.Observer.ChangedSince(then, old.whole(), o.Table, row.whole())
	}
	for _, some := range []*rowImage{row, old} {
		if some.row != nil && out.Key == nil {
			out.Key = some.key()
		}
	}
	return out, same, nil
}

// rowImage is a row, or with a nil row none, by a descriptor.
type rowImage struct {
	d    *table.Desc
	dec  *table.RowDecoder
	cols []physical.Column
	row  []types.Datum
}

// newRowImage decodes a row; there is none with a nil value.
func newRowImage(d *table.Desc, key, value []byte) (m *rowImage, err error) {
	m = &rowImage{d: d}
	if m.dec, err = table.NewRowDecoder(d); err != nil || value == nil {
		return m, err
	}
	for _, i := range m.dec.Columns() {
		m.cols = append(m.cols, physical.Column{Name: d.Columns[i].Name, Type: d.Columns[i].Type})
	}
	m.row, err = m.dec.Decode(key, value)
	return m, err
}

func (m *rowImage) image() *Image {
	if m.row == nil {
		return nil
	}
	return &Image{cols: m.cols, row: m.row}
}

// whole is the row with a datum for each column of the descriptor.
func (m *rowImage) whole() []types.Datum {
	row := make([]types.Datum, len(m.d.Columns))
	for k, i := range m.dec.Columns() {
		row[i] = m.row[k]
	}
	return row
}

// key returns the values of the primary key.
func (m *rowImage) key() []any {
	pk := m.d.PrimaryKey()
	if pk == nil {
		return nil
	}
	row := m.whole()
	key := make([]any, len(pk.Columns))
	for i, c := range pk.Columns {
		at := m.d.ColumnByID(c.ColumnID)
		key[i] = goValue(m.d.Columns[at].Type, row[at], &types.DefaultFormat)
	}
	return key
}
