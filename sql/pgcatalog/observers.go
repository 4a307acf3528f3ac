package pgcatalog

import (
	"github.com/minidb/minidb/internal/sqlname"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn/observer"
	"github.com/minidb/minidb/txn/tso"
)

// Pending is what waits for an observer.
type Pending struct {
	Rows int64
	// TableChanges is how many TRUNCATEs and rewrites of the table are not worked off row by row.
	TableChanges int64
	Oldest       tso.Timestamp // lowest commit_ts among the changes; zero: none is known
}

func (r *reader) observers() []catalog.Observed {
	all, err := r.env.View().Observers(r.ctx, r.database())
	r.fail(err)
	return all
}

func observerRows(r *reader, emit emitter) {
	for _, o := range r.observers() {
		var pending Pending
		if r.wants("pending", "oldest_pending", "table_changes") {
			var err error
			pending, err = r.env.Pending(r.ctx, o)
			r.fail(err)
		}
		letters := int64(0)
		if r.wants("dead_letters") {
			r.letters(o, func(*observer.DeadLetter) { letters++ })
		}
		if r.err != nil {
			return
		}
		var columns any
		if o.Observer.Columns != nil {
			names := []string{}
			for _, id := range o.Observer.Columns {
				if i := o.Table.ColumnByID(id); i >= 0 {
					names = append(names, o.Table.Columns[i].Name)
				}
			}
			columns = names
		}
		var oldest any
		if pending.Oldest != 0 {
			oldest = pending.Oldest.Time()
		}
		row := []any{"name", o.Observer.Name, "kind", "observer",
			"tablename", observedName(o.Table), "version", o.Observer.Version,
			"columns", columns, "pending", pending.Rows, "oldest_pending", oldest,
			"table_changes", pending.TableChanges, "dead_letters", letters}
		st, running := r.env.ObserverStats(o)
		row = append(row, "running", running)
		if running {
			row = append(row, "backfilling", st.Backfill, "workers", st.Workers, "busy", st.Running,
				"queued", st.Queued, "carried", st.Carried, "runs", st.Runs, "conflicts",
				st.Conflicts, "failures", st.Failures)
			if st.LastError != "" && r.opens(o.Table) {
				row = append(row, "last_error", st.LastError, "last_failed", st.LastFailed)
			}
		}
		emit(row...)
	}
	followerRows(r, emit)
}

func observedName(d *table.Desc) string { return sqlname.Qualified(d.Schema, d.Name) }

func (r *reader) letters(o catalog.Observed, visit func(l *observer.DeadLetter)) {
	r.fail(r.env.DeadLetters(r.ctx, o, func(l *observer.DeadLetter) error {
		visit(l)
		return nil
	}))
}

// deadLetterRows are the rows of minidb_dead_letters: they name keys of rows, and so are for roles
// that may read all of the table.
func deadLetterRows(r *reader, emit emitter) {
	for _, o := range r.observers() {
		if !r.opens(o.Table) {
			continue
		}
		r.letters(o, func(l *observer.DeadLetter) {
			emit("observer", o.Observer.Name, "tablename", observedName(o.Table),
				"key", table.DescribeRowKey(o.Table, l.Key), "attempts", l.Attempts,
				"failed", l.Failed, "error", l.Err)
		})
		if r.err != nil {
			return
		}
	}
}
