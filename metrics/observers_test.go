package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/minidb/minidb"
)

// O9: the numbers of observers and incremental views are those of minidb_observers.
func TestObserversAndViewsAreThoseOfTheView(t *testing.T) {
	l := newLoad(t)
	c := l.connect()
	ctx := context.Background()
	l.exec(c, "CREATE TABLE a (id int PRIMARY KEY, x int)")
	l.exec(c, "CREATE MATERIALIZED VIEW v WITH (incremental) AS SELECT 10 / x AS y FROM a")
	l.exec(c, "CREATE MATERIALIZED VIEW w WITH (incremental) AS SELECT x FROM a")
	ended, end := context.WithCancel(ctx)
	require.NoError(t, l.db.Observe(ended, minidb.Observer{Name: "idle", Table: "a"},
		func(context.Context, *minidb.Tx, minidb.Change) error { return nil }))
	end()
	require.NoError(t, l.db.Observe(ctx, minidb.Observer{Name: "picky", Table: "a",
		Attempts: 1}, func(_ context.Context, _ *minidb.Tx, change minidb.Change) error {
		var x int
		if err := change.Row.Get("x", &x); err != nil || x == 0 {
			return errors.New("no zeros")
		}
		return nil
	}))
	l.exec(c, "INSERT INTO a VALUES (1, 1), (2, 2), (3, 0)")
	require.Error(t, l.db.Settle(ctx, 0)) // of the broken view, and of what "idle" leaves

	type row struct{ pending, tableChanges, letters, running, runs, conflicts, failures float64 }
	read := func() map[string]row {
		rows, err := c.Query(ctx, "SELECT kind || ' ' || name, pending, table_changes, "+
			"coalesce(dead_letters, 0), running::int, coalesce(runs, 0), coalesce(conflicts, 0), "+
			"coalesce(failures, 0) FROM minidb_observers")
		require.NoError(t, err)
		all := map[string]row{}
		var name string
		var r row
		_, err = pgx.ForEachRow(rows, []any{&name, &r.pending, &r.tableChanges, &r.letters,
			&r.running, &r.runs, &r.conflicts, &r.failures}, func() error {
			all[name] = r
			return nil
		})
		require.NoError(t, err)
		return all
	}
	settled := func(all map[string]row) bool { // the three that run have come to their end
		picky := all["observer picky"]
		return picky.pending == 1 && picky.letters == 1 && // which stays pending
			all["view public.w"].pending == 0 && all["view public.v"].failures == 1
	}
	view := read()
	for !settled(view) {
		view = read()
	}
	require.Len(t, view, 4)
	require.InDelta(t, 3, view["observer idle"].pending, 0)
	now := l.scrape()
	got := map[string]row{}
	for _, m := range now["minidb_observer_running"].GetMetric() {
		labels := m.GetLabel()
		of := func(number string) float64 {
			return now.of("minidb_observer_"+number, "database=postgres",
				"kind="+labels[1].GetValue(), "name="+labels[2].GetValue())
		}
		got[labels[1].GetValue()+" "+labels[2].GetValue()] = row{of("pending_rows"),
			of("pending_table_changes"), of("dead_letters"), of("running"), of("runs_total"),
			of("conflicts_total"), of("failures_total")}
	}
	require.Equal(t, view, got)
	lag := func(kind, name string) float64 {
		return now.of("minidb_observer_lag_seconds", "database=postgres", "kind="+kind,
			"name="+name)
	}
	require.Positive(t, lag("observer", "idle"))
	require.Positive(t, lag("observer", "picky"))
	require.Zero(t, lag("view", "public.w"))
	for name, broken := range map[string]float64{"public.v": 1, "public.w": 0} {
		require.InDelta(t, broken, now.of("minidb_observer_broken", "database=postgres",
			"kind=view", fmt.Sprint("name=", name)), 0)
	}
}
