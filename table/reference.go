package table

import (
	"context"
	"slices"

	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// References reports whether writing the table's rows concerns a foreign key, of its own or to it.
func (d *Desc) References() bool { return len(d.ForeignKeys)+len(d.ReferencedBy) > 0 }

// ForeignKey returns the foreign key of that name, or nil.
func (d *Desc) ForeignKey(name string) *ForeignKey {
	return find(d.ForeignKeys, func(fk *ForeignKey) bool { return fk.Name == name })
}

// ForeignKeyByOID returns the foreign key with that object ID, or nil.
func (d *Desc) ForeignKeyByOID(oid ID) *ForeignKey {
	return find(d.ForeignKeys, func(fk *ForeignKey) bool { return fk.OID == oid })
}

// ReferencedIndex returns the unique index whose key is just these columns, in any order, or nil:
// the one that a foreign key to them rests on. It is a deferrable one only if there is no other; no
// foreign key can rest on that.
func (d *Desc) ReferencedIndex(cols []ColumnID) *Index {
	var deferrable *Index
	for i := range d.Indexes {
		ix := &d.Indexes[i]
		if !ix.Unique && !ix.Primary || ix.WhereText != "" || len(ix.Columns) != len(cols) {
			continue
		}
		if !slices.ContainsFunc(ix.Columns,
			func(c IndexColumn) bool { return !slices.Contains(cols, c.ColumnID) }) {
			if !ix.Deferrable {
				return ix
			}
			deferrable = ix
		}
	}
	return deferrable
}

// Referable reports whether a foreign key's column of one type may refer to a column of another:
// their values have one order, or the first becomes the second by an implicit cast.
func Referable(from, to *types.Type) bool {
	switch {
	case from.OID == to.OID:
		return true
	case from.Elem != nil && to.Elem != nil:
		return from.Elem.OID == to.Elem.OID
	case from.OID == types.OIDName && to.OID == types.OIDBPChar, from.OID == types.OIDOid:
		return false
	case isMoment(from) && isMoment(to):
		return true
	}
	oneOrder := from.Family == to.Family &&
		(from.Family == types.Int || from.Family == types.Float || from.Family == types.String)
	return oneOrder || types.CastContext(from.OID, to.OID) == 'i'
}

func isMoment(t *types.Type) bool { return t.Family == types.Date || t.Family == types.Timestamp }

// ByTimeZone reports whether the time zone of the session decides which value of one type equals a
// value of another.
func ByTimeZone(from, to *types.Type) bool {
	return isMoment(from) && isMoment(to) &&
		(from.OID == types.OIDTimestampTZ) != (to.OID == types.OIDTimestampTZ)
}

// ReferredValue converts a value of a foreign key's column to the type of the column to which it
// refers. ok is false when no value of that type equals it.
func ReferredValue(v types.Datum, from, to *types.Type, f *types.Format) (out types.Datum,
	ok bool) {
	to = to.WithMod(types.NoMod)
	out, err := types.Cast(v, from, to, false, f)
	if err != nil || v.Null || !narrows(from, to) {
		return out, err == nil
	}
	back, err := types.Cast(out, to, from.WithMod(types.NoMod), false, f)
	return out, err == nil && types.Compare(from, back, v) == 0
}

// narrows reports whether a cast between types of one order may change the value.
func narrows(from, to *types.Type) bool {
	switch {
	case from.OID == types.OIDTimestampTZ:
		return isMoment(to) && from.OID != to.OID
	case from.OID == types.OIDTimestamp:
		return to.OID == types.OIDDate
	}
	return from.OID == types.OIDFloat8 && to.OID == types.OIDFloat4 || to.OID == types.OIDName &&
		from.OID != types.OIDName
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
// the transaction ends. A transaction that would remove or change it waits for the key's lock. On a
// store that several processes share Commit fails unless the lock has lasted (txn: I22). The errors
// are those of Txn.LockCurrent.
func HoldKey(ctx context.Context, tx *txn.Txn, key []byte) (bool, error) {
	value, err := tx.Get(ctx, key)
	if err != nil || value == nil {
		return false, err
	}
	if err := tx.LockCurrent(ctx, key, rowlock.KeyShare, false); err != nil {
		return false, err
	}
	return true, nil
}

// BarKey is the other side of HoldKey, for a transaction that has removed a unique key: what it
// reads from now on of child's rows that refer to the key stays so until it commits. No other
// transaction holds the key while this one has it locked, as it has if it locks what it writes
// (Writer). If it has not, Commit fails when others have written any row of child.
func BarKey(tx *txn.Txn, child *Desc, key []byte) {
	if !tx.LocksBind() && !tx.RequireLock(key) {
		tx.Validate(child.IndexSpan(RowIndexID))
	}
}

// HasKey reports whether a unique key exists in what the transaction sees.
func HasKey(ctx context.Context, tx *txn.Txn, key []byte) (bool, error) {
	value, err := tx.Get(ctx, key)
	return value != nil, err
}
