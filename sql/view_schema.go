package sql

import (
	"context"
	"errors"
	"fmt"

	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/follow"
)

// fillView computes an incremental view for CREATE and REFRESH, with those that are computed from
// it, and returns its number of rows. The views that it uses are brought to the snapshot too, in
// the same transaction, so that all of them show the tables at one timestamp. fresh means that the
// view has no rows yet.
//
// If the transaction has written before, its snapshot is no state of the tables: what it has
// written is committed later. The views are marked, and computed once more right after.
func (s *planRunner) fillView(ctx context.Context, d *table.Desc, fresh, wrote bool) (int64,
	error) {
	g, err := s.tx.view.ViewGroupOf(ctx, s.databaseID, d.ID)
	if err != nil {
		return 0, err
	}
	if g == nil {
		return 0, fmt.Errorf("materialized view %q is in no group", d.Name)
	}
	a := &viewAdvance{s: s, group: g.Related(d.ID), anew: g.Above(d.ID), whole: true, stale: wrote}
	if fresh {
		a.fresh = d.ID
	}
	if wrote {
		for _, v := range a.group.Views {
			a.anew[v.ID] = true
		}
	} else {
		a.tables = followedTables(a.group,
			func(uint32) *follow.Tracker { return follow.NewTracker() })
	}
	if err := a.run(ctx); err != nil {
		return 0, viewFailure(err)
	}
	if !fresh {
		return 0, nil
	}
	row, err := s.firstRow(ctx, "SELECT count(*) FROM "+sqlname.Qualified(d.Schema, d.Name))
	if err != nil || row == nil {
		return 0, err
	}
	return row[0].I, nil
}

// viewFailure is the error of a statement of which a view's query has failed.
func viewFailure(err error) error {
	var failed *viewError
	if errors.As(err, &failed) {
		return failed.Cause
	}
	return err
}

// followedTables are the tables of a group that changes are looked for in.
func followedTables(g *catalog.ViewGroup,
	tracker func(observer uint32) *follow.Tracker) map[table.ID]*follow.Table {
	all := map[table.ID]*follow.Table{}
	for _, d := range g.Tables {
		if o := d.ViewObserver(); o != nil {
			id := uint32(o.ID)
			all[d.ID] = &follow.Table{Observer: id, Rows: d.IndexSpan(table.RowIndexID),
				Tracker: tracker(id)}
		}
	}
	return all
}
