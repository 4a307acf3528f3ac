-- Views of pg_catalog over its tables, as PostgreSQL's system_views.sql defines them.
-- Clients read rows in the order of the first table of a join (planner/choose keeps it).

CREATE VIEW pg_catalog.pg_tables (schemaname name, tablename name, tableowner name, tablespace name,
	hasindexes bool, hasrules bool, hastriggers bool, rowsecurity bool) AS
SELECT n.nspname, c.relname, pg_get_userbyid(c.relowner), t.spcname, c.relhasindex, c.relhasrules,
	c.relhastriggers, c.relrowsecurity
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
	LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
WHERE c.relkind IN ('r', 'p');

CREATE VIEW pg_catalog.pg_views (schemaname name, viewname name, viewowner name, definition text) AS
SELECT n.nspname, c.relname, pg_get_userbyid(c.relowner), pg_get_viewdef(c.oid)
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'v';

CREATE VIEW pg_catalog.pg_matviews (schemaname name, matviewname name, matviewowner name,
	tablespace name, hasindexes bool, ispopulated bool, definition text) AS
SELECT n.nspname, c.relname, pg_get_userbyid(c.relowner), t.spcname, c.relhasindex,
	c.relispopulated, pg_get_viewdef(c.oid)
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
	LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
WHERE c.relkind = 'm';

CREATE VIEW pg_catalog.pg_indexes (schemaname name, tablename name, indexname name, tablespace name,
	indexdef text) AS
SELECT n.nspname, c.relname, i.relname, t.spcname, pg_get_indexdef(i.oid)
FROM pg_index x
	JOIN pg_class c ON c.oid = x.indrelid
	JOIN pg_class i ON i.oid = x.indexrelid
	LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
	LEFT JOIN pg_tablespace t ON t.oid = i.reltablespace
WHERE c.relkind IN ('r', 'm', 'p') AND i.relkind IN ('i', 'I');

CREATE VIEW pg_catalog.pg_sequences (schemaname name, sequencename name, sequenceowner name,
	data_type regtype, start_value int8, min_value int8, max_value int8, increment_by int8, cycle bool,
	cache_size int8, last_value int8) AS
SELECT n.nspname, c.relname, pg_get_userbyid(c.relowner), s.seqtypid::regtype, s.seqstart, s.seqmin,
	s.seqmax, s.seqincrement, s.seqcycle, s.seqcache,
	CASE WHEN has_sequence_privilege(c.oid, 'SELECT,USAGE') THEN pg_sequence_last_value(c.oid) END
FROM pg_sequence s
	JOIN pg_class c ON c.oid = s.seqrelid
	LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT pg_is_other_temp_schema(n.oid) AND c.relkind = 'S';

CREATE VIEW pg_catalog.pg_roles (rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool,
	rolcreatedb bool, rolcanlogin bool, rolreplication bool, rolconnlimit int4, rolpassword text,
	rolvaliduntil timestamptz, rolbypassrls bool, rolconfig text[] collate "C", oid oid) AS
SELECT rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
	rolconnlimit, '********', rolvaliduntil, rolbypassrls, s.setconfig, pg_authid.oid
FROM pg_authid LEFT JOIN pg_db_role_setting s ON pg_authid.oid = s.setrole AND s.setdatabase = 0;

CREATE VIEW pg_catalog.pg_shadow (usename name, usesysid oid, usecreatedb bool, usesuper bool,
	userepl bool, usebypassrls bool, passwd text collate "C", valuntil timestamptz,
	useconfig text[] collate "C") AS
SELECT rolname, pg_authid.oid, rolcreatedb, rolsuper, rolreplication, rolbypassrls, rolpassword,
	rolvaliduntil, s.setconfig
FROM pg_authid LEFT JOIN pg_db_role_setting s ON pg_authid.oid = s.setrole AND s.setdatabase = 0
WHERE rolcanlogin;

CREATE VIEW pg_catalog.pg_user (usename name, usesysid oid, usecreatedb bool, usesuper bool,
	userepl bool, usebypassrls bool, passwd text, valuntil timestamptz,
	useconfig text[] collate "C") AS
SELECT usename, usesysid, usecreatedb, usesuper, userepl, usebypassrls, '********', valuntil,
	useconfig FROM pg_shadow;

CREATE VIEW pg_catalog.pg_group (groname name, grosysid oid, grolist oid[]) AS
SELECT rolname, oid, ARRAY(SELECT member FROM pg_auth_members WHERE roleid = oid)
FROM pg_authid
WHERE NOT rolcanlogin;

CREATE VIEW pg_catalog.pg_stat_user_tables (relid oid, schemaname name, relname name, seq_scan int8,
	seq_tup_read int8, idx_scan int8, idx_tup_fetch int8, n_tup_ins int8, n_tup_upd int8,
	n_tup_del int8, n_tup_hot_upd int8, n_live_tup int8, n_dead_tup int8, n_mod_since_analyze int8,
	n_ins_since_vacuum int8, last_vacuum timestamptz, last_autovacuum timestamptz,
	last_analyze timestamptz, last_autoanalyze timestamptz, vacuum_count int8, autovacuum_count int8,
	analyze_count int8, autoanalyze_count int8) AS
SELECT * FROM pg_stat_all_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';

-- Reads of blocks are not counted by table: the engine does not know tables.
CREATE VIEW pg_catalog.pg_statio_all_tables (relid oid, schemaname name, relname name,
	heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8, idx_blks_hit int8,
	toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, tidx_blks_hit int8) AS
SELECT c.oid, n.nspname, c.relname, 0, 0, 0, 0, 0, 0, 0, 0
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'm');

CREATE VIEW pg_catalog.pg_statio_user_tables (relid oid, schemaname name, relname name,
	heap_blks_read int8, heap_blks_hit int8, idx_blks_read int8, idx_blks_hit int8,
	toast_blks_read int8, toast_blks_hit int8, tidx_blks_read int8, tidx_blks_hit int8) AS
SELECT * FROM pg_statio_all_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast';
