package pgcatalog

// Columns of the catalogs that have rows, in PostgreSQL's order.
const (
	colsAm        = "oid oid, amname name, amhandler regproc, amtype char"
	colsAttrdef   = "oid oid, adrelid oid, adnum int2, adbin pg_node_tree"
	colsAttribute = "attrelid oid, attname name, atttypid oid, attstattarget int4, attlen int2, " +
		"attnum int2, attndims int4, attcacheoff int4, atttypmod int4, attbyval bool, attalign " +
		"char, attstorage char, attcompression char, attnotnull bool, atthasdef bool, " +
		"atthasmissing bool, attidentity char, attgenerated char, attisdropped bool, attislocal " +
		"bool, attinhcount int4, attcollation oid, attacl aclitem[], attoptions text[], " +
		"attfdwoptions text[], attmissingval text[]"
	colsClass = "oid oid, relname name, relnamespace oid, reltype oid, reloftype oid, relowner " +
		"oid, relam oid, relfilenode oid, reltablespace oid, relpages int4, reltuples float4, " +
		"relallvisible int4, reltoastrelid oid, relhasindex bool, relisshared bool, " +
		"relpersistence char, relkind char, relnatts int2, relchecks int2, relhasrules bool, " +
		"relhastriggers bool, relhassubclass bool, relrowsecurity bool, relforcerowsecurity bool," +
		" relispopulated bool, relreplident char, relispartition bool, relrewrite oid, " +
		"relfrozenxid xid, relminmxid xid, relacl aclitem[], reloptions text[], relpartbound " +
		"pg_node_tree"
	colsCollation = "oid oid, collname name, collnamespace oid, collowner oid, collprovider char," +
		" collisdeterministic bool, collencoding int4, collcollate text, collctype text, " +
		"colliculocale text, collversion text"
	colsConstraint = "oid oid, conname name, connamespace oid, contype char, condeferrable bool, " +
		"condeferred bool, convalidated bool, conrelid oid, contypid oid, conindid oid, " +
		"conparentid oid, confrelid oid, confupdtype char, confdeltype char, confmatchtype char, " +
		"conislocal bool, coninhcount int4, connoinherit bool, conkey int2[], confkey int2[], " +
		"conpfeqop oid[], conppeqop oid[], conffeqop oid[], confdelsetcols int2[], conexclop " +
		"oid[], conbin pg_node_tree"
	colsDatabase = "oid oid, datname name, datdba oid, encoding int4, datlocprovider char, " +
		"datistemplate bool, datallowconn bool, datconnlimit int4, datfrozenxid xid, datminmxid " +
		"xid, dattablespace oid, datcollate text, datctype text, daticulocale text, " +
		"datcollversion text, datacl aclitem[]"
	colsDescription = "objoid oid, classoid oid, objsubid int4, description text"
	colsIndex       = "indexrelid oid, indrelid oid, indnatts int2, indnkeyatts int2, " +
		"indisunique bool, indnullsnotdistinct bool, indisprimary bool, indisexclusion bool, " +
		"indimmediate bool, indisclustered bool, indisvalid bool, indcheckxmin bool, indisready " +
		"bool, indislive bool, indisreplident bool, indkey int2vector, indcollation oidvector, " +
		"indclass oidvector, indoption int2vector, indexprs pg_node_tree, indpred pg_node_tree"
	colsNamespace = "oid oid, nspname name, nspowner oid, nspacl aclitem[]"
	colsSequence  = "seqrelid oid, seqtypid oid, seqstart int8, seqincrement int8, seqmax int8, " +
		"seqmin int8, seqcache int8, seqcycle bool"
	colsType = "oid oid, typname name, typnamespace oid, typowner oid, typlen int2, typbyval " +
		"bool, typtype char, typcategory char, typispreferred bool, typisdefined bool, typdelim " +
		"char, typrelid oid, typsubscript regproc, typelem oid, typarray oid, typinput regproc, " +
		"typoutput regproc, typreceive regproc, typsend regproc, typmodin regproc, typmodout " +
		"regproc, typanalyze regproc, typalign char, typstorage char, typnotnull bool, " +
		"typbasetype oid, typtypmod int4, typndims int4, typcollation oid, typdefaultbin " +
		"pg_node_tree, typdefault text, typacl aclitem[]"
	colsProc = "oid oid, proname name, pronamespace oid, proowner oid, prolang oid, procost " +
		"float4, prorows float4, provariadic oid, prosupport regproc, prokind char, prosecdef " +
		"bool, proleakproof bool, proisstrict bool, proretset bool, provolatile char, " +
		"proparallel char, pronargs int2, pronargdefaults int2, prorettype oid, proargtypes " +
		"oidvector, proallargtypes oid[], proargmodes char[], proargnames text[], proargdefaults " +
		"pg_node_tree, protrftypes oid[], prosrc text, probin text, prosqlbody pg_node_tree, " +
		"proconfig text[], proacl aclitem[]"
	colsLanguage = "oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted bool, " +
		"lanplcallfoid oid, laninline oid, lanvalidator oid, lanacl aclitem[]"
	colsTablespace = "oid oid, spcname name, spcowner oid, spcacl aclitem[], spcoptions text[]"
	colsAuthid     = "oid oid, rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, " +
		"rolcreatedb bool, rolcanlogin bool, rolreplication bool, rolbypassrls bool, " +
		"rolconnlimit int4, rolpassword text, rolvaliduntil timestamptz"
	colsRewrite = "oid oid, rulename name, ev_class oid, ev_type char, ev_enabled char, " +
		"is_instead bool, ev_qual pg_node_tree, ev_action pg_node_tree"
	colsDepend = "classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, " +
		"refobjsubid int4, deptype char"
	colsOpclass = "oid oid, opcmethod oid, opcname name, opcnamespace oid, opcowner oid, " +
		"opcfamily oid, opcintype oid, opcdefault bool, opckeytype oid"
	colsExtension = "oid oid, extname name, extowner oid, extnamespace oid, extrelocatable bool, " +
		"extversion text, extconfig oid[], extcondition text[]"
)
