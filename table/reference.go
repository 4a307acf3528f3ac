package table

import (
	"context"
	"slices"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// References says whether writing the table's rows concerns a foreign key, of its own or to it.
func (d *Desc) References() bool { return len(d.ForeignKeys)+len(d.ReferencedBy) > 0 }

// ForeignKey returns the foreign key of that name, or nil.
func (d *Desc) ForeignKey(name string) *ForeignKey {
	for i := range d.ForeignKeys {
		if d.ForeignKeys[i].Name == name {
			return &d.ForeignKeys[i]
		}
	}
	return nil
}

// ForeignKeyByOID returns the foreign key with that object ID, or nil.
func (d *Desc) ForeignKeyByOID(oid ID) *ForeignKey {
	for i := range d.ForeignKeys {
		if d.ForeignKeys[i].OID == oid {
			return &d.ForeignKeys[i]
		}
	}
	return nil
}

// ReferencedIndex returns the unique index whose key is just these columns, in any order, or nil:
// the one that a foreign key to them rests on.
func (d *Desc) ReferencedIndex(cols []ColumnID) *Index {
	for i := range d.Indexes {
		ix := &d.Indexes[i]
		if !ix.Unique && !ix.Primary || ix.WhereText != "" || len(ix.Columns) != len(cols) {
			continue
		}
		if !slices.ContainsFunc(ix.Columns, func(c IndexColumn) bool { return !slices.Contains(cols, c.ColumnID) }) {
			return ix
		}
	}
	return nil
}

// ReferencedKey encodes the key of a row in a unique index, from the values of cols: the columns of
// the index in another order. Requires: no value is NULL.
func ReferencedKey(d *Desc, ix *Index, cols []ColumnID, values []types.Datum) ([]byte, error) {
	l, err := layoutOf(d, ix)
	if err != nil {
		return nil, err
	}
	key := slices.Clone(l.prefix)
	for i, c := range ix.Columns {
		if key, err = l.key[i].append(key, values[slices.Index(cols, c.ColumnID)]); err != nil {
			return nil, err
		}
	}
	return key, nil
}

// HoldKey reports whether a unique key exists in what the transaction sees, and makes it stay until
// the transaction ends: who would remove or change it waits for the key's lock, and where locks do
// not bind every writer, Commit fails if anybody touched it. The errors are those of Txn.LockCurrent.
func HoldKey(ctx context.Context, tx *txn.Txn, key []byte) (bool, error) {
	value, err := tx.Get(ctx, key)
	if err != nil || value == nil {
		return false, err
	}
	if planted.Is(planted.UnheldParent) {
		return true, nil
	}
	if err := tx.LockCurrent(ctx, key, rowlock.KeyShare, false); err != nil {
		return false, err
	}
	if !tx.LocksBind() {
		tx.Validate(PointSpan(key))
	}
	return true, nil
}

// HasKey reports whether a unique key exists in what the transaction sees.
func HasKey(ctx context.Context, tx *txn.Txn, key []byte) (bool, error) {
	value, err := tx.Get(ctx, key)
	return value != nil, err
}
