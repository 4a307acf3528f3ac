package exec

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// modification is what INSERT, UPDATE and DELETE share: on the first Next they read their child and
// write, all of it, and then return the rows of RETURNING.
type modification struct {
	run       *run
	child     operator
	desc      *table.Desc
	writer    *table.Writer
	policies  []check // on new rows
	checks    []check // constraints
	views     []check
	returning []*eval.Program
	returned  *rowStore
	rows      int64
	changed   Changes
	before    *modification // the one built before it
	done      bool
	at        int
	view      types.Batch
	result    []types.Datum
	touched   *keyTable    // row keys that it has written, or with r.modifies() the statement
	key       *types.Batch // one row key
	keyCols   []int        // ordinals of the row key
	numbers   []int32
}

type check struct {
	kind opt.CheckKind
	name string
	cond *eval.Program
}

func compileChecks(list []opt.Check) (policies, constraints []check, err error) {
	for _, c := range list {
		p, err := eval.Compile(c.Cond)
		if err != nil {
			return nil, nil, err
		}
		compiled := check{kind: c.Kind, name: c.Name, cond: p}
		if c.Kind == opt.Constraint {
			constraints = append(constraints, compiled)
		} else {
			policies = append(policies, compiled)
		}
	}
	return policies, constraints, nil
}

func (r *run) newModification(child physical.Node, d *table.Desc, checks, views []opt.Check,
	returning []expr.Expr) (*modification, error) {
	op, err := r.build(child)
	if err != nil {
		return nil, err
	}
	m := &modification{run: r, child: op, desc: d, writer: table.NewWriter(d, r.env.RowIDs)}
	if r.env.Checks != nil && d.References() && !d.TriggersDisabled {
		m.writer.Hook(r.env.Checks)
	}
	if r.env.Checks != nil {
		m.writer.Defer(r.env.Checks)
	}
	if m.policies, m.checks, err = compileChecks(checks); err != nil {
		return nil, err
	}
	if _, m.views, err = compileChecks(views); err != nil {
		return nil, err
	}
	if returning == nil {
		return m, nil
	}
	if m.returning, err = compileAll(returning); err != nil {
		return nil, err
	}
	m.returned = newRowStore(&r.mem, programTypes(m.returning))
	m.result = make([]types.Datum, len(returning))
	return m, nil
}

func (m *modification) Open(ctx context.Context) error {
	m.rows, m.done, m.at = 0, false, 0
	if m.returned != nil {
		m.returned.reset()
	}
	if m.touched != nil && !m.run.modifies() {
		m.touched.reset()
	}
	return m.child.Open(ctx)
}

func (m *modification) Close() error {
	if m.returned != nil {
		m.returned.free()
	}
	if m.touched != nil && !m.run.modifies() {
		m.touched.free()
	}
	return m.child.Close()
}

// wrote counts a written row.
func (m *modification) wrote() {
	m.rows++
	if n := m.run.env.Written; n != nil {
		n.Add(1)
	}
}

// output returns the rows of RETURNING.
func (m *modification) output(ctx context.Context) (*types.Batch, error) {
	if m.returned == nil || !m.returned.view(&m.view, m.at) {
		return nil, nil
	}
	m.at += m.view.Len
	return &m.view, ctx.Err()
}

// emit keeps the RETURNING values of a row.
func (m *modification) emit(row []types.Datum) error {
	if m.returned == nil {
		return nil
	}
	for i, p := range m.returning {
		d, err := p.EvalRow(&m.run.ev, row)
		if err != nil {
			return err
		}
		m.result[i] = d
	}
	return m.returned.addRow(m.result)
}

// verify tests a new row: policies first, then its constraints.
func (m *modification) verify(row []types.Datum) error {
	if err := m.allowed(m.policies, row); err != nil {
		return err
	}
	return m.obeys(row)
}

// allowed tests the conditions of row security policies on a row.
func (m *modification) allowed(policies []check, row []types.Datum) error {
	for i := range policies {
		p := &policies[i]
		d, err := p.cond.EvalRow(&m.run.ev, row)
		if err != nil {
			return err
		}
		if d.Null || d.I == 0 {
			return refusedRow(m.desc, p)
		}
	}
	return nil
}

// refusedRow is 42501 for a row that a policy refuses.
func refusedRow(d *table.Desc, p *check) error {
	what := "row-level security policy"
	if p.name != "" {
		what += " \"" + p.name + "\""
	}
	row := "new row"
	if p.kind == opt.MergedRow {
		row = "target row"
	}
	if p.kind != opt.NewRow {
		what += " (USING expression)"
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "%s violates %s for table \"%s\"", row, what,
		d.Name)
}

// obeys tests the CHECK constraints of a new row, if there are any, and before them NOT NULL, whose
// error comes first; without them the writer tests NOT NULL.
func (m *modification) obeys(row []types.Datum) error {
	if len(m.checks) == 0 {
		return nil // the writer checks NOT NULL itself
	}
	if err := m.writer.CheckNulls(row); err != nil {
		return err
	}
	for i := range m.checks {
		d, err := m.checks[i].cond.EvalRow(&m.run.ev, row)
		if err != nil {
			return err
		}
		if !d.Null && d.I == 0 { // NULL passes
			return table.CheckViolation(m.desc, m.checks[i].name, row)
		}
	}
	return nil
}

// verifyViews tests the conditions of the views through which a row was written.
func (m *modification) verifyViews(row []types.Datum) error {
	for i := range m.views {
		d, err := m.views[i].cond.EvalRow(&m.run.ev, row)
		if err != nil {
			return err
		}
		if !d.Bool() {
			return table.CheckOptionViolation(m.desc, m.views[i].name, row)
		}
	}
	return nil
}

// rowKey returns the ordinals of the columns that form the row key, and their types.
func rowKey(d *table.Desc) (cols []int, ts []*types.Type) {
	for _, k := range d.RowKey {
		i := d.ColumnByID(k.ColumnID)
		cols = append(cols, i)
		ts = append(ts, d.Columns[i].Type)
	}
	return cols, ts
}

// touchedKeys returns the row keys of the table that were written so far: by this operator or,
// where WITH queries modify too, by the whole statement. Only the first change of a row counts.
func (m *modification) touchedKeys() *keyTable {
	if m.touched != nil {
		return m.touched
	}
	cols, ts := rowKey(m.desc)
	m.keyCols, m.key = cols, types.NewBatchCap(ts, 1)
	if !m.run.modifies() {
		m.touched = newKeyTable(&m.run.mem, ts)
		return m.touched
	}
	if m.run.touched == nil {
		m.run.touched = map[table.ID]*keyTable{}
	}
	if m.run.touched[m.desc.ID] == nil {
		m.run.touched[m.desc.ID] = newKeyTable(&m.run.mem, ts)
	}
	m.touched = m.run.touched[m.desc.ID]
	return m.touched
}

// oneKey returns the key of row as the only row of a batch.
func (m *modification) oneKey(row []types.Datum) []*types.Vec {
	m.key.Reset()
	for i, c := range m.keyCols {
		m.key.Cols[i].Append(row[c])
	}
	return m.key.Cols
}

// touch notes that row has been written.
func (m *modification) touch(row []types.Datum) (err error) {
	keys := m.touchedKeys()
	m.numbers, err = keys.add(m.oneKey(row), firstRows(1), m.numbers)
	return err
}

// isTouched reports whether row has been written.
func (m *modification) isTouched(row []types.Datum) bool {
	if m.touched == nil && !m.run.modifies() {
		return false
	}
	keys := m.touchedKeys()
	m.numbers = keys.find(m.oneKey(row), firstRows(1), m.numbers)
	return m.numbers[0] >= 0
}
