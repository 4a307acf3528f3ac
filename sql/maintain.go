package sql

import (
	"context"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// maintain is VACUUM and CHECKPOINT; ANALYZE, REINDEX and CLUSTER have nothing to act on.
func (s *Session) maintain(ctx context.Context, st *ast.Maintenance) (string, error) {
	command := strings.ToUpper(st.Command)
	switch st.Command {
	case "vacuum":
		return command, s.vacuum(ctx, st)
	case "checkpoint":
		if s.engine.opts.Flush == nil {
			return "", sqlerr.Unsupported(int(st.Pos), command)
		}
		return command, s.engine.opts.Flush(ctx)
	}
	return "", sqlerr.Unsupported(int(st.Pos), command)
}

// vacuum collects old versions. The collector works on the whole store, so the tables that are named
// only need to exist; options that ask for something else are refused.
func (s *Session) vacuum(ctx context.Context, st *ast.Maintenance) error {
	if s.engine.opts.Collect == nil {
		return sqlerr.Unsupported(int(st.Pos), "VACUUM")
	}
	if err := s.noBlock("VACUUM"); err != nil {
		return err
	}
	if s.several {
		return sqlerr.New(sqlerr.ActiveSQLTransaction, "VACUUM cannot run inside a transaction block")
	}
	for _, o := range st.Options {
		switch strings.ToLower(o.Name) {
		case "freeze", "verbose", "skip_locked", "parallel":
		default:
			return sqlerr.Unsupported(int(o.Pos), "VACUUM ("+strings.ToUpper(o.Name)+")")
		}
	}
	for _, name := range st.Tables {
		d, err := resolver{s}.Relation(ctx, name)
		if err != nil {
			return err
		}
		if d == nil {
			return sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", plainName(name))
		}
	}
	// This transaction's own snapshot would hold the safepoint back.
	if err := s.commit(ctx); err != nil {
		return err
	}
	s.start(inImplicit)
	return s.engine.opts.Collect(ctx)
}
