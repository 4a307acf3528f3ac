package sql

import (
	"context"
	"errors"
	"slices"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/follow"
)

// MaintainerSettings are those of a session that advances views, whatever the database's are.
func MaintainerSettings() map[string]string {
	return map[string]string{"application_name": "incremental views", "statement_timeout": "0",
		"lock_timeout": "0", "default_transaction_read_only": "off", "minidb.write_locks": "off",
		"minidb.view_freshness": "any", "DateStyle": "ISO, MDY", "TimeZone": "UTC"}
}

// ErrViewsChanged is the failure of an advance of views that are no group any more.
var ErrViewsChanged = errors.New("sql: the group of incremental views has changed")

// AdvanceViews brings a group of views to a new timestamp, in a transaction of its own with
// snapshot isolation, and removes then what led to it. Requires: trackers get what the store's
// commits notify.
func (s *Session) AdvanceViews(ctx context.Context, views []table.ID,
	tracker func(observer uint32) *follow.Tracker) (out ViewsAdvanced, err error) {
	a := &viewAdvance{s: &s.planRunner}
	err = s.maintaining(ctx, func(ctx context.Context) error {
		if err := s.lockGroup(ctx, views); err != nil {
			return err
		}
		if a.group, err = s.group(ctx, views); err != nil {
			return err
		}
		a.tables = followedTables(a.group, tracker)
		return a.run(ctx)
	})
	if err != nil {
		a.putBack()
		return out, err
	}
	return a.stats, a.clean(ctx, s.engine.store)
}

// maintaining runs f in a transaction, and commits it.
func (s *Session) maintaining(ctx context.Context, f func(ctx context.Context) error) error {
	ctx = s.begin(ctx, "incremental views", silence{})
	defer s.end()
	s.start(inBlock)
	s.tx.isolation = "repeatable read"
	err := f(ctx)
	if err != nil {
		s.abort(ctx)
	} else {
		err = s.commit(ctx)
	}
	return s.toSQL(ctx, err)
}

// lockGroup locks what an advance reads and writes, before its snapshot is drawn: its tables, and
// then its views.
func (s *Session) lockGroup(ctx context.Context, views []table.ID) error {
	if err := s.ensure(ctx); err != nil {
		return err
	}
	g, err := s.group(ctx, views)
	if err != nil {
		return err
	}
	if err := s.lockViews(ctx, g); err != nil {
		return err
	}
	if err := s.dropSnapshot(ctx); err != nil {
		return err
	}
	return s.ensure(ctx)
}

// group finds the group that the views are.
func (s *Session) group(ctx context.Context, views []table.ID) (*catalog.ViewGroup, error) {
	g, err := s.tx.view.ViewGroupOf(ctx, s.databaseID, views[0])
	if err != nil {
		return nil, err
	}
	if g == nil || !slices.EqualFunc(g.Views, views,
		func(d *table.Desc, id table.ID) bool { return d.ID == id }) {
		return nil, ErrViewsChanged
	}
	return g, nil
}

// putBack returns to the trackers what a failed advance has taken.
func (a *viewAdvance) putBack() {
	for _, c := range a.changes {
		c.PutBack()
	}
}

// clean removes the notifications that the advance has dealt with. Requires: it has committed.
func (a *viewAdvance) clean(ctx context.Context, s *txn.Store) (err error) {
	for _, c := range a.changes {
		err = errors.Join(err, c.Clean(ctx, s))
	}
	return err
}

// silence is a ResultWriter that drops everything.
type silence struct{}

func (silence) Describe([]physical.Column) error  { return nil }
func (silence) Rows(*types.Batch, int, int) error { return nil }
func (silence) Complete(string) error             { return nil }
func (silence) Empty() error                      { return nil }
func (silence) Notice(*Notice)                    {}
func (silence) Mark()                             {}
func (silence) Rewind() bool                      { return true }

// IncrementalView is a view with its state.
type IncrementalView struct {
	ID    table.ID
	Name  string
	State *table.ViewState // nil: it was never filled
}

// IncrementalViews lists the incremental views of the session's database.
func (s *Session) IncrementalViews(ctx context.Context) (views []IncrementalView, err error) {
	err = s.maintaining(ctx, func(ctx context.Context) error {
		if err := s.ensure(ctx); err != nil {
			return err
		}
		groups, err := s.tx.view.ViewGroups(ctx, s.databaseID)
		if err != nil {
			return err
		}
		for _, g := range groups {
			for _, d := range g.Views {
				st, err := s.tx.view.ViewState(ctx, d.ID)
				if err != nil {
					return err
				}
				views = append(views, IncrementalView{ID: d.ID, Name: d.Name, State: st})
			}
		}
		return nil
	})
	return views, err
}
