-- Functions, triggers and what uses what in information_schema, as PostgreSQL's
-- information_schema.sql has them.

CREATE VIEW information_schema.column_column_usage (
	table_catalog name, table_schema name, table_name name, column_name name,
	dependent_column name
) AS
SELECT DISTINCT (current_database()), (n.nspname), (c.relname), (ac.attname), (ad.attname)
FROM pg_namespace n, pg_class c, pg_depend d, pg_attribute ac, pg_attribute ad, pg_attrdef atd
WHERE ((n.oid = c.relnamespace) AND (c.oid = ac.attrelid) AND (c.oid = ad.attrelid) AND (ac.attnum
			<> ad.attnum) AND (ad.attrelid = atd.adrelid) AND (ad.attnum = atd.adnum) AND
		(d.classid = ('pg_attrdef'::regclass)::oid) AND (d.refclassid =
			('pg_class'::regclass)::oid) AND (d.objid = atd.oid) AND (d.refobjid = ac.attrelid)
		AND (d.refobjsubid = ac.attnum) AND (ad.attgenerated <> '') AND pg_has_role(c.relowner,
			'USAGE'));

CREATE VIEW information_schema.constraint_table_usage (
	table_catalog name, table_schema name, table_name name, constraint_catalog name,
	constraint_schema name, constraint_name name
) AS
SELECT (current_database()), (nr.nspname), (r.relname), (current_database()), (nc.nspname),
	(c.conname)
FROM pg_constraint c, pg_namespace nc, pg_class r, pg_namespace nr
WHERE ((c.connamespace = nc.oid) AND (r.relnamespace = nr.oid) AND (((c.contype = 'f') AND
				(c.confrelid = r.oid)) OR ((c.contype = ANY (ARRAY['p', 'u'])) AND (c.conrelid =
				r.oid))) AND (r.relkind = ANY (ARRAY['r', 'p'])) AND pg_has_role(r.relowner,
			'USAGE'));

CREATE VIEW information_schema.parameters (
	specific_catalog name, specific_schema name, specific_name name, ordinal_position int4,
	parameter_mode varchar, is_result varchar, as_locator varchar, parameter_name name,
	data_type varchar, character_maximum_length int4, character_octet_length int4,
	character_set_catalog name, character_set_schema name, character_set_name name,
	collation_catalog name, collation_schema name, collation_name name, numeric_precision int4,
	numeric_precision_radix int4, numeric_scale int4, datetime_precision int4,
	interval_type varchar, interval_precision int4, udt_catalog name, udt_schema name,
	udt_name name, scope_catalog name, scope_schema name, scope_name name,
	maximum_cardinality int4, dtd_identifier name, parameter_default varchar
) AS
SELECT (current_database()), (ss.n_nspname), (nameconcatoid(ss.proname, ss.p_oid)), (ss.n), (CASE
		WHEN (ss.proargmodes IS NULL) THEN 'IN' WHEN (ss.proargmodes[ss.n] = 'i') THEN 'IN' WHEN
		(ss.proargmodes[ss.n] = 'o') THEN 'OUT' WHEN (ss.proargmodes[ss.n] = 'b') THEN 'INOUT'
		WHEN (ss.proargmodes[ss.n] = 'v') THEN 'IN' WHEN (ss.proargmodes[ss.n] = 't') THEN 'OUT'
		ELSE NULL END), ('NO'), ('NO'), (NULLIF(ss.proargnames[ss.n], '')), (CASE WHEN ((t.typelem
				<> (0)::oid) AND (t.typlen = '-1')) THEN 'ARRAY' WHEN (nt.nspname = 'pg_catalog')
		THEN format_type(t.oid, NULL) ELSE 'USER-DEFINED' END), (NULL), (NULL), (NULL), (NULL),
	(NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL),
	(current_database()), (nt.nspname), (t.typname), (NULL), (NULL), (NULL), (NULL), (ss.n), (CASE
		WHEN pg_has_role(ss.proowner, 'USAGE') THEN pg_get_function_arg_default(ss.p_oid, ss.n)
		ELSE NULL END)
FROM pg_type t, pg_namespace nt, (SELECT n.nspname AS n_nspname, p.proname, p.oid AS p_oid,
		p.proowner, p.proargnames, p.proargmodes, x.x, x.n
	FROM pg_namespace n, pg_proc p
	CROSS JOIN LATERAL _pg_expandarray(COALESCE(p.proallargtypes, (p.proargtypes)::oid[])) AS x
		(x, n)
	WHERE ((n.oid = p.pronamespace) AND (pg_has_role(p.proowner, 'USAGE') OR
				has_function_privilege(p.oid, 'EXECUTE')))) ss
WHERE ((t.oid = ss.x) AND (t.typnamespace = nt.oid));

CREATE VIEW information_schema.routines (
	specific_catalog name, specific_schema name, specific_name name, routine_catalog name,
	routine_schema name, routine_name name, routine_type varchar, module_catalog name,
	module_schema name, module_name name, udt_catalog name, udt_schema name, udt_name name,
	data_type varchar, character_maximum_length int4, character_octet_length int4,
	character_set_catalog name, character_set_schema name, character_set_name name,
	collation_catalog name, collation_schema name, collation_name name, numeric_precision int4,
	numeric_precision_radix int4, numeric_scale int4, datetime_precision int4,
	interval_type varchar, interval_precision int4, type_udt_catalog name, type_udt_schema name,
	type_udt_name name, scope_catalog name, scope_schema name, scope_name name,
	maximum_cardinality int4, dtd_identifier name, routine_body varchar,
	routine_definition varchar, external_name varchar, external_language varchar,
	parameter_style varchar, is_deterministic varchar, sql_data_access varchar,
	is_null_call varchar, sql_path varchar, schema_level_routine varchar,
	max_dynamic_result_sets int4, is_user_defined_cast varchar, is_implicitly_invocable varchar,
	security_type varchar, to_sql_specific_catalog name, to_sql_specific_schema name,
	to_sql_specific_name name, as_locator varchar, created timestamptz, last_altered timestamptz,
	new_savepoint_level varchar, is_udt_dependent varchar, result_cast_from_data_type varchar,
	result_cast_as_locator varchar, result_cast_char_max_length int4,
	result_cast_char_octet_length int4, result_cast_char_set_catalog name,
	result_cast_char_set_schema name, result_cast_char_set_name name,
	result_cast_collation_catalog name, result_cast_collation_schema name,
	result_cast_collation_name name, result_cast_numeric_precision int4,
	result_cast_numeric_precision_radix int4, result_cast_numeric_scale int4,
	result_cast_datetime_precision int4, result_cast_interval_type varchar,
	result_cast_interval_precision int4, result_cast_type_udt_catalog name,
	result_cast_type_udt_schema name, result_cast_type_udt_name name,
	result_cast_scope_catalog name, result_cast_scope_schema name, result_cast_scope_name name,
	result_cast_maximum_cardinality int4, result_cast_dtd_identifier name
) AS
SELECT (current_database()), (n.nspname), (nameconcatoid(p.proname, p.oid)), (current_database()),
	(n.nspname), (p.proname), (CASE p.prokind WHEN 'f' THEN 'FUNCTION' WHEN 'p' THEN 'PROCEDURE'
		ELSE NULL END), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (CASE WHEN (p.prokind =
			'p') THEN NULL WHEN ((t.typelem <> (0)::oid) AND (t.typlen = '-1')) THEN 'ARRAY' WHEN
		(nt.nspname = 'pg_catalog') THEN format_type(t.oid, NULL) ELSE 'USER-DEFINED' END),
	(NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL),
	(NULL), (NULL), (NULL), (CASE WHEN (nt.nspname IS NOT NULL) THEN current_database() ELSE NULL
		END), (nt.nspname), (t.typname), (NULL), (NULL), (NULL), (NULL), (CASE WHEN (p.prokind <>
			'p') THEN 0 ELSE NULL END), (CASE WHEN (l.lanname = 'sql') THEN 'SQL' ELSE 'EXTERNAL'
		END), (CASE WHEN pg_has_role(p.proowner, 'USAGE') THEN p.prosrc ELSE NULL END), (CASE WHEN
		(l.lanname = 'c') THEN p.prosrc ELSE NULL END), (upper((l.lanname))), ('GENERAL'), (CASE
		WHEN (p.provolatile = 'i') THEN 'YES' ELSE 'NO' END), ('MODIFIES'), (CASE WHEN (p.prokind
			<> 'p') THEN CASE WHEN p.proisstrict THEN 'YES' ELSE 'NO' END ELSE NULL END), (NULL),
	('YES'), (0), (NULL), (NULL), (CASE WHEN p.prosecdef THEN 'DEFINER' ELSE 'INVOKER' END),
	(NULL), (NULL), (NULL), ('NO'), (NULL), (NULL), (NULL), ('NO'), (NULL), (NULL), (NULL),
	(NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL),
	(NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL)
FROM (((pg_namespace n
			JOIN pg_proc p ON ((n.oid = p.pronamespace)))
		JOIN pg_language l ON ((p.prolang = l.oid)))
	LEFT JOIN (pg_type t
		JOIN pg_namespace nt ON ((t.typnamespace = nt.oid))) ON (((p.prorettype = t.oid) AND
				(p.prokind <> 'p'))))
WHERE (pg_has_role(p.proowner, 'USAGE') OR has_function_privilege(p.oid, 'EXECUTE'));

CREATE VIEW information_schema.triggered_update_columns (
	trigger_catalog name, trigger_schema name, trigger_name name, event_object_catalog name,
	event_object_schema name, event_object_table name, event_object_column name
) AS
SELECT (current_database()), (n.nspname), (t.tgname), (current_database()), (n.nspname),
	(c.relname), (a.attname)
FROM pg_namespace n, pg_class c, pg_trigger t, (SELECT ta0.tgoid, ta0.x AS tgattnum, ta0.n AS
		tgattpos
	FROM (SELECT pg_trigger.oid AS tgoid, x.x, x.n
		FROM pg_trigger
		CROSS JOIN LATERAL _pg_expandarray(pg_trigger.tgattr) AS x (x, n)) ta0) ta, pg_attribute a
WHERE ((n.oid = c.relnamespace) AND (c.oid = t.tgrelid) AND (t.oid = ta.tgoid) AND ((a.attrelid =
				t.tgrelid) AND (a.attnum = ta.tgattnum)) AND (NOT t.tgisinternal) AND (NOT
			pg_is_other_temp_schema(n.oid)) AND (pg_has_role(c.relowner, 'USAGE') OR
			has_column_privilege(c.oid, a.attnum, 'INSERT, UPDATE, REFERENCES')));

CREATE VIEW information_schema.triggers (
	trigger_catalog name, trigger_schema name, trigger_name name, event_manipulation varchar,
	event_object_catalog name, event_object_schema name, event_object_table name,
	action_order int4, action_condition varchar, action_statement varchar,
	action_orientation varchar, action_timing varchar, action_reference_old_table name,
	action_reference_new_table name, action_reference_old_row name,
	action_reference_new_row name, created timestamptz
) AS
SELECT (current_database()), (n.nspname), (t.tgname), (em.text), (current_database()),
	(n.nspname), (c.relname), (rank() OVER (PARTITION BY (n.nspname), (c.relname), em.num,
			((t.tgtype) & 1), ((t.tgtype) & 66) ORDER BY t.tgname)), (CASE WHEN
		pg_has_role(c.relowner, 'USAGE') THEN (regexp_match(pg_get_triggerdef(t.oid),
				'.{35,} WHEN \((.+)\) EXECUTE FUNCTION'))[1] ELSE NULL END),
	(SUBSTRING(pg_get_triggerdef(t.oid) FROM (POSITION(('EXECUTE FUNCTION') IN
				(SUBSTRING(pg_get_triggerdef(t.oid) FROM 48))) + 47))), (CASE ((t.tgtype) & 1)
		WHEN 1 THEN 'ROW' ELSE 'STATEMENT' END), (CASE ((t.tgtype) & 66) WHEN 2 THEN 'BEFORE' WHEN
		64 THEN 'INSTEAD OF' ELSE 'AFTER' END), (t.tgoldtable), (t.tgnewtable), (NULL), (NULL),
	(NULL)
FROM pg_namespace n, pg_class c, pg_trigger t, (VALUES (4,'INSERT'), (8,'DELETE'), (16,'UPDATE'))
	em(num, text)
WHERE ((n.oid = c.relnamespace) AND (c.oid = t.tgrelid) AND (((t.tgtype) & em.num) <> 0) AND (NOT
			t.tgisinternal) AND (NOT pg_is_other_temp_schema(n.oid)) AND (pg_has_role(c.relowner,
				'USAGE') OR has_table_privilege(c.oid,
				'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') OR
			has_any_column_privilege(c.oid, 'INSERT, UPDATE, REFERENCES')));

CREATE VIEW information_schema.view_column_usage (
	view_catalog name, view_schema name, view_name name, table_catalog name, table_schema name,
	table_name name, column_name name
) AS
SELECT DISTINCT (current_database()), (nv.nspname), (v.relname), (current_database()),
	(nt.nspname), (t.relname), (a.attname)
FROM pg_namespace nv, pg_class v, pg_depend dv, pg_depend dt, pg_class t, pg_namespace nt,
	pg_attribute a
WHERE ((nv.oid = v.relnamespace) AND (v.relkind = 'v') AND (v.oid = dv.refobjid) AND
		(dv.refclassid = ('pg_class'::regclass)::oid) AND (dv.classid =
			('pg_rewrite'::regclass)::oid) AND (dv.deptype = 'i') AND (dv.objid = dt.objid) AND
		(dv.refobjid <> dt.refobjid) AND (dt.classid = ('pg_rewrite'::regclass)::oid) AND
		(dt.refclassid = ('pg_class'::regclass)::oid) AND (dt.refobjid = t.oid) AND
		(t.relnamespace = nt.oid) AND (t.relkind = ANY (ARRAY['r', 'v', 'f', 'p'])) AND (t.oid =
			a.attrelid) AND (dt.refobjsubid = a.attnum) AND pg_has_role(t.relowner, 'USAGE'));

CREATE VIEW information_schema.view_table_usage (
	view_catalog name, view_schema name, view_name name, table_catalog name, table_schema name,
	table_name name
) AS
SELECT DISTINCT (current_database()), (nv.nspname), (v.relname), (current_database()),
	(nt.nspname), (t.relname)
FROM pg_namespace nv, pg_class v, pg_depend dv, pg_depend dt, pg_class t, pg_namespace nt
WHERE ((nv.oid = v.relnamespace) AND (v.relkind = 'v') AND (v.oid = dv.refobjid) AND
		(dv.refclassid = ('pg_class'::regclass)::oid) AND (dv.classid =
			('pg_rewrite'::regclass)::oid) AND (dv.deptype = 'i') AND (dv.objid = dt.objid) AND
		(dv.refobjid <> dt.refobjid) AND (dt.classid = ('pg_rewrite'::regclass)::oid) AND
		(dt.refclassid = ('pg_class'::regclass)::oid) AND (dt.refobjid = t.oid) AND
		(t.relnamespace = nt.oid) AND (t.relkind = ANY (ARRAY['r', 'v', 'f', 'p'])) AND
		pg_has_role(t.relowner, 'USAGE'));
