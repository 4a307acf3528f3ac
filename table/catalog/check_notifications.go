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

// observed is what a check knows of the observers.
type observed struct {
	tables  map[table.ID]*table.Desc // by observer
	places  map[table.ID][]kv.Span   // where their rows are, or were
	dropped []kv.Span                // what lies there waits for the collector
}

func (o *observed) inDropped(key []byte) bool {
	return slices.ContainsFunc(o.dropped, func(s kv.Span) bool { return s.Contains(key) })
}

// notifications verifies that each notification is of an observer, and on a row of its table or on
// a key of its own, and that one without a stamp is beside the lock of its transaction. They have
// no past: what the snapshot does not show is passed over.
func (ch *checker) notifications(ctx context.Context, store *txn.Store, o *observed) error {
	problem := func(key []byte, n *txn.Notification, what string) {
		p := Problem{Key: bytes.Clone(key), What: fmt.Sprintf(
			"notification of transaction %s for observer %d %s", n.StartTS, n.Observer, what)}
		if d := o.tables[table.ID(n.Observer)]; d != nil {
			p.Relation = ch.names[d.ID]
		}
		ch.report(p)
	}
	err := store.Notifications(ctx, kv.Span{}, func(key []byte, n *txn.Notification) error {
		id := table.ID(n.Observer)
		d := o.tables[id]
		switch {
		case !n.Stamped() || n.CommitTS > ch.tx.ReadTS() || o.inDropped(key),
			o.inDropped(table.ObserverSpan(id).Start):
		case d == nil:
			problem(key, n, "which does not exist")
		case !o.owns(d, id, key):
			problem(key, n, "is on a key that is not its")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return store.Unowned(ctx, func(key []byte, n *txn.Notification) error {
		problem(key, n, "has no stamp, and its transaction no lock")
		return nil
	})
}

// owns reports whether an observer may have a notification on a key.
func (o *observed) owns(d *table.Desc, id table.ID, key []byte) bool {
	target := d.Target(d.Observer(id))
	in := func(s kv.Span) bool { return s.Contains(key) }
	return slices.ContainsFunc(target.Spans(), in) || slices.ContainsFunc(o.places[id], in)
}

// suspect is a key of an observer about which a later look is to decide.
type suspect struct {
	id    table.ID
	kind  table.ObserverKind
	key   []byte
	row   []byte
	value []byte
}

// suspects verifies what hangs together with notifications: the acknowledgement of a row that is
// gone has a mark that leads to it (observer I5), or a notification, and a weak notification has
// one that delivers it. A run may take away one of both between two looks. Then the key has another
// value, or is gone.
func (ch *checker) suspects(ctx context.Context, store *txn.Store, all []suspect) (err error) {
	left := all[:0]
	for _, s := range all {
		notified := s.row
		if s.kind == table.ObserverWeak {
			notified = s.key
		}
		found := false
		span := kv.Span{Start: notified, End: append(slices.Clip(notified), 0)}
		err := store.Notifications(ctx, span, func(_ []byte, n *txn.Notification) error {
			found = found || n.Observer == uint32(s.id)
			return nil
		})
		if err != nil {
			return err
		}
		if !found {
			left = append(left, s)
		}
	}
	t, err := store.Begin(ctx, txn.BeginOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Rollback(context.WithoutCancel(ctx))) }()
	for _, s := range left {
		value, err := t.Get(ctx, s.key)
		if err != nil {
			return err
		}
		if !bytes.Equal(value, s.value) {
			continue
		}
		what := "weak notification that nothing delivers"
		if s.kind == table.ObserverAcknowledgement {
			what = "acknowledgement of a row that is gone, and no mark leads to it"
		}
		ch.report(Problem{Key: s.key, What: what})
	}
	return nil
}

// suspicious reports whether suspects has to look at a key of an observer. What is of an old place
// waits to be carried to the new one.
func (ch *checker) suspicious(ctx context.Context, d *table.Desc, s *suspect) (bool, error) {
	if s.kind != table.ObserverAcknowledgement || !d.IndexSpan(table.RowIndexID).Contains(s.row) {
		return s.kind == table.ObserverWeak, nil
	}
	for _, key := range [][]byte{s.row, table.ObserverKey(s.id, table.ObserverGone, s.row)} {
		value, err := ch.tx.Get(ctx, key)
		if err != nil || value != nil {
			return false, err
		}
	}
	return true, nil
}
