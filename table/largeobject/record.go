package largeobject

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// Record is what there is of an object beside its bytes.
type Record struct {
	Owner   acl.StoredOwner `json:",omitempty"` // 0: the bootstrap superuser
	ACL     acl.List        `json:",omitzero"`  // nil: the default
	Comment string          `json:",omitempty"`
}

// OwnedBy returns the role that owns the object.
func (r *Record) OwnedBy() acl.RoleID {
	return r.Owner.Or(acl.Postgres)
}

// Encode returns the record as it is stored.
func (r *Record) Encode() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // a plain struct of strings and numbers: cannot fail
	}
	return b
}

// DecodeRecord reads what Encode made.
func DecodeRecord(b []byte) (*Record, error) {
	r := &Record{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("large object: %w: %w", kv.ErrCorruption, err)
	}
	return r, nil
}

// Missing is the error for an object that does not exist.
func Missing(id ID) *sqlerr.Error {
	return sqlerr.New(sqlerr.UndefinedObject, "large object %d does not exist", uint32(id))
}

// duplicate is the error for an object ID that is taken.
func duplicate(id ID) *sqlerr.Error {
	e := sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint "+
		"\"pg_largeobject_metadata_oid_index\"").
		WithDetail("Key (oid)=(%d) already exists.", uint32(id))
	e.Schema, e.Table = "pg_catalog", "pg_largeobject_metadata"
	e.Constraint = "pg_largeobject_metadata_oid_index"
	return e
}

// Read returns the record of an object as the transaction sees it, with all of its own writes; nil
// when there is none.
func Read(ctx context.Context, tx *txn.Txn, db table.ID, id ID) (*Record, error) {
	b, err := tx.GetCurrent(ctx, RecordKey(db, id))
	if err != nil || b == nil {
		return nil, err
	}
	return DecodeRecord(b)
}

// Taken reports whether there is an object with the ID.
func Taken(ctx context.Context, tx *txn.Txn, db table.ID, id ID) (bool, error) {
	b, err := tx.Peek(ctx, RecordKey(db, id))
	return b != nil, err
}

// Create makes an object without bytes; 23505 when the ID is taken. removed reports that another
// one of the ID was removed since the snapshot was taken, in which its pages may still be seen.
func Create(ctx context.Context, tx *txn.Txn, db table.ID, id ID, r *Record) (removed bool,
	err error) {
	key := RecordKey(db, id)
	if tx.LocksWrites() {
		v, err := tx.LockKey(ctx, key, rowlock.Update, false)
		switch {
		case err != nil:
			return false, err
		case v.Live:
			return false, duplicate(id)
		case v.CommitTS != 0 && !tx.Rereads():
			return false, tx.Stale(key, v)
		case v.CommitTS != 0:
			return true, tx.InsertAfter(v.CommitTS, key, r.Encode())
		}
	}
	taken, err := Taken(ctx, tx, db, id)
	if err != nil {
		return false, err
	}
	if taken {
		return false, duplicate(id)
	}
	return false, tx.Insert(key, r.Encode())
}

// Lock locks an object for a change and returns its record as it is now; nil when there is none. If
// another transaction changed the object since the snapshot was taken, the transaction reads a
// newer one until done is called, or gets the error of a conflict. done is never nil.
//
// What changes the object writes its record (I1).
func Lock(ctx context.Context, tx *txn.Txn, db table.ID, id ID) (r *Record, done func(),
	err error) {
	key, done := RecordKey(db, id), func() {}
	if tx.LocksWrites() {
		v, err := tx.LockKey(ctx, key, rowlock.Update, false)
		if err != nil {
			return nil, done, err
		}
		if v.CommitTS != 0 {
			if !tx.Rereads() {
				return nil, done, tx.Stale(key, v)
			}
			before := tx.ReadTS()
			if err := tx.Advance(ctx); err != nil {
				return nil, done, err
			}
			done = func() { tx.ReadAt(before) }
		}
	}
	r, err = Read(ctx, tx, db, id)
	return r, done, err
}
