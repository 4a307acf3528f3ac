package catalog

import (
	"bytes"
	"context"
	"slices"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/observer"
)

// What gives the rows of a table another place notes one table-level change for each observer of
// it. The observer's workers read the old rows in the old place, by the descriptor that the change
// has kept for them where the new one is of no use. The dropped span stays until they are done.

// moveObservers notes that the rows of old have the place, and the encoding, of d from now on.
func (v *View) moveObservers(old, d *table.Desc) error {
	if err := v.wakeViews(old); err != nil { // they compare storage IDs
		return err
	}
	named := func(o table.Observer) bool { return !o.Views }
	if !slices.ContainsFunc(old.Observers, named) {
		return nil
	}
	keep := sameKeys(old, d)
	m := observer.Move{Number: uint32(old.Storage()), From: old.IndexSpan(table.RowIndexID),
		To: d.IndexSpan(table.RowIndexID), Keep: keep, Dropped: old.Span().Start}
	if !keep || !sameValues(old, d) {
		var err error
		if m.Shape, err = encodeDesc(shapeOf(old)); err != nil {
			return err
		}
	}
	for i := range old.Observers {
		if old.Observers[i].Views {
			continue
		}
		target := old.Target(&old.Observers[i])
		if err := target.Move(v.tx, &m); err != nil {
			return err
		}
	}
	return nil
}

// sameKeys reports whether rows that were not changed have the same key columns in both.
func sameKeys(old, d *table.Desc) bool {
	same := func(a, b table.IndexColumn) bool {
		i, j := old.ColumnByID(a.ColumnID), d.ColumnByID(b.ColumnID)
		if a != b || i < 0 || j < 0 || old.Columns[i].Collation != d.Columns[j].Collation {
			return false
		}
		from, to := old.Columns[i].Type, d.Columns[j].Type
		return sameType(from, to) || isInteger(from) && isInteger(to)
	}
	return !d.Rekeyed() && slices.EqualFunc(old.RowKey, d.RowKey, same)
}

// sameValues reports whether a value of old is read by d as by old.
func sameValues(old, d *table.Desc) bool {
	return !slices.ContainsFunc(old.Columns, func(c table.Column) bool {
		i := d.ColumnByID(c.ID)
		return i < 0 || !sameType(c.Type, d.Columns[i].Type) ||
			!bytes.Equal(c.Missing, d.Columns[i].Missing)
	})
}

// isInteger reports whether a type's values keep their keys when they become those of another such
// type.
func isInteger(t *types.Type) bool {
	return t.OID == types.OIDInt2 || t.OID == types.OIDInt4 || t.OID == types.OIDInt8
}

func sameType(a, b *types.Type) bool { return a.OID == b.OID && a.Mod == b.Mod }

// shapeOf is what is needed of a descriptor to read rows.
func shapeOf(d *table.Desc) *table.Desc {
	s := &table.Desc{ID: d.ID, Kind: d.Kind, Name: d.Name, Version: d.Version,
		StorageID: d.StorageID, Columns: d.Columns, RowKey: d.RowKey}
	if pk := d.RowPrimaryKey(); pk != nil {
		s.Indexes = []table.Index{*pk}
	}
	return s
}

// Former returns the descriptor, and the key, by which the old image of a change is to be read.
func (o Observed) Former(c *observer.Change) (d *table.Desc, key []byte, err error) {
	if c.Former == nil {
		return o.Table, c.Key, nil
	}
	d, err = parseDesc(c.Former.Shape, func(w WireType) (*types.Type, error) {
		for i := range o.Table.Columns {
			if t := o.Table.Columns[i].Type; t.OID == w.OID {
				return t.Apply(w.Mod), nil
			}
		}
		return heldType(w) // a user type may be gone
	}, nil)
	if err == nil {
		err = d.Prepare(nil) // a shape has no indexes but the primary key
	}
	return d, c.Former.Key, err
}

// releaseObserver lets the old places go that an observer keeps, which is dropped.
func (v *View) releaseObserver(ctx context.Context, d *table.Desc, o *table.Observer) error {
	target := d.Target(o)
	return target.Forget(ctx, v.tx)
}
