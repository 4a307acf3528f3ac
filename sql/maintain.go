package sql

import (
	"context"
	"strings"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
)

// maintain is VACUUM, ANALYZE, REINDEX and CHECKPOINT; CLUSTER has nothing to act on, for a table is
// always in the order of its key.
func (s maintenance) maintain(ctx context.Context, st *ast.Maintenance) (string, error) {
	command := strings.ToUpper(st.Command)
	switch st.Command {
	case "vacuum":
		return command, s.vacuum(ctx, st)
	case "analyze":
		return command, s.analyze(ctx, st)
	case "reindex":
		return command, s.reindex(ctx, st)
	case "checkpoint":
		if s.engine.opts.Flush == nil {
			return "", sqlerr.Unsupported(int(st.Pos), command)
		}
		return command, s.engine.opts.Flush(ctx)
	}
	return "", sqlerr.Unsupported(int(st.Pos), command)
}
