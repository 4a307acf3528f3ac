package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// counterFunctions reset what is counted: the changes of tables. Their effect is there at once, and
// no rollback takes it back. There are no replication slots and no subscriptions that had counters,
// and calls of functions are not counted.
func counterFunctions() []def {
	return []def{
		n("pg_stat_reset() void", resetting(func(s expr.Counters, _ []types.Datum) error {
			return s.ResetCounters()
		})).volatile().only(),
		f("pg_stat_reset_single_table_counters(oid) void",
			resetting(func(s expr.Counters, a []types.Datum) error {
				return s.ResetTableCounters(types.OID(a[0].I))
			})).volatile().only(),
		n("pg_stat_reset_replication_slot(text) void", noSlot).volatile().only(),
		n("pg_stat_reset_subscription_stats(oid) void", noSubscription).volatile().only(),
		f("pg_stat_get_numscans(oid) int8", scansOf("scans")).volatile(),
		f("pg_stat_get_tuples_returned(oid) int8", scansOf("read")).volatile(),
		f("pg_stat_get_tuples_fetched(oid) int8", scansOf("fetched")).volatile(),
		f("pg_stat_get_db_stat_reset_time(oid) timestamptz", asking(resetTime)).stable(),
		f("pg_stat_get_db_temp_files(oid) int8", asking(temporaryFiles)).stable(),
		f("pg_stat_get_db_temp_bytes(oid) int8", asking(temporaryBytes)).stable(),
		f("pg_stat_get_db_numbackends(oid) int4", asking(sessionsIn)).stable(),
	}
}

// scansOf looks up how a table was read without an index, or by the index with the object ID.
func scansOf(what string) scalar {
	return describeNumber("scans", func([]types.Datum) string { return what })
}

func resetting(do func(expr.Counters, []types.Datum) error) scalar {
	return asking(func(s expr.Counters, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return types.Datum{}, do(s, a)
	})
}

func resetTime(s expr.Counters, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	at, ok := s.CountersReset(types.OID(a[0].I))
	if !ok {
		return types.Null, nil
	}
	return types.NewInt(types.TimestampFromTime(at)), nil
}

func temporaryFiles(s expr.Counters, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	files, _ := s.TemporaryFiles(types.OID(a[0].I))
	return types.NewInt(files), nil
}

func temporaryBytes(s expr.Counters, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	_, bytes := s.TemporaryFiles(types.OID(a[0].I))
	return types.NewInt(bytes), nil
}

func sessionsIn(s expr.Counters, _ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	n, known := s.SessionsIn(types.OID(a[0].I))
	if !known {
		return types.Null, nil
	}
	return types.NewInt(n), nil
}

// noSlot is a reset of the counters of a replication slot; NULL means all of them.
func noSlot(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].Null {
		return types.Datum{}, nil
	}
	return types.Null, sqlerr.New(sqlerr.InvalidParameterValue,
		"replication slot \"%s\" does not exist", a[0].S)
}

// noSubscription is a reset of the counters of a subscription; NULL means all of them. As in
// PostgreSQL, one that does not exist is no error.
func noSubscription(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if !a[0].Null && a[0].I == 0 {
		return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "invalid subscription OID 0")
	}
	return types.Datum{}, nil
}
