package sql

import (
	"context"
	"fmt"

	"github.com/minidb/minidb/planner"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
	"github.com/minidb/minidb/table/types"
)

// fillTable runs a query into a relation that has no rows: CREATE TABLE AS, CREATE MATERIALIZED
// VIEW and REFRESH.
func (s *planRunner) fillTable(ctx context.Context, query *ast.Select, into *table.Desc) (int64,
	error) {
	plan, rows, err := s.planRows(ctx, query, into)
	if err != nil {
		return 0, err
	}
	return s.fill(ctx, plan, &physical.Insert{Table: into, Child: rows}, nil)
}

// refreshRows makes the rows of a materialized view those that its query gives: REFRESH …
// CONCURRENTLY. It writes only what differs.
func (s *planRunner) refreshRows(ctx context.Context, query *ast.Select, view *table.Desc) error {
	plan, rows, err := s.planRows(ctx, query, view)
	if err != nil {
		return err
	}
	old := &physical.Scan{Table: view, Covering: true, Out: make([]int, len(view.Columns))}
	old.Cols = make([]physical.Column, len(view.Columns))
	for i := range view.Columns {
		c := &view.Columns[i]
		old.Out[i], old.Cols[i] = i, physical.Column{Name: c.Name, Type: c.Type}
	}
	_, err = s.fill(ctx, plan, &physical.Refresh{Table: view, Child: rows, Old: old}, nil)
	return err
}

// planRows plans a query, with its tables locked, whose rows are to be those of a relation: into
// the columns of that, in their types, and NULL for the hidden one.
func (s *planRunner) planRows(ctx context.Context, query *ast.Select,
	into *table.Desc) (*physical.Plan, *physical.Project, error) {
	env := s.plannerEnv(ctx)
	env.RowSecurity = s.rowSecurity(into.OwnedBy())
	plan, err := planner.Plan(ctx, env, query, nil)
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.lockTables(ctx, plan.Tables); err != nil {
		return nil, nil, err
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
				return nil, nil, fmt.Errorf("relation %s has more columns than its query",
					into.Name)
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
	return plan, project, nil
}

// fill runs a plan of planRows under the node that writes its rows, and returns how many were
// written. ran, if not nil, is called with what each node did.
func (s *planRunner) fill(ctx context.Context, plan *physical.Plan, root physical.Node,
	ran func(*exec.Cursor)) (int64, error) {
	filled := *plan
	filled.Root, filled.ReadOnly = root, false
	src, err := s.runPlan(ctx, &filled, &ast.Insert{}, make([]types.Datum, len(plan.ParamTypes)),
		runOptions{stats: ran != nil, as: filler(root)})
	if err != nil {
		return 0, err
	}
	defer src.close()
	src.mayRerun = false // the schema change as a whole begins again
	if _, err := src.next(ctx); err != nil {
		return 0, err
	}
	if ran != nil {
		ran(src.cursor)
	}
	return src.cursor.RowsAffected(), nil
}

// filler returns the role whose rights a relation is filled with: its owner.
func filler(root physical.Node) acl.RoleID {
	switch n := root.(type) {
	case *physical.Insert:
		return n.Table.OwnedBy()
	case *physical.Refresh:
		return n.Table.OwnedBy()
	}
	return 0
}
