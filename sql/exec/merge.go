package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// merge does to each row of its child what the first WHEN clause that fits says.
type merge struct {
	modification
	stored  bool // the child is read to its end before anything is written
	actions []mergeAction
	present int           // the column that is NULL in a row without a match
	row     []types.Datum // of the child: all columns of the table, then those of the source
	next    []types.Datum // the new row
}

// mergeAction is a compiled WHEN clause.
type mergeAction struct {
	*opt.MergeAction
	cond      *eval.Program
	set       []*eval.Program
	generated generatedColumns
	// targets are the policies on the row that is changed, policies those on the one written.
	targets, policies []check
}

func (r *run) buildMerge(n *physical.Merge) (operator, error) {
	mod, err := r.newModification(n.Child, n.Table, n.Checks, nil, nil)
	if err != nil {
		return nil, err
	}
	m := &merge{modification: *mod, stored: !r.frozen}
	m.before, r.modification = r.modification, &m.modification
	m.touchedKeys()
	m.present = m.keyCols[0]
	m.row = make([]types.Datum, len(n.Child.Columns()))
	m.next = make([]types.Datum, len(n.Table.Columns))
	for i := range n.Actions {
		a := mergeAction{MergeAction: &n.Actions[i]}
		if a.cond, err = compileOptional(a.Cond); err != nil {
			return nil, err
		}
		if a.set, err = compileAssigns(a.Set); err != nil {
			return nil, err
		}
		if a.generated, err = compileGenerated(a.Generated); err != nil {
			return nil, err
		}
		if a.targets, _, err = compileChecks(a.Targets); err != nil {
			return nil, err
		}
		if a.policies, _, err = compileChecks(a.Checks); err != nil {
			return nil, err
		}
		m.actions = append(m.actions, a)
	}
	return m, nil
}

func compileAssigns(set []opt.Assign) (out []*eval.Program, err error) {
	for _, a := range set {
		p, err := eval.Compile(a.Expr)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

func (m *merge) Next(ctx context.Context) (*types.Batch, error) {
	if m.done {
		return nil, nil
	}
	m.done = true
	if m.stored {
		return nil, m.run.storeThen(ctx, m.child, m.batch)
	}
	return nil, eachBatch(ctx, m.child, m.batch)
}

func (m *merge) batch(ctx context.Context, b *types.Batch) error {
	m.run.ctx = ctx
	for _, r := range selection(b) {
		readRow(b.Cols, int(r), m.row)
		if err := m.one(ctx); err != nil {
			return err
		}
	}
	return nil
}

// one does what the first action that fits m.row says.
func (m *merge) one(ctx context.Context) error {
	matched := !m.row[m.present].Null
	for i := range m.actions {
		a := &m.actions[i]
		if a.Matched != matched {
			continue
		}
		if a.cond != nil {
			d, err := a.cond.EvalRow(&m.run.ev, m.row)
			if err != nil {
				return err
			}
			if !d.Bool() {
				continue
			}
		}
		return m.act(ctx, a)
	}
	return nil
}

func (m *merge) act(ctx context.Context, a *mergeAction) error {
	switch a.Do {
	case opt.MergeInsert:
		return m.insert(ctx, a)
	case opt.MergeUpdate, opt.MergeDelete:
		return m.change(ctx, a)
	}
	return nil
}

func (m *merge) insert(ctx context.Context, a *mergeAction) error {
	if err := m.makeNext(a); err != nil {
		return err
	}
	if err := m.writer.Insert(ctx, m.run.env.Tx, m.next); err != nil {
		return err
	}
	m.wrote()
	m.changed.Inserted++
	return m.noteNew()
}

// change updates or deletes the matched row, which the statement has not changed yet.
func (m *merge) change(ctx context.Context, a *mergeAction) error {
	old := m.row[:len(m.next)]
	if err := m.allowed(a.targets, m.row); err != nil {
		return err
	}
	if m.isTouched(old) {
		return sqlerr.New(sqlerr.CardinalityViolation,
			"MERGE command cannot affect row a second time").
			WithHint("Ensure that not more than one source row matches any one target row.")
	}
	if err := m.touch(old); err != nil {
		return err
	}
	if a.Do == opt.MergeDelete {
		if err := m.writer.Delete(ctx, m.run.env.Tx, old); err != nil {
			return err
		}
		m.wrote()
		m.changed.Deleted++
		return nil
	}
	copy(m.next, old)
	if err := m.makeNext(a); err != nil {
		return err
	}
	if err := m.writer.Update(ctx, m.run.env.Tx, old, m.next); err != nil {
		return err
	}
	m.wrote()
	m.changed.Updated++
	return m.noteNew()
}

// noteNew keeps other parts of the statement from changing the row that was written.
func (m *merge) noteNew() error {
	if !m.run.modifies() {
		return nil
	}
	return m.touch(m.next)
}

// makeNext assigns the new values to m.next and verifies it.
func (m *merge) makeNext(a *mergeAction) error {
	for i, p := range a.set {
		d, err := p.EvalRow(&m.run.ev, m.row)
		if err != nil {
			return err
		}
		m.next[a.Set[i].Column] = d
	}
	if err := a.generated.compute(&m.run.ev, m.next); err != nil {
		return err
	}
	if err := m.allowed(a.policies, m.next); err != nil {
		return err
	}
	return m.verify(m.next)
}
