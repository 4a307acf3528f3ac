package largeobject

import (
	"context"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// Account counts the memory of copies of pages.
type Account interface {
	Grow(n int64) error
	Shrink(n int64)
}

// Objects are the large objects of a database as one transaction works with them. They belong to
// its goroutine.
type Objects struct {
	tx      *txn.Txn
	db      table.ID
	account Account
	// atLeast has the objects that others changed between the snapshot of a statement and its lock
	// of the object: until the next snapshot the transaction reads them at this timestamp.
	atLeast map[ID]tso.Timestamp
	readers map[ID][]*Handle // open handles that keep what they saw first
}

// NewObjects returns the large objects of a database for a transaction.
func NewObjects(tx *txn.Txn, db table.ID, account Account) *Objects {
	return &Objects{tx: tx, db: db, account: account}
}

// In reports whether the objects are those of a transaction.
func (o *Objects) In(tx *txn.Txn) bool { return o.tx == tx }

// Close gives back the memory of all handles, at the end of the transaction.
func (o *Objects) Close() {
	for _, handles := range o.readers {
		for _, h := range handles {
			o.account.Shrink(h.counted)
		}
	}
	o.readers = nil
}

// Create makes an object without bytes; 23505 when the ID is taken.
func (o *Objects) Create(ctx context.Context, id ID, r *Record) error {
	removed, err := Create(ctx, o.tx, o.db, id, r)
	if err != nil || !removed {
		return err
	}
	before := o.tx.ReadTS()
	defer o.tx.ReadAt(before)
	if err := o.tx.Advance(ctx); err != nil {
		return err
	}
	o.readFrom(id, o.tx.ReadTS())
	return nil
}

func (o *Objects) readFrom(id ID, ts tso.Timestamp) {
	if o.atLeast == nil {
		o.atLeast = map[ID]tso.Timestamp{}
	}
	o.atLeast[id] = ts
}

// present makes the transaction read an object as it is now, until the function that it returns is
// called.
func (o *Objects) present(id ID) func() {
	if ts := o.atLeast[id]; ts > o.tx.ReadTS() {
		before := o.tx.ReadAt(ts)
		return func() { o.tx.ReadAt(before) }
	}
	return func() {}
}

// change locks an object, writes its record, and calls do with it, which may write the pages; 42704
// when there is no such object.
func (o *Objects) change(ctx context.Context, id ID, do func(r *Record) error) error {
	defer o.present(id)()
	before := o.tx.ReadTS()
	r, done, err := Lock(ctx, o.tx, o.db, id)
	defer done()
	switch {
	case err != nil:
		return err
	case r == nil:
		return Missing(id)
	}
	if now := o.tx.ReadTS(); now > before {
		o.readFrom(id, now)
	}
	if err := o.tx.Set(RecordKey(o.db, id), r.Encode()); err != nil {
		return err
	}
	return do(r)
}

// Record returns the record of an object as it is now; nil when there is none.
func (o *Objects) Record(ctx context.Context, id ID) (*Record, error) {
	defer o.present(id)()
	return Read(ctx, o.tx, o.db, id)
}

// Unlink removes an object with its pages, unless may, which gets its record, returns an error;
// 42704 when there is none. Handles of the object are of no use any more.
func (o *Objects) Unlink(ctx context.Context, id ID, may func(r *Record) error) error {
	return o.change(ctx, id, func(r *Record) error {
		if err := may(r); err != nil {
			return err
		}
		if err := o.removePages(ctx, id, 0); err != nil {
			return err
		}
		return o.tx.Delete(RecordKey(o.db, id))
	})
}

// removedAtOnce bounds the keys that are gathered before they are deleted.
const removedAtOnce = 1024

// removePages deletes the pages from one on. Requires: it runs within change.
func (o *Objects) removePages(ctx context.Context, id ID, from uint32) error {
	for {
		keys, err := o.someKeys(ctx, id, from)
		if err != nil || len(keys) == 0 {
			return err
		}
		for _, key := range keys {
			k, _ := DecodeKey(key)
			if err := o.keep(ctx, id, k.Page); err != nil {
				return err
			}
			if err := o.tx.Delete(key); err != nil {
				return err
			}
			from = k.Page + 1
		}
	}
}

// someKeys returns the keys of the next pages.
func (o *Objects) someKeys(ctx context.Context, id ID, from uint32) (keys [][]byte, err error) {
	it, err := o.tx.Scan(ctx, pagesSpan(o.db, id, from),
		txn.ScanOptions{Current: true, KeysOnly: true})
	if err != nil {
		return nil, err
	}
	defer func() { _ = it.Close() }()
	for len(keys) < removedAtOnce && it.Next() {
		keys = append(keys, append([]byte(nil), it.Key()...))
	}
	return keys, it.Err()
}

// setPage writes a page. Requires: it runs within change.
func (o *Objects) setPage(ctx context.Context, id ID, page uint32, data []byte) error {
	if err := o.keep(ctx, id, page); err != nil {
		return err
	}
	return o.tx.Set(pageKey(o.db, id, page), data)
}

// keep copies a page that is about to change for the handles that show it as it was (I2).
func (o *Objects) keep(ctx context.Context, id ID, page uint32) error {
	for _, h := range o.readers[id] {
		if err := h.keep(ctx, page); err != nil {
			return err
		}
	}
	return nil
}
