package builtin

import (
	"strings"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// In PostgreSQL a system view shows the rows of a function. Here it is the other way round: the
// views are made by pgcatalog, and the functions below are queries of them. So both always agree,
// and what a view does not count (docs/additions.md) is NULL in the function too.

// shows makes a set-returning function of a query, whose parameters are the arguments.
func shows(sig, cols, query string) def {
	_, args, _, _ := parseSignature(sig)
	return s(sig, cols, func(rt *expr.Runtime, a []types.Datum,
		emit func([]types.Datum) error) error {
		session, err := session[expr.SystemQueries](rt)
		if err != nil {
			return err
		}
		return session.SystemQuery(query, args, a, emit)
	}).stable()
}

// value makes a function of the only value of a query, NULL where there is no row.
func value(sig, query string) def {
	_, args, _, _ := parseSignature(sig)
	return f(sig, asking(func(s expr.SystemQueries, _ *expr.Runtime,
		a []types.Datum) (out types.Datum, err error) {
		out = types.Null
		err = s.SystemQuery(query, args, a, func(row []types.Datum) error {
			out = row[0]
			return nil
		})
		return out, err
	})).stable()
}

// record makes a function that returns a record of a query: its only row.
func record(sig, cols, query string) def {
	_, args, _, _ := parseSignature(sig)
	t := types.RowOf(parseFields(cols))
	d := f(sig, asking(func(s expr.SystemQueries, _ *expr.Runtime,
		a []types.Datum) (out types.Datum, err error) {
		out = types.Null
		err = s.SystemQuery(query, args, a, func(row []types.Datum) error {
			out = types.NewRecord(t, row)
			return nil
		})
		return out, err
	})).stable()
	d.cols = cols
	return d
}

// called marks a function that is called with NULLs too.
func (d def) called() def {
	d.nulls = true
	return d
}

const readAllStats types.OID = 3375 // the role pg_read_all_stats

// only restricts a function to superusers and the roles with the privileges of one of others.
func (d def) only(others ...types.OID) def {
	name, _, _ := strings.Cut(d.sig, "(")
	may := func(rt *expr.Runtime) error {
		s, err := session[expr.SystemQueries](rt)
		if err != nil {
			return err
		}
		return s.MayCall(name, others...)
	}
	if fn := d.fn; fn != nil {
		d.fn = func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			if err := may(rt); err != nil {
				return types.Null, err
			}
			return fn(rt, a)
		}
	}
	if set := d.set; set != nil {
		d.set = func(rt *expr.Runtime, a []types.Datum, emit func([]types.Datum) error) error {
			if err := may(rt); err != nil {
				return err
			}
			return set(rt, a, emit)
		}
	}
	return d
}

// ofView makes a function without arguments of a view. cols are its columns with their types, of
// which the query takes the names.
func ofView(sig, view, cols string) def {
	var names []string
	for c := range strings.SplitSeq(cols, ",") {
		name, _, _ := strings.Cut(c, " ")
		names = append(names, `"`+name+`"`)
	}
	return shows(sig, cols, "SELECT "+strings.Join(names, ", ")+" FROM pg_catalog."+view)
}

const settingColumns = "name text,setting text,unit text,category text,short_desc text," +
	"extra_desc text,context text,vartype text,source text,min_val text,max_val text," +
	"enumvals text[],boot_val text,reset_val text,sourcefile text,sourceline int4," +
	"pending_restart bool"

const lockColumns = "locktype text,database oid,relation oid,page int4,tuple int2," +
	"virtualxid text,transactionid xid,classid oid,objid oid,objsubid int2," +
	"virtualtransaction text,pid int4,mode text,granted bool,fastpath bool,waitstart timestamptz"

const activityColumns = "datid oid,pid int4,usesysid oid,application_name text,state text," +
	"query text,wait_event_type text,wait_event text,xact_start timestamptz," +
	"query_start timestamptz,backend_start timestamptz,state_change timestamptz," +
	"client_addr inet,client_hostname text,client_port int4,backend_xid xid,backend_xmin xid," +
	"backend_type text,ssl bool,sslversion text,sslcipher text,sslbits int4,ssl_client_dn text," +
	"ssl_client_serial numeric,ssl_issuer_dn text,gss_auth bool,gss_princ text,gss_enc bool," +
	"leader_pid int4,query_id int8"

const activityQuery = `SELECT a.datid, a.pid, a.usesysid, a.application_name, a.state, a.query,
	a.wait_event_type, a.wait_event, a.xact_start, a.query_start, a.backend_start, a.state_change,
	a.client_addr, a.client_hostname, a.client_port, a.backend_xid, a.backend_xmin, a.backend_type,
	s.ssl, s.version, s.cipher, s.bits, s.client_dn, s.client_serial, s.issuer_dn,
	g.gss_authenticated, g.principal, g.encrypted, a.leader_pid, a.query_id
FROM pg_catalog.pg_stat_activity a LEFT JOIN pg_catalog.pg_stat_ssl s ON s.pid = a.pid
	LEFT JOIN pg_catalog.pg_stat_gssapi g ON g.pid = a.pid
WHERE $1 IS NULL OR a.pid = $1`

// viewFunctions are the functions by which clients and monitors ask for what system views show.
func viewFunctions() []def {
	out := []def{
		ofView("pg_timezone_names() record", "pg_timezone_names",
			"name text,abbrev text,utc_offset interval,is_dst bool"),
		ofView("pg_timezone_abbrevs() record", "pg_timezone_abbrevs",
			"abbrev text,utc_offset interval,is_dst bool"),
		ofView("pg_available_extensions() record", "pg_available_extensions",
			"name name,default_version text,comment text"),
		ofView("pg_available_extension_versions() record", "pg_available_extension_versions",
			"name name,version text,superuser bool,trusted bool,relocatable bool,schema name,"+
				"requires name[],comment text"),
		ofView("pg_show_all_settings() record", "pg_settings", settingColumns),
		ofView("pg_show_all_file_settings() record", "pg_file_settings",
			"sourcefile text,sourceline int4,seqno int4,name text,setting text,applied bool,"+
				"error text").volatile().only(),
		ofView("pg_hba_file_rules() record", "pg_hba_file_rules",
			"line_number int4,type text,database text[],user_name text[],address text,"+
				"netmask text,auth_method text,options text[],error text").volatile().only(),
		ofView("pg_ident_file_mappings() record", "pg_ident_file_mappings",
			"line_number int4,map_name text,sys_name text,pg_username text,error text").
			volatile().only(),
		ofView("pg_config() record", "pg_config", "name text,setting text").only(),
		ofView("pg_get_backend_memory_contexts() record", "pg_backend_memory_contexts",
			"name text,ident text,parent text,level int4,total_bytes int8,total_nblocks int8,"+
				"free_bytes int8,free_chunks int8,used_bytes int8").volatile().
			only(readAllStats),
		ofView("pg_get_shmem_allocations() record", "pg_shmem_allocations",
			"name text,off int8,size int8,allocated_size int8").volatile().only(readAllStats),
		ofView("pg_lock_status() record", "pg_locks", lockColumns).volatile(),
		ofView("pg_prepared_statement() record", "pg_prepared_statements",
			"name text,statement text,prepare_time timestamptz,parameter_types regtype[],"+
				"from_sql bool,generic_plans int8,custom_plans int8"),
		s("pg_prepared_xact() record", "transaction xid,gid text,prepared timestamptz,"+
			"ownerid oid,dbid oid", noRows).volatile(),
		ofView("pg_cursor() record", "pg_cursors", "name text,statement text,is_holdable bool,"+
			"is_binary bool,is_scrollable bool,creation_time timestamptz"),
		shows("pg_stat_get_activity(int4) record", activityColumns, activityQuery).called(),
		fixed("pg_stat_get_snapshot_timestamp() timestamptz", types.Null),
		record("pg_stat_get_archiver() record", "archived_count int8,last_archived_wal text,"+
			"last_archived_time timestamptz,failed_count int8,last_failed_wal text,"+
			"last_failed_time timestamptz,stats_reset timestamptz",
			"SELECT * FROM pg_catalog.pg_stat_archiver").called(),
		record("pg_stat_get_wal() record", "wal_records int8,wal_fpi int8,wal_bytes numeric,"+
			"wal_buffers_full int8,wal_write int8,wal_sync int8,wal_write_time float8,"+
			"wal_sync_time float8,stats_reset timestamptz",
			"SELECT * FROM pg_catalog.pg_stat_wal").called(),
		ofView("pg_stat_get_slru() record", "pg_stat_slru", "name text,blks_zeroed int8,"+
			"blks_hit int8,blks_read int8,blks_written int8,blks_exists int8,flushes int8,"+
			"truncates int8,stats_reset timestamptz").called(),
	}
	out = append(out, tableCounters()...)
	out = append(out, databaseCounters()...)
	return append(out, backendFacts()...)
}

// tableCounters are the functions of the counters of a table. What a view counts is 0 of a relation
// that is not in the view.
func tableCounters() (out []def) {
	counted := func(view, of string, functions map[string]string) {
		for name, column := range functions {
			query := "SELECT " + column + " FROM pg_catalog." + view + " WHERE " + of + " = $1"
			if strings.HasPrefix(column, "n_") || strings.HasSuffix(column, "_count") {
				query = "SELECT coalesce((" + query + "), CASE WHEN NOT EXISTS (SELECT FROM " +
					"pg_catalog." + view + " WHERE " + of + " = $1) THEN 0 END)"
			}
			result := "int8"
			if strings.HasPrefix(column, "last_") {
				result = "timestamptz"
			}
			out = append(out, value("pg_stat_get_"+name+"(oid) "+result, query))
		}
	}
	counted("pg_stat_all_tables", "relid", map[string]string{
		"tuples_inserted": "n_tup_ins", "tuples_updated": "n_tup_upd",
		"tuples_deleted": "n_tup_del", "tuples_hot_updated": "n_tup_hot_upd",
		"live_tuples": "n_live_tup", "dead_tuples": "n_dead_tup",
		"mod_since_analyze": "n_mod_since_analyze", "ins_since_vacuum": "n_ins_since_vacuum",
		"last_vacuum_time": "last_vacuum", "last_autovacuum_time": "last_autovacuum",
		"last_analyze_time": "last_analyze", "last_autoanalyze_time": "last_autoanalyze",
		"vacuum_count": "vacuum_count", "autovacuum_count": "autovacuum_count",
		"analyze_count": "analyze_count", "autoanalyze_count": "autoanalyze_count"})
	return out
}

// databaseCounters are the functions of the counters of a database, and of the server.
func databaseCounters() []def {
	var out []def
	for _, f := range [][3]string{
		{"xact_commit", "xact_commit", "int8"}, {"xact_rollback", "xact_rollback", "int8"},
		{"tuples_returned", "tup_returned", "int8"}, {"tuples_fetched", "tup_fetched", "int8"},
		{"tuples_inserted", "tup_inserted", "int8"}, {"tuples_updated", "tup_updated", "int8"},
		{"tuples_deleted", "tup_deleted", "int8"}, {"conflict_all", "conflicts", "int8"},
		{"deadlocks", "deadlocks", "int8"}, {"blocks_hit", "blks_hit", "int8"},
		{"checksum_failures", "checksum_failures", "int8"},
		{"checksum_last_failure", "checksum_last_failure", "timestamptz"},
		{"blk_read_time", "blk_read_time", "float8"},
		{"blk_write_time", "blk_write_time", "float8"},
		{"session_time", "session_time", "float8"}, {"active_time", "active_time", "float8"},
		{"idle_in_transaction_time", "idle_in_transaction_time", "float8"},
		{"sessions", "sessions", "int8"}, {"sessions_abandoned", "sessions_abandoned", "int8"},
		{"sessions_fatal", "sessions_fatal", "int8"},
		{"sessions_killed", "sessions_killed", "int8"},
	} {
		out = append(out, value("pg_stat_get_db_"+f[0]+"(oid) "+f[2],
			"SELECT "+f[1]+" FROM pg_catalog.pg_stat_database WHERE datid = $1"))
	}
	for _, f := range [][3]string{
		{"bgwriter_timed_checkpoints", "checkpoints_timed", "int8"},
		{"bgwriter_requested_checkpoints", "checkpoints_req", "int8"},
		{"bgwriter_buf_written_checkpoints", "buffers_checkpoint", "int8"},
		{"bgwriter_buf_written_clean", "buffers_clean", "int8"},
		{"bgwriter_maxwritten_clean", "maxwritten_clean", "int8"},
		{"bgwriter_stat_reset_time", "stats_reset", "timestamptz"},
		{"checkpoint_write_time", "checkpoint_write_time", "float8"},
		{"checkpoint_sync_time", "checkpoint_sync_time", "float8"},
		{"buf_written_backend", "buffers_backend", "int8"},
		{"buf_fsync_backend", "buffers_backend_fsync", "int8"},
		{"buf_alloc", "buffers_alloc", "int8"},
	} {
		out = append(out, value("pg_stat_get_"+f[0]+"() "+f[2],
			"SELECT "+f[1]+" FROM pg_catalog.pg_stat_bgwriter"))
	}
	return out
}

// backendFacts are the functions of one session. The ID of a session is its process ID, which means
// the same in all calls of a statement.
func backendFacts() []def {
	out := []def{shows("pg_stat_get_backend_idset() int4", "",
		"SELECT pid FROM pg_catalog.pg_stat_activity")}
	for _, f := range [][3]string{
		{"pid", "pid", "int4"}, {"dbid", "datid", "oid"}, {"userid", "usesysid", "oid"},
		{"activity", "query", "text"}, {"activity_start", "query_start", "timestamptz"},
		{"xact_start", "xact_start", "timestamptz"}, {"start", "backend_start", "timestamptz"},
		{"client_addr", "client_addr", "inet"}, {"client_port", "client_port", "int4"},
		{"wait_event_type", "wait_event_type", "text"}, {"wait_event", "wait_event", "text"},
	} {
		query := "SELECT " + f[1] + " FROM pg_catalog.pg_stat_activity WHERE pid = $1"
		if f[2] == "text" {
			query += " UNION ALL SELECT '<backend information not available>' WHERE NOT EXISTS " +
				"(SELECT FROM pg_catalog.pg_stat_activity WHERE pid = $1)"
		}
		out = append(out, value("pg_stat_get_backend_"+f[0]+"(int4) "+f[2], query))
	}
	return out
}
