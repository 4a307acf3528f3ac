package sql

import (
	"context"
	"strconv"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table/types"
)

// source is a running statement.
type source interface {
	// columns of its rows; nil for a statement without rows.
	columns() []physical.Column
	// next returns the next rows, nil at the end. The batch is valid until the next call.
	next(ctx context.Context) (*types.Batch, error)
	// tag is the command tag after n rows were taken.
	tag(n int64) string
	close()
}

// planRunner is the layer of a session that plans and runs a statement in the present transaction.
type planRunner struct {
	transactor
	prepared map[string]*Prepared
	inner    map[string]*Prepared // the statements of checks of foreign keys
	currval  map[types.OID]int64
	lastSeq  types.OID
	format   types.Format
	outside  facts // of values that are read and written outside of plans
}

// planSource runs a plan.
type planSource struct {
	s      *planRunner
	env    *exec.Env
	cursor *exec.Cursor
	stmt   ast.Statement
	cols   []physical.Column
	rerun  bool // a row found changed makes the statement run again
	gather bool // all rows are made before the first is given out, so that it may
	again  rerun
	rows   *kept
	// checked: the foreign keys of what it has written hold.
	checked bool
}

func (p *planSource) columns() []physical.Column { return p.cols }

func (p *planSource) next(ctx context.Context) (*types.Batch, error) {
	p.env.Runtime.Ctx = ctx
	if before := p.again.tx.ReadAt(p.again.readTS); before != p.again.readTS { // a cursor keeps its snapshot
		defer p.again.tx.ReadAt(before)
	}
	if p.rerun && !p.again.given {
		p.mark()
	}
	for {
		b, err := p.attempt(ctx)
		if err == nil {
			p.again.given = true
			return b, nil
		}
		if err := p.runAgain(ctx, err); err != nil {
			return nil, err
		}
	}
}

// attempt is next without a second try.
func (p *planSource) attempt(ctx context.Context) (*types.Batch, error) {
	if p.gather {
		return p.gathered(ctx)
	}
	b, err := p.pull(ctx)
	if b != nil && p.cols == nil { // no RETURNING: nothing to show
		for b != nil && err == nil {
			b, err = p.cursor.Next(ctx)
		}
		return nil, err
	}
	return b, err
}

// pull asks the plan for rows. A plan that writes has written everything when it gives its first
// rows, so that is when the foreign keys are looked at.
func (p *planSource) pull(ctx context.Context) (*types.Batch, error) {
	b, err := p.cursor.Next(ctx)
	if err == nil && !p.checked {
		p.checked = true
		err = p.s.references.Check(ctx)
	}
	return b, err
}

func (p *planSource) tag(n int64) string {
	if p.cols == nil {
		n = p.cursor.RowsAffected()
	}
	tag := kindOf(p.stmt).tag
	if n == 1 && tag == "SELECT " {
		return "SELECT 1" // without making it
	}
	return tag + strconv.FormatInt(n, 10)
}

func (p *planSource) close() {
	if p.rows != nil {
		p.rows.close()
	}
	p.s.noteChanges(p.cursor)
	if err := p.cursor.Close(); err != nil {
		p.s.engine.log.Warn("closing a statement", "session", p.s.pid, "error", err)
	}
}

// tagSource is a statement that has run and returned no rows.
type tagSource string

func (t tagSource) columns() []physical.Column                 { return nil }
func (t tagSource) next(context.Context) (*types.Batch, error) { return nil, nil }
func (t tagSource) tag(int64) string                           { return string(t) }
func (t tagSource) close()                                     {}

// rowsSource is a result that is in memory: SHOW, EXPLAIN, FETCH from a cursor that is.
type rowsSource struct {
	cols    []physical.Column
	rows    *types.Batch
	name    string // the command tag
	counted bool   // the tag ends in the number of rows
}

// newRows returns a rowsSource. cols must not be nil.
func newRows(name string, cols []physical.Column, rows [][]types.Datum) *rowsSource {
	ts := make([]*types.Type, len(cols))
	for i := range cols {
		ts[i] = cols[i].Type
	}
	b := types.NewBatch(ts)
	for _, r := range rows {
		b.AppendRow(r)
	}
	return &rowsSource{cols: cols, rows: b, name: name}
}

func (r *rowsSource) columns() []physical.Column { return r.cols }
func (r *rowsSource) close()                     {}

func (r *rowsSource) tag(n int64) string {
	if r.counted {
		return r.name + " " + strconv.FormatInt(n, 10)
	}
	return r.name
}

func (r *rowsSource) next(context.Context) (*types.Batch, error) {
	b := r.rows
	r.rows = nil
	if b == nil || b.Rows() == 0 {
		return nil, nil
	}
	return b, nil
}

// runOptions are how a plan is run.
type runOptions struct {
	stats     bool // what each node did is asked for
	piecemeal bool // it is a cursor's
	// inPieces: the client takes a limited number of rows at a time. Rows are locked as they are taken where
	// a changed one can be looked at again by itself; otherwise all are made first, so that the statement may
	// run again as a whole.
	inPieces bool
}

// openPlan starts a planned statement.
func (s *planRunner) openPlan(ctx context.Context, ps *Prepared, stmt ast.Statement, params []types.Datum, o runOptions) (*planSource, error) {
	plan, with, err := s.executable(ctx, ps, stmt, params)
	if err != nil {
		return nil, err
	}
	if !plan.ReadOnly {
		if err := s.mayWrite(stmt); err != nil {
			return nil, err
		}
	}
	src, err := s.runPlan(ctx, plan, stmt, with, o)
	if err == nil {
		src.plannedAnew(ps, stmt)
	}
	return src, err
}

// executable returns a plan of a statement, with its tables locked and the result that its client was told
// of, and the values of its parameters: params, or those that a template finds in the text.
func (s *planRunner) executable(ctx context.Context, ps *Prepared, stmt ast.Statement, params []types.Datum) (*physical.Plan, []types.Datum, error) {
	plan, err := s.lockedPlan(ctx, ps, stmt)
	if err != nil {
		return nil, nil, err
	}
	if ps.template != nil {
		if params, err = s.fillTemplate(ctx, ps, plan); err != nil {
			return nil, nil, err
		}
	}
	if ps.Columns != nil && ps.Stmt == stmt {
		if err := ps.checkResult(plan.Root.Columns()); err != nil {
			return nil, nil, err
		}
	}
	if len(params) > 0 && !sameTypes(plan.ParamTypes, ps.ParamTypes) {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "cached plan must not change parameter types")
	}
	return plan, params, nil
}

func sameTypes(a, b []*types.Type) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// runPlan opens a plan in the session's transaction.
func (s *planRunner) runPlan(ctx context.Context, plan *physical.Plan, stmt ast.Statement, params []types.Datum, o runOptions) (*planSource, error) {
	if !plan.ReadOnly {
		if err := s.detachCursors(ctx, plan); err != nil {
			return nil, err
		}
	}
	if plan.References || plan.Lasting && !plan.ReadOnly {
		s.lockWrites()
	}
	env := s.execEnv(ctx, o.stats)
	env.Piecemeal = o.piecemeal || o.inPieces && exec.LocksInPieces(plan)
	cur, err := exec.Open(ctx, env, plan, params)
	if err != nil {
		return nil, err
	}
	p := &planSource{s: s, env: env, cursor: cur, stmt: stmt, checked: !plan.References}
	p.mayRunAgain(plan, params)
	if kindOf(stmt).returnsRows {
		if p.cols = cur.Columns(); p.cols == nil {
			p.cols = []physical.Column{}
		}
	}
	return p, nil
}

// mayWrite returns why a statement that writes is not allowed now.
func (s *planRunner) mayWrite(stmt ast.Statement) error {
	if name := kindOf(stmt).name; name != "" {
		return s.writable(name)
	}
	return nil
}
