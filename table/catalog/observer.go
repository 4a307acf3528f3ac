package catalog

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/observer"
)

// The descriptor of a table holds its observers. The name of each, with its version, is also a key
// of its own, which two transactions that take one name both write. Whatever changes an observer
// writes that key and the table's writers' key: transactions that write rows by the descriptor
// before fail (catalog I4), so every later commit notifies. A run of an observer that has read the
// descriptor before fails too (HoldObserver).

// Observed is an observer with its table.
type Observed struct {
	Table    *table.Desc
	Observer *table.Observer // of Table.Observers
}

// Target is what the workers of the observer have to know of it.
func (o Observed) Target() observer.Target { return o.Table.Target(o.Observer) }

// Observer finds an observer of a database by name; ok is false when there is none.
func (v *View) Observer(ctx context.Context, db table.ID, name string) (o Observed, ok bool,
	err error) {
	b, err := v.tx.GetUnserialized(ctx, observerKey(db, name))
	if err != nil || b == nil {
		return Observed{}, false, err
	}
	o, err = v.observed(ctx, name, b)
	return o, err == nil, err
}

// Observers lists the observers of a database by name.
func (v *View) Observers(ctx context.Context, db table.ID) ([]Observed, error) {
	var names []string
	var entries [][]byte
	prefix := observerPrefix(db)
	err := scan(ctx, v.tx, prefix, func(key, value []byte) error {
		names = append(names, string(key[len(prefix):]))
		entries = append(entries, slices.Clone(value))
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := make([]Observed, len(names))
	for i, name := range names {
		if out[i], err = v.observed(ctx, name, entries[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// observed finds what an entry of a name leads to.
func (v *View) observed(ctx context.Context, name string, entry []byte) (o Observed, err error) {
	e, ok := decodeObserverEntry(entry)
	if !ok {
		return o, fmt.Errorf("catalog: observer %q: %w", name, kv.ErrCorruption)
	}
	if o.Table, err = v.mustDesc(ctx, e.table); err != nil {
		return o, err
	}
	if o.Observer = o.Table.Observer(e.observer); o.Observer == nil {
		err = fmt.Errorf("catalog: observer %q is not in its table: %w", name, kv.ErrCorruption)
	}
	return o, err
}

// HoldObserver makes Commit fail with *txn.WriteConflictError if the observer has been replaced by
// another version, or dropped, since the transaction read it. Every transaction that writes keys of
// an observer (table.ObserverSpan) needs that: those of one that was dropped are never read again.
func (v *View) HoldObserver(o Observed) {
	v.validate(observerKey(o.Table.DatabaseID, o.Observer.Name))
}

// CreateObserver adds an observer to a table and gives it an ID; 42710 when the name is taken. The
// descriptor that it returns takes the place of old. Requires: the columns are old's, in ascending
// order.
func (v *View) CreateObserver(ctx context.Context, old *table.Desc,
	o table.Observer) (*table.Desc, error) {
	key := observerKey(old.DatabaseID, o.Name)
	taken, err := v.tx.GetUnserialized(ctx, key)
	if err != nil {
		return nil, err
	}
	if taken != nil {
		return nil, sqlerr.New(sqlerr.DuplicateObject, "observer \"%s\" already exists", o.Name)
	}
	if err := v.reserve(ctx, key); err != nil {
		return nil, err
	}
	if o.ID, err = v.NewID(ctx); err != nil {
		return nil, err
	}
	d := old.Clone()
	d.Observers = append(d.Observers, o)
	return d, v.putObserver(ctx, old, d, &o)
}

// ReplaceObserver gives an observer of the table the version, columns and backfill of o, which is
// found by its name. With a backfill it begins anew, under another ID; without one it goes on from
// what is acknowledged. The descriptor that it returns takes the place of old. Requires: as of
// CreateObserver.
func (v *View) ReplaceObserver(ctx context.Context, old *table.Desc,
	o table.Observer) (*table.Desc, error) {
	d := old.Clone()
	to := d.ObserverByName(o.Name)
	if to == nil {
		return nil, noObserver(o.Name)
	}
	o.ID = to.ID
	if o.Backfill { // it begins anew: what the old one has acknowledged says nothing
		if err := v.forgetObserver(ctx, old, to); err != nil {
			return nil, err
		}
		var err error
		if o.ID, err = v.NewID(ctx); err != nil {
			return nil, err
		}
	}
	*to = o
	return d, v.putObserver(ctx, old, d, &o)
}

func (v *View) putObserver(ctx context.Context, old, d *table.Desc, o *table.Observer) error {
	e := observerEntry{table: d.ID, observer: o.ID, version: uint64(o.Version)}
	if err := v.put(observerKey(d.DatabaseID, o.Name), e.encode()); err != nil {
		return err
	}
	if o.Backfill {
		target := d.Target(o)
		if err := target.Backfill(v.tx); err != nil {
			return err
		}
	}
	if !v.tx.LocksBind() {
		// Else a writer that has validated the writers' key, and is not committed, would commit
		// above this transaction, unseen by a backfill, and leave no notification.
		v.tx.Validate(old.IndexSpan(table.RowIndexID))
	}
	return v.changeObservers(ctx, old, d)
}

// changeObservers stores a descriptor that has other observers.
func (v *View) changeObservers(ctx context.Context, old, d *table.Desc) error {
	if err := v.RelabelRelation(ctx, old, d); err != nil {
		return err
	}
	return v.ExcludeWriters(d.ID)
}

// DropObserver removes an observer of the table. Its own keys are dropped as a whole, its
// notifications are swept up (package observer). The descriptor that it returns takes the place of
// old.
func (v *View) DropObserver(ctx context.Context, old *table.Desc, name string) (*table.Desc,
	error) {
	o := old.ObserverByName(name)
	if o == nil {
		return nil, noObserver(name)
	}
	if err := v.forgetObserver(ctx, old, o); err != nil {
		return nil, err
	}
	d := old.Clone()
	d.Observers = slices.DeleteFunc(d.Observers,
		func(x table.Observer) bool { return x.ID == o.ID })
	return d, v.changeObservers(ctx, old, d)
}

// forgetObserver removes the name and drops the keys of an observer.
func (v *View) forgetObserver(ctx context.Context, d *table.Desc, o *table.Observer) error {
	if !o.Views {
		if err := v.releaseObserver(ctx, d, o); err != nil {
			return err
		}
		if err := v.remove(observerKey(d.DatabaseID, o.Name)); err != nil {
			return err
		}
	}
	v.tx.WakeObserver(uint32(o.ID))
	return v.tx.DropSpan(table.ObserverSpan(o.ID))
}

func noObserver(name string) error {
	return sqlerr.New(sqlerr.UndefinedObject, "observer \"%s\" does not exist", name)
}

// observerEntry is what the name of an observer leads to.
type observerEntry struct {
	table, observer table.ID
	version         uint64
}

func (e observerEntry) encode() []byte {
	return binary.AppendUvarint(table.AppendID(table.AppendID(nil, e.table), e.observer), e.version)
}

func decodeObserverEntry(b []byte) (e observerEntry, ok bool) {
	if e.table, b, ok = table.ReadID(b); !ok {
		return e, false
	}
	if e.observer, b, ok = table.ReadID(b); !ok {
		return e, false
	}
	n := 0
	e.version, n = binary.Uvarint(b)
	return e, n > 0 && n == len(b)
}
