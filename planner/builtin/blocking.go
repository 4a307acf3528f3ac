package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// blockingFunctions return the sessions that block a session.
func blockingFunctions() []def {
	return []def{
		blockers("pg_blocking_pids", expr.LockWaits.BlockingPIDs),
		blockers("pg_safe_snapshot_blocking_pids", expr.LockWaits.SafeSnapshotBlockers),
	}
}

func blockers(name string, of func(expr.LockWaits, int32) []int32) def {
	return f(name+"(int4) int4[]", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		s, ok := rt.Session.(expr.LockWaits)
		if !ok {
			return types.Null, sqlerr.Unsupported(0, name+" outside of a session")
		}
		var pids []types.Datum
		for _, pid := range of(s, int32(a[0].I)) {
			pids = append(pids, types.NewInt(int64(pid)))
		}
		return types.NewArray(pids), nil
	}).volatile()
}
