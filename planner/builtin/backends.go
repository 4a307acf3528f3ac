package builtin

import (
	"time"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// backendFunctions cancel statements and end sessions.
func backendFunctions() []def {
	return []def{
		f("pg_cancel_backend(int4) bool",
			asking(func(s expr.Backends, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
				done, err := s.CancelBackend(int32(a[0].I))
				return types.NewBool(done), err
			})).volatile(),
		f("pg_reload_conf() bool",
			asking(func(s expr.Backends, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
				err := s.ReloadConf()
				return types.NewBool(err == nil), err
			})).volatile(),
		f("pg_terminate_backend(int4,int8?) bool", asking(terminateBackend)).volatile(),
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
