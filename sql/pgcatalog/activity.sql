-- Views on what sessions do, hold and wait for, and on what has happened to tables. tables.go names
-- the functions that make their rows.

CREATE VIEW pg_catalog.pg_locks (
	locktype text, database oid, relation oid, page int4, tuple int2, virtualxid text,
	transactionid xid, classid oid, objid oid, objsubid int2, virtualtransaction text, pid int4,
	mode text, granted bool, fastpath bool, waitstart timestamptz
);

CREATE VIEW pg_catalog.minidb_lock_waits (
	locktype text, table_name text, index_name text, key text, row_key text, waiting_pid int4,
	waiting_query text, mode text, blocking_pid int4, blocking_query text, blocking_state text,
	since timestamptz
);

CREATE VIEW pg_catalog.minidb_conflicts (
	at timestamptz, kind text, pid int4, query text, table_name text, index_name text, key text,
	detail text
);

CREATE VIEW pg_catalog.minidb_progress (
	pid int4, datname text, query text, query_start timestamptz, phase text, rows_written int8,
	keys_streamed int8, bytes_streamed int8, reruns int8, rows_read int8, rows_expected int8
);

CREATE VIEW pg_catalog.minidb_holds (
	since timestamptz, oldest timestamptz, until timestamptz, notifications bool
);

CREATE VIEW pg_catalog.minidb_reruns (
	datname text, statements int8, reruns int8, most int8, refused int8, transactions int8
);

CREATE VIEW pg_catalog.pg_stat_progress_basebackup (
	pid int4, phase text, backup_total int8, backup_streamed int8, tablespaces_total int8,
	tablespaces_streamed int8
);

CREATE VIEW pg_catalog.pg_stat_progress_copy (
	pid int4, datid oid, datname name, relid oid, command text, type text, bytes_processed int8,
	bytes_total int8, tuples_processed int8, tuples_excluded int8
);

CREATE VIEW pg_catalog.pg_stat_progress_vacuum (
	pid int4, datid oid, datname name, relid oid, phase text, heap_blks_total int8,
	heap_blks_scanned int8, heap_blks_vacuumed int8, index_vacuum_count int8, max_dead_tuples int8,
	num_dead_tuples int8
);

CREATE VIEW pg_catalog.pg_stat_progress_analyze (
	pid int4, datid oid, datname name, relid oid, phase text, sample_blks_total int8,
	sample_blks_scanned int8, ext_stats_total int8, ext_stats_computed int8,
	child_tables_total int8, child_tables_done int8, current_child_table_relid oid
);

CREATE VIEW pg_catalog.pg_stat_progress_create_index (
	pid int4, datid oid, datname name, relid oid, index_relid oid, command text, phase text,
	lockers_total int8, lockers_done int8, current_locker_pid int8, blocks_total int8,
	blocks_done int8, tuples_total int8, tuples_done int8, partitions_total int8,
	partitions_done int8
);

CREATE VIEW pg_catalog.minidb_memory (
	consumer text, pid int4, bytes int8, limit_bytes int8, most_bytes int8, ended int8, ending bool
);

CREATE VIEW pg_catalog.minidb_observers (
	name text, kind text, tablename text, version int8, columns text[], pending int8,
	oldest_pending timestamptz, table_changes int8, dead_letters int8, running bool,
	backfilling bool, workers int4, busy int4, queued int4, carried int8, runs int8,
	conflicts int8, failures int8, last_error text, last_failed timestamptz
);

CREATE VIEW pg_catalog.minidb_dead_letters (
	observer text, tablename text, key text, attempts int4, failed timestamptz, error text
);

CREATE VIEW pg_catalog.pg_stats (
	schemaname name, tablename name, attname name, inherited bool, null_frac float4,
	avg_width int4, n_distinct float4, most_common_vals text, most_common_freqs float4[],
	histogram_bounds text, correlation float4, most_common_elems text,
	most_common_elem_freqs float4[], elem_count_histogram float4[]
);

CREATE VIEW pg_catalog.pg_stat_all_tables (
	relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8,
	idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8,
	n_live_tup int8, n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8,
	last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz,
	last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count int8, analyze_count int8,
	autoanalyze_count int8
);
