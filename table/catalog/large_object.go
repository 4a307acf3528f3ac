package catalog

import (
	"cmp"
	"context"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/largeobject"
	"github.com/minidb/minidb/txn"
)

// Large objects are no part of the schema: no version moves when one is made, and no plan rests on
// them. But their records name roles, and they belong to a database.

// largeReferences returns what the record of a large object names.
func largeReferences(db table.ID, id largeobject.ID, r *largeobject.Record) references {
	out := references{}
	if r == nil {
		return out
	}
	ref := Reference{Database: db, Class: ClassLargeObject, Object: table.ID(id), Why: ByOwner}
	out.add(r.OwnedBy(), ref)
	ref.Why = ByACL
	out.addList(r.ACL, r.OwnedBy(), ref)
	return out
}

// ReferLargeObject notes which roles a new large object names. Requires: its record is written.
func (v *View) ReferLargeObject(ctx context.Context, db table.ID, id largeobject.ID,
	r *largeobject.Record) error {
	if err := v.holdDatabase(ctx, db); err != nil {
		return err
	}
	return v.referQuietly(ctx, nil, largeReferences(db, id, r))
}

// ForgetLargeObject takes back what ReferLargeObject noted. Requires: the object is removed.
func (v *View) ForgetLargeObject(ctx context.Context, db table.ID, id largeobject.ID,
	r *largeobject.Record) error {
	return v.referQuietly(ctx, largeReferences(db, id, r), nil)
}

// ChangeLargeObject changes the record of a large object; 42704 when there is none. An error of
// change is returned, and nothing is written.
func (v *View) ChangeLargeObject(ctx context.Context, db table.ID, id largeobject.ID,
	change func(r *largeobject.Record) error) error {
	old, done, err := largeobject.Lock(ctx, v.tx, db, id)
	defer done()
	switch {
	case err != nil:
		return err
	case old == nil:
		return largeobject.Missing(id)
	}
	r := *old
	if err := change(&r); err != nil {
		return err
	}
	if err := v.referQuietly(ctx, largeReferences(db, id, old),
		largeReferences(db, id, &r)); err != nil {
		return err
	}
	return v.tx.Set(largeobject.RecordKey(db, id), r.Encode())
}

// referQuietly is refer for what is no part of the schema.
func (v *View) referQuietly(ctx context.Context, was, is references) error {
	put := func(key []byte) error { return v.tx.Set(key, nil) }
	return v.referBy(ctx, was, is, put, v.tx.Delete)
}

// LargeObject returns the record of a large object; nil when there is none.
func (v *View) LargeObject(ctx context.Context, db table.ID,
	id largeobject.ID) (*largeobject.Record, error) {
	return largeobject.Read(ctx, v.tx, db, id)
}

// LargeObjects visits the records of a database's large objects, in the order of their IDs.
func (v *View) LargeObjects(ctx context.Context, db table.ID,
	visit func(id largeobject.ID, r *largeobject.Record) error) error {
	return walk(ctx, v.tx, largeobject.RecordsPrefix(db), func(key, value []byte) error {
		k, ok := largeobject.DecodeKey(key)
		if !ok {
			return fmt.Errorf("large object: key %x: %w", key, kv.ErrCorruption)
		}
		r, err := largeobject.DecodeRecord(value)
		if err != nil {
			return err
		}
		return visit(k.ID, r)
	})
}

// LargeObjectPages visits the pages of a database's large objects, in order. data is valid during
// the call.
func (v *View) LargeObjectPages(ctx context.Context, db table.ID,
	visit func(id largeobject.ID, page uint32, data []byte) error) error {
	return walk(ctx, v.tx, largeobject.PagesPrefix(db), func(key, value []byte) error {
		k, ok := largeobject.DecodeKey(key)
		if !ok {
			return fmt.Errorf("large object: key %x: %w", key, kv.ErrCorruption)
		}
		return visit(k.ID, k.Page, value)
	})
}

// walk is scan of keys that are no part of the schema, and so of the serial order.
func walk(ctx context.Context, tx *txn.Txn, prefix []byte,
	f func(key, value []byte) error) (err error) {
	it, err := tx.Scan(ctx, table.PrefixSpan(prefix), txn.ScanOptions{})
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, it.Close()) }()
	for it.Next() {
		if err := f(it.Key(), it.Value()); err != nil {
			return err
		}
	}
	return it.Err()
}

// dropLargeObjects removes the large objects of a database.
func (v *View) dropLargeObjects(ctx context.Context, db table.ID) error {
	v.tx.Validate(largeobject.Span(db))
	err := v.LargeObjects(ctx, db, func(id largeobject.ID, r *largeobject.Record) error {
		// The removal of the record conflicts with a transaction that writes the object.
		if err := v.tx.Delete(largeobject.RecordKey(db, id)); err != nil {
			return err
		}
		return v.ForgetLargeObject(ctx, db, id, r)
	})
	if err != nil {
		return err
	}
	return v.tx.DropSpan(largeobject.Span(db))
}

// largeObjects verifies that every page of a large object has a record, and that every record
// belongs to a database.
func (ch *checker) largeObjects(ctx context.Context) error {
	dbs, err := ch.v.Databases(ctx)
	if err != nil {
		return err
	}
	known := map[table.ID]bool{}
	for _, db := range dbs {
		known[db.ID] = true
	}
	dropped, err := ch.tx.Dropped(ctx)
	if err != nil {
		return err
	}
	var at largeobject.Key // the object whose pages are being read
	there := false
	return scan(ctx, ch.tx, []byte{table.PrefixLarge}, func(key, value []byte) error {
		for _, s := range dropped {
			if s.Contains(key) {
				return nil
			}
		}
		k, ok := largeobject.DecodeKey(key)
		if !ok {
			ch.stray(key, "key of no large object")
			return nil
		}
		object := fmt.Sprintf("large object %d of database %d", k.ID, k.Database)
		if k.Record {
			if !known[k.Database] {
				ch.stray(key, object+", which does not exist")
			}
			if _, err := largeobject.DecodeRecord(value); err != nil {
				ch.stray(key, object+": "+err.Error())
			}
			return nil
		}
		if k.Database != at.Database || k.ID != at.ID {
			at = k
			r, err := ch.tx.Get(ctx, largeobject.RecordKey(k.Database, k.ID))
			if err != nil {
				return err
			}
			there = r != nil
		}
		switch {
		case !there:
			ch.stray(key, fmt.Sprintf("page %d of %s, which does not exist", k.Page, object))
		case len(value) > largeobject.PageBytes:
			ch.stray(key, fmt.Sprintf("page %d of %s has %d bytes", k.Page, object, len(value)))
		}
		return nil
	})
}

func (ch *checker) stray(key []byte, what string) {
	ch.report(Problem{Key: append([]byte(nil), key...), What: what})
}

// largeObjects copies the large objects of the databases that were saved. Of an object whose record
// cannot be read the owner is lost.
func (s *salvage) largeObjects(ctx context.Context) error {
	for _, db := range s.databases {
		saved := map[largeobject.ID]bool{}
		lost, err := s.copy(ctx, largeobject.Span(db), func(key, value []byte) error {
			k, ok := largeobject.DecodeKey(key)
			if !ok {
				return nil
			}
			saved[k.ID] = saved[k.ID] || k.Record
			if err := s.out.set(ctx, key, value); err != nil {
				return err
			}
			return s.out.step(ctx)
		})
		if err != nil {
			return err
		}
		if lost.any() {
			s.opts.Lost(Problem{What: fmt.Sprintf("large objects of database %d: pages cannot be "+
				"read, and are zeros now", db)})
		}
		for id, whole := range saved {
			if whole {
				continue
			}
			s.opts.Lost(Problem{What: fmt.Sprintf("large object %d of database %d: its owner "+
				"cannot be read; it belongs to the superuser now", id, db)})
			if err := s.out.set(ctx, largeobject.RecordKey(db, id),
				(&largeobject.Record{}).Encode()); err != nil {
				return err
			}
		}
	}
	return s.out.flush(ctx)
}
