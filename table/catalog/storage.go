package catalog

import (
	"context"

	"github.com/minidb/minidb/table"
)

// What replaces all rows of a table at once puts the new ones under a storage ID that was never
// used before, and drops the old span as a whole (txn.DropSpan): TRUNCATE, a rewrite, REFRESH, and
// DROP itself. So does an index whose entries are built anew, under a new index ID. The drop costs
// the same for one row and for ten million. Transactions that began before read the old descriptor,
// and with it the old rows; those that write by it are excluded by catalog I4, so that no row is
// lost in a span that was dropped.

// Relocate gives the rows of a table, the entries of its indexes, and what an incremental view
// keeps beside its rows, a place where nothing is yet. The old place is dropped by UpdateRelation.
// Requires: d is a clone, and has no rows but those to be written.
func (v *View) Relocate(ctx context.Context, d *table.Desc) error {
	id, err := v.NewIDIn(ctx, d.SchemaID)
	if err != nil {
		return err
	}
	d.StorageID = table.StorageID(id)
	v.tx.MakeSpan(table.StorageSpan(d.StorageID))
	for i := range d.Indexes {
		if err := v.RelocateIndex(ctx, d, &d.Indexes[i]); err != nil {
			return err
		}
	}
	for _, s := range d.States() {
		if id, err = v.NewID(ctx); err != nil {
			return err
		}
		s.StorageID = table.StorageID(id)
	}
	return nil
}

// RelocateIndex notes that the entries of an index of d are built anew.
func (v *View) RelocateIndex(ctx context.Context, d *table.Desc, ix *table.Index) error {
	id, err := v.NewIDIn(ctx, d.SchemaID)
	ix.StorageID = table.StorageID(id)
	return err
}

// Truncate removes all rows and index entries of a table, and excludes the writers of rows (catalog
// I4).
func (v *View) Truncate(ctx context.Context, old *table.Desc) error {
	d := old.Clone()
	if err := v.Relocate(ctx, d); err != nil {
		return err
	}
	return v.UpdateRelation(ctx, old, d)
}

// dropStorage drops all rows and index entries of a table.
func (v *View) dropStorage(d *table.Desc) error {
	if d.StorageID != 0 {
		if err := v.remove(storageKey(d.StorageID)); err != nil {
			return err
		}
	}
	for _, s := range d.States() {
		if err := v.tx.DropSpan(s.Span()); err != nil {
			return err
		}
	}
	return v.tx.DropSpan(d.Span())
}

// moveStorage drops what d, which replaces old, has no rows or index entries under any more.
func (v *View) moveStorage(old, d *table.Desc) error {
	if !d.HasRows() {
		return nil
	}
	if old.Storage() != d.Storage() {
		if err := v.dropStorage(old); err != nil {
			return err
		}
		if err := v.moveObservers(old, d); err != nil {
			return err
		}
		return v.put(storageKey(d.StorageID), table.AppendID(nil, d.ID))
	}
	for i := range old.Indexes {
		if id := old.Indexes[i].ID; id != table.RowIndexID && d.Index(id) == nil {
			if err := v.tx.DropSpan(old.IndexSpan(id)); err != nil {
				return err
			}
		}
	}
	return nil
}
