package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/tso"
)

// ViewMaintainer is what keeps incremental views up to date.
type ViewMaintainer interface {
	// Await waits until a view shows every commit up to a timestamp that has returned. It fails
	// with 55000 if nothing maintains the view.
	Await(ctx context.Context, view table.ID, name string, upTo tso.Timestamp) error
	// AwaitAll does so for all views of a database that are maintained.
	AwaitAll(ctx context.Context, database string, upTo tso.Timestamp) error
	// Stats returns what the maintainer of a view's group has done; false: there is none.
	Stats(view table.ID) (ViewStats, bool)
}

// freshViews waits, if minidb.view_freshness is 'own writes', until the incremental views that a
// plan reads show the session's last commit, and gives the statement a newer snapshot if it had to
// ask. changed reports that; the plan is then to be made again. A transaction that keeps its
// snapshot has waited before it drew that (freshSnapshot).
func (s *planRunner) freshViews(ctx context.Context, plan *physical.Plan) (changed bool,
	err error) {
	if !s.settings.Derived().OwnWrites || s.lastCommit == 0 || !s.refreshable() ||
		s.tx.asOf != 0 {
		return false, nil
	}
	for _, t := range plan.Tables {
		d, err := s.tx.view.RelationByID(ctx, t.ID)
		if err != nil {
			return false, err
		}
		if d == nil || !d.Incremental() || s.shown[d.ID] == s.lastCommit {
			continue
		}
		if s.engine.opts.Views == nil {
			return false, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
				"nothing keeps materialized view \"%s\" up to date", d.Name)
		}
		if err := s.engine.opts.Views.Await(ctx, d.ID, d.Name, s.lastCommit); err != nil {
			return false, err
		}
		if s.shown == nil {
			s.shown = map[table.ID]tso.Timestamp{}
		}
		s.shown[d.ID], changed = s.lastCommit, true
	}
	if changed {
		err = s.refresh(ctx)
	}
	return changed, err
}

// freshSnapshot waits, before a block draws the snapshot that it keeps, until all incremental views
// show the session's last commit, if minidb.view_freshness is 'own writes'.
func (s *transactor) freshSnapshot(ctx context.Context) error {
	if s.tx.state != inBlock || s.tx.perStatement() || s.tx.asOf != 0 || s.lastCommit == 0 ||
		s.engine.opts.Views == nil || !s.settings.Derived().OwnWrites {
		return nil
	}
	return s.engine.opts.Views.AwaitAll(ctx, s.database, s.lastCommit)
}
