package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/sql/parse"
	"github.com/minidb/minidb/sql/pgcatalog"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// resolver answers the planner's questions about the schema for one session's transaction.
type resolver struct{ s *planRunner }

// Relation finds a relation by its own schema, or along the search path.
func (r resolver) Relation(ctx context.Context, name ast.Name) (*table.Desc, error) {
	s := r.s
	if name.Database != "" && name.Database != s.database {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "cross-database references are not implemented: \"%s.%s.%s\"",
			name.Database, name.Schema, name.Name).At(int(name.Pos))
	}
	if name.Schema != "" {
		return r.inSchema(ctx, name.Schema, name.Name)
	}
	path, err := s.path(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(path, "pg_catalog") {
		if d := pgcatalog.Lookup("pg_catalog", name.Name); d != nil {
			return d, nil
		}
	}
	for _, schema := range path {
		if d, err := r.inSchema(ctx, schema, name.Name); d != nil || err != nil {
			return d, err
		}
	}
	return nil, nil
}

func (r resolver) inSchema(ctx context.Context, schema, name string) (*table.Desc, error) {
	if schema == "pg_catalog" || schema == "information_schema" {
		return pgcatalog.Lookup(schema, name), nil
	}
	d, err := r.s.tx.view.Relation(ctx, r.s.databaseID, schema, name)
	if d != nil && d.Kind == table.KindSequence {
		return pgcatalog.SequenceTable(d), nil
	}
	return d, err
}

// RelationByID finds a relation by its ID.
func (r resolver) RelationByID(ctx context.Context, id table.ID) (*table.Desc, error) {
	if d := pgcatalog.ByID(id); d != nil {
		return d, nil
	}
	return r.s.tx.view.RelationByID(ctx, id)
}

// searchPath is path for what only shows or writes down names: where the catalog cannot be read, what
// comes next fails.
func (s *planRunner) searchPath(ctx context.Context) []string {
	out, _ := s.path(ctx)
	return out
}

// path lists the schemas of the search path that exist, in order, "$user" resolved. pg_catalog comes
// before all others unless it is named. The catalog is read like any table, which may fail.
func (s *planRunner) path(ctx context.Context) (out []string, err error) {
	for _, name := range s.settings.Derived().SearchPath {
		if name == "$user" {
			name = s.user
		}
		if slices.Contains(out, name) {
			continue
		}
		if name == "pg_catalog" || name == "information_schema" {
			out = append(out, name)
			continue
		}
		if s.tx.view == nil {
			continue
		}
		_, ok, err := s.tx.view.Schema(ctx, s.databaseID, name)
		if err != nil {
			return out, err
		}
		if ok {
			out = append(out, name)
		}
	}
	return out, nil
}

func (s *planRunner) plannerEnv(ctx context.Context) *planner.Env {
	costs := planner.Costs(s.settings.Derived().Planner)
	parseQuery := func(text string) (*ast.Select, error) { return parseQuery(ctx, text) }
	return &planner.Env{Costs: costs, Catalog: resolver{s}, Statistics: s.tableStatistics,
		ParseExpr: parse.ParseExpr, ParseQuery: parseQuery, Runtime: s.runtime(ctx)}
}

// parseQuery reads the text of a view.
func parseQuery(ctx context.Context, text string) (*ast.Select, error) {
	p, err := parse.ParseOne(ctx, text)
	if err != nil {
		return nil, err
	}
	sel, ok := p.Stmt.(*ast.Select)
	if !ok {
		return nil, fmt.Errorf("the text of a view is no query")
	}
	return sel, nil
}

// runtime is what functions of one statement may know.
func (s *planRunner) runtime(ctx context.Context) *expr.Runtime {
	f := s.settings.Derived().Format
	r := &struct {
		expr.Runtime
		facts
	}{facts: facts{s: s, ctx: ctx}}
	f.Reg, f.Now = &r.facts, s.tx.started
	r.Runtime = expr.Runtime{Ctx: ctx, StatementTime: s.seen().QueryStart, TxnTime: s.tx.started, Location: f.Location,
		Session: &r.facts, Format: f}
	return &r.Runtime
}

func (s *planRunner) execEnv(ctx context.Context, stats bool) *exec.Env {
	return &exec.Env{Tx: s.tx.tx, RowIDs: s.engine.catalog, Runtime: s.runtime(ctx), Virtual: s.virtualRows,
		Memory: s.memory, MemoryLimit: s.settings.Derived().StatementMemory, Stats: stats,
		Written: &s.progress.rows, SecondLook: s.tx.perStatement(), Observer: s.references}
}

// fillTable runs a query into a table that was just made: CREATE TABLE AS.
func (s *planRunner) fillTable(ctx context.Context, query *ast.Select, into *table.Desc) (int64, error) {
	plan, err := planner.Plan(ctx, s.plannerEnv(ctx), query, nil)
	if err != nil {
		return 0, err
	}
	if _, err := s.lockTables(ctx, plan.Tables); err != nil {
		return 0, err
	}
	cols := plan.Root.Columns()
	project := &physical.Project{Child: plan.Root}
	next := 0
	for i := range into.Columns {
		c := &into.Columns[i]
		col := physical.Column{Name: c.Name, Type: c.Type}
		var e expr.Expr = &expr.Const{T: c.Type, Value: types.Null}
		if !c.Hidden {
			if next >= len(cols) {
				return 0, fmt.Errorf("table %s has more columns than its query", into.Name)
			}
			e = &expr.Col{T: cols[next].Type, Index: next, Name: cols[next].Name}
			if !cols[next].Type.Equal(c.Type) || cols[next].Type.Mod != c.Type.Mod {
				e = &expr.Cast{T: c.Type, Arg: e}
			}
			next++
		}
		project.Exprs = append(project.Exprs, e)
		project.Cols = append(project.Cols, col)
	}
	filled := *plan
	filled.Root = &physical.Insert{Table: into, Child: project}
	filled.ReadOnly = false
	src, err := s.runPlan(ctx, &filled, &ast.Insert{}, make([]types.Datum, len(plan.ParamTypes)), runOptions{})
	if err != nil {
		return 0, err
	}
	defer src.close()
	if _, err := src.next(ctx); err != nil {
		return 0, err
	}
	return src.cursor.RowsAffected(), nil
}

// virtualRows gives the rows of a table of pg_catalog or information_schema.
func (s *planRunner) virtualRows(ctx context.Context, d *table.Desc, emit func(row []types.Datum) error) error {
	if d.Kind == table.KindSequence {
		last, called, err := s.engine.catalog.SequencePosition(ctx, d)
		if err != nil {
			return err
		}
		return emit([]types.Datum{types.NewInt(last), types.NewInt(0), types.NewBool(called)})
	}
	return pgcatalog.Rows(ctx, catalogEnv{s}, d, emit)
}

func upper(s string) string { return strings.ToUpper(s) }

// Format is how values are read and written as text now. It is for the running statement: the next
// call changes it.
func (s *planRunner) Format() *types.Format {
	s.format = s.settings.Derived().Format
	s.format.Reg, s.format.Now = &s.outside, s.tx.started
	return &s.format
}
