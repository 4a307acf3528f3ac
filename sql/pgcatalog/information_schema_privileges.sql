-- Roles and privileges in information_schema, as PostgreSQL's information_schema.sql has them.

CREATE VIEW information_schema.applicable_roles (
	grantee name, role_name name, is_grantable varchar
) AS
SELECT (a.rolname), (b.rolname), (CASE WHEN m.admin_option THEN 'YES' ELSE 'NO' END)
FROM (((SELECT pg_auth_members.member, pg_auth_members.roleid, pg_auth_members.admin_option
			FROM pg_auth_members
			UNION SELECT pg_database.datdba, pg_authid.oid, false
			FROM pg_database, pg_authid
			WHERE ((pg_database.datname = current_database()) AND (pg_authid.rolname =
				'pg_database_owner'))) m
		JOIN pg_authid a ON ((m.member = a.oid)))
	JOIN pg_authid b ON ((m.roleid = b.oid)))
WHERE pg_has_role(a.oid, 'USAGE');

CREATE VIEW information_schema.administrable_role_authorizations (
	grantee name, role_name name, is_grantable varchar
) AS
SELECT applicable_roles.grantee, applicable_roles.role_name, applicable_roles.is_grantable
FROM applicable_roles
WHERE ((applicable_roles.is_grantable) = 'YES');

CREATE VIEW information_schema.enabled_roles (
	role_name name
) AS
SELECT (a.rolname)
FROM pg_authid a
WHERE pg_has_role(a.oid, 'USAGE');

CREATE VIEW information_schema.column_privileges (
	grantor name, grantee name, table_catalog name, table_schema name, table_name name,
	column_name name, privilege_type varchar, is_grantable varchar
) AS
SELECT (u_grantor.rolname), (grantee.rolname), (current_database()), (nc.nspname), (x.relname),
	(x.attname), (x.prtype), (CASE WHEN (pg_has_role(x.grantee, x.relowner, 'USAGE') OR
			x.grantable) THEN 'YES' ELSE 'NO' END)
FROM (SELECT pr_c.grantor, pr_c.grantee, a.attname, pr_c.relname, pr_c.relnamespace, pr_c.prtype,
		pr_c.grantable, pr_c.relowner
	FROM (SELECT pg_class.oid, pg_class.relname, pg_class.relnamespace, pg_class.relowner,
			x.grantor, x.grantee, x.privilege_type, x.is_grantable
		FROM pg_class
		CROSS JOIN LATERAL aclexplode(COALESCE(pg_class.relacl, acldefault('r',
				pg_class.relowner))) AS x
		WHERE (pg_class.relkind = ANY (ARRAY['r', 'v', 'f', 'p']))) pr_c(oid, relname,
			relnamespace, relowner, grantor, grantee, prtype, grantable), pg_attribute a
	WHERE ((a.attrelid = pr_c.oid) AND (a.attnum > 0) AND (NOT a.attisdropped))
	UNION SELECT pr_a.grantor, pr_a.grantee, pr_a.attname, c.relname, c.relnamespace, pr_a.prtype,
		pr_a.grantable, c.relowner
	FROM (SELECT a.attrelid, a.attname, x.grantor, x.grantee, x.privilege_type, x.is_grantable
		FROM pg_attribute a
		JOIN pg_class cc ON a.attrelid = cc.oid
		CROSS JOIN LATERAL aclexplode(COALESCE(a.attacl, acldefault('c', cc.relowner))) AS x
		WHERE ((a.attnum > 0) AND (NOT a.attisdropped))) pr_a(attrelid, attname, grantor, grantee,
			prtype, grantable), pg_class c
	WHERE ((pr_a.attrelid = c.oid) AND (c.relkind = ANY (ARRAY['r', 'v', 'f', 'p'])))) x,
	pg_namespace nc, pg_authid u_grantor, (SELECT pg_authid.oid, pg_authid.rolname
	FROM pg_authid
	UNION ALL SELECT (0)::oid AS oid, 'PUBLIC') grantee(oid, rolname)
WHERE ((x.relnamespace = nc.oid) AND (x.grantee = grantee.oid) AND (x.grantor = u_grantor.oid) AND
		(x.prtype = ANY (ARRAY['INSERT', 'SELECT', 'UPDATE', 'REFERENCES'])) AND
		(pg_has_role(u_grantor.oid, 'USAGE') OR pg_has_role(grantee.oid, 'USAGE') OR
			(grantee.rolname = 'PUBLIC')));

CREATE VIEW information_schema.table_privileges (
	grantor name, grantee name, table_catalog name, table_schema name, table_name name,
	privilege_type varchar, is_grantable varchar, with_hierarchy varchar
) AS
SELECT (u_grantor.rolname), (grantee.rolname), (current_database()), (nc.nspname), (c.relname),
	(c.prtype), (CASE WHEN (pg_has_role(grantee.oid, c.relowner, 'USAGE') OR c.grantable) THEN
		'YES' ELSE 'NO' END), (CASE WHEN (c.prtype = 'SELECT') THEN 'YES' ELSE 'NO' END)
FROM (SELECT pg_class.oid, pg_class.relname, pg_class.relnamespace, pg_class.relkind,
		pg_class.relowner, x.grantor, x.grantee, x.privilege_type, x.is_grantable
	FROM pg_class
	CROSS JOIN LATERAL aclexplode(COALESCE(pg_class.relacl, acldefault('r', pg_class.relowner)))
		AS x) c(oid, relname, relnamespace, relkind, relowner, grantor, grantee, prtype,
		grantable), pg_namespace nc, pg_authid u_grantor, (SELECT pg_authid.oid, pg_authid.rolname
	FROM pg_authid
	UNION ALL SELECT (0)::oid AS oid, 'PUBLIC') grantee(oid, rolname)
WHERE ((c.relnamespace = nc.oid) AND (c.relkind = ANY (ARRAY['r', 'v', 'f', 'p'])) AND (c.grantee
			= grantee.oid) AND (c.grantor = u_grantor.oid) AND (c.prtype = ANY (ARRAY['INSERT',
				'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'])) AND
		(pg_has_role(u_grantor.oid, 'USAGE') OR pg_has_role(grantee.oid, 'USAGE') OR
			(grantee.rolname = 'PUBLIC')));

CREATE VIEW information_schema.routine_privileges (
	grantor name, grantee name, specific_catalog name, specific_schema name, specific_name name,
	routine_catalog name, routine_schema name, routine_name name, privilege_type varchar,
	is_grantable varchar
) AS
SELECT (u_grantor.rolname), (grantee.rolname), (current_database()), (n.nspname),
	(nameconcatoid(p.proname, p.oid)), (current_database()), (n.nspname), (p.proname),
	('EXECUTE'), (CASE WHEN (pg_has_role(grantee.oid, p.proowner, 'USAGE') OR p.grantable) THEN
		'YES' ELSE 'NO' END)
FROM (SELECT pg_proc.oid, pg_proc.proname, pg_proc.proowner, pg_proc.pronamespace, x.grantor,
		x.grantee, x.privilege_type, x.is_grantable
	FROM pg_proc
	CROSS JOIN LATERAL aclexplode(COALESCE(pg_proc.proacl, acldefault('f', pg_proc.proowner))) AS
		x) p(oid, proname, proowner, pronamespace, grantor, grantee, prtype, grantable),
	pg_namespace n, pg_authid u_grantor, (SELECT pg_authid.oid, pg_authid.rolname
	FROM pg_authid
	UNION ALL SELECT (0)::oid AS oid, 'PUBLIC') grantee(oid, rolname)
WHERE ((p.pronamespace = n.oid) AND (grantee.oid = p.grantee) AND (u_grantor.oid = p.grantor) AND
		(p.prtype = 'EXECUTE') AND (pg_has_role(u_grantor.oid, 'USAGE') OR
			pg_has_role(grantee.oid, 'USAGE') OR (grantee.rolname = 'PUBLIC')));

CREATE VIEW information_schema.udt_privileges (
	grantor name, grantee name, udt_catalog name, udt_schema name, udt_name name,
	privilege_type varchar, is_grantable varchar
) AS
SELECT (u_grantor.rolname), (grantee.rolname), (current_database()), (n.nspname), (t.typname),
	('TYPE USAGE'), (CASE WHEN (pg_has_role(grantee.oid, t.typowner, 'USAGE') OR t.grantable) THEN
		'YES' ELSE 'NO' END)
FROM (SELECT pg_type.oid, pg_type.typname, pg_type.typnamespace, pg_type.typtype,
		pg_type.typowner, x.grantor, x.grantee, x.privilege_type, x.is_grantable
	FROM pg_type
	CROSS JOIN LATERAL aclexplode(COALESCE(pg_type.typacl, acldefault('T', pg_type.typowner))) AS
		x) t(oid, typname, typnamespace, typtype, typowner, grantor, grantee, prtype, grantable),
	pg_namespace n, pg_authid u_grantor, (SELECT pg_authid.oid, pg_authid.rolname
	FROM pg_authid
	UNION ALL SELECT (0)::oid AS oid, 'PUBLIC') grantee(oid, rolname)
WHERE ((t.typnamespace = n.oid) AND (t.typtype = 'c') AND (t.grantee = grantee.oid) AND (t.grantor
			= u_grantor.oid) AND (t.prtype = 'USAGE') AND (pg_has_role(u_grantor.oid, 'USAGE') OR
			pg_has_role(grantee.oid, 'USAGE') OR (grantee.rolname = 'PUBLIC')));

CREATE VIEW information_schema.usage_privileges (
	grantor name, grantee name, object_catalog name, object_schema name, object_name name,
	object_type varchar, privilege_type varchar, is_grantable varchar
) AS
SELECT (u.rolname), ('PUBLIC'), (current_database()), (n.nspname), (c.collname), ('COLLATION'),
	('USAGE'), ('NO')
FROM pg_authid u, pg_namespace n, pg_collation c
WHERE ((u.oid = c.collowner) AND (c.collnamespace = n.oid) AND (c.collencoding = ANY (ARRAY['-1',
				(SELECT pg_database.encoding
			FROM pg_database
			WHERE (pg_database.datname = current_database()))])))
UNION ALL SELECT (u_grantor.rolname), (grantee.rolname), (current_database()), (n.nspname),
	(t.typname), ('DOMAIN'), ('USAGE'), (CASE WHEN (pg_has_role(grantee.oid, t.typowner, 'USAGE')
			OR t.grantable) THEN 'YES' ELSE 'NO' END)
FROM (SELECT pg_type.oid, pg_type.typname, pg_type.typnamespace, pg_type.typtype,
		pg_type.typowner, x.grantor, x.grantee, x.privilege_type, x.is_grantable
	FROM pg_type
	CROSS JOIN LATERAL aclexplode(COALESCE(pg_type.typacl, acldefault('T', pg_type.typowner))) AS
		x) t(oid, typname, typnamespace, typtype, typowner, grantor, grantee, prtype, grantable),
	pg_namespace n, pg_authid u_grantor, (SELECT pg_authid.oid, pg_authid.rolname
	FROM pg_authid
	UNION ALL SELECT (0)::oid AS oid, 'PUBLIC') grantee(oid, rolname)
WHERE ((t.typnamespace = n.oid) AND (t.typtype = 'd') AND (t.grantee = grantee.oid) AND (t.grantor
			= u_grantor.oid) AND (t.prtype = 'USAGE') AND (pg_has_role(u_grantor.oid, 'USAGE') OR
			pg_has_role(grantee.oid, 'USAGE') OR (grantee.rolname = 'PUBLIC')))
UNION ALL SELECT (u_grantor.rolname), (grantee.rolname), (current_database()), (''),
	(fdw.fdwname), ('FOREIGN DATA WRAPPER'), ('USAGE'), (CASE WHEN (pg_has_role(grantee.oid,
				fdw.fdwowner, 'USAGE') OR fdw.grantable) THEN 'YES' ELSE 'NO' END)
FROM (SELECT pg_foreign_data_wrapper.fdwname, pg_foreign_data_wrapper.fdwowner, x.grantor,
		x.grantee, x.privilege_type, x.is_grantable
	FROM pg_foreign_data_wrapper
	CROSS JOIN LATERAL aclexplode(COALESCE(pg_foreign_data_wrapper.fdwacl, acldefault('F',
				pg_foreign_data_wrapper.fdwowner))) AS x) fdw(fdwname, fdwowner, grantor, grantee,
		prtype, grantable), pg_authid u_grantor, (SELECT pg_authid.oid, pg_authid.rolname
	FROM pg_authid
	UNION ALL SELECT (0)::oid AS oid, 'PUBLIC') grantee(oid, rolname)
WHERE ((u_grantor.oid = fdw.grantor) AND (grantee.oid = fdw.grantee) AND (fdw.prtype = 'USAGE')
		AND (pg_has_role(u_grantor.oid, 'USAGE') OR pg_has_role(grantee.oid, 'USAGE') OR
			(grantee.rolname = 'PUBLIC')))
UNION ALL SELECT (u_grantor.rolname), (grantee.rolname), (current_database()), (''),
	(srv.srvname), ('FOREIGN SERVER'), ('USAGE'), (CASE WHEN (pg_has_role(grantee.oid,
				srv.srvowner, 'USAGE') OR srv.grantable) THEN 'YES' ELSE 'NO' END)
FROM (SELECT pg_foreign_server.srvname, pg_foreign_server.srvowner, x.grantor, x.grantee,
		x.privilege_type, x.is_grantable
	FROM pg_foreign_server
	CROSS JOIN LATERAL aclexplode(COALESCE(pg_foreign_server.srvacl, acldefault('S',
				pg_foreign_server.srvowner))) AS x) srv(srvname, srvowner, grantor, grantee,
		prtype, grantable), pg_authid u_grantor, (SELECT pg_authid.oid, pg_authid.rolname
	FROM pg_authid
	UNION ALL SELECT (0)::oid AS oid, 'PUBLIC') grantee(oid, rolname)
WHERE ((u_grantor.oid = srv.grantor) AND (grantee.oid = srv.grantee) AND (srv.prtype = 'USAGE')
		AND (pg_has_role(u_grantor.oid, 'USAGE') OR pg_has_role(grantee.oid, 'USAGE') OR
			(grantee.rolname = 'PUBLIC')))
UNION ALL SELECT (u_grantor.rolname), (grantee.rolname), (current_database()), (n.nspname),
	(c.relname), ('SEQUENCE'), ('USAGE'), (CASE WHEN (pg_has_role(grantee.oid, c.relowner,
				'USAGE') OR c.grantable) THEN 'YES' ELSE 'NO' END)
FROM (SELECT pg_class.oid, pg_class.relname, pg_class.relnamespace, pg_class.relkind,
		pg_class.relowner, x.grantor, x.grantee, x.privilege_type, x.is_grantable
	FROM pg_class
	CROSS JOIN LATERAL aclexplode(COALESCE(pg_class.relacl, acldefault('r', pg_class.relowner)))
		AS x) c(oid, relname, relnamespace, relkind, relowner, grantor, grantee, prtype,
		grantable), pg_namespace n, pg_authid u_grantor, (SELECT pg_authid.oid, pg_authid.rolname
	FROM pg_authid
	UNION ALL SELECT (0)::oid AS oid, 'PUBLIC') grantee(oid, rolname)
WHERE ((c.relnamespace = n.oid) AND (c.relkind = 'S') AND (c.grantee = grantee.oid) AND (c.grantor
			= u_grantor.oid) AND (c.prtype = 'USAGE') AND (pg_has_role(u_grantor.oid, 'USAGE') OR
			pg_has_role(grantee.oid, 'USAGE') OR (grantee.rolname = 'PUBLIC')));

CREATE VIEW information_schema.role_column_grants (
	grantor name, grantee name, table_catalog name, table_schema name, table_name name,
	column_name name, privilege_type varchar, is_grantable varchar
) AS
SELECT column_privileges.grantor, column_privileges.grantee, column_privileges.table_catalog,
	column_privileges.table_schema, column_privileges.table_name, column_privileges.column_name,
	column_privileges.privilege_type, column_privileges.is_grantable
FROM column_privileges
WHERE (((column_privileges.grantor) IN (SELECT enabled_roles.role_name
			FROM enabled_roles)) OR ((column_privileges.grantee) IN (SELECT
				enabled_roles.role_name
			FROM enabled_roles)));

CREATE VIEW information_schema.role_routine_grants (
	grantor name, grantee name, specific_catalog name, specific_schema name, specific_name name,
	routine_catalog name, routine_schema name, routine_name name, privilege_type varchar,
	is_grantable varchar
) AS
SELECT routine_privileges.grantor, routine_privileges.grantee,
	routine_privileges.specific_catalog, routine_privileges.specific_schema,
	routine_privileges.specific_name, routine_privileges.routine_catalog,
	routine_privileges.routine_schema, routine_privileges.routine_name,
	routine_privileges.privilege_type, routine_privileges.is_grantable
FROM routine_privileges
WHERE (((routine_privileges.grantor) IN (SELECT enabled_roles.role_name
			FROM enabled_roles)) OR ((routine_privileges.grantee) IN (SELECT
				enabled_roles.role_name
			FROM enabled_roles)));

CREATE VIEW information_schema.role_table_grants (
	grantor name, grantee name, table_catalog name, table_schema name, table_name name,
	privilege_type varchar, is_grantable varchar, with_hierarchy varchar
) AS
SELECT table_privileges.grantor, table_privileges.grantee, table_privileges.table_catalog,
	table_privileges.table_schema, table_privileges.table_name, table_privileges.privilege_type,
	table_privileges.is_grantable, table_privileges.with_hierarchy
FROM table_privileges
WHERE (((table_privileges.grantor) IN (SELECT enabled_roles.role_name
			FROM enabled_roles)) OR ((table_privileges.grantee) IN (SELECT enabled_roles.role_name
			FROM enabled_roles)));

CREATE VIEW information_schema.role_udt_grants (
	grantor name, grantee name, udt_catalog name, udt_schema name, udt_name name,
	privilege_type varchar, is_grantable varchar
) AS
SELECT udt_privileges.grantor, udt_privileges.grantee, udt_privileges.udt_catalog,
	udt_privileges.udt_schema, udt_privileges.udt_name, udt_privileges.privilege_type,
	udt_privileges.is_grantable
FROM udt_privileges
WHERE (((udt_privileges.grantor) IN (SELECT enabled_roles.role_name
			FROM enabled_roles)) OR ((udt_privileges.grantee) IN (SELECT enabled_roles.role_name
			FROM enabled_roles)));

CREATE VIEW information_schema.role_usage_grants (
	grantor name, grantee name, object_catalog name, object_schema name, object_name name,
	object_type varchar, privilege_type varchar, is_grantable varchar
) AS
SELECT usage_privileges.grantor, usage_privileges.grantee, usage_privileges.object_catalog,
	usage_privileges.object_schema, usage_privileges.object_name, usage_privileges.object_type,
	usage_privileges.privilege_type, usage_privileges.is_grantable
FROM usage_privileges
WHERE (((usage_privileges.grantor) IN (SELECT enabled_roles.role_name
			FROM enabled_roles)) OR ((usage_privileges.grantee) IN (SELECT enabled_roles.role_name
			FROM enabled_roles)));
