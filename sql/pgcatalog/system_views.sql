-- More views of PostgreSQL's system_views.sql, as pg_get_viewdef prints them.

CREATE VIEW pg_catalog.pg_policies (
	schemaname name, tablename name, policyname name, permissive text, roles name[], cmd text,
	qual text collate "C", with_check text collate "C"
) AS
SELECT n.nspname, c.relname, pol.polname, CASE WHEN pol.polpermissive THEN 'PERMISSIVE' ELSE
	'RESTRICTIVE' END, CASE WHEN (pol.polroles = '{0}'::oid[]) THEN (string_to_array('public',
			''))::name[] ELSE ARRAY(SELECT pg_authid.rolname
	FROM pg_authid
	WHERE (pg_authid.oid = ANY (pol.polroles)) ORDER BY pg_authid.rolname) END, CASE pol.polcmd
	WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE'
	WHEN '*' THEN 'ALL' ELSE NULL END, pg_get_expr(pol.polqual, pol.polrelid),
	pg_get_expr(pol.polwithcheck, pol.polrelid)
FROM ((pg_policy pol
		JOIN pg_class c ON ((c.oid = pol.polrelid)))
	LEFT JOIN pg_namespace n ON ((n.oid = c.relnamespace)));

CREATE VIEW pg_catalog.pg_rules (
	schemaname name, tablename name, rulename name, definition text
) AS
SELECT n.nspname, c.relname, r.rulename, pg_get_ruledef(r.oid)
FROM ((pg_rewrite r
		JOIN pg_class c ON ((c.oid = r.ev_class)))
	LEFT JOIN pg_namespace n ON ((n.oid = c.relnamespace)))
WHERE (r.rulename <> '_RETURN');

-- Statistics of the server. NULL is what is not counted (docs/additions.md).

CREATE VIEW pg_catalog.pg_stat_all_indexes (
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8,
	idx_tup_read int8, idx_tup_fetch int8
) AS
SELECT c.oid, i.oid, n.nspname, c.relname, i.relname, pg_stat_get_numscans(i.oid),
	pg_stat_get_tuples_returned(i.oid), pg_stat_get_tuples_fetched(i.oid)
FROM pg_index x
	JOIN pg_class c ON c.oid = x.indrelid
	JOIN pg_class i ON i.oid = x.indexrelid
	LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm');

CREATE VIEW pg_catalog.pg_stat_sys_indexes (
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8,
	idx_tup_read int8, idx_tup_fetch int8
) AS
SELECT * FROM pg_stat_all_indexes
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_catalog.pg_stat_user_indexes (
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name, idx_scan int8,
	idx_tup_read int8, idx_tup_fetch int8
) AS
SELECT * FROM pg_stat_all_indexes
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';

CREATE VIEW pg_catalog.pg_stat_sys_tables (
	relid oid, schemaname name, relname name, seq_scan int8, seq_tup_read int8, idx_scan int8,
	idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8, n_tup_del int8, n_tup_hot_upd int8,
	n_live_tup int8, n_dead_tup int8, n_mod_since_analyze int8, n_ins_since_vacuum int8,
	last_vacuum timestamptz, last_autovacuum timestamptz, last_analyze timestamptz,
	last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count int8, analyze_count int8,
	autoanalyze_count int8
) AS
SELECT * FROM pg_stat_all_tables
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_catalog.pg_statio_all_indexes (
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name,
	idx_blks_read int8, idx_blks_hit int8
) AS
SELECT c.oid, i.oid, n.nspname, c.relname, i.relname, 0, 0
FROM pg_index x
	JOIN pg_class c ON c.oid = x.indrelid
	JOIN pg_class i ON i.oid = x.indexrelid
	LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm');

CREATE VIEW pg_catalog.pg_statio_sys_indexes (
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name,
	idx_blks_read int8, idx_blks_hit int8
) AS
SELECT * FROM pg_statio_all_indexes
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_catalog.pg_statio_user_indexes (
	relid oid, indexrelid oid, schemaname name, relname name, indexrelname name,
	idx_blks_read int8, idx_blks_hit int8
) AS
SELECT * FROM pg_statio_all_indexes
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';

CREATE VIEW pg_catalog.pg_statio_all_sequences (
	relid oid, schemaname name, relname name, blks_read int8, blks_hit int8
) AS
SELECT c.oid, n.nspname, c.relname, 0, 0
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'S';

CREATE VIEW pg_catalog.pg_statio_sys_sequences (
	relid oid, schemaname name, relname name, blks_read int8, blks_hit int8
) AS
SELECT * FROM pg_statio_all_sequences
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_catalog.pg_statio_user_sequences (
	relid oid, schemaname name, relname name, blks_read int8, blks_hit int8
) AS
SELECT * FROM pg_statio_all_sequences
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';

CREATE VIEW pg_catalog.pg_statio_sys_tables (
	relid oid, schemaname name, relname name, heap_blks_read int8, heap_blks_hit int8,
	idx_blks_read int8, idx_blks_hit int8, toast_blks_read int8, toast_blks_hit int8,
	tidx_blks_read int8, tidx_blks_hit int8
) AS
SELECT * FROM pg_statio_all_tables
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast';

CREATE VIEW pg_catalog.pg_stat_database (
	datid oid, datname name, numbackends int4, xact_commit int8, xact_rollback int8,
	blks_read int8, blks_hit int8, tup_returned int8, tup_fetched int8, tup_inserted int8,
	tup_updated int8, tup_deleted int8, conflicts int8, temp_files int8, temp_bytes int8,
	deadlocks int8, checksum_failures int8, checksum_last_failure timestamptz,
	blk_read_time float8, blk_write_time float8, session_time float8, active_time float8,
	idle_in_transaction_time float8, sessions int8, sessions_abandoned int8, sessions_fatal int8,
	sessions_killed int8, stats_reset timestamptz
) AS
SELECT d.oid, d.datname, pg_stat_get_db_numbackends(d.oid), NULL, NULL, NULL, NULL, NULL, NULL,
	t.inserted, t.updated, t.deleted, NULL, pg_stat_get_db_temp_files(d.oid),
	pg_stat_get_db_temp_bytes(d.oid), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, NULL, pg_stat_get_db_stat_reset_time(d.oid)
FROM pg_database d
	LEFT JOIN (SELECT sum(n_tup_ins) AS inserted, sum(n_tup_upd) AS updated,
			sum(n_tup_del) AS deleted
		FROM pg_stat_all_tables) t ON d.datname = current_database();

CREATE VIEW pg_catalog.pg_stat_ssl (
	pid int4, ssl bool, version text, cipher text, bits int4, client_dn text,
	client_serial numeric, issuer_dn text
);

CREATE VIEW pg_catalog.pg_stat_gssapi (
	pid int4, gss_authenticated bool, principal text, encrypted bool
);

CREATE VIEW pg_catalog.pg_stat_archiver (
	archived_count int8, last_archived_wal text, last_archived_time timestamptz,
	failed_count int8, last_failed_wal text, last_failed_time timestamptz, stats_reset timestamptz
) AS
SELECT 0, NULL, NULL, 0, NULL, NULL, NULL;

CREATE VIEW pg_catalog.pg_stat_bgwriter (
	checkpoints_timed int8, checkpoints_req int8, checkpoint_write_time float8,
	checkpoint_sync_time float8, buffers_checkpoint int8, buffers_clean int8,
	maxwritten_clean int8, buffers_backend int8, buffers_backend_fsync int8, buffers_alloc int8,
	stats_reset timestamptz
) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL;

CREATE VIEW pg_catalog.pg_stat_wal (
	wal_records int8, wal_fpi int8, wal_bytes numeric, wal_buffers_full int8, wal_write int8,
	wal_sync int8, wal_write_time float8, wal_sync_time float8, stats_reset timestamptz
) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL;
