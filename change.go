package minidb

import (
	"fmt"
	"slices"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/observer"
)

// Change is what an observer's function runs on: a row that was written since the last run on it.
type Change struct {
	// Key are the values of the primary key; of a table without one there are none.
	Key []any
	// Row is the row as it is; nil when it is gone. Row and Before may be equal, and both nil,
	// when several transactions have written the row: an earlier run, which did not commit, may
	// have sent elsewhere what was in between.
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
	// Weak: the run was asked for by Tx.Notify. Unless the row has changed as well, Before is as
	// Row then, or both are nil.
	Weak bool
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
	in, err := o.Change(c)
	if err != nil {
		return out, false, err
	}
	out = Change{Origin: int64(c.Origin), Generation: int(c.Generation), At: int64(c.At),
		Weak: c.Weak,
		Row:  newImage(in.Row), Before: newImage(in.Before)}
	for i, col := range in.KeyColumns {
		out.Key = append(out.Key, goValue(col.Type, in.Key[i], &types.DefaultFormat))
	}
	return out, in.Same, nil
}

func newImage(of *catalog.RowImage) *Image {
	if of == nil {
		return nil
	}
	m := &Image{cols: make([]physical.Column, len(of.Columns)), row: of.Values}
	for i := range of.Columns {
		m.cols[i] = physical.Column{Name: of.Columns[i].Name, Type: of.Columns[i].Type}
	}
	return m
}
