package sql

import (
	"context"
	"fmt"
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/types"
)

// open starts a statement: one without rows has run when open returns. The options are for a SELECT.
func (s *Session) open(ctx context.Context, ps *Prepared, params []types.Datum, sink Sink, o runOptions) (source, error) {
	if tag, done, err := s.control(ctx, ps.Stmt); done {
		return tagSource(tag), err
	}
	if s.tx.state == idle {
		s.start(inImplicit)
	}
	if tag, done, err := s.sessionCommand(ctx, ps.Stmt); done {
		return tagSource(tag), err
	}
	switch st := ps.Stmt.(type) {
	case *ast.Show:
		return s.openShow(st)
	case *ast.Execute:
		return s.openExecute(ctx, st, sink)
	case *ast.Unsupported:
		return nil, sqlerr.Unsupported(int(st.Pos), st.Construct)
	}
	if past := s.asOf(ps.Stmt); past != nil {
		with, err := s.argumentsOf(ctx, ps, params)
		if err != nil {
			return nil, err
		}
		if err := s.readPast(ctx, past, with); err != nil {
			return nil, err
		}
	}
	if err := s.beginStatement(ctx, ps.Stmt); err != nil {
		return nil, err
	}
	s.tx.ran = true
	return s.openData(ctx, ps, params, sink, o)
}

// openData starts a statement that sees data or schema.
func (s *Session) openData(ctx context.Context, ps *Prepared, params []types.Datum, sink Sink, o runOptions) (source, error) {
	switch st := ps.Stmt.(type) {
	case *ast.Select:
		if into := intoTable(st); into != nil {
			if err := s.writable("SELECT INTO"); err != nil {
				return nil, err
			}
			return s.openDDL(ctx, &ast.CreateTable{Pos: st.Pos, Name: *into, As: withoutInto(st)})
		}
		src, err := s.openPlan(ctx, ps, st, params, o)
		if err != nil {
			return nil, err
		}
		src.gather = src.rerun && !src.env.Piecemeal
		return src, nil
	case *ast.Insert, *ast.Update, *ast.Delete:
		return s.openPlan(ctx, ps, st, params, runOptions{})
	case *ast.Explain:
		return s.openExplain(ctx, ps, st, params)
	case *ast.DeclareCursor:
		return s.openDeclare(ctx, ps, st, params)
	case *ast.Fetch:
		return s.openFetch(ctx, st)
	case *ast.Copy:
		return s.openCopy(ctx, ps, st, params, sink)
	case *ast.AlterSettings:
		tag, err := s.alterSettings(ctx, st)
		return tagSource(tag), err
	case *ast.Maintenance:
		tag, err := s.maintain(ctx, st)
		return tagSource(tag), err
	}
	return s.openDDL(ctx, ps.Stmt)
}

// control runs the statements that move the transaction; done is false for all others.
func (s *Session) control(ctx context.Context, stmt ast.Statement) (tag string, done bool, err error) {
	done = true
	switch st := stmt.(type) {
	case *ast.Begin:
		tag, err = s.execBegin(ctx, st)
	case *ast.Commit:
		tag, err = s.execCommit(ctx, st)
	case *ast.Rollback:
		tag, err = s.execRollback(ctx, st)
	case *ast.Savepoint:
		tag, err = s.execSavepoint(ctx, st)
	case *ast.Release:
		tag, err = s.execRelease(st)
	case *ast.RollbackTo:
		tag, err = s.execRollbackTo(st)
	case *ast.SetTransaction:
		tag, err = s.execSetTransaction(ctx, st)
	case *ast.SetConstraints:
		tag, err = s.execSetConstraints(ctx, st)
	default:
		done = false
	}
	return tag, done, err
}

// sessionCommand runs the statements that touch the session alone.
func (s *Session) sessionCommand(ctx context.Context, stmt ast.Statement) (tag string, done bool, err error) {
	done = true
	switch st := stmt.(type) {
	case *ast.Set:
		tag, err = s.execSet(st)
	case *ast.ResetAll:
		s.settings.ResetAll()
		tag = "RESET"
	case *ast.Discard:
		tag, err = s.execDiscard(st)
	case *ast.Prepare:
		tag, err = s.execPrepare(ctx, st)
	case *ast.Deallocate:
		tag, err = s.execDeallocate(st)
	case *ast.CloseCursor:
		tag, err = s.execCloseCursor(st)
	case *ast.LockTable:
		tag, err = s.execLockTable(ctx, st)
	default:
		return s.notifyCommand(stmt)
	}
	return tag, done, err
}

// openDDL runs a statement that changes the schema.
func (s *Session) openDDL(ctx context.Context, stmt ast.Statement) (source, error) {
	command := ddlCommand(stmt)
	if err := s.writable(command); err != nil {
		return nil, err
	}
	if aloneInTransaction(stmt) {
		if err := s.noBlock(command); err != nil {
			return nil, err
		}
		if s.several {
			return nil, sqlerr.New(sqlerr.ActiveSQLTransaction, "%s cannot run inside a transaction block", command)
		}
	}
	if err := s.databasesUnused(ctx, stmt); err != nil {
		return nil, err
	}
	tag, err := s.changeSchema(ctx, stmt)
	return tagSource(tag), err
}

// databasesUnused refuses to drop a database under the sessions that work in it.
func (s *Session) databasesUnused(ctx context.Context, stmt ast.Statement) error {
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

// aloneInTransaction says whether PostgreSQL wants the statement outside of a block.
func aloneInTransaction(stmt ast.Statement) bool {
	switch st := stmt.(type) {
	case *ast.CreateDatabase:
		return true
	case *ast.CreateIndex:
		return st.Concurrently
	case *ast.Drop:
		return st.Kind == "database" || st.Concurrently
	}
	return false
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

// ddlCommand is the command tag of a statement that changes the schema, without counts.
func ddlCommand(stmt ast.Statement) string {
	switch st := stmt.(type) {
	case *ast.CreateTable:
		if st.As != nil {
			return "CREATE TABLE AS"
		}
		return "CREATE TABLE"
	case *ast.CreateIndex:
		if st.Concurrently {
			return "CREATE INDEX CONCURRENTLY"
		}
		return "CREATE INDEX"
	case *ast.CreateView:
		return "CREATE VIEW"
	case *ast.CreateSequence:
		return "CREATE SEQUENCE"
	case *ast.AlterSequence:
		return "ALTER SEQUENCE"
	case *ast.CreateSchema:
		return "CREATE SCHEMA"
	case *ast.CreateDatabase:
		return "CREATE DATABASE"
	case *ast.AlterSettings:
		if st.System {
			return "ALTER SYSTEM"
		}
		return "ALTER DATABASE"
	case *ast.Drop:
		tag := "DROP " + upper(st.Kind)
		if st.Concurrently {
			tag += " CONCURRENTLY"
		}
		return tag
	case *ast.AlterTable:
		return "ALTER " + upper(st.Kind)
	case *ast.Truncate:
		return "TRUNCATE TABLE"
	case *ast.Comment:
		return "COMMENT"
	case *ast.Copy:
		return "COPY FROM"
	}
	return "this statement"
}
