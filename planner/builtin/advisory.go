package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// advisoryFunctions are the functions of advisory locks, which the session holds and which numbers
// identify.
func advisoryFunctions() []def {
	out := []def{
		f("pg_advisory_unlock_all() void", asking(func(l expr.AdvisoryLocks, _ *expr.Runtime,
			_ []types.Datum) (types.Datum, error) {
			l.AdvisoryUnlockAll()
			return types.Datum{}, nil
		})).volatile(),
	}
	for _, args := range []string{"(int8)", "(int4,int4)"} {
		for _, shared := range []bool{false, true} {
			suffix := ""
			if shared {
				suffix = "_shared"
			}
			out = append(out, f("pg_advisory_lock"+suffix+args+" void",
				advisoryLock(shared, false, true)).volatile(),
				f("pg_advisory_xact_lock"+suffix+args+" void",
					advisoryLock(shared, true, true)).volatile(),
				f("pg_try_advisory_lock"+suffix+args+" bool",
					advisoryLock(shared, false, false)).volatile(),
				f("pg_try_advisory_xact_lock"+suffix+args+" bool",
					advisoryLock(shared, true, false)).volatile(),
				f("pg_advisory_unlock"+suffix+args+" bool", advisoryUnlock(shared)).volatile())
		}
	}
	return out
}

func advisoryKey(a []types.Datum) expr.AdvisoryKey {
	if len(a) == 1 {
		return expr.AdvisoryKey{Hi: uint32(uint64(a[0].I) >> 32), Lo: uint32(a[0].I)}
	}
	return expr.AdvisoryKey{Hi: uint32(a[0].I), Lo: uint32(a[1].I), Pair: true}
}

func advisoryLock(shared, transaction, wait bool) scalar {
	return asking(func(l expr.AdvisoryLocks, _ *expr.Runtime,
		a []types.Datum) (types.Datum, error) {
		got, err := l.AdvisoryLock(advisoryKey(a), shared, transaction, wait)
		if wait {
			return types.Datum{}, err
		}
		return types.NewBool(got), err
	})
}

func advisoryUnlock(shared bool) scalar {
	return asking(func(l expr.AdvisoryLocks, _ *expr.Runtime,
		a []types.Datum) (types.Datum, error) {
		held, err := l.AdvisoryUnlock(advisoryKey(a), shared)
		return types.NewBool(held), err
	})
}
