package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// observers verifies that names of observers and descriptors agree, and that every key of an
// observer's own belongs to one, and to a row's place in its table (catalog I7).
// With a store it looks at notifications as well, which have no past.
func (ch *checker) observers(ctx context.Context, store *txn.Store) error {
	tables := map[table.ID]*table.Desc{} // by observer
	for _, d := range ch.order {
		for i := range d.Observers {
			o := &d.Observers[i]
			tables[o.ID] = d
			if o.Views {
				continue
			}
			want := observerEntry{table: d.ID, observer: o.ID, version: uint64(o.Version)}
			have, err := ch.tx.Get(ctx, observerKey(d.DatabaseID, o.Name))
			if err != nil {
				return err
			}
			if !bytes.Equal(have, want.encode()) {
				ch.report(Problem{Relation: ch.names[d.ID],
					What: fmt.Sprintf("the name of observer %q does not lead to it", o.Name)})
			}
		}
	}
	err := scan(ctx, ch.tx, []byte{table.PrefixCatalog, tagObserver}, func(key, b []byte) error {
		e, ok := decodeObserverEntry(b)
		d := tables[e.observer]
		if !ok || d == nil || d.ID != e.table ||
			!bytes.Equal(key, observerKey(d.DatabaseID, d.Observer(e.observer).Name)) {
			ch.report(Problem{Key: bytes.Clone(key), What: "name of an observer that no table has"})
		}
		return nil
	})
	if err != nil {
		return err
	}
	o := &observed{tables: tables}
	if o.dropped, err = ch.tx.Dropped(ctx); err != nil {
		return err
	}
	if o.places, err = ch.places(ctx, tables); err != nil {
		return err
	}
	all, err := ch.observerKeys(ctx, o)
	if err != nil || store == nil {
		return err
	}
	if err := ch.notifications(ctx, store, o); err != nil {
		return err
	}
	return ch.suspects(ctx, store, all)
}

// observerKeys looks at what observers keep. What lies in a dropped span waits for the collector.
// It returns the keys that suspects is to look at.
func (ch *checker) observerKeys(ctx context.Context, o *observed) (all []suspect, err error) {
	it, err := ch.tx.Scan(ctx, table.PrefixSpan([]byte{table.PrefixObserver}),
		txn.ScanOptions{Unserialized: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		key := it.Key()
		if o.inDropped(key) {
			continue
		}
		p := Problem{Key: bytes.Clone(key)}
		id, kind, row, ok := table.DecodeObserverKey(key)
		d := o.tables[id]
		switch {
		case !ok:
			p.What = "key of no observer"
		case d == nil:
			p.What = fmt.Sprintf("%s of observer %d, which does not exist", kind, id)
		case !isPlace(kind, row, o.places[id]):
			p.Relation = ch.names[d.ID]
			p.What = fmt.Sprintf("%s of observer %q for a key that is no row's", kind,
				d.Observer(id).Name)
		default:
			s := suspect{id: id, kind: kind, key: p.Key, row: p.Key[len(p.Key)-len(row):],
				value: bytes.Clone(it.Value())}
			if maybe, err := ch.suspicious(ctx, d, &s); err != nil {
				return nil, err
			} else if maybe {
				all = append(all, s)
			}
			continue
		}
		ch.report(p)
	}
	return all, it.Err()
}

// isPlace reports whether a key of an observer is of no row, or of one in its places.
func isPlace(kind table.ObserverKind, row []byte, places []kv.Span) bool {
	switch kind {
	case table.ObserverBackfill, table.ObserverPlace, table.ObserverWalk, table.ObserverWeak:
		return true
	case table.ObserverLimbo:
		return false // it has no value
	}
	if former := table.FormerRowKey(row); len(former) < len(row) {
		_, ok := table.DecodeKey(former)
		return ok
	}
	return slices.ContainsFunc(places, func(s kv.Span) bool { return s.Contains(row) })
}

// places lists where the rows of each observer are, or were before table-level changes that it has
// not forgotten.
func (ch *checker) places(ctx context.Context,
	tables map[table.ID]*table.Desc) (map[table.ID][]kv.Span, error) {
	places := map[table.ID][]kv.Span{}
	for id, d := range tables {
		target := d.Target(d.Observer(id))
		from, err := target.Moved(ctx, ch.tx)
		if err != nil {
			return nil, err
		}
		places[id] = append(from, d.IndexSpan(table.RowIndexID))
	}
	return places, nil
}
