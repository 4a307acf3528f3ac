package minidb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn/tso"
)

// unsettledViews looks once at the incremental views of the database. It returns what to wait for:
// nil when each shows all that was committed up to a timestamp, or is broken, which is an error of
// problems.
func (db *DB) unsettledViews(ctx context.Context, upTo tso.Timestamp) (wait <-chan struct{},
	problems []error, err error) {
	h, err := db.acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer db.release(h)
	views, err := h.views(ctx)
	if err != nil {
		return nil, nil, err
	}
	m := db.views.Load()
	for _, v := range views {
		wait, err := m.unsettled(v.ID, v.Name, upTo)
		if err != nil {
			problems = append(problems, err)
		} else if wait != nil {
			return wait, nil, nil
		}
	}
	// The states are read last: an advance may have broken a view since the list was made.
	if views, err = h.views(ctx); err != nil {
		return nil, nil, err
	}
	for _, v := range views {
		if v.State != nil && v.State.Broken != "" {
			problems = append(problems, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
				"materialized view \"%s\" is broken: %s", v.Name, v.State.Broken).
				WithHint("Change the rows on which its query fails, and use REFRESH MATERIALIZED "+
					"VIEW."))
		}
	}
	return nil, problems, nil
}

// views lists the incremental views of the session's database.
func (h *handle) views(ctx context.Context) ([]sql.IncrementalView, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	return h.session.IncrementalViews(ctx)
}

// unsettled returns nil when a view shows every commit up to a timestamp that has returned, and
// else what to wait for before asking again. It is 55000 when nothing maintains the view.
func (m *viewMaintainers) unsettled(id table.ID, name string,
	upTo tso.Timestamp) (<-chan struct{}, error) {
	m.mu.Lock()
	w, stale, loaded := m.views[id], m.changes != m.current, m.loaded
	m.mu.Unlock()
	switch {
	case w != nil:
		return w.settled(upTo), nil
	case stale && m.ctx.Err() == nil:
		return loaded, nil
	}
	return nil, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
		"nothing keeps materialized view \"%s\" up to date", name)
}

// Stats is part of sql.ViewMaintainer.
func (m *viewMaintainers) Stats(id table.ID) (st sql.ViewStats, running bool) {
	m.mu.Lock()
	w := m.views[id]
	m.mu.Unlock()
	if w == nil {
		return st, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	st = w.stats
	st.Advancing = w.running
	return st, true
}

// Await is part of sql.ViewMaintainer.
func (m *viewMaintainers) Await(ctx context.Context, id table.ID, name string,
	upTo tso.Timestamp) error {
	for {
		wait, err := m.unsettled(id, name, upTo)
		if err != nil || wait == nil {
			return err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), context.Cause(ctx))
		}
	}
}

// awaitClosed waits for a channel, or for a while.
func awaitClosed(ctx context.Context, c <-chan struct{}, most time.Duration) error {
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case <-c:
	case <-late.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// AwaitAll is part of sql.ViewMaintainer.
func (m *viewMaintainers) AwaitAll(ctx context.Context, database string, upTo tso.Timestamp) error {
	m.mu.Lock()
	var ids []table.ID
	for id, w := range m.views {
		if w.database == database {
			ids = append(ids, id)
		}
	}
	m.mu.Unlock()
	for _, id := range ids {
		if err := m.Await(ctx, id, fmt.Sprint(id), upTo); err != nil {
			return err
		}
	}
	return nil
}
