package sql

import (
	"context"
	"errors"

	"github.com/minidb/minidb/sql/advance"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/follow"
	"github.com/minidb/minidb/txn/rowlock"
)

// ViewReport receives what CheckViews finds, with the name of the view and its database.
type ViewReport struct {
	Problem func(view, what string) // each difference
	Left    func(view, why string)  // each view that was not compared
}

// CheckViews compares the incremental views of the session's database with their queries at their
// frontiers. Views that are to be computed anew, or are broken, are left out.
func (s *Session) CheckViews(ctx context.Context, report ViewReport) error {
	var groups []*catalog.ViewGroup
	err := s.maintaining(ctx, func(ctx context.Context) (err error) {
		if err := s.ensure(ctx); err != nil {
			return err
		}
		groups, err = s.tx.view.ViewGroups(ctx, s.databaseID)
		return err
	})
	for _, g := range groups {
		if err != nil {
			return err
		}
		err = s.maintaining(ctx, func(ctx context.Context) error {
			return s.checkGroup(ctx, g.Views[0].ID, report)
		})
	}
	return err
}

// checkGroup compares the views of a group. It excludes those that advance them: the notifications
// between a view's frontier and the snapshot are removed once the view has advanced.
func (s *Session) checkGroup(ctx context.Context, view table.ID, report ViewReport) (err error) {
	if err := s.ensure(ctx); err != nil {
		return err
	}
	g, err := s.tx.view.ViewGroupOf(ctx, s.databaseID, view)
	if err != nil || g == nil {
		return err
	}
	for _, d := range g.Views {
		if _, err := s.lockTable(ctx, d.ID, rowlock.ShareRowExclusive, false); err != nil {
			return err
		}
	}
	if err := s.dropSnapshot(ctx); err != nil {
		return err
	}
	if err := s.ensure(ctx); err != nil {
		return err
	}
	if g, err = s.tx.view.ViewGroupOf(ctx, s.databaseID, view); err != nil || g == nil {
		return err
	}
	a := &viewAdvance{s: &s.planRunner, group: g, tables: followedTables(g,
		func(uint32) *follow.Tracker { return follow.NewTracker() })}
	defer func() { err = errors.Join(err, a.close(ctx)) }()
	if err := a.begin(ctx); err != nil {
		return err
	}
	for _, d := range g.Views {
		name := s.database + "." + d.Schema + "." + d.Name
		src, why, err := a.comparable(ctx, d)
		if err != nil {
			return err
		}
		if src == nil {
			report.Left(name, why)
			continue
		}
		err = s.checkView(ctx, d, src.reader, func(what string) { report.Problem(name, what) })
		if err != nil {
			return err
		}
	}
	return nil
}

// comparable returns what has changed since a view's frontier, nil if the view cannot be compared
// with its query there, and why not.
func (a *viewAdvance) comparable(ctx context.Context, d *table.Desc) (src *viewSources, why string,
	err error) {
	st := a.states[d.ID]
	if st == nil {
		return nil, "it was never filled", nil
	}
	if st.Broken != "" {
		return nil, "it is broken: " + st.Broken, nil
	}
	if below := a.unusable(d); below != "" {
		return nil, "it uses " + below + ", which is broken or was never filled", nil
	}
	src, err = a.sources(ctx, d, st)
	return src, "it is to be computed anew", err
}

// checkView compares an incremental view, as the session's transaction sees it, with its query, and
// its states with what they are computed from. tables reads the tables as they were at the view's
// frontier; nil when they are as they were. report gets each difference.
func (s *planRunner) checkView(ctx context.Context, view *table.Desc, tables *txn.Txn,
	report func(string)) error {
	version, _, err := s.tx.view.Version(ctx)
	if err != nil {
		return err
	}
	was, err := s.schemaOf(ctx, tables, version)
	if err != nil {
		return err
	}
	v, past, err := s.analyzedView(ctx, view, was)
	if err != nil {
		return err
	}
	p, err := v.CompileCheck(ctx, s.plannerEnv(ctx), view, past)
	if err != nil {
		return err
	}
	env := s.execEnv(ctx, false)
	env.Before = exec.Before{Tables: tables, Views: s.tx.tx}
	return advance.Verify(ctx, env, p, view, report)
}
