package builtin

import (
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// backendFunctions cancel statements, end sessions, and return the sessions that block a session.
func backendFunctions() []def {
	return []def{
		f("pg_cancel_backend(int4) bool", answer1(func(s expr.Backends, pid int64) (bool, error) {
			return s.CancelBackend(int32(pid))
		})).volatile(),
		f("pg_reload_conf() bool", answer(func(s expr.Backends) (bool, error) {
			err := s.ReloadConf()
			return err == nil, err
		})).volatile(),
		f("pg_terminate_backend(int4,int8?) bool", asking(terminateBackend)).volatile(),
		blockers("pg_blocking_pids", expr.LockWaits.BlockingPIDs),
		blockers("pg_safe_snapshot_blocking_pids", expr.LockWaits.SafeSnapshotBlockers),
	}
}

func terminateBackend(s expr.Backends, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	var wait time.Duration
	if len(a) > 1 {
		if a[1].I < 0 {
			return types.Null, sqlerr.New(sqlerr.NumericValueOutOfRange,
				"\"timeout\" must not be negative")
		}
		wait = time.Duration(min(a[1].I, 1<<40)) * time.Millisecond
	}
	done, err := s.TerminateBackend(int32(a[0].I), wait)
	return types.NewBool(done), err
}

func blockers(name string, of func(expr.LockWaits, int32) ([]int32, error)) def {
	fn := func(s expr.LockWaits, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		all, err := of(s, int32(a[0].I))
		if err != nil {
			return types.Null, err
		}
		var pids []types.Datum
		for _, pid := range all {
			pids = append(pids, types.NewInt(int64(pid)))
		}
		return types.NewArray(pids), nil
	}
	return f(name+"(int4) int4[]", asking(fn)).volatile()
}
