package sql

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/acl"
)

// maintain is VACUUM, ANALYZE, REINDEX, CHECKPOINT and CLUSTER. CLUSTER has nothing to do, because
// a table is always in the order of its key.
func (s maintenance) maintain(ctx context.Context, st *ast.Maintenance) (string, error) {
	command := upper(string(st.Command))
	switch st.Command {
	case ast.Vacuum:
		return command, s.vacuum(ctx, st)
	case ast.Analyze:
		return command, s.analyze(ctx, st)
	case ast.Reindex:
		return command, s.reindex(ctx, st)
	case ast.Checkpoint:
		if s.engine.opts.Flush == nil {
			return "", sqlerr.Unsupported(int(st.Pos), command)
		}
		if err := s.ensure(ctx); err != nil {
			return "", err
		}
		if err := s.mustBe(ctx, acl.Checkpoint,
			"must be superuser or have privileges of pg_checkpoint to do CHECKPOINT"); err != nil {
			return "", err
		}
		return command, s.engine.opts.Flush(ctx)
	}
	return "", sqlerr.Unsupported(int(st.Pos), command)
}
