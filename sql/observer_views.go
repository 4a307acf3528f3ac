package sql

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/observer"
)

// Pending is part of pgcatalog.Env. It is what the store has now, whatever the snapshot shows.
func (c catalogEnv) Pending(ctx context.Context, o catalog.Observed) (pgcatalog.Pending, error) {
	return c.s.engine.pending(ctx, o)
}

// pending is what waits for an observer.
func (e *Engine) pending(ctx context.Context, o catalog.Observed) (p pgcatalog.Pending, err error) {
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
		if err := e.store.Notifications(ctx, span, count); err != nil {
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
	return c.s.engine.observerStats(o)
}

func (e *Engine) observerStats(o catalog.Observed) (st observer.Stats, running bool) {
	if e.opts.ObserverStats == nil {
		return st, false
	}
	return e.opts.ObserverStats(uint32(o.Observer.ID))
}

// PendingFor is part of pgcatalog.Env.
func (c catalogEnv) PendingFor(ctx context.Context, followed []*table.Desc,
	st *table.ViewState) (pgcatalog.Pending, error) {
	return c.s.engine.pendingFor(ctx, followed, st)
}

// pendingFor is what waits for an incremental view. A table that lies elsewhere than at the
// frontier is a table change: the view is to be computed anew.
func (e *Engine) pendingFor(ctx context.Context, followed []*table.Desc,
	st *table.ViewState) (p pgcatalog.Pending, err error) {
	for _, d := range followed {
		o := d.ViewObserver()
		if o == nil {
			continue
		}
		if at := st.Source(d.ID); at != 0 && at != d.Storage() {
			p.TableChanges++
		}
		var last []byte
		err := e.store.Notifications(ctx, d.IndexSpan(table.RowIndexID),
			func(key []byte, n *txn.Notification) error {
				if n.Observer != uint32(o.ID) || n.Stamped() && n.CommitTS <= st.Frontier {
					return nil
				}
				if n.Stamped() && (p.Oldest == 0 || n.CommitTS < p.Oldest) {
					p.Oldest = n.CommitTS
				}
				if !bytes.Equal(key, last) {
					p.Rows++
				}
				last = append(last[:0], key...)
				return nil
			})
		if err != nil {
			return p, err
		}
	}
	return p, nil
}

// ViewStats is part of pgcatalog.Env.
func (c catalogEnv) ViewStats(view table.ID) (st pgcatalog.ViewStats, running bool) {
	return c.s.engine.viewStats(view)
}

func (e *Engine) viewStats(view table.ID) (st pgcatalog.ViewStats, running bool) {
	if e.opts.Views == nil {
		return st, false
	}
	return e.opts.Views.Stats(view)
}
