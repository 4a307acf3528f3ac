package sql

import (
	"context"
	"fmt"
	"sync"

	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

func (s *planRunner) plannerEnv(ctx context.Context) *planner.Env {
	costs := planner.Costs(s.settings.Derived().Planner)
	parseQuery := func(text string) (*ast.Select, error) { return parseQuery(ctx, text) }
	return &planner.Env{Costs: costs, Catalog: resolver{s}, MayUse: s.mayUseSchema,
		RowSecurity: s.rowSecurity(0), Routines: s.guardedRoutines,
		Extensions: s.extensions, Statistics: s.tableStatistics,
		ParseExpr: parse.ParseExpr, ParseQuery: parseQuery, Runtime: s.runtime(ctx)}
}

// systemQueries holds the parsed queries of system views, whose texts never change.
var systemQueries sync.Map // text → *ast.Select

// parseQuery reads the text of a view. The tree that it returns must not be changed.
func parseQuery(ctx context.Context, text string) (*ast.Select, error) {
	if q, ok := systemQueries.Load(text); ok {
		return q.(*ast.Select), nil
	}
	p, err := parse.ParseOne(ctx, text)
	if err != nil {
		return nil, err
	}
	sel, ok := p.Stmt.(*ast.Select)
	if !ok {
		return nil, fmt.Errorf("the text of a view is not a query")
	}
	if pgcatalog.IsSystemQuery(text) {
		systemQueries.Store(text, sel)
	}
	return sel, nil
}

// runtime returns what the functions of one statement have access to.
func (s *planRunner) runtime(ctx context.Context) *expr.Runtime {
	r := new(statementRuntime)
	r.init(ctx, s)
	return &r.Runtime
}

// statementRuntime is what the functions of one statement have access to.
type statementRuntime struct {
	expr.Runtime
	accessor accessor
}

// init sets the fields of a runtime whose fields are zero.
func (r *statementRuntime) init(ctx context.Context, s *planRunner) {
	r.accessor = accessor{s: s, ctx: ctx}
	r.Ctx, r.StatementTime, r.TxnTime = ctx, s.queryStart(), s.tx.started
	f := &r.Format
	*f = s.settings.Derived().Format
	f.Reg, f.Now, f.Work, f.Runtime = &r.accessor, r.TxnTime, &r.Runtime, &r.Runtime
	r.Location, r.Session = f.Location, &r.accessor
}

// environment is what one statement runs in.
type environment struct {
	exec.Env
	functions statementRuntime
}

func (s *planRunner) execEnv(ctx context.Context, stats bool) *exec.Env {
	e := new(environment)
	e.init(ctx, s)
	e.Stats = stats
	return &e.Env
}

// init sets the fields of an environment whose fields are zero.
func (e *environment) init(ctx context.Context, s *planRunner) {
	if s.virtual == nil {
		s.virtual = s.virtualRows
	}
	e.functions.init(ctx, s)
	d := s.settings.Derived()
	e.Env = exec.Env{Tx: s.tx.tx, RowIDs: s.engine.catalog, Runtime: &e.functions.Runtime,
		Virtual: s.virtual, Memory: s.memory, MemoryLimit: d.StatementMemory,
		Spill: s.engine.opts.Spill, Database: s.databaseID,
		WorkMemory: d.WorkMemory, TempLimit: d.TempFileLimit,
		Written: &s.progress.rows, Recheck: s.tx.perStatement(), Checks: s.references,
		Scans: &s.scans}
}

// virtualRows emits the rows of a system table, of each the columns with these ordinals.
func (s *planRunner) virtualRows(ctx context.Context, d *table.Desc, columns []int,
	emit func(row []types.Datum) error) error {
	if err := s.mayShowOwn(d); err != nil {
		return err
	}
	return pgcatalog.Rows(ctx, catalogEnv{s}, d, columns, emit)
}

// Tick is part of types.Work: large values that are read outside of plans end with the statement,
// or with the session.
func (s *planRunner) Tick(int) error {
	if s.within != nil && s.within.Err() != nil {
		return context.Cause(s.within)
	}
	return s.running.between.Err()
}

// Format returns how values are read and written as text now. It is for the running statement: the
// next call changes it.
func (s *planRunner) Format() *types.Format {
	s.format = s.settings.Derived().Format
	s.format.Reg, s.format.Now, s.format.Work = &s.outOfPlan, s.tx.started, s
	s.format.Runtime = &s.betweenPlans
	s.betweenPlans = expr.Runtime{Ctx: s.outOfPlan.ctx, TxnTime: s.tx.started,
		StatementTime: s.queryStart(), Location: s.format.Location,
		Session: &s.outOfPlan, Format: s.format}
	return &s.format
}
