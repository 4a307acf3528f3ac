package sql

import (
	"context"
	"strconv"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table/types"
)

// planSource runs a plan.
type planSource struct {
	s        *planRunner
	env      *exec.Env // that in room, until it runs again
	room     environment
	point    *pointSource // that it is part of; nil: none
	cursor   *exec.Cursor
	needs    []*opt.Need // of the plan
	stmt     ast.Statement
	cols     []physical.Column
	mayRerun bool // run the statement again if a row has changed
	gather   bool // make all rows before returning the first, so that it may
	rerun    rerun
	rows     *materialised
	// checked: the foreign keys of what it has written hold.
	checked bool
}

func (p *planSource) columns() []physical.Column { return p.cols }

func (p *planSource) next(ctx context.Context) (*types.Batch, error) {
	p.env.Runtime.Ctx = ctx
	// a cursor keeps its snapshot
	if before := p.rerun.tx.ReadAt(p.rerun.readTS); before != p.rerun.readTS {
		defer p.rerun.tx.ReadAt(before)
	}
	if p.mayRerun && !p.rerun.rowsReturned {
		p.mark()
	}
	for {
		b, err := p.attempt(ctx)
		if err == nil {
			p.rerun.rowsReturned = true
			return b, nil
		}
		if err := p.runAgain(ctx, err); err != nil {
			return nil, p.s.conceal(ctx, p.needs, p.s.printed(ctx, err))
		}
	}
}

// attempt is next, without running again.
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

// pull returns the next rows of the plan. A plan that writes has written everything when it returns
// its first rows: then the foreign keys are checked.
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
	if (n == 0 || n == 1) && tag == "SELECT " {
		return [...]string{"SELECT 0", "SELECT 1"}[n] // without making it
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
	if p.point != nil {
		p.point.release()
	}
}

// pointSource is the memory in which a session runs its reads of a single row by key, one at a
// time.
type pointSource struct {
	planSource
	room  exec.PointRoom
	taken bool
}

// source returns a planSource whose fields are zero: that which the session keeps for reads by key
// if it is free and the statement may use it.
func (s *planRunner) source(o *runOptions) *planSource {
	if !o.point || s.point != nil && s.point.taken {
		return new(planSource)
	}
	if s.point == nil {
		s.point = new(pointSource)
	}
	s.point.taken = true
	s.point.planSource.point = s.point
	return &s.point.planSource
}

// open opens the cursor of the plan.
func (p *planSource) open(ctx context.Context, plan *physical.Plan, params []types.Datum) error {
	var err error
	if p.point != nil {
		p.cursor, err = p.point.room.Open(ctx, p.env, plan, params)
	} else {
		p.cursor, err = exec.Open(ctx, p.env, plan, params)
	}
	if err != nil && p.point != nil {
		p.point.release()
	}
	return err
}

// release makes the memory free for the next statement.
func (p *pointSource) release() {
	p.room.Clear()
	p.planSource, p.taken = planSource{}, false
}

// gathered reads the plan to its end before it returns the first rows.
func (p *planSource) gathered(ctx context.Context) (*types.Batch, error) {
	if p.rows == nil {
		rows, err := p.s.materialise(ctx, &planRows{p})
		if err != nil {
			return nil, err
		}
		p.rows = rows
	}
	return p.rows.next(ctx)
}

// planRows are the rows of a plan as a source; closing it leaves the plan open.
type planRows struct{ p *planSource }

func (r *planRows) columns() []physical.Column { return r.p.cols }

func (r *planRows) tag(int64) string { return "" }

func (r *planRows) close() {}

func (r *planRows) next(ctx context.Context) (*types.Batch, error) {
	return r.p.pull(ctx)
}
