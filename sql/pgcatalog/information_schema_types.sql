-- Types, domains and collations in information_schema, as PostgreSQL's information_schema.sql has
-- them. The casts to its domains are left out, and functions of rows are written out.

CREATE VIEW information_schema.information_schema_catalog_name (
	catalog_name name
) AS
SELECT (current_database());

CREATE VIEW information_schema.attributes (
	udt_catalog name, udt_schema name, udt_name name, attribute_name name, ordinal_position int4,
	attribute_default varchar, is_nullable varchar, data_type varchar,
	character_maximum_length int4, character_octet_length int4, character_set_catalog name,
	character_set_schema name, character_set_name name, collation_catalog name,
	collation_schema name, collation_name name, numeric_precision int4,
	numeric_precision_radix int4, numeric_scale int4, datetime_precision int4,
	interval_type varchar, interval_precision int4, attribute_udt_catalog name,
	attribute_udt_schema name, attribute_udt_name name, scope_catalog name, scope_schema name,
	scope_name name, maximum_cardinality int4, dtd_identifier name,
	is_derived_reference_attribute varchar
) AS
SELECT (current_database()), (nc.nspname), (c.relname), (a.attname), (a.attnum),
	(pg_get_expr(ad.adbin, ad.adrelid)), (CASE WHEN (a.attnotnull OR ((t.typtype = 'd') AND
				t.typnotnull)) THEN 'NO' ELSE 'YES' END), (CASE WHEN ((t.typelem <> (0)::oid) AND
			(t.typlen = '-1')) THEN 'ARRAY' WHEN (nt.nspname = 'pg_catalog') THEN
		format_type(a.atttypid, NULL) ELSE 'USER-DEFINED' END), (_pg_char_max_length(CASE WHEN
			t.typtype = 'd' THEN t.typbasetype ELSE a.atttypid END, CASE WHEN t.typtype = 'd' THEN
			t.typtypmod ELSE a.atttypmod END)), (_pg_char_octet_length(CASE WHEN t.typtype = 'd'
			THEN t.typbasetype ELSE a.atttypid END, CASE WHEN t.typtype = 'd' THEN t.typtypmod
			ELSE a.atttypmod END)), (NULL), (NULL), (NULL), (CASE WHEN (nco.nspname IS NOT NULL)
		THEN current_database() ELSE NULL END), (nco.nspname), (co.collname),
	(_pg_numeric_precision(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE a.atttypid END, CASE
			WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END)),
	(_pg_numeric_precision_radix(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE a.atttypid END,
			CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END)),
	(_pg_numeric_scale(CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE a.atttypid END, CASE WHEN
			t.typtype = 'd' THEN t.typtypmod ELSE a.atttypmod END)), (_pg_datetime_precision(CASE
			WHEN t.typtype = 'd' THEN t.typbasetype ELSE a.atttypid END, CASE WHEN t.typtype = 'd'
			THEN t.typtypmod ELSE a.atttypmod END)), (_pg_interval_type(CASE WHEN t.typtype = 'd'
			THEN t.typbasetype ELSE a.atttypid END, CASE WHEN t.typtype = 'd' THEN t.typtypmod
			ELSE a.atttypmod END)), (NULL), (current_database()), (nt.nspname), (t.typname),
	(NULL), (NULL), (NULL), (NULL), (a.attnum), ('NO')
FROM ((((pg_attribute a
			LEFT JOIN pg_attrdef ad ON (((a.attrelid = ad.adrelid) AND (a.attnum = ad.adnum))))
			JOIN (pg_class c
			JOIN pg_namespace nc ON ((c.relnamespace = nc.oid))) ON ((a.attrelid = c.oid)))
		JOIN (pg_type t
			JOIN pg_namespace nt ON ((t.typnamespace = nt.oid))) ON ((a.atttypid = t.oid)))
	LEFT JOIN (pg_collation co
		JOIN pg_namespace nco ON ((co.collnamespace = nco.oid))) ON (((a.attcollation = co.oid)
				AND ((nco.nspname <> 'pg_catalog') OR (co.collname <> 'default')))))
WHERE ((a.attnum > 0) AND (NOT a.attisdropped) AND (c.relkind = 'c') AND (pg_has_role(c.relowner,
				'USAGE') OR has_type_privilege(c.reltype, 'USAGE')));

CREATE VIEW information_schema.character_sets (
	character_set_catalog name, character_set_schema name, character_set_name name,
	character_repertoire name, form_of_use name, default_collate_catalog name,
	default_collate_schema name, default_collate_name name
) AS
SELECT (NULL), (NULL), (getdatabaseencoding()), (CASE WHEN (getdatabaseencoding() = 'UTF8') THEN
		'UCS' ELSE getdatabaseencoding() END), (getdatabaseencoding()), (current_database()),
	(nc.nspname), (c.collname)
FROM (pg_database d
	LEFT JOIN (pg_collation c
		JOIN pg_namespace nc ON ((c.collnamespace = nc.oid))) ON (((d.datcollate = c.collcollate)
				AND (d.datctype = c.collctype))))
WHERE (d.datname = current_database()) ORDER BY (char_length((c.collname))) DESC, c.collname LIMIT
	1;

CREATE VIEW information_schema.collation_character_set_applicability (
	collation_catalog name, collation_schema name, collation_name name,
	character_set_catalog name, character_set_schema name, character_set_name name
) AS
SELECT (current_database()), (nc.nspname), (c.collname), (NULL), (NULL), (getdatabaseencoding())
FROM pg_collation c, pg_namespace nc
WHERE ((c.collnamespace = nc.oid) AND (c.collencoding = ANY (ARRAY['-1', (SELECT
				pg_database.encoding
			FROM pg_database
			WHERE (pg_database.datname = current_database()))])));

CREATE VIEW information_schema.collations (
	collation_catalog name, collation_schema name, collation_name name, pad_attribute varchar
) AS
SELECT (current_database()), (nc.nspname), (c.collname), ('NO PAD')
FROM pg_collation c, pg_namespace nc
WHERE ((c.collnamespace = nc.oid) AND (c.collencoding = ANY (ARRAY['-1', (SELECT
				pg_database.encoding
			FROM pg_database
			WHERE (pg_database.datname = current_database()))])));

CREATE VIEW information_schema.column_domain_usage (
	domain_catalog name, domain_schema name, domain_name name, table_catalog name,
	table_schema name, table_name name, column_name name
) AS
SELECT (current_database()), (nt.nspname), (t.typname), (current_database()), (nc.nspname),
	(c.relname), (a.attname)
FROM pg_type t, pg_namespace nt, pg_class c, pg_namespace nc, pg_attribute a
WHERE ((t.typnamespace = nt.oid) AND (c.relnamespace = nc.oid) AND (a.attrelid = c.oid) AND
		(a.atttypid = t.oid) AND (t.typtype = 'd') AND (c.relkind = ANY (ARRAY['r', 'v', 'f',
				'p'])) AND (a.attnum > 0) AND (NOT a.attisdropped) AND pg_has_role(t.typowner,
			'USAGE'));

CREATE VIEW information_schema.column_udt_usage (
	udt_catalog name, udt_schema name, udt_name name, table_catalog name, table_schema name,
	table_name name, column_name name
) AS
SELECT (current_database()), (COALESCE(nbt.nspname, nt.nspname)), (COALESCE(bt.typname,
			t.typname)), (current_database()), (nc.nspname), (c.relname), (a.attname)
FROM pg_attribute a, pg_class c, pg_namespace nc, ((pg_type t
		JOIN pg_namespace nt ON ((t.typnamespace = nt.oid)))
	LEFT JOIN (pg_type bt
		JOIN pg_namespace nbt ON ((bt.typnamespace = nbt.oid))) ON (((t.typtype = 'd') AND
				(t.typbasetype = bt.oid))))
WHERE ((a.attrelid = c.oid) AND (a.atttypid = t.oid) AND (nc.oid = c.relnamespace) AND (a.attnum >
			0) AND (NOT a.attisdropped) AND (c.relkind = ANY (ARRAY['r', 'v', 'f', 'p'])) AND
		pg_has_role(COALESCE(bt.typowner, t.typowner), 'USAGE'));

CREATE VIEW information_schema.data_type_privileges (
	object_catalog name, object_schema name, object_name name, object_type varchar,
	dtd_identifier name
) AS
SELECT (current_database()), x.objschema, x.objname, (x.objtype), x.objdtdid
FROM (SELECT attributes.udt_schema, attributes.udt_name, 'USER-DEFINED TYPE' AS text,
		attributes.dtd_identifier
	FROM attributes
	UNION ALL SELECT columns.table_schema, columns.table_name, 'TABLE' AS text,
		columns.dtd_identifier
	FROM columns
	UNION ALL SELECT domains.domain_schema, domains.domain_name, 'DOMAIN' AS text,
		domains.dtd_identifier
	FROM domains
	UNION ALL SELECT parameters.specific_schema, parameters.specific_name, 'ROUTINE' AS text,
		parameters.dtd_identifier
	FROM parameters
	UNION ALL SELECT routines.specific_schema, routines.specific_name, 'ROUTINE' AS text,
		routines.dtd_identifier
	FROM routines) x(objschema, objname, objtype, objdtdid);

CREATE VIEW information_schema.domain_constraints (
	constraint_catalog name, constraint_schema name, constraint_name name, domain_catalog name,
	domain_schema name, domain_name name, is_deferrable varchar, initially_deferred varchar
) AS
SELECT (current_database()), (rs.nspname), (con.conname), (current_database()), (n.nspname),
	(t.typname), (CASE WHEN con.condeferrable THEN 'YES' ELSE 'NO' END), (CASE WHEN
		con.condeferred THEN 'YES' ELSE 'NO' END)
FROM pg_namespace rs, pg_namespace n, pg_constraint con, pg_type t
WHERE ((rs.oid = con.connamespace) AND (n.oid = t.typnamespace) AND (t.oid = con.contypid) AND
		(pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE')));

CREATE VIEW information_schema.domain_udt_usage (
	udt_catalog name, udt_schema name, udt_name name, domain_catalog name, domain_schema name,
	domain_name name
) AS
SELECT (current_database()), (nbt.nspname), (bt.typname), (current_database()), (nt.nspname),
	(t.typname)
FROM pg_type t, pg_namespace nt, pg_type bt, pg_namespace nbt
WHERE ((t.typnamespace = nt.oid) AND (t.typbasetype = bt.oid) AND (bt.typnamespace = nbt.oid) AND
		(t.typtype = 'd') AND pg_has_role(bt.typowner, 'USAGE'));

CREATE VIEW information_schema.domains (
	domain_catalog name, domain_schema name, domain_name name, data_type varchar,
	character_maximum_length int4, character_octet_length int4, character_set_catalog name,
	character_set_schema name, character_set_name name, collation_catalog name,
	collation_schema name, collation_name name, numeric_precision int4,
	numeric_precision_radix int4, numeric_scale int4, datetime_precision int4,
	interval_type varchar, interval_precision int4, domain_default varchar, udt_catalog name,
	udt_schema name, udt_name name, scope_catalog name, scope_schema name, scope_name name,
	maximum_cardinality int4, dtd_identifier name
) AS
SELECT (current_database()), (nt.nspname), (t.typname), (CASE WHEN ((t.typelem <> (0)::oid) AND
			(t.typlen = '-1')) THEN 'ARRAY' WHEN (nbt.nspname = 'pg_catalog') THEN
		format_type(t.typbasetype, NULL) ELSE 'USER-DEFINED' END),
	(_pg_char_max_length(t.typbasetype, t.typtypmod)), (_pg_char_octet_length(t.typbasetype,
			t.typtypmod)), (NULL), (NULL), (NULL), (CASE WHEN (nco.nspname IS NOT NULL) THEN
		current_database() ELSE NULL END), (nco.nspname), (co.collname),
	(_pg_numeric_precision(t.typbasetype, t.typtypmod)),
	(_pg_numeric_precision_radix(t.typbasetype, t.typtypmod)), (_pg_numeric_scale(t.typbasetype,
			t.typtypmod)), (_pg_datetime_precision(t.typbasetype, t.typtypmod)),
	(_pg_interval_type(t.typbasetype, t.typtypmod)), (NULL), (t.typdefault), (current_database()),
	(nbt.nspname), (bt.typname), (NULL), (NULL), (NULL), (NULL), (1)
FROM (((pg_type t
			JOIN pg_namespace nt ON ((t.typnamespace = nt.oid)))
		JOIN (pg_type bt
			JOIN pg_namespace nbt ON ((bt.typnamespace = nbt.oid))) ON (((t.typbasetype = bt.oid)
				AND (t.typtype = 'd'))))
	LEFT JOIN (pg_collation co
		JOIN pg_namespace nco ON ((co.collnamespace = nco.oid))) ON (((t.typcollation = co.oid)
				AND ((nco.nspname <> 'pg_catalog') OR (co.collname <> 'default')))))
WHERE (pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE'));

CREATE VIEW information_schema.element_types (
	object_catalog name, object_schema name, object_name name, object_type varchar,
	collection_type_identifier name, data_type varchar, character_maximum_length int4,
	character_octet_length int4, character_set_catalog name, character_set_schema name,
	character_set_name name, collation_catalog name, collation_schema name, collation_name name,
	numeric_precision int4, numeric_precision_radix int4, numeric_scale int4,
	datetime_precision int4, interval_type varchar, interval_precision int4,
	domain_default varchar, udt_catalog name, udt_schema name, udt_name name, scope_catalog name,
	scope_schema name, scope_name name, maximum_cardinality int4, dtd_identifier name
) AS
SELECT (current_database()), (n.nspname), x.objname, (x.objtype), (x.objdtdid), (CASE WHEN
		(nbt.nspname = 'pg_catalog') THEN format_type(bt.oid, NULL) ELSE 'USER-DEFINED' END),
	(NULL), (NULL), (NULL), (NULL), (NULL), (CASE WHEN (nco.nspname IS NOT NULL) THEN
		current_database() ELSE NULL END), (nco.nspname), (co.collname), (NULL), (NULL), (NULL),
	(NULL), (NULL), (NULL), (NULL), (current_database()), (nbt.nspname), (bt.typname), (NULL),
	(NULL), (NULL), (NULL), (('a' || (x.objdtdid)))
FROM pg_namespace n, pg_type at, pg_namespace nbt, pg_type bt, ((SELECT c.relnamespace,
			(c.relname) AS relname, CASE WHEN (c.relkind = 'c') THEN 'USER-DEFINED TYPE' ELSE
			'TABLE' END AS "case", a.attnum, a.atttypid, a.attcollation
		FROM pg_class c, pg_attribute a
		WHERE ((c.oid = a.attrelid) AND (c.relkind = ANY (ARRAY['r', 'v', 'f', 'c', 'p'])) AND
				(a.attnum > 0) AND (NOT a.attisdropped))
		UNION ALL SELECT t.typnamespace, (t.typname) AS typname, 'DOMAIN' AS text, 1,
			t.typbasetype, t.typcollation
		FROM pg_type t
		WHERE (t.typtype = 'd')
		UNION ALL SELECT ss.pronamespace, (nameconcatoid(ss.proname, ss.oid)) AS nameconcatoid,
			'ROUTINE' AS text, ss.n AS n, ss.x AS x, 0
		FROM (SELECT p.pronamespace, p.proname, p.oid, x.x, x.n
			FROM pg_proc p
			CROSS JOIN LATERAL _pg_expandarray(COALESCE(p.proallargtypes, (p.proargtypes)::oid[]))
				AS x (x, n)) ss
		UNION ALL SELECT p.pronamespace, (nameconcatoid(p.proname, p.oid)) AS nameconcatoid,
			'ROUTINE' AS text, 0, p.prorettype, 0
		FROM pg_proc p) x(objschema, objname, objtype, objdtdid, objtypeid, objcollation)
	LEFT JOIN (pg_collation co
		JOIN pg_namespace nco ON ((co.collnamespace = nco.oid))) ON (((x.objcollation = co.oid)
				AND ((nco.nspname <> 'pg_catalog') OR (co.collname <> 'default')))))
WHERE ((n.oid = x.objschema) AND (at.oid = x.objtypeid) AND ((at.typelem <> (0)::oid) AND
			(at.typlen = '-1')) AND (at.typelem = bt.oid) AND (nbt.oid = bt.typnamespace) AND
		((n.nspname, (x.objname), x.objtype, x.objdtdid::name) IN (SELECT
				data_type_privileges.object_schema, data_type_privileges.object_name,
				data_type_privileges.object_type, data_type_privileges.dtd_identifier
			FROM data_type_privileges)));

CREATE VIEW information_schema.user_defined_types (
	user_defined_type_catalog name, user_defined_type_schema name, user_defined_type_name name,
	user_defined_type_category varchar, is_instantiable varchar, is_final varchar,
	ordering_form varchar, ordering_category varchar, ordering_routine_catalog name,
	ordering_routine_schema name, ordering_routine_name name, reference_type varchar,
	data_type varchar, character_maximum_length int4, character_octet_length int4,
	character_set_catalog name, character_set_schema name, character_set_name name,
	collation_catalog name, collation_schema name, collation_name name, numeric_precision int4,
	numeric_precision_radix int4, numeric_scale int4, datetime_precision int4,
	interval_type varchar, interval_precision int4, source_dtd_identifier name,
	ref_dtd_identifier name
) AS
SELECT (current_database()), (n.nspname), (c.relname), ('STRUCTURED'), ('YES'), (NULL), (NULL),
	(NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL),
	(NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL), (NULL)
FROM pg_namespace n, pg_class c, pg_type t
WHERE ((n.oid = c.relnamespace) AND (t.typrelid = c.oid) AND (c.relkind = 'c') AND
		(pg_has_role(t.typowner, 'USAGE') OR has_type_privilege(t.oid, 'USAGE')));
