package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/minidb/minidb/sql"
)

// watched is what a scrape has read of observers and views: once for all families.
type watched struct {
	mu     sync.Mutex
	scrape context.Context // of the scrape
	all    []sql.Watched
}

// read returns them, none if they cannot be read.
func (w *watched) read(ctx context.Context, e *sql.Engine) []sql.Watched {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.scrape != ctx {
		w.scrape = ctx
		var err error
		if w.all, err = e.Watched(ctx); err != nil {
			w.all = nil
		}
	}
	return w.all
}

// ofObservers are the rows of minidb_observers, of all databases.
func (s *Sources) ofObservers() []family {
	seen := &watched{}
	each := func(of func(w *sql.Watched) float64) func(ctx context.Context, add add) {
		return func(ctx context.Context, add add) {
			all := seen.read(ctx, s.SQL)
			for i := range all {
				add(of(&all[i]), all[i].Database, all[i].Kind, all[i].Name)
			}
		}
	}
	labels := []string{"database", "kind", "name"}
	return []family{
		gauge("minidb_observer_pending_rows", "Rows whose changes wait for an observer or an "+
			"incremental view; while it grows, runs are slower than the writes, so give the "+
			"observer more workers.",
			each(func(w *sql.Watched) float64 { return float64(w.Pending.Rows) }), labels...),
		gauge("minidb_observer_pending_table_changes", "TRUNCATEs and rewrites of whole "+
			"tables that an observer or a view has not worked off; each is as much work as "+
			"the table has rows.",
			each(func(w *sql.Watched) float64 {
				return float64(w.Pending.TableChanges)
			}), labels...),
		gauge("minidb_observer_lag_seconds", "Age of the oldest change that waits for an "+
			"observer or a view, dead letters among them, 0 if none does; it is how stale "+
			"what they write is.",
			each(func(w *sql.Watched) float64 {
				if w.Pending.Oldest == 0 {
					return 0
				}
				return max(time.Since(w.Pending.Oldest.Time()).Seconds(), 0)
			}), labels...),
		gauge("minidb_observer_dead_letters", "Rows that an observer has given up; any asks "+
			"for a look at minidb_dead_letters, and for minidb_retry_dead_letters once the "+
			"cause is gone.",
			each(func(w *sql.Watched) float64 { return float64(w.DeadLetters) }), labels...),
		gauge("minidb_observer_running", "1 where this process runs the observer or maintains "+
			"the view; 0 in all processes of a store means that changes pile up.",
			each(func(w *sql.Watched) float64 { return flag(w.Running) }), labels...),
		gauge("minidb_observer_broken", "1 for an incremental view that does not follow its "+
			"tables any more; minidb_observers has the error, and REFRESH computes the view "+
			"anew.",
			each(func(w *sql.Watched) float64 { return flag(w.Broken) }), labels...),
		counter("minidb_observer_runs_total", "Runs of an observer, or advances of a view, "+
			"that committed; without any beside pending rows, look at the failures.",
			each(func(w *sql.Watched) float64 { return float64(w.Runs) }), labels...),
		counter("minidb_observer_conflicts_total", "Runs that met a conflict and were "+
			"repeated; many mean that runs write the same rows, so spread them or give fewer "+
			"workers.",
			each(func(w *sql.Watched) float64 { return float64(w.Conflicts) }), labels...),
		counter("minidb_observer_failures_total", "Runs that failed; minidb_observers has the "+
			"last error.",
			each(func(w *sql.Watched) float64 { return float64(w.Failures) }), labels...),
	}
}

// flag is a truth as a number.
func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
