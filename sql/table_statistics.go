package sql

import (
	"context"

	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/statistics"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/stats"
)

// tableStatistics returns the statistics of a table for the planner.
func (s *transactor) tableStatistics(ctx context.Context, d *table.Desc) *stats.Table {
	for i := len(s.tx.analyzed) - 1; i >= 0; i-- {
		if a := &s.tx.analyzed[i]; a.id == d.ID {
			return a.table
		}
	}
	if d.Temporary() && s.temporary != nil {
		return s.temporary.statistics(d.ID)
	}
	return s.engine.statistics.Get(ctx, d.ID)
}

// noteChanges adds what a statement changed to the transaction's changes.
func (s *transactor) noteChanges(c *exec.Cursor) {
	c.EachChange(func(id table.ID, ch exec.Changes) {
		s.addChange(statistics.Change{Table: id, Inserted: ch.Inserted, Updated: ch.Updated,
			Deleted: ch.Deleted})
	})
}

// addChange adds to the changes since the last savepoint, so that a rollback to the savepoint can
// drop them.
func (s *transactor) addChange(ch statistics.Change) {
	if ch.Table.Temporary() {
		s.temporary.changed(ch)
		return
	}
	from := 0
	if n := len(s.tx.savepoints); n > 0 {
		from = s.tx.savepoints[n-1].changes
	}
	for i := len(s.tx.changes) - 1; i >= from && !ch.Truncated; i-- {
		if have := &s.tx.changes[i]; have.Table == ch.Table {
			have.Inserted += ch.Inserted
			have.Updated += ch.Updated
			have.Deleted += ch.Deleted
			return
		}
	}
	s.tx.changes = append(s.tx.changes, ch)
}

// noteCommitted adds a transaction's changes to the registry, after the commit.
func (s *transactor) noteCommitted(ctx context.Context, changes []statistics.Change,
	found []analyzed) {
	s.engine.statistics.Note(ctx, changes)
	for i := range found {
		a := &found[i]
		if a.id.Temporary() {
			s.temporary.analyzed(a)
			continue
		}
		s.engine.statistics.Replaced(ctx, a.id, a.rows, a.by)
	}
}

// planIsCurrent reports whether the statistics that a plan was made with, at an epoch, are still
// those of its tables. It returns the epoch of now, from which the next comparison may start.
func (s *transactor) planIsCurrent(plan *physical.Plan, epoch uint64) (now uint64, current bool) {
	now = s.engine.statistics.Epoch()
	return now, epoch == now || !s.engine.statistics.Changed(plan.Tables, epoch)
}
