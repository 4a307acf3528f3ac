package sql

import (
	"context"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/explain"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/ddl"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
)

// withoutPlan is the result of EXPLAIN for a statement that has no plan: its lines, or as JSON what
// it is.
func (o explainOptions) withoutPlan(st *ast.Explain, what string, lines ...string) source {
	if o.json {
		lines = []string{"[\n  \"" + what + "\"\n]"}
	}
	return newRows("EXPLAIN", explainColumns(st), explainLines(lines...))
}

func isRefresh(stmt ast.Statement) bool {
	_, ok := stmt.(*ast.RefreshMaterializedView)
	return ok
}

// relationMade is what CREATE … AS makes, and of which query.
type relationMade struct {
	name        ast.Name
	temp        bool
	ifNotExists bool
	query       *ast.Select
}

// madeBy returns what a statement makes of a query, nil for any other statement.
func madeBy(stmt ast.Statement) *relationMade {
	switch st := stmt.(type) {
	case *ast.CreateTable:
		if st.As != nil {
			return &relationMade{st.Name, st.Temp, st.IfNotExists, st.As}
		}
	case *ast.CreateMaterializedView:
		return &relationMade{st.Name, false, st.IfNotExists, st.Query}
	}
	return nil
}

// explainMade is EXPLAIN of CREATE TABLE AS and CREATE MATERIALIZED VIEW: the plan of their query.
// With ANALYZE it makes the relation. It has no rows where IF NOT EXISTS finds one.
func (s utility) explainMade(ctx context.Context, st *ast.Explain, stmt ast.Statement,
	made *relationMade) (source, error) {
	o, err := readExplain(st)
	if err != nil {
		return nil, err
	}
	if o.analyze {
		if err := s.writable(kindOf(stmt).name); err != nil {
			return nil, err
		}
	}
	there, err := ddl.Present(ctx, s.ddlEnv(ctx), made.name, made.temp, made.ifNotExists)
	if err != nil {
		return nil, err
	} else if there {
		return o.withoutPlan(st, kindOf(stmt).name), nil
	}
	begun := time.Now()
	plan, err := planner.Plan(ctx, s.plannerEnv(ctx), made.query, nil)
	if err != nil {
		return nil, err
	}
	if len(plan.ParamTypes) > 0 {
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $1")
	}
	planning := time.Since(begun)
	eo := o.printed()
	described := explain.Describe(plan, eo)
	if o.analyze {
		begun = time.Now()
		if described, err = s.analyzeMade(ctx, stmt, plan, eo); err != nil {
			return nil, err
		}
	}
	if o.summary {
		described.Planning = planning
		if o.analyze {
			described.Execution = time.Since(begun)
		}
	}
	return o.source(st, described), nil
}

// analyzeMade runs the statement and describes how the query ran; not at all where WITH NO DATA
// says so, and then the plan is that.
func (s utility) analyzeMade(ctx context.Context, stmt ast.Statement, plan *physical.Plan,
	eo explain.Options) (described *explain.Plan, err error) {
	eo.Actual = func(physical.Node) (m explain.Measured, ok bool) { return m, false }
	described = explain.Describe(plan, eo)
	_, err = s.changeSchemaBy(ctx, stmt,
		func(ctx context.Context, query *ast.Select, into *table.Desc) (int64, error) {
			ran, rows, err := s.planRows(ctx, query, into)
			if err != nil {
				return 0, err
			}
			return s.fill(ctx, ran, &physical.Insert{Table: into, Child: rows},
				func(c *exec.Cursor) {
					eo.Actual, eo.Spilled, eo.Sections = nodesMeasured(c), c.Spilled, c.Sections
					described = explain.Describe(ran, eo)
				})
		})
	return described, err
}
