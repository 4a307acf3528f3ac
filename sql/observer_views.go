package sql

import (
	"context"

	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
)

// Pending is part of pgcatalog.Env. It is what the store has now, whatever the snapshot shows.
func (c catalogEnv) Pending(ctx context.Context, o catalog.Observed) (p pgcatalog.Pending,
	err error) {
	target := o.Target()
	var last []byte
	count := func(key []byte, n *txn.Notification) error {
		if n.Observer != target.ID {
			return nil
		}
		key = target.RunKey(key)
		if n.Stamped() && (p.Oldest == 0 || n.From() < p.Oldest) {
			p.Oldest = n.From()
		}
		switch {
		case string(key) == string(last):
		case target.IsPlace(key):
			p.TableChanges++
		default:
			p.Rows++
		}
		last = append(last[:0], key...)
		return nil
	}
	for _, span := range target.Spans() {
		if err := c.s.engine.store.Notifications(ctx, span, count); err != nil {
			return p, err
		}
	}
	return p, nil
}

// DeadLetters is part of pgcatalog.Env.
func (c catalogEnv) DeadLetters(ctx context.Context, o catalog.Observed,
	visit func(l *observer.DeadLetter) error) error {
	target := o.Target()
	return target.Letters(ctx, c.s.tx.tx, visit)
}

// ObserverStats is part of pgcatalog.Env.
func (c catalogEnv) ObserverStats(o catalog.Observed) (st observer.Stats, running bool) {
	if c.s.engine.opts.ObserverStats == nil {
		return st, false
	}
	return c.s.engine.opts.ObserverStats(uint32(o.Observer.ID))
}
