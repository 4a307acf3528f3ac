package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/follow"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// viewAdvance brings incremental views to the snapshot of a transaction (docs/adr/0015): from what
// has changed in their tables since their frontiers, or by computing them anew.
type viewAdvance struct {
	s      *planRunner
	group  *catalog.ViewGroup
	tables map[table.ID]*follow.Table
	// anew are views that are computed anew whatever their states are. Of these, fresh has no rows
	// and no other place for its rows is needed.
	anew  map[table.ID]bool
	fresh table.ID
	// whole means that a failing query fails the advance, and does not break the view.
	whole bool
	// stale: the frontier is not exact, for the transaction has written before.
	stale bool

	at     tso.Timestamp
	states map[table.ID]*table.ViewState // nil: never filled
	// frontiers are those from before the advance.
	frontiers map[table.ID]tso.Timestamp
	changes   map[table.ID]*follow.Changes // by table
	before    map[tso.Timestamp]*viewSources
	past      *txn.Txn // the views without the transaction's own writes
	out       map[table.ID]*exec.Delta
	rebuilt   map[table.ID]bool
	stats     ViewsAdvanced
}

// viewSources are the changes of tables since a frontier.
type viewSources struct {
	deltas  map[table.ID]*exec.Delta
	reader  *txn.Txn // of the tables as they were at the frontier; nil: nothing has changed
	tooOld  bool     // that is not kept any more
	tooMany bool
}

// ViewsAdvanced is what an advance has done.
type ViewsAdvanced struct {
	At      tso.Timestamp // the new frontier
	Changes int           // rows of tables
	Rebuilt int           // views that were computed anew
	Broken  []error       // one for each view that it broke
	// Idle: nothing had changed, and nothing was written.
	Idle bool
}

// begin reads the states of the views, and finds what has changed in the tables. The caller defers
// close.
func (a *viewAdvance) begin(ctx context.Context) error {
	a.at = a.s.tx.tx.ReadTS()
	a.stats.At = a.at
	a.before, a.out = map[tso.Timestamp]*viewSources{}, map[table.ID]*exec.Delta{}
	a.changes, a.rebuilt = map[table.ID]*follow.Changes{}, map[table.ID]bool{}
	a.states, a.frontiers = map[table.ID]*table.ViewState{}, map[table.ID]tso.Timestamp{}
	for _, d := range a.group.Views {
		st, err := a.s.tx.view.ViewState(ctx, d.ID)
		if err != nil {
			return err
		}
		if a.states[d.ID] = st; st != nil {
			a.frontiers[d.ID] = st.Frontier
		}
	}
	return a.look(ctx)
}

// run does all but commit. Requires: what it writes is locked.
func (a *viewAdvance) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, a.close(ctx)) }()
	if err := a.begin(ctx); err != nil {
		return err
	}
	if a.stats.Idle = a.idle(); a.stats.Idle {
		return nil
	}
	for _, d := range a.group.Views {
		if err := a.view(ctx, d); err != nil {
			return fmt.Errorf("materialized view %q: %w", d.Name, err)
		}
	}
	return nil
}

// close ends the readers.
func (a *viewAdvance) close(ctx context.Context) (err error) {
	ctx = context.WithoutCancel(ctx)
	for _, b := range a.before {
		if b.reader != nil {
			err = errors.Join(err, b.reader.Rollback(ctx))
		}
	}
	if a.past != nil {
		err = errors.Join(err, a.past.Rollback(ctx))
	}
	return err
}

// look finds what has changed in the tables.
func (a *viewAdvance) look(ctx context.Context) error {
	for _, d := range a.group.Tables {
		f := a.tables[d.ID]
		if f == nil {
			continue
		}
		c, err := f.Look(ctx, a.s.engine.store, a.s.tx.tx)
		if err != nil {
			return err
		}
		a.changes[d.ID] = c
	}
	return nil
}

// idle reports whether there is nothing to do: no table has changed, no view is to be computed
// anew, and all show the same moment.
func (a *viewAdvance) idle() bool {
	for _, c := range a.changes {
		if !c.Empty() {
			return false
		}
	}
	var moment tso.Timestamp
	return !slices.ContainsFunc(a.group.Views, func(d *table.Desc) bool {
		st := a.states[d.ID]
		if a.anew[d.ID] || st == nil || st.Broken != "" {
			return a.anew[d.ID]
		}
		other := moment != 0 && moment != st.Frontier
		moment = st.Frontier
		return other || st.Stale || a.moved(d, st)
	})
}

// moved reports whether the rows of a table lie elsewhere than at the view's frontier.
func (a *viewAdvance) moved(d *table.Desc, st *table.ViewState) bool {
	for _, u := range d.View.Incremental.Uses {
		if on := a.table(u.Relation); on != nil && st.Source(on.ID) != on.Storage() {
			return true
		}
	}
	return false
}

// table returns the table of the group with an ID, nil when it is none.
func (a *viewAdvance) table(id table.ID) *table.Desc {
	for _, d := range a.group.Tables {
		if d.ID == id && d.Kind == table.KindTable {
			return d
		}
	}
	return nil
}

// view brings one view to the snapshot. Those that it uses are there.
func (a *viewAdvance) view(ctx context.Context, d *table.Desc) error {
	st := a.states[d.ID]
	if !a.anew[d.ID] && (st == nil || st.Broken != "") {
		a.s.tx.view.HoldViewState(d.ID)
		return nil
	}
	if name := a.unusable(d); name != "" {
		return a.fail(ctx, d, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"materialized view \"%s\", which it uses, does not follow its tables", name))
	}
	src, err := a.sources(ctx, d, st)
	if err != nil {
		return err
	}
	if src == nil {
		err = a.rebuild(ctx, d)
	} else {
		err = a.orRebuild(ctx, d, a.apply(ctx, d, src))
	}
	var failed *viewError
	switch {
	case errors.As(err, &failed):
		return a.fail(ctx, d, failed)
	case err != nil:
		return err
	}
	return a.s.tx.view.SetViewState(d.ID, a.stateOf(d))
}

// orRebuild computes a view anew if err is that its query fails: an advance may join an old row
// with a new one that were never there together. An error of the query itself names the row at
// which the advance failed.
func (a *viewAdvance) orRebuild(ctx context.Context, d *table.Desc, err error) error {
	var failed, again *viewError
	if !errors.As(err, &failed) {
		return err
	}
	if err = a.rebuild(ctx, d); errors.As(err, &again) {
		return &viewError{Cause: again.Cause, Relation: failed.Relation, Row: failed.Row}
	}
	return err
}

// unusable returns the name of a view that d uses and that is broken or empty, if there is one.
func (a *viewAdvance) unusable(d *table.Desc) string {
	for _, u := range d.View.Incremental.Uses {
		for _, below := range a.group.Views {
			if st := a.states[below.ID]; below.ID == u.Relation && (st == nil || st.Broken != "") {
				return below.Name
			}
		}
	}
	return ""
}

// sources returns what has changed since a view's frontier, nil when the view is to be computed
// anew.
func (a *viewAdvance) sources(ctx context.Context, d *table.Desc,
	st *table.ViewState) (*viewSources, error) {
	if a.anew[d.ID] || st.Stale || a.moved(d, st) {
		return nil, nil
	}
	for _, u := range d.View.Incremental.Uses {
		below, view := a.frontiers[u.Relation]
		if a.rebuilt[u.Relation] || view && below != st.Frontier {
			return nil, nil
		}
	}
	src, err := a.since(ctx, st.Frontier)
	if err != nil || src.tooOld || src.tooMany {
		return nil, err
	}
	return src, nil
}

// since returns the changes of all tables since a frontier.
func (a *viewAdvance) since(ctx context.Context, frontier tso.Timestamp) (*viewSources, error) {
	if src := a.before[frontier]; src != nil {
		return src, nil
	}
	src := &viewSources{deltas: map[table.ID]*exec.Delta{}}
	a.before[frontier] = src
	var first tso.Timestamp
	for _, d := range a.group.Tables {
		c := a.changes[d.ID]
		if c == nil {
			continue
		}
		if c.TooMany {
			src.tooMany = true
			return src, nil
		}
		if lowest := c.First(frontier); lowest != 0 && (first == 0 || lowest < first) {
			first = lowest
		}
		delta, err := deltaOf(d, c, frontier)
		if err != nil {
			return nil, err
		}
		src.deltas[d.ID] = delta
		a.stats.Changes += len(delta.Rows)
	}
	if first == 0 {
		return src, nil
	}
	// Between the frontier and the first change the tables are the same.
	var old *txn.SafepointError
	reader, err := a.reader(ctx, first-1)
	if errors.As(err, &old) {
		src.tooOld = true
		return src, nil
	}
	src.reader = reader
	return src, err
}

func (a *viewAdvance) reader(ctx context.Context, at tso.Timestamp) (*txn.Txn, error) {
	return a.s.engine.store.Begin(ctx, txn.BeginOptions{ReadOnly: true, StartTS: at,
		Session: int64(a.s.pid)})
}

// deltaOf makes rows of the changes of a table since a frontier.
func deltaOf(d *table.Desc, c *follow.Changes, frontier tso.Timestamp) (*exec.Delta, error) {
	delta := &exec.Delta{}
	dec, err := table.NewRowDecoder(d)
	if err != nil {
		return nil, err
	}
	add := func(key, value []byte, weight int64) error {
		if value == nil {
			return nil
		}
		row, err := dec.Decode(key, value)
		if err == nil {
			delta.Add(row, weight)
		}
		return err
	}
	err = c.Each(frontier, func(key, old, new []byte) error {
		if err := add(key, old, -1); err != nil {
			return err
		}
		return add(key, new, 1)
	})
	return delta, err
}

// apply advances a view by the changes of what it uses.
func (a *viewAdvance) apply(ctx context.Context, d *table.Desc, src *viewSources) (err error) {
	in := map[table.ID]*exec.Delta{}
	changed := false
	for _, u := range d.View.Incremental.Uses {
		delta := src.deltas[u.Relation]
		if out, is := a.out[u.Relation]; is {
			delta = out
		}
		in[u.Relation] = delta
		changed = changed || !delta.Empty()
	}
	if !changed {
		return nil
	}
	if a.past == nil {
		if a.past, err = a.reader(ctx, a.at); err != nil {
			return err
		}
	}
	a.out[d.ID], err = a.s.advanceView(ctx, d, in,
		exec.Before{Tables: src.reader, Views: a.past})
	return err
}

// rebuild computes a view anew, at another place. Readers need not be excluded: whatever shows them
// the old descriptor shows them the old rows.
func (a *viewAdvance) rebuild(ctx context.Context, old *table.Desc) error {
	a.rebuilt[old.ID] = true
	a.stats.Rebuilt++
	sp := a.s.tx.tx.Savepoint()
	d := old
	if old.ID != a.fresh {
		d = old.Clone()
		d.View.Unpopulated = false
		if err := a.s.tx.view.Relocate(ctx, d); err != nil {
			return err
		}
		if err := a.s.tx.view.UpdateRelation(ctx, old, d); err != nil {
			return err
		}
	}
	err := a.s.rebuildView(ctx, d)
	if err != nil {
		a.s.tx.tx.UndoTo(sp)
	}
	return err
}

// fail breaks a view, of which everything else stays as it was at its frontier.
func (a *viewAdvance) fail(_ context.Context, d *table.Desc, cause error) error {
	if a.whole {
		return cause
	}
	st := *orEmpty(a.states[d.ID])
	st.Broken, st.BrokenAt, st.Stale = describeFailure(cause), a.at, false
	a.states[d.ID] = &st
	a.stats.Broken = append(a.stats.Broken,
		fmt.Errorf("materialized view %q is broken: %w", d.Name, cause))
	return a.s.tx.view.SetViewState(d.ID, &st)
}

func orEmpty(st *table.ViewState) *table.ViewState {
	if st == nil {
		return &table.ViewState{}
	}
	return st
}

func describeFailure(err error) string {
	var failed *viewError
	if !errors.As(err, &failed) || failed.Row == "" {
		return err.Error()
	}
	return fmt.Sprintf("%s (for %s of %s)", failed.Error(), failed.Row, failed.Relation)
}

// stateOf is the state of a view that was brought to the snapshot.
func (a *viewAdvance) stateOf(d *table.Desc) *table.ViewState {
	st := &table.ViewState{Frontier: a.at, Stale: a.stale}
	for _, u := range d.View.Incremental.Uses {
		if on := a.table(u.Relation); on != nil {
			st.Sources = append(st.Sources,
				table.ViewSource{Relation: on.ID, Storage: on.Storage()})
		}
	}
	a.states[d.ID] = st
	return st
}

// lockViews locks what an advance reads and writes, tables before views, as a schema change that
// drops a table with its views does.
func (s *planRunner) lockViews(ctx context.Context, g *catalog.ViewGroup) error {
	for _, d := range g.Tables {
		if _, err := s.lockTable(ctx, d.ID, rowlock.AccessShare, false); err != nil {
			return err
		}
	}
	for _, d := range g.Views {
		if _, err := s.lockTable(ctx, d.ID, rowlock.RowExclusive, false); err != nil {
			return err
		}
	}
	return nil
}
