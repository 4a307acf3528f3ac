-- Relations of PostgreSQL that are empty here, because there is nothing of what they list: foreign
-- data, replication, prepared transactions, text of extended statistics, files of settings.

CREATE VIEW information_schema._pg_foreign_data_wrappers (
	oid oid, fdwowner oid, fdwoptions text[], foreign_data_wrapper_catalog name,
	foreign_data_wrapper_name name, authorization_identifier name,
	foreign_data_wrapper_language varchar
);

CREATE VIEW information_schema._pg_foreign_servers (
	oid oid, srvoptions text[], foreign_server_catalog name, foreign_server_name name,
	foreign_data_wrapper_catalog name, foreign_data_wrapper_name name,
	foreign_server_type varchar, foreign_server_version varchar, authorization_identifier name
);

CREATE VIEW information_schema._pg_foreign_table_columns (
	nspname name, relname name, attname name, attfdwoptions text[]
);

CREATE VIEW information_schema._pg_foreign_tables (
	foreign_table_catalog name, foreign_table_schema name, foreign_table_name name,
	ftoptions text[], foreign_server_catalog name, foreign_server_name name,
	authorization_identifier name
);

CREATE VIEW information_schema._pg_user_mappings (
	oid oid, umoptions text[], umuser oid, authorization_identifier name,
	foreign_server_catalog name, foreign_server_name name, srvowner name
);

CREATE VIEW information_schema.check_constraint_routine_usage (
	constraint_catalog name, constraint_schema name, constraint_name name, specific_catalog name,
	specific_schema name, specific_name name
);

CREATE VIEW information_schema.column_options (
	table_catalog name, table_schema name, table_name name, column_name name, option_name name,
	option_value varchar
);

CREATE VIEW information_schema.foreign_data_wrapper_options (
	foreign_data_wrapper_catalog name, foreign_data_wrapper_name name, option_name name,
	option_value varchar
);

CREATE VIEW information_schema.foreign_data_wrappers (
	foreign_data_wrapper_catalog name, foreign_data_wrapper_name name,
	authorization_identifier name, library_name varchar, foreign_data_wrapper_language varchar
);

CREATE VIEW information_schema.foreign_server_options (
	foreign_server_catalog name, foreign_server_name name, option_name name, option_value varchar
);

CREATE VIEW information_schema.foreign_servers (
	foreign_server_catalog name, foreign_server_name name, foreign_data_wrapper_catalog name,
	foreign_data_wrapper_name name, foreign_server_type varchar, foreign_server_version varchar,
	authorization_identifier name
);

CREATE VIEW information_schema.foreign_table_options (
	foreign_table_catalog name, foreign_table_schema name, foreign_table_name name,
	option_name name, option_value varchar
);

CREATE VIEW information_schema.foreign_tables (
	foreign_table_catalog name, foreign_table_schema name, foreign_table_name name,
	foreign_server_catalog name, foreign_server_name name
);

CREATE VIEW information_schema.routine_column_usage (
	specific_catalog name, specific_schema name, specific_name name, routine_catalog name,
	routine_schema name, routine_name name, table_catalog name, table_schema name,
	table_name name, column_name name
);

CREATE VIEW information_schema.routine_routine_usage (
	specific_catalog name, specific_schema name, specific_name name, routine_catalog name,
	routine_schema name, routine_name name
);

CREATE VIEW information_schema.routine_sequence_usage (
	specific_catalog name, specific_schema name, specific_name name, routine_catalog name,
	routine_schema name, routine_name name, sequence_catalog name, sequence_schema name,
	sequence_name name
);

CREATE VIEW information_schema.routine_table_usage (
	specific_catalog name, specific_schema name, specific_name name, routine_catalog name,
	routine_schema name, routine_name name, table_catalog name, table_schema name, table_name name
);

CREATE TABLE information_schema.sql_features (
	feature_id varchar, feature_name varchar, sub_feature_id varchar, sub_feature_name varchar,
	is_supported varchar, is_verified_by varchar, comments varchar
);

CREATE TABLE information_schema.sql_implementation_info (
	implementation_info_id varchar, implementation_info_name varchar, integer_value int4,
	character_value varchar, comments varchar
);

CREATE TABLE information_schema.sql_parts (
	feature_id varchar, feature_name varchar, is_supported varchar, is_verified_by varchar,
	comments varchar
);

CREATE TABLE information_schema.sql_sizing (
	sizing_id int4, sizing_name varchar, supported_value int4, comments varchar
);

CREATE VIEW information_schema.transforms (
	udt_catalog name, udt_schema name, udt_name name, specific_catalog name,
	specific_schema name, specific_name name, group_name name, transform_type varchar
);

CREATE VIEW information_schema.user_mapping_options (
	authorization_identifier name, foreign_server_catalog name, foreign_server_name name,
	option_name name, option_value varchar
);

CREATE VIEW information_schema.user_mappings (
	authorization_identifier name, foreign_server_catalog name, foreign_server_name name
);

CREATE VIEW information_schema.view_routine_usage (
	table_catalog name, table_schema name, table_name name, specific_catalog name,
	specific_schema name, specific_name name
);

CREATE VIEW pg_catalog.pg_backend_memory_contexts (
	name text, ident text, parent text, level int4, total_bytes int8, total_nblocks int8,
	free_bytes int8, free_chunks int8, used_bytes int8
);

CREATE VIEW pg_catalog.pg_config (
	name text, setting text
);

CREATE VIEW pg_catalog.pg_file_settings (
	sourcefile text, sourceline int4, seqno int4, name text, setting text, applied bool,
	error text
);

CREATE VIEW pg_catalog.pg_hba_file_rules (
	line_number int4, type text, database text[], user_name text[], address text, netmask text,
	auth_method text, options text[], error text
);

CREATE VIEW pg_catalog.pg_ident_file_mappings (
	line_number int4, map_name text, sys_name text, pg_username text, error text
);

CREATE VIEW pg_catalog.pg_prepared_xacts (
	transaction xid, gid text, prepared timestamptz, owner name, database name
);

CREATE VIEW pg_catalog.pg_publication_tables (
	pubname name, schemaname name, tablename name, attnames name[], rowfilter text
);

CREATE VIEW pg_catalog.pg_replication_origin_status (
	local_id oid, external_id text, remote_lsn pg_lsn, local_lsn pg_lsn
);

CREATE VIEW pg_catalog.pg_replication_slots (
	slot_name name, plugin name, slot_type text, datoid oid, database name, temporary bool,
	active bool, active_pid int4, xmin xid, catalog_xmin xid, restart_lsn pg_lsn,
	confirmed_flush_lsn pg_lsn, wal_status text, safe_wal_size int8, two_phase bool
);

CREATE VIEW pg_catalog.pg_seclabels (
	objoid oid, classoid oid, objsubid int4, objtype text, objnamespace oid, objname text collate "C",
	provider text collate "C", label text collate "C"
);

CREATE VIEW pg_catalog.pg_shmem_allocations (
	name text, off int8, size int8, allocated_size int8
);

CREATE VIEW pg_catalog.pg_stat_database_conflicts (
	datid oid, datname name, confl_tablespace int8, confl_lock int8, confl_snapshot int8,
	confl_bufferpin int8, confl_deadlock int8
);

CREATE VIEW pg_catalog.pg_stat_progress_cluster (
	pid int4, datid oid, datname name, relid oid, command text, phase text,
	cluster_index_relid oid, heap_tuples_scanned int8, heap_tuples_written int8,
	heap_blks_total int8, heap_blks_scanned int8, index_rebuild_count int8
);

CREATE VIEW pg_catalog.pg_stat_recovery_prefetch (
	stats_reset timestamptz, prefetch int8, hit int8, skip_init int8, skip_new int8,
	skip_fpw int8, skip_rep int8, wal_distance int4, block_distance int4, io_depth int4
);

CREATE VIEW pg_catalog.pg_stat_replication (
	pid int4, usesysid oid, usename name, application_name text, client_addr inet,
	client_hostname text, client_port int4, backend_start timestamptz, backend_xmin xid,
	state text, sent_lsn pg_lsn, write_lsn pg_lsn, flush_lsn pg_lsn, replay_lsn pg_lsn,
	write_lag interval, flush_lag interval, replay_lag interval, sync_priority int4,
	sync_state text, reply_time timestamptz
);

CREATE VIEW pg_catalog.pg_stat_replication_slots (
	slot_name text, spill_txns int8, spill_count int8, spill_bytes int8, stream_txns int8,
	stream_count int8, stream_bytes int8, total_txns int8, total_bytes int8,
	stats_reset timestamptz
);

CREATE VIEW pg_catalog.pg_stat_slru (
	name text, blks_zeroed int8, blks_hit int8, blks_read int8, blks_written int8,
	blks_exists int8, flushes int8, truncates int8, stats_reset timestamptz
);

CREATE VIEW pg_catalog.pg_stat_subscription (
	subid oid, subname name, pid int4, relid oid, received_lsn pg_lsn,
	last_msg_send_time timestamptz, last_msg_receipt_time timestamptz, latest_end_lsn pg_lsn,
	latest_end_time timestamptz
);

CREATE VIEW pg_catalog.pg_stat_subscription_stats (
	subid oid, subname name, apply_error_count int8, sync_error_count int8,
	stats_reset timestamptz
);

CREATE VIEW pg_catalog.pg_stat_user_functions (
	funcid oid, schemaname name, funcname name, calls int8, total_time float8, self_time float8
);

CREATE VIEW pg_catalog.pg_stat_wal_receiver (
	pid int4, status text, receive_start_lsn pg_lsn, receive_start_tli int4, written_lsn pg_lsn,
	flushed_lsn pg_lsn, received_tli int4, last_msg_send_time timestamptz,
	last_msg_receipt_time timestamptz, latest_end_lsn pg_lsn, latest_end_time timestamptz,
	slot_name text, sender_host text, sender_port int4, conninfo text
);

CREATE VIEW pg_catalog.pg_stat_xact_all_tables (
	relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8,
	idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8
);

CREATE VIEW pg_catalog.pg_stat_xact_sys_tables (
	relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8,
	idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8
);

CREATE VIEW pg_catalog.pg_stat_xact_user_functions (
	funcid oid, schemaname name, funcname name, calls int8, total_time float8, self_time float8
);

CREATE VIEW pg_catalog.pg_stat_xact_user_tables (
	relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8,
	idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8
);

CREATE TABLE pg_catalog.pg_statistic (
	starelid oid, staattnum int2, stainherit bool, stanullfrac float4, stawidth int4,
	stadistinct float4, stakind1 int2, stakind2 int2, stakind3 int2, stakind4 int2,
	stakind5 int2, staop1 oid, staop2 oid, staop3 oid, staop4 oid, staop5 oid, stacoll1 oid,
	stacoll2 oid, stacoll3 oid, stacoll4 oid, stacoll5 oid, stanumbers1 float4[],
	stanumbers2 float4[], stanumbers3 float4[], stanumbers4 float4[], stanumbers5 float4[],
	stavalues1 text, stavalues2 text, stavalues3 text, stavalues4 text, stavalues5 text
) WITH (oid = 2619);

CREATE TABLE pg_catalog.pg_statistic_ext_data (
	stxoid oid, stxdinherit bool, stxdndistinct bytea, stxddependencies bytea, stxdmcv bytea,
	stxdexpr text
) WITH (oid = 3429);

CREATE VIEW pg_catalog.pg_stats_ext (
	schemaname name, tablename name, statistics_schemaname name, statistics_name name,
	statistics_owner name, attnames name[], exprs text[], kinds char[], inherited bool,
	n_distinct bytea, dependencies bytea, most_common_vals text[], most_common_val_nulls bool[],
	most_common_freqs float8[], most_common_base_freqs float8[]
);

CREATE VIEW pg_catalog.pg_stats_ext_exprs (
	schemaname name, tablename name, statistics_schemaname name, statistics_name name,
	statistics_owner name, expr text, inherited bool, null_frac float4, avg_width int4,
	n_distinct float4, most_common_vals text, most_common_freqs float4[], histogram_bounds text,
	correlation float4, most_common_elems text, most_common_elem_freqs float4[],
	elem_count_histogram float4[]
);

CREATE VIEW pg_catalog.pg_user_mappings (
	umid oid, srvid oid, srvname name, umuser oid, usename name, umoptions text[] collate "C"
);
