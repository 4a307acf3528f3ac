package advance

import (
	"context"
	"maps"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/planner/incremental"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Advance applies the deltas of env to a view and returns the view's own. It reads by env.Before
// and env.Tx, and writes by env.Tx. After an error what it has written must be undone.
func Advance(ctx context.Context, env *exec.Env, p *incremental.Program,
	view *table.Desc) (*exec.Delta, error) {
	r := newRunner(env)
	defer r.held.Release()
	for _, st := range p.Stages {
		g := newGroups(r, st)
		if err := r.terms(ctx, st.Terms, g.add); err != nil {
			return nil, err
		}
		delta, err := g.apply(ctx)
		if err != nil {
			return nil, err
		}
		r.env.Deltas[st.State.ID] = delta
	}
	m := newMultiset(r, view)
	if err := r.terms(ctx, p.Terms, m.add); err != nil {
		return nil, err
	}
	return m.write(ctx)
}

// flushRows is about how many groups or rows are held in memory while a view is computed as a
// whole.
const flushRows = 4096

// Fill computes a view as a whole, and returns the number of its rows. Its relation and its states
// must be empty.
func Fill(ctx context.Context, env *exec.Env, p *incremental.Program, view *table.Desc) (rows int64,
	err error) {
	r := newRunner(env)
	defer r.held.Release()
	for _, st := range p.Stages {
		if err := fillStage(ctx, r, st); err != nil {
			return 0, err
		}
	}
	m := newMultiset(r, view)
	err = r.run(ctx, p.All, func(row []types.Datum, weight int64) error {
		if len(m.order) >= flushRows {
			if _, err := m.write(ctx); err != nil {
				return err
			}
			r.held.Release()
			m = newMultiset(r, view)
		}
		rows += weight
		return m.add(row, weight)
	})
	if err == nil {
		_, err = m.write(ctx)
	}
	return rows, err
}

// fillStage computes the groups of a stage. Those that have to be read again when they change are
// all held in memory until the last row; others go to the store meanwhile, and come back.
func fillStage(ctx context.Context, r *runner, st *incremental.Stage) error {
	g := newGroups(r, st)
	g.whole = true
	err := r.run(ctx, st.All, func(row []types.Datum, weight int64) error {
		if len(g.order)+g.distinct >= flushRows && !g.rereads {
			if _, err := g.apply(ctx); err != nil {
				return err
			}
			r.held.Release()
			g = newGroups(r, st)
			g.whole = true
		}
		return g.add(row, weight)
	})
	if err != nil {
		return err
	}
	if st.Keys == 0 {
		if _, err := g.group(nil); err != nil {
			return err
		}
	}
	_, err = g.apply(ctx)
	r.held.Release()
	return err
}

// runner runs the plans of one advance.
type runner struct {
	env  *exec.Env
	held *exec.Held // what is kept of their rows
}

func newRunner(env *exec.Env) *runner {
	e := *env
	e.Deltas = maps.Clone(env.Deltas)
	if e.Deltas == nil {
		e.Deltas = map[table.ID]*exec.Delta{}
	}
	return &runner{env: &e, held: env.NewHeld()}
}

// terms calls fn with the rows of the terms that may have any.
func (r *runner) terms(ctx context.Context, terms []incremental.Term,
	fn func(row []types.Datum, weight int64) error) error {
	for i := range terms {
		if !r.concerned(&terms[i]) {
			continue
		}
		if err := r.run(ctx, terms[i].Plan, fn); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) concerned(t *incremental.Term) bool {
	for _, id := range t.Needs {
		if !r.env.Deltas[id].Empty() {
			return true
		}
	}
	return false
}

// run calls fn with the rows of a plan, whose last column is the weight. A row belongs to fn.
func (r *runner) run(ctx context.Context, plan *physical.Plan,
	fn func(row []types.Datum, weight int64) error) error {
	cur, err := exec.Open(ctx, r.env, plan, nil)
	if err != nil {
		return err
	}
	err = r.rows(ctx, cur, fn)
	if cerr := cur.Close(); err == nil {
		err = cerr
	}
	return err
}

func (r *runner) rows(ctx context.Context, cur *exec.Cursor,
	fn func(row []types.Datum, weight int64) error) error {
	for {
		b, err := cur.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		last := len(b.Cols) - 1
		rows := make([]types.Datum, b.Rows()*last)
		for i := range b.Rows() {
			at := b.Row(i)
			row := rows[i*last : (i+1)*last : (i+1)*last]
			for c, v := range b.Cols[:last] {
				row[c] = v.Get(at)
			}
			if err := fn(row, b.Cols[last].Get(at).I); err != nil {
				return err
			}
		}
	}
}

// first returns a column of the first row of a relation in spans; NULL when there is none.
func (r *runner) first(ctx context.Context, d *table.Desc, ordinal int, spans []kv.Span,
	reverse bool) (types.Datum, error) {
	scanner, err := table.OpenScan(ctx, r.env.Tx, table.ScanSpec{Desc: d, Out: []int{ordinal},
		Spans: spans, Reverse: reverse, BatchRows: 1})
	if err != nil {
		return types.Null, err
	}
	b := types.NewBatchCap([]*types.Type{d.Columns[ordinal].Type}, 1)
	more, err := scanner.Next(ctx, b)
	value := types.Null
	if err == nil && more {
		value = b.Cols[0].Get(0)
	}
	if cerr := scanner.Close(); err == nil {
		err = cerr
	}
	return value, err
}
