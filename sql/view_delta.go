package sql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/minidb/minidb/internal/memory"
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/incremental"
	"github.com/minidb/minidb/sql/advance"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/statistics"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
)

// viewError is the error of an advance whose view's query fails: it cannot be computed for the rows
// as they are now. Any other error of an advance says nothing of the view.
type viewError struct {
	Cause *sqlerr.Error
	// Relation and Row are the changed row for which the query fails, if a single one does.
	Relation, Row string
}

func (e *viewError) Error() string { return e.Cause.Error() }

func (e *viewError) Unwrap() error { return e.Cause }

// asViewError returns an error of the view's query as *viewError, and any other error unchanged.
func asViewError(err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) || len(e.Code) < 2 {
		return err
	}
	switch e.Code[:2] {
	case "21", "22", "23", "54": // of values and limits, and of unique indexes of the view
		return &viewError{Cause: e}
	}
	return err
}

// advanceView applies the deltas of the relations below an incremental view, by their IDs, and
// returns the delta of the view itself. It writes through the session's transaction, which must see
// the relations as they are after. An error undoes what it wrote: *viewError if the query fails.
//
// A join may evaluate an expression for a row that was there before and one that is there after,
// but never together. So a *viewError does not prove that the query fails: rebuildView does.
func (s *planRunner) advanceView(ctx context.Context, view *table.Desc,
	in map[table.ID]*exec.Delta, before exec.Before) (*exec.Delta, error) {
	p, err := s.viewProgram(ctx, view, before.Tables)
	if err != nil {
		return nil, err
	}
	sp := s.tx.tx.Savepoint()
	out, err := s.applyDeltas(ctx, p, view, in, before)
	if err == nil {
		s.noteDelta(view, out)
		return out, nil
	}
	s.tx.tx.UndoTo(sp)
	err = asViewError(err)
	var failed *viewError
	if errors.As(err, &failed) {
		s.findRow(ctx, p, view, in, before, failed)
	}
	return nil, err
}

func (s *planRunner) applyDeltas(ctx context.Context, p *incremental.Program, view *table.Desc,
	in map[table.ID]*exec.Delta, before exec.Before) (*exec.Delta, error) {
	env := s.execEnv(ctx, false)
	env.Deltas, env.Before = in, before
	return advance.Advance(ctx, env, p, view)
}

// noteDelta counts what an advance has changed of a view, as the changes of statements are counted.
func (s *planRunner) noteDelta(view *table.Desc, d *exec.Delta) {
	ch := statistics.Change{Table: view.ID}
	for _, w := range d.Weights {
		if w > 0 {
			ch.Inserted += w
		} else {
			ch.Deleted -= w
		}
	}
	if !d.Empty() {
		s.addChange(ch)
	}
}

// rebuildView computes an incremental view from what the session's transaction sees. Its relation
// and its states must be empty. The error is *viewError if the query fails.
func (s *planRunner) rebuildView(ctx context.Context, view *table.Desc) error {
	p, err := s.viewProgram(ctx, view, nil)
	if err != nil {
		return err
	}
	rows, err := advance.Fill(ctx, s.execEnv(ctx, false), p, view)
	if err != nil {
		return asViewError(err)
	}
	s.addChange(statistics.Change{Table: view.ID, Inserted: rows})
	return nil
}

// findRowMost bounds the changed rows that are tried one by one.
const findRowMost = 1000

// findRow finds the changed row with which alone the query fails, to name it.
func (s *planRunner) findRow(ctx context.Context, p *incremental.Program, view *table.Desc,
	in map[table.ID]*exec.Delta, before exec.Before, failed *viewError) {
	tried := 0
	for _, id := range slices.Sorted(maps.Keys(in)) {
		delta := in[id]
		if delta.Empty() {
			continue
		}
		for i, row := range delta.Rows {
			if tried++; tried > findRowMost || ctx.Err() != nil {
				return
			}
			one := map[table.ID]*exec.Delta{id: {}}
			one[id].Add(row, delta.Weights[i])
			sp := s.tx.tx.Savepoint()
			_, err := s.applyDeltas(ctx, p, view, one, before)
			s.tx.tx.UndoTo(sp)
			var e *sqlerr.Error
			if !errors.As(err, &e) || e.Code != failed.Cause.Code {
				continue
			}
			if d, err := s.tx.view.RelationByID(ctx, id); err == nil && d != nil {
				failed.Relation, failed.Row = d.Name, table.FormatRow(d, row)
			}
			return
		}
	}
}

// programKey is what a program depends on beside the catalog and the statistics.
type programKey struct {
	view     table.ID
	settings string
}

// cachedProgram is good for one version of the catalog while the statistics of its tables stay.
type cachedProgram struct {
	version uint64
	epoch   uint64 // of the statistics
	program *incremental.Program
}

// viewProgram returns the program of an incremental view, for deltas since the snapshot of past;
// nil when there are none. Commit fails when the view is changed meanwhile. The relations that it
// reads may change: the program reads them as the snapshot has them.
func (s *planRunner) viewProgram(ctx context.Context, view *table.Desc,
	past *txn.Txn) (*incremental.Program, error) {
	s.tx.tx.Validate(table.PointSpan(table.WritersKey(view.ID)))
	version, own, err := s.tx.view.Version(ctx)
	if err != nil {
		return nil, err
	}
	was, err := s.schemaOf(ctx, past, version)
	if err != nil {
		return nil, err
	}
	own = own || was != nil || s.tx.view.Renewed() || len(s.tx.analyzed) > 0
	key := programKey{view: view.ID, settings: s.settings.Derived().PlanKey}
	epoch := s.engine.statistics.Epoch()
	if c, ok := s.engine.programs.Get(key); ok && !own && c.version == version {
		if now, current := s.planIsCurrent(c.program.All, c.epoch); current {
			if now != c.epoch {
				c.epoch = now
				s.engine.programs.Put(key, c)
			}
			return c.program, nil
		}
	}
	p, err := s.newViewProgram(ctx, view, was)
	if err == nil && !own {
		s.engine.programs.Put(key, cachedProgram{version: version, epoch: epoch, program: p})
	}
	return p, err
}

// schemaOf returns the catalog as a transaction of the past sees it; nil when the schema is still
// the same.
func (s *planRunner) schemaOf(ctx context.Context, past *txn.Txn, version uint64) (*catalog.View,
	error) {
	if past == nil {
		return nil, nil
	}
	v := s.engine.catalog.View(past)
	if was, _, err := v.Version(ctx); err != nil || was == version {
		return nil, err
	}
	return v, nil
}

// newViewProgram plans the program of a view. was is the schema before the deltas, if that has
// changed.
func (s *planRunner) newViewProgram(ctx context.Context, view *table.Desc,
	was *catalog.View) (*incremental.Program, error) {
	ctx, work := memory.With(ctx, s.memory)
	defer work.End()
	v, past, err := s.analyzedView(ctx, view, was)
	if err != nil {
		return nil, err
	}
	return v.Compile(ctx, s.plannerEnv(ctx), view, past)
}

// analyzedView analyses the query of a view. past finds its tables in the schema before; it is nil
// without one.
func (s *planRunner) analyzedView(ctx context.Context, view *table.Desc,
	was *catalog.View) (v *incremental.View, past func(table.ID) *table.Desc, err error) {
	if !view.Incremental() {
		return nil, nil, fmt.Errorf("relation %q is no incremental view", view.Name)
	}
	env := s.plannerEnv(ctx)
	query, err := env.ParseQuery(view.View.Text)
	if err != nil {
		return nil, nil, err
	}
	if v, err = incremental.Analyze(ctx, env, query); err != nil || was == nil {
		return v, nil, err
	}
	descs := map[table.ID]*table.Desc{}
	for _, u := range v.Uses() {
		if descs[u.Table.ID], err = was.RelationByID(ctx, u.Table.ID); err != nil {
			return nil, nil, err
		}
	}
	return v, func(id table.ID) *table.Desc { return descs[id] }, nil
}
