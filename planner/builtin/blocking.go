package builtin

import (
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
	fn := func(s expr.LockWaits, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		var pids []types.Datum
		for _, pid := range of(s, int32(a[0].I)) {
			pids = append(pids, types.NewInt(int64(pid)))
		}
		return types.NewArray(pids), nil
	}
	return f(name+"(int4) int4[]", asking(fn)).volatile()
}
