package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// openSelect starts a query. All its rows are made before the first is given out, if it may have to
// run again (planSource.gather).
func (s utility) openSelect(ctx context.Context, c call) (source, error) {
	st := c.ps.Stmt.(*ast.Select)
	if into := intoTable(st); into != nil {
		if err := s.writable("SELECT INTO"); err != nil {
			return nil, err
		}
		create := &ast.CreateTable{Pos: st.Pos, Name: *into, As: withoutInto(st)}
		return s.openDDL(ctx, call{ps: &Prepared{Stmt: create}})
	}
	src, err := s.openPlan(ctx, c.ps, st, c.params, c.options)
	if err != nil {
		return nil, err
	}
	src.gather = src.rerun && !src.env.Piecemeal
	return src, nil
}

// openModify starts an INSERT, UPDATE or DELETE.
func (s utility) openModify(ctx context.Context, c call) (source, error) {
	return s.openPlan(ctx, c.ps, c.ps.Stmt, c.params, runOptions{})
}

// openDDL runs a statement that changes the schema.
func (s utility) openDDL(ctx context.Context, c call) (source, error) {
	stmt := c.ps.Stmt
	k := kindOf(stmt)
	if err := s.writable(k.name); err != nil {
		return nil, err
	}
	if k.alone {
		if err := s.alone(k.name); err != nil {
			return nil, err
		}
	}
	if err := s.databasesUnused(ctx, stmt); err != nil {
		return nil, err
	}
	return ran(s.changeSchema(ctx, stmt))
}

// databasesUnused refuses to drop a database under the sessions that work in it.
func (s utility) databasesUnused(ctx context.Context, stmt ast.Statement) error {
	drop, ok := stmt.(*ast.Drop)
	if !ok || drop.Kind != "database" {
		return nil
	}
	for _, name := range drop.Names {
		if name.Name == s.database {
			return sqlerr.New(sqlerr.ObjectInUse, "cannot drop the currently open database")
		}
		if err := s.engine.databaseUnused(ctx, name.Name); err != nil {
			return err
		}
	}
	return nil
}

// databaseUnused is 55006 if sessions work in a database, and do not end within Options.DatabaseWait.
func (e *Engine) databaseUnused(ctx context.Context, name string) error {
	late := time.NewTimer(e.opts.DatabaseWait)
	defer late.Stop()
	n, ended := e.sessionsIn(name)
	for waiting := true; n > 0 && waiting; {
		select {
		case <-ended:
			n, ended = e.sessionsIn(name)
		case <-late.C:
			waiting = false
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if n == 0 {
		return nil
	}
	detail := "There is 1 other session using the database."
	if n > 1 {
		detail = fmt.Sprintf("There are %d other sessions using the database.", n)
	}
	return sqlerr.New(sqlerr.ObjectInUse, "database \"%s\" is being accessed by other users", name).WithDetail("%s", detail)
}

// intoTable is the table of SELECT … INTO, or nil.
func intoTable(sel *ast.Select) *ast.Name {
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
