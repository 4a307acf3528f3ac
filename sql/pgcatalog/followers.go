package pgcatalog

import (
	"strings"
	"time"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
)

// ViewStats counts what the maintainer of a group of incremental views has done in this process.
type ViewStats struct {
	Advancing           bool  // now
	Advances            int64 // that changed something
	Changes             int64 // rows of tables in them
	Rebuilt             int64 // views that were computed anew
	Conflicts, Failures int64
	// LastError is the last error that was no fault of a view's query: that breaks the view.
	LastError  string
	LastFailed time.Time
	Last       time.Duration // of the last advance
}

// followerRows emits the incremental views, which are observers of the tables that they follow.
func followerRows(r *reader, emit emitter) {
	groups, err := r.env.View().ViewGroups(r.ctx, r.database())
	r.fail(err)
	for _, g := range groups {
		for _, d := range g.Views {
			st, err := r.env.View().ViewState(r.ctx, d.ID)
			r.fail(err)
			if r.err != nil {
				return
			}
			if st == nil {
				st = &table.ViewState{} // it was never filled
			}
			row := r.follower(d, FollowedBy(g, d), st)
			if r.err != nil {
				return
			}
			emit(row...)
		}
	}
}

// FollowedBy returns the tables from which a view is computed, by way of other views, too.
func FollowedBy(g *catalog.ViewGroup, d *table.Desc) (tables []*table.Desc) {
	used := map[table.ID]bool{d.ID: true}
	for i := len(g.Views) - 1; i >= 0; i-- { // each is behind those that it uses
		v := g.Views[i]
		if !used[v.ID] {
			continue
		}
		for _, u := range v.View.Incremental.Uses {
			used[u.Relation] = true
		}
	}
	for _, t := range g.Tables {
		if used[t.ID] {
			tables = append(tables, t)
		}
	}
	return tables
}

// follower returns the row of a view.
func (r *reader) follower(d *table.Desc, tables []*table.Desc, st *table.ViewState) []any {
	var pending Pending
	if r.wants("pending", "oldest_pending", "table_changes") {
		var err error
		pending, err = r.env.PendingFor(r.ctx, tables, st)
		r.fail(err)
	}
	var oldest any
	if pending.Oldest != 0 {
		oldest = pending.Oldest.Time()
	}
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = observedName(t)
	}
	row := []any{"name", observedName(d), "kind", "view", "tablename", strings.Join(names, ", "),
		"version", nil, "columns", nil, "queued", nil, "carried", nil,
		"pending", pending.Rows, "oldest_pending", oldest, "table_changes", pending.TableChanges}
	done, running := r.env.ViewStats(d.ID)
	row = append(row, "running", running)
	if running {
		busy := int32(0)
		if done.Advancing {
			busy = 1
		}
		row = append(row, "backfilling", st.Stale, "workers", int32(1), "busy", busy,
			"runs", done.Advances, "conflicts", done.Conflicts, "failures", done.Failures)
	}
	switch {
	case st.Broken != "":
		row = append(row, "last_error", st.Broken, "last_failed", st.BrokenAt.Time())
	case running && done.LastError != "":
		row = append(row, "last_error", done.LastError, "last_failed", done.LastFailed)
	}
	return row
}
