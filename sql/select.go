package sql

import (
	"context"

	"github.com/minidb/minidb/planner/ast"
)

// openSelect starts a query. If the query may have to run again, all its rows are made before the
// first is returned (planSource.gather).
func (s utility) openSelect(ctx context.Context, c call) (source, error) {
	st := c.ps.Stmt.(*ast.Select)
	if into := intoTable(st); into != nil {
		if err := s.writable("SELECT INTO"); err != nil {
			return nil, err
		}
		create := &ast.CreateTable{Pos: st.Pos, Name: into.Name, Temp: into.Temp,
			Global: into.Global, Unlogged: into.Unlogged, As: withoutInto(st)}
		return s.openDDL(ctx, call{ps: &Prepared{Stmt: create}})
	}
	src, err := s.openPlan(ctx, c.ps, st, c.params, c.options)
	if err != nil {
		return nil, err
	}
	src.gather = src.mayRerun && !src.env.Incremental
	return src, nil
}

// openModify starts an INSERT, UPDATE or DELETE.
func (s utility) openModify(ctx context.Context, c call) (source, error) {
	return s.openPlan(ctx, c.ps, c.ps.Stmt, c.params, runOptions{})
}

// intoTable is the table of SELECT … INTO, or nil.
func intoTable(sel *ast.Select) *ast.Into {
	body := sel.Body
	for {
		switch b := body.(type) {
		case *ast.SelectCore:
			return b.Into
		case *ast.SetOp:
			body = b.Left
		case *ast.Select:
			body = b.Body
		default:
			return nil
		}
	}
}

// withoutInto copies a query as far as its INTO, and leaves that out.
func withoutInto(sel *ast.Select) *ast.Select {
	c := *sel
	c.Body = bodyWithoutInto(c.Body)
	return &c
}

func bodyWithoutInto(body ast.QueryBody) ast.QueryBody {
	switch b := body.(type) {
	case *ast.SelectCore:
		c := *b
		c.Into = nil
		return &c
	case *ast.SetOp:
		c := *b
		c.Left = bodyWithoutInto(c.Left)
		return &c
	case *ast.Select:
		return withoutInto(b)
	}
	return body
}
