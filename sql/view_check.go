package sql

import (
	"context"

	"github.com/minidb/minidb/sql/advance"
	"github.com/minidb/minidb/sql/exec"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/txn"
)

// checkView compares an incremental view, as the session's transaction sees it, with its query, and
// its states with what they are computed from. tables reads the tables as they were at the view's
// frontier. report gets each difference.
func (s *planRunner) checkView(ctx context.Context, view *table.Desc, tables *txn.Txn,
	report func(string)) error {
	version, _, err := s.tx.view.Version(ctx)
	if err != nil {
		return err
	}
	was, err := s.schemaOf(ctx, tables, version)
	if err != nil {
		return err
	}
	v, past, err := s.analyzedView(ctx, view, was)
	if err != nil {
		return err
	}
	p, err := v.CompileCheck(ctx, s.plannerEnv(ctx), view, past)
	if err != nil {
		return err
	}
	env := s.execEnv(ctx, false)
	env.Before = exec.Before{Tables: tables, Views: s.tx.tx}
	return advance.Verify(ctx, env, p, view, report)
}
