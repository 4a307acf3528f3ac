package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/observer"
)

// Watched is an observer, or an incremental view, with the numbers that minidb_observers has.
type Watched struct {
	Database, Name, Kind string // "observer" or "view"
	Pending              pgcatalog.Pending
	DeadLetters          int64
	Running              bool // in this process; what follows is 0 elsewhere
	Runs                 int64
	Conflicts, Failures  int64
	Broken               bool // a view that does not follow its tables any more
}

// Watched lists the observers and the incremental views of all databases. It goes through all that
// is pending for them.
func (e *Engine) Watched(ctx context.Context) (all []Watched, err error) {
	tx, err := e.store.Begin(ctx, beginReadOnly)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	view := e.catalog.View(tx)
	databases, err := view.Databases(ctx)
	if err != nil {
		return nil, err
	}
	for _, db := range databases {
		observers, err := view.Observers(ctx, db.ID)
		if err != nil {
			return nil, err
		}
		for _, o := range observers {
			w, err := e.watchedObserver(ctx, o)
			if err != nil {
				return nil, err
			}
			target := o.Target()
			if err := target.Letters(ctx, tx, func(*observer.DeadLetter) error {
				w.DeadLetters++
				return nil
			}); err != nil {
				return nil, err
			}
			w.Database = db.Name
			all = append(all, w)
		}
		views, err := e.watchedViews(ctx, view, db)
		if err != nil {
			return nil, err
		}
		all = append(all, views...)
	}
	return all, nil
}

func (e *Engine) watchedObserver(ctx context.Context, o catalog.Observed) (w Watched, err error) {
	w = Watched{Name: o.Observer.Name, Kind: "observer"}
	if w.Pending, err = e.pending(ctx, o); err != nil {
		return w, err
	}
	if st, running := e.observerStats(o); running {
		w.Running, w.Runs, w.Conflicts, w.Failures = true, st.Runs, st.Conflicts, st.Failures
	}
	return w, nil
}

func (e *Engine) watchedViews(ctx context.Context, view *catalog.View,
	db catalog.Database) (all []Watched, err error) {
	groups, err := view.ViewGroups(ctx, db.ID)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		for _, d := range g.Views {
			st, err := view.ViewState(ctx, d.ID)
			if err != nil {
				return nil, err
			}
			if st == nil {
				st = &table.ViewState{} // it was never filled
			}
			w := Watched{Database: db.Name, Name: sqlname.Qualified(d.Schema, d.Name),
				Kind: "view", Broken: st.Broken != ""}
			if w.Pending, err = e.pendingFor(ctx, pgcatalog.FollowedBy(g, d), st); err != nil {
				return nil, err
			}
			if done, running := e.viewStats(d.ID); running {
				w.Running, w.Runs = true, done.Advances
				w.Conflicts, w.Failures = done.Conflicts, done.Failures
			}
			all = append(all, w)
		}
	}
	return all, nil
}
