-- What pg_identify_object and pg_identify_object_as_address say of the objects of each catalog: a
-- query over the object $1, or its column $2, which has the kind, the schema, the name, the
-- identity, and the names and arguments that pg_get_object_address takes. TYPE(x) stands for the
-- name of the type x, with its schema unless SQL has a name for it.

-- 1259 relation
SELECT k.kind || CASE WHEN $2 <> 0 THEN ' column' ELSE '' END,
	CASE WHEN $2 = 0 OR a.attname IS NOT NULL THEN pg_catalog.quote_ident(n.nspname) END,
	CASE WHEN $2 = 0 OR a.attname IS NOT NULL THEN pg_catalog.quote_ident(c.relname) END,
	pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
		|| CASE WHEN $2 = 0 THEN '' ELSE '.' || pg_catalog.quote_ident(a.attname) END,
	CASE WHEN $2 = 0 THEN ARRAY[n.nspname::text, c.relname::text]
		WHEN a.attname IS NOT NULL
		THEN ARRAY[n.nspname::text, c.relname::text, a.attname::text] END,
	CASE WHEN $2 = 0 OR a.attname IS NOT NULL THEN '{}'::text[] END
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	JOIN (VALUES ('r', 'table'), ('i', 'index'), ('S', 'sequence'), ('v', 'view'),
		('m', 'materialized view'), ('c', 'composite type'), ('t', 'toast table')) k (letter, kind)
		ON k.letter = c.relkind::text
	LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = $2 AND $2 <> 0
WHERE c.oid = $1

-- 1255 routine
SELECT CASE p.prokind WHEN 'a' THEN 'aggregate' WHEN 'p' THEN 'procedure' ELSE 'function' END,
	pg_catalog.quote_ident(n.nspname), NULL, pg_catalog.quote_ident(n.nspname) || '.'
		|| pg_catalog.quote_ident(p.proname) || '(' || pg_catalog.array_to_string(t.args, ',')
		|| ')', ARRAY[n.nspname::text, p.proname::text], t.args
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace,
	LATERAL (SELECT ARRAY(SELECT TYPE(u.id)
		FROM pg_catalog.unnest(p.proargtypes) WITH ORDINALITY u (id, place) ORDER BY u.place)) t (args)
WHERE p.oid = $1

-- 1247 type
SELECT 'type', pg_catalog.quote_ident(n.nspname), pg_catalog.quote_ident(t.typname), x.name,
	ARRAY[x.name], '{}'::text[]
FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace,
	LATERAL (SELECT TYPE(t.oid)) x (name)
WHERE t.oid = $1

-- 2605 cast
SELECT 'cast', NULL, NULL, '(' || x.source || ' AS ' || x.target || ')', ARRAY[x.source],
	ARRAY[x.target]
FROM pg_catalog.pg_cast c,
	LATERAL (SELECT TYPE(c.castsource), TYPE(c.casttarget)) x (source, target)
WHERE c.oid = $1

-- 3456 collation
NAMED pg_collation coll

-- 2607 conversion
NAMED pg_conversion con

-- 3601 text search parser
NAMED pg_ts_parser prs

-- 3600 text search dictionary
NAMED pg_ts_dict dict

-- 3764 text search template
NAMED pg_ts_template tmpl

-- 3602 text search configuration
NAMED pg_ts_config cfg

-- 2606 constraint
SELECT CASE WHEN c.contypid <> 0 THEN 'domain constraint' ELSE 'table constraint' END,
	pg_catalog.quote_ident(n.nspname), NULL, pg_catalog.quote_ident(c.conname) || ' on '
		|| CASE WHEN c.contypid <> 0 THEN TYPE(c.contypid) ELSE pg_catalog.quote_ident(n.nspname)
			|| '.' || pg_catalog.quote_ident(r.relname) END,
	CASE WHEN c.contypid <> 0 THEN ARRAY[TYPE(c.contypid)]
		ELSE ARRAY[n.nspname::text, r.relname::text, c.conname::text] END,
	CASE WHEN c.contypid <> 0 THEN ARRAY[c.conname::text] ELSE '{}' END
FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_namespace n ON n.oid = c.connamespace
	LEFT JOIN pg_catalog.pg_class r ON r.oid = c.conrelid
WHERE c.oid = $1

-- 2604 default value
SELECT 'default value', NULL, NULL, 'for ' || pg_catalog.quote_ident(n.nspname) || '.'
		|| pg_catalog.quote_ident(c.relname) || '.' || pg_catalog.quote_ident(a.attname),
	ARRAY[n.nspname::text, c.relname::text, a.attname::text], '{}'::text[]
FROM pg_catalog.pg_attrdef d JOIN pg_catalog.pg_class c ON c.oid = d.adrelid
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	JOIN pg_catalog.pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
WHERE d.oid = $1

-- 3256 policy
SELECT 'policy', NULL, NULL, pg_catalog.quote_ident(p.polname) || ' on '
		|| pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),
	ARRAY[n.nspname::text, c.relname::text, p.polname::text], '{}'::text[]
FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE p.oid = $1

-- 2618 rule
SELECT 'rule', NULL, NULL, pg_catalog.quote_ident(r.rulename) || ' on '
		|| pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),
	ARRAY[n.nspname::text, c.relname::text, r.rulename::text], '{}'::text[]
FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE r.oid = $1

-- 2617 operator
SELECT 'operator', pg_catalog.quote_ident(n.nspname), NULL,
	pg_catalog.quote_ident(n.nspname) || '.' || o.oprname || '('
		|| coalesce(x.l || ',', 'NONE,') || coalesce(x.r, 'NONE') || ')',
	ARRAY[n.nspname::text, o.oprname::text], pg_catalog.array_remove(ARRAY[x.l, x.r], NULL)
FROM pg_catalog.pg_operator o JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace,
	LATERAL (SELECT TYPE(o.oprleft), TYPE(o.oprright)) x (l, r)
WHERE o.oid = $1

-- 2616 operator class
CLASS pg_opclass opc operator class

-- 2753 operator family
CLASS pg_opfamily opf operator family

-- 2602 operator of access method
MEMBER pg_amop amop strategy operator

-- 2603 function of access method
MEMBER pg_amproc amproc num function

-- 2615 schema
ALONE pg_namespace nspname

-- 2612 language
ALONE pg_language lanname

-- 2601 access method
ALONE pg_am amname

-- 1260 role
ALONE pg_roles rolname

-- 1262 database
ALONE pg_database datname

-- 1213 tablespace
ALONE pg_tablespace spcname

-- 3079 extension
ALONE pg_extension extname

-- 2613 large object
SELECT 'large object', NULL, NULL, l.oid::text, ARRAY[l.oid::text], '{}'::text[]
FROM pg_catalog.pg_largeobject_metadata l WHERE l.oid = $1

-- 2620 trigger
-- 3381 statistics object
-- 2328 foreign-data wrapper
-- 1417 server
-- 1418 user mapping
-- 826 default acl
-- 3466 event trigger
-- 6243 parameter ACL
-- 6104 publication
-- 6106 publication relation
-- 6237 publication namespace
-- 6100 subscription
-- 3576 transform
