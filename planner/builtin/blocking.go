package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// blockingFunctions tell who waits for whom.
func blockingFunctions() []def {
	return []def{f("pg_blocking_pids(int4) int4[]", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		s, ok := rt.Session.(expr.LockWaits)
		if !ok {
			return types.Null, sqlerr.Unsupported(0, "pg_blocking_pids outside of a session")
		}
		var pids []types.Datum
		for _, pid := range s.BlockingPIDs(int32(a[0].I)) {
			pids = append(pids, types.NewInt(int64(pid)))
		}
		return types.NewArray(pids), nil
	}).volatile()}
}
