package builtin

import (
	"cmp"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// recoveryFunctions are about a standby and about commit timestamps, which are not kept. So they
// answer as on a primary with the default settings.
func recoveryFunctions() []def {
	noRecovery := func(*expr.Runtime, []types.Datum) (types.Datum, error) {
		return types.Null, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
			"recovery is not in progress").
			WithHint("Recovery control functions can only be executed during recovery.")
	}
	return []def{
		f("pg_is_wal_replay_paused() bool", noRecovery).volatile(),
		f("pg_get_wal_replay_pause_state() text", noRecovery).volatile(),
		f("pg_wal_replay_pause() void", noRecovery).volatile().only(),
		f("pg_wal_replay_resume() void", noRecovery).volatile().only(),
		f("pg_promote(bool?,int4?) bool", noRecovery).volatile().only(),
		f("pg_last_wal_receive_lsn() pg_lsn", always(types.Null)).volatile(),
		f("pg_last_wal_replay_lsn() pg_lsn", always(types.Null)).volatile(),
		f("pg_last_xact_replay_timestamp() timestamptz", always(types.Null)).volatile(),
		f("pg_xact_commit_timestamp(xid) timestamptz", commitTimestamp).volatile(),
		f("pg_jit_available() bool", always(types.NewBool(false))).volatile(),
		f("mxid_age(xid) int4", multixactAge).stable(),
		s("pg_stat_get_wal_senders() record", "pid int4,state text,sent_lsn pg_lsn,"+
			"write_lsn pg_lsn,flush_lsn pg_lsn,replay_lsn pg_lsn,write_lag interval,"+
			"flush_lag interval,replay_lag interval,sync_priority int4,sync_state text,"+
			"reply_time timestamptz", noRows).stable().called(),
		s("pg_stat_get_subscription(oid) record", "subid oid,relid oid,pid int4,"+
			"received_lsn pg_lsn,last_msg_send_time timestamptz,"+
			"last_msg_receipt_time timestamptz,latest_end_lsn pg_lsn,"+
			"latest_end_time timestamptz", noRows).stable().called(),
		s("pg_get_replication_slots() record", "slot_name name,plugin name,slot_type text,"+
			"datoid oid,temporary bool,active bool,active_pid int4,xmin xid,catalog_xmin xid,"+
			"restart_lsn pg_lsn,confirmed_flush_lsn pg_lsn,wal_status text,safe_wal_size int8,"+
			"two_phase bool", noRows).stable().called(),
		s("pg_show_replication_origin_status() record", "local_id oid,external_id text,"+
			"remote_lsn pg_lsn,local_lsn pg_lsn", noRows).volatile().called().only(),
	}
}

// storageFunctions are about the files and the parts of relations. No relation has a file of its
// own, none is a partition, and no function has counters.
func storageFunctions() []def {
	return []def{
		fixed("pg_relation_filepath(regclass) text", types.Null),
		value("pg_filenode_relation(oid,oid) regclass", `SELECT oid FROM pg_catalog.pg_class
			WHERE pg_catalog.pg_relation_filenode(oid) = $2
				AND (reltablespace = $1 OR reltablespace = 0 AND $1 = 1663)`),
		f("pg_partition_root(regclass) regclass", always(types.Null)),
		fixed("pg_get_statisticsobjdef_expressions(oid) text[]", types.Null),
		fixed("pg_stat_get_function_calls(oid) int8", types.Null),
		fixed("pg_stat_get_function_total_time(oid) float8", types.Null),
		fixed("pg_stat_get_function_self_time(oid) float8", types.Null),
		f("pg_stat_get_xact_function_calls(oid) int8", always(types.Null)).volatile(),
		f("pg_stat_get_xact_function_total_time(oid) float8", always(types.Null)).volatile(),
		f("pg_stat_get_xact_function_self_time(oid) float8", always(types.Null)).volatile(),
		f("pg_get_replica_identity_index(regclass) regclass", asking(replicaIdentity)).stable(),
		existing("pg_collation_actual_version(oid) text", "pg_collation", "collation").volatile(),
		existing("pg_database_collation_actual_version(oid) text", "pg_database",
			"database").volatile(),
		// Counters are read when they are asked for, and counted at the commit.
		n("pg_stat_clear_snapshot|pg_stat_force_next_flush() void", always(types.Datum{})).
			volatile(),
	}
}

// existing makes a function that is NULL for what a catalog has, and an error for anything else:
// every collation compares bytes, and has no version.
func existing(sig, catalog, kind string) def {
	return f(sig, asking(func(s expr.SystemQueries, _ *expr.Runtime,
		a []types.Datum) (types.Datum, error) {
		found := false
		err := s.SystemQuery("SELECT 1 FROM pg_catalog."+catalog+" WHERE oid = $1",
			[]*types.Type{types.TOid}, a, func([]types.Datum) error {
				found = true
				return nil
			})
		if err == nil && !found {
			err = sqlerr.New(sqlerr.UndefinedObject, "%s with OID %d does not exist", kind, a[0].I)
		}
		return types.Null, err
	}))
}

// commitTimestamp is pg_xact_commit_timestamp where track_commit_timestamp is off.
func commitTimestamp(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	switch a[0].I {
	case 0:
		return types.Null, errInvalid("cannot retrieve commit timestamp for transaction %d", a[0].I)
	case 1, 2: // what no transaction wrote
		return types.Null, nil
	}
	return types.Null, sqlerr.New(sqlerr.ObjectNotInPrerequisiteState,
		"could not get commit timestamp data").WithHint("Make sure the configuration parameter " +
		"\"track_commit_timestamp\" is set.")
}

// multixactAge is mxid_age. Nothing here takes the ID of a set of transactions, so that the next
// one is the first, 1.
func multixactAge(_ *expr.Runtime, a []types.Datum) (types.Datum, error) {
	if a[0].I == 0 {
		return types.NewInt(1<<31 - 1), nil
	}
	return types.NewInt(int64(int32(1 - uint32(a[0].I)))), nil
}

// replicaIdentity is the index by whose columns a row of a relation is known, NULL where none is.
func replicaIdentity(s expr.SystemQueries, _ *expr.Runtime,
	a []types.Datum) (out types.Datum, err error) {
	err = sqlerr.New(sqlerr.InternalError, "could not open relation with OID %d", a[0].I)
	failed := s.SystemQuery(`SELECT (SELECT i.indexrelid FROM pg_catalog.pg_index i
			WHERE i.indrelid = c.oid AND (c.relreplident = 'd' AND i.indisprimary
				OR c.relreplident = 'i' AND i.indisreplident))
		FROM pg_catalog.pg_class c WHERE c.oid = $1`, []*types.Type{types.TRegClass}, a,
		func(row []types.Datum) error {
			out, err = row[0], nil
			return nil
		})
	return out, cmp.Or(failed, err)
}
