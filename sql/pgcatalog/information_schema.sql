-- information_schema over the tables of pg_catalog, as PostgreSQL's information_schema.sql has it.
-- Left out is what never holds here: partitions and foreign tables. A constraint is in the schema
-- of its table. Each view shows what the role owns or has one of the named privileges on: the first
-- condition is true for superusers, so that they pay for one comparison of a row.

CREATE VIEW information_schema.schemata (catalog_name name, schema_name name, schema_owner name,
	default_character_set_catalog name, default_character_set_schema name,
	default_character_set_name name, sql_path varchar) AS
SELECT current_database(), nspname, pg_get_userbyid(nspowner), NULL, NULL, NULL, NULL
FROM pg_namespace
WHERE pg_has_role(nspowner, 'USAGE') OR has_schema_privilege(oid, 'CREATE, USAGE');

CREATE VIEW information_schema.tables (table_catalog name, table_schema name, table_name name,
	table_type varchar, self_referencing_column_name name, reference_generation varchar,
	user_defined_type_catalog name, user_defined_type_schema name, user_defined_type_name name,
	is_insertable_into varchar, is_typed varchar, commit_action varchar) AS
SELECT current_database(), nc.nspname, c.relname,
	CASE WHEN nc.oid = pg_my_temp_schema() THEN 'LOCAL TEMPORARY'
		WHEN c.relkind = 'r' THEN 'BASE TABLE'
		ELSE 'VIEW' END, NULL, NULL, CASE WHEN t.oid IS NOT NULL THEN current_database() END,
	nt.nspname, t.typname,
	CASE WHEN c.relkind = 'r' OR c.relkind = 'v' AND pg_relation_is_updatable(c.oid, false) & 8 = 8
		THEN 'YES' ELSE 'NO' END, CASE WHEN t.oid IS NOT NULL THEN 'YES' ELSE 'NO' END, NULL
FROM pg_class c JOIN pg_namespace nc ON nc.oid = c.relnamespace
	LEFT JOIN (pg_type t JOIN pg_namespace nt ON nt.oid = t.typnamespace) ON t.oid = c.reloftype
WHERE c.relkind IN ('r', 'v') AND NOT pg_is_other_temp_schema(nc.oid)
	AND (pg_has_role(c.relowner, 'USAGE')
		OR has_table_privilege(c.oid,
			'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
		OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW information_schema.columns (table_catalog name, table_schema name, table_name name,
	column_name name, ordinal_position int4, column_default varchar, is_nullable varchar,
	data_type varchar, character_maximum_length int4, character_octet_length int4,
	numeric_precision int4, numeric_precision_radix int4, numeric_scale int4, datetime_precision int4,
	interval_type varchar, interval_precision int4, character_set_catalog name,
	character_set_schema name, character_set_name name, collation_catalog name, collation_schema name,
	collation_name name, domain_catalog name, domain_schema name, domain_name name, udt_catalog name,
	udt_schema name, udt_name name, scope_catalog name, scope_schema name, scope_name name,
	maximum_cardinality int4, dtd_identifier name, is_self_referencing varchar, is_identity varchar,
	identity_generation varchar, identity_start varchar, identity_increment varchar,
	identity_maximum varchar, identity_minimum varchar, identity_cycle varchar, is_generated varchar,
	generation_expression varchar, is_updatable varchar) AS
SELECT current_database(), nc.nspname, c.relname, a.attname, a.attnum,
	CASE WHEN a.attgenerated = '' THEN pg_get_expr(ad.adbin, ad.adrelid) END,
	CASE WHEN a.attnotnull OR t.typtype = 'd' AND t.typnotnull THEN 'NO' ELSE 'YES' END,
	CASE WHEN COALESCE(bt.typelem, t.typelem) <> 0 AND COALESCE(bt.typlen, t.typlen) = -1 THEN 'ARRAY'
		WHEN COALESCE(nbt.nspname, nt.nspname) = 'pg_catalog'
			THEN format_type(COALESCE(bt.oid, a.atttypid), NULL) ELSE 'USER-DEFINED' END,
	_pg_char_max_length(COALESCE(bt.oid, a.atttypid),
		CASE WHEN bt.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END),
	_pg_char_octet_length(COALESCE(bt.oid, a.atttypid),
		CASE WHEN bt.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END),
	_pg_numeric_precision(COALESCE(bt.oid, a.atttypid),
		CASE WHEN bt.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END),
	_pg_numeric_precision_radix(COALESCE(bt.oid, a.atttypid),
		CASE WHEN bt.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END),
	_pg_numeric_scale(COALESCE(bt.oid, a.atttypid),
		CASE WHEN bt.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END),
	_pg_datetime_precision(COALESCE(bt.oid, a.atttypid),
		CASE WHEN bt.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END),
	_pg_interval_type(COALESCE(bt.oid, a.atttypid),
		CASE WHEN bt.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END),
	NULL, NULL, NULL, NULL, CASE WHEN nco.nspname IS NOT NULL THEN current_database() END,
	nco.nspname, co.collname, CASE WHEN t.typtype = 'd' THEN current_database() END,
	CASE WHEN t.typtype = 'd' THEN nt.nspname END, CASE WHEN t.typtype = 'd' THEN t.typname END,
	current_database(), COALESCE(nbt.nspname, nt.nspname), COALESCE(bt.typname, t.typname),
	NULL, NULL, NULL, NULL, a.attnum, 'NO',
	CASE WHEN a.attidentity = '' THEN 'NO' ELSE 'YES' END,
	CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END,
	seq.seqstart, seq.seqincrement, seq.seqmax, seq.seqmin,
	CASE WHEN seq.seqcycle THEN 'YES' ELSE 'NO' END,
	CASE WHEN a.attgenerated = '' THEN 'NEVER' ELSE 'ALWAYS' END,
	CASE WHEN a.attgenerated <> '' THEN pg_get_expr(ad.adbin, ad.adrelid) END,
	CASE WHEN c.relkind = 'r' OR c.relkind = 'v' AND pg_column_is_updatable(c.oid, a.attnum, false)
		THEN 'YES' ELSE 'NO' END
FROM pg_attribute a
	LEFT JOIN pg_attrdef ad ON a.attrelid = ad.adrelid AND a.attnum = ad.adnum
	JOIN pg_class c ON a.attrelid = c.oid
	JOIN pg_namespace nc ON c.relnamespace = nc.oid
	JOIN pg_type t ON a.atttypid = t.oid
	JOIN pg_namespace nt ON t.typnamespace = nt.oid
	LEFT JOIN (pg_type bt JOIN pg_namespace nbt ON bt.typnamespace = nbt.oid)
		ON t.typtype = 'd' AND t.typbasetype = bt.oid
	LEFT JOIN (pg_collation co JOIN pg_namespace nco ON co.collnamespace = nco.oid)
		ON a.attcollation = co.oid AND (nco.nspname <> 'pg_catalog' OR co.collname <> 'default')
	LEFT JOIN (pg_depend dep JOIN pg_sequence seq ON dep.objid = seq.seqrelid AND dep.deptype = 'i')
		ON dep.refobjid = c.oid AND dep.refobjsubid = a.attnum
WHERE NOT pg_is_other_temp_schema(nc.oid) AND a.attnum > 0 AND NOT a.attisdropped
	AND c.relkind IN ('r', 'v') AND (pg_has_role(c.relowner, 'USAGE')
		OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW information_schema.views (table_catalog name, table_schema name, table_name name,
	view_definition varchar, check_option varchar, is_updatable varchar, is_insertable_into varchar,
	is_trigger_updatable varchar, is_trigger_deletable varchar, is_trigger_insertable_into varchar) AS
SELECT current_database(), nc.nspname, c.relname,
	CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN pg_get_viewdef(c.oid) END,
	CASE WHEN 'check_option=cascaded' = ANY (c.reloptions) THEN 'CASCADED'
		WHEN 'check_option=local' = ANY (c.reloptions) THEN 'LOCAL' ELSE 'NONE' END,
	CASE WHEN pg_relation_is_updatable(c.oid, false) & 20 = 20 THEN 'YES' ELSE 'NO' END,
	CASE WHEN pg_relation_is_updatable(c.oid, false) & 8 = 8 THEN 'YES' ELSE 'NO' END,
	'NO', 'NO', 'NO'
FROM pg_class c JOIN pg_namespace nc ON c.relnamespace = nc.oid
WHERE c.relkind = 'v' AND NOT pg_is_other_temp_schema(nc.oid)
	AND (pg_has_role(c.relowner, 'USAGE')
		OR has_table_privilege(c.oid,
			'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
		OR has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW information_schema.sequences (sequence_catalog name, sequence_schema name,
	sequence_name name, data_type varchar, numeric_precision int4, numeric_precision_radix int4,
	numeric_scale int4, start_value varchar, minimum_value varchar, maximum_value varchar,
	increment varchar, cycle_option varchar) AS
SELECT current_database(), nc.nspname, c.relname, format_type(s.seqtypid, NULL),
	CASE s.seqtypid WHEN 21 THEN 16 WHEN 23 THEN 32 ELSE 64 END, 2, 0,
	s.seqstart, s.seqmin, s.seqmax, s.seqincrement, CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END
FROM pg_sequence s
	JOIN pg_class c ON c.oid = s.seqrelid
	JOIN pg_namespace nc ON c.relnamespace = nc.oid
WHERE NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = c.oid AND deptype = 'i')
	AND NOT pg_is_other_temp_schema(nc.oid) AND (pg_has_role(c.relowner, 'USAGE')
		OR has_sequence_privilege(c.oid, 'SELECT, UPDATE, USAGE'));

CREATE VIEW information_schema.table_constraints (constraint_catalog name, constraint_schema name,
	constraint_name name, table_catalog name, table_schema name, table_name name,
	constraint_type varchar, is_deferrable varchar, initially_deferred varchar, enforced varchar,
	nulls_distinct varchar) AS
SELECT current_database(), nr.nspname, c.conname, current_database(), nr.nspname, r.relname,
	CASE c.contype WHEN 'c' THEN 'CHECK' WHEN 'f' THEN 'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY'
		WHEN 'u' THEN 'UNIQUE' END,
	CASE WHEN c.condeferrable THEN 'YES' ELSE 'NO' END,
	CASE WHEN c.condeferred THEN 'YES' ELSE 'NO' END, 'YES',
	CASE WHEN c.contype = 'u' THEN CASE WHEN x.indnullsnotdistinct THEN 'NO' ELSE 'YES' END END
FROM pg_constraint c
	JOIN pg_class r ON r.oid = c.conrelid
	JOIN pg_namespace nr ON nr.oid = r.relnamespace
	LEFT JOIN pg_index x ON x.indexrelid = c.conindid
WHERE c.contype <> 'x' AND NOT pg_is_other_temp_schema(nr.oid)
	AND (pg_has_role(r.relowner, 'USAGE')
		OR has_table_privilege(r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
		OR has_any_column_privilege(r.oid, 'INSERT, UPDATE, REFERENCES'))
UNION ALL
SELECT current_database(), nr.nspname, nr.oid || '_' || r.oid || '_' || a.attnum || '_not_null',
	current_database(), nr.nspname, r.relname, 'CHECK', 'NO', 'NO', 'YES', NULL
FROM pg_attribute a
	JOIN pg_class r ON r.oid = a.attrelid
	JOIN pg_namespace nr ON nr.oid = r.relnamespace
WHERE a.attnotnull AND a.attnum > 0 AND r.relkind = 'r' AND NOT pg_is_other_temp_schema(nr.oid)
	AND (pg_has_role(r.relowner, 'USAGE')
		OR has_table_privilege(r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
		OR has_any_column_privilege(r.oid, 'INSERT, UPDATE, REFERENCES'));

CREATE VIEW information_schema.key_column_usage (constraint_catalog name, constraint_schema name,
	constraint_name name, table_catalog name, table_schema name, table_name name, column_name name,
	ordinal_position int4, position_in_unique_constraint int4) AS
SELECT current_database(), nr.nspname, c.conname, current_database(), nr.nspname, r.relname,
	a.attname, k.n, CASE WHEN c.contype = 'f' THEN array_position(x.indkey, c.confkey[k.n]) + 1 END
FROM pg_constraint c
	CROSS JOIN LATERAL _pg_expandarray(c.conkey) AS k (x, n)
	JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.x
	JOIN pg_class r ON r.oid = c.conrelid
	JOIN pg_namespace nr ON nr.oid = r.relnamespace
	LEFT JOIN pg_index x ON x.indexrelid = c.conindid
WHERE c.contype IN ('p', 'u', 'f') AND NOT pg_is_other_temp_schema(nr.oid)
	AND (pg_has_role(r.relowner, 'USAGE')
		OR has_column_privilege(r.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'));

CREATE VIEW information_schema.constraint_column_usage (table_catalog name, table_schema name,
	table_name name, column_name name, constraint_catalog name, constraint_schema name,
	constraint_name name) AS
SELECT current_database(), nr.nspname, r.relname, a.attname, current_database(),
	nc.nspname, c.conname
FROM pg_constraint c
	CROSS JOIN LATERAL unnest(CASE c.contype WHEN 'f' THEN c.confkey ELSE c.conkey END) AS k (x)
	JOIN pg_attribute a ON a.attnum = k.x
		AND a.attrelid = CASE c.contype WHEN 'f' THEN c.confrelid ELSE c.conrelid END
	JOIN pg_class r ON r.oid = a.attrelid
	JOIN pg_namespace nr ON nr.oid = r.relnamespace
	JOIN pg_namespace nc ON nc.oid = c.connamespace
WHERE c.contype IN ('p', 'u', 'f', 'c') AND pg_has_role(r.relowner, 'USAGE');

CREATE VIEW information_schema.referential_constraints (constraint_catalog name,
	constraint_schema name, constraint_name name, unique_constraint_catalog name,
	unique_constraint_schema name, unique_constraint_name name, match_option varchar,
	update_rule varchar, delete_rule varchar) AS
SELECT current_database(), nc.nspname, c.conname,
	CASE WHEN u.oid IS NOT NULL THEN current_database() END, nu.nspname, u.conname,
	CASE c.confmatchtype WHEN 'f' THEN 'FULL' ELSE 'NONE' END,
	CASE c.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT'
		WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END,
	CASE c.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT'
		WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END
FROM pg_constraint c
	JOIN pg_class r ON r.oid = c.conrelid
	JOIN pg_namespace nc ON nc.oid = c.connamespace
	LEFT JOIN pg_constraint u ON u.conindid = c.conindid AND u.contype IN ('p', 'u')
	LEFT JOIN pg_namespace nu ON nu.oid = u.connamespace
WHERE c.contype = 'f' AND (pg_has_role(r.relowner, 'USAGE')
		OR has_table_privilege(r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
		OR has_any_column_privilege(r.oid, 'INSERT, UPDATE, REFERENCES'));

CREATE VIEW information_schema.check_constraints (constraint_catalog name, constraint_schema name,
	constraint_name name, check_clause varchar) AS
SELECT current_database(), n.nspname, c.conname, substring(pg_get_constraintdef(c.oid) from 7)
FROM pg_constraint c LEFT JOIN pg_namespace n ON n.oid = c.connamespace
	LEFT JOIN pg_class r ON r.oid = c.conrelid
	LEFT JOIN pg_type t ON t.oid = c.contypid
WHERE c.contype = 'c' AND pg_has_role(COALESCE(r.relowner, t.typowner), 'USAGE')
UNION ALL
SELECT current_database(), n.nspname, n.oid || '_' || r.oid || '_' || a.attnum || '_not_null',
	a.attname || ' IS NOT NULL'
FROM pg_attribute a
	JOIN pg_class r ON r.oid = a.attrelid
	JOIN pg_namespace n ON n.oid = r.relnamespace
WHERE a.attnotnull AND a.attnum > 0 AND r.relkind = 'r' AND pg_has_role(r.relowner, 'USAGE');
