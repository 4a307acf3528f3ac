-- The catalogs that are tables in PostgreSQL, with its object IDs and its columns in its order, and
-- its views whose rows are made by functions of this server. tables.go names the functions; a table
-- without one is empty.

CREATE TABLE pg_catalog.pg_namespace (
	oid oid, nspname name, nspowner oid, nspacl aclitem[]
) WITH (oid = 2615);

CREATE TABLE pg_catalog.pg_class (
	oid oid, relname name, relnamespace oid, reltype oid, reloftype oid, relowner oid, relam oid,
	relfilenode oid, reltablespace oid, relpages int4, reltuples float4, relallvisible int4,
	reltoastrelid oid, relhasindex bool, relisshared bool, relpersistence char, relkind char,
	relnatts int2, relchecks int2, relhasrules bool, relhastriggers bool, relhassubclass bool,
	relrowsecurity bool, relforcerowsecurity bool, relispopulated bool, relreplident char,
	relispartition bool, relrewrite oid, relfrozenxid xid, relminmxid xid, relacl aclitem[],
	reloptions text[], relpartbound pg_node_tree
) WITH (oid = 1259);

CREATE TABLE pg_catalog.pg_attribute (
	attrelid oid, attname name, atttypid oid, attstattarget int4, attlen int2, attnum int2,
	attndims int4, attcacheoff int4, atttypmod int4, attbyval bool, attalign char, attstorage char,
	attcompression char, attnotnull bool, atthasdef bool, atthasmissing bool, attidentity char,
	attgenerated char, attisdropped bool, attislocal bool, attinhcount int4, attcollation oid,
	attacl aclitem[], attoptions text[], attfdwoptions text[], attmissingval text[]
) WITH (oid = 1249);

CREATE TABLE pg_catalog.pg_attrdef (
	oid oid, adrelid oid, adnum int2, adbin pg_node_tree not null
) WITH (oid = 2604);

CREATE TABLE pg_catalog.pg_index (
	indexrelid oid, indrelid oid, indnatts int2, indnkeyatts int2, indisunique bool,
	indnullsnotdistinct bool, indisprimary bool, indisexclusion bool, indimmediate bool,
	indisclustered bool, indisvalid bool, indcheckxmin bool, indisready bool, indislive bool,
	indisreplident bool, indkey int2vector, indcollation oidvector, indclass oidvector,
	indoption int2vector, indexprs pg_node_tree, indpred pg_node_tree
) WITH (oid = 2610);

CREATE TABLE pg_catalog.pg_constraint (
	oid oid, conname name, connamespace oid, contype char, condeferrable bool, condeferred bool,
	convalidated bool, conrelid oid, contypid oid, conindid oid, conparentid oid, confrelid oid,
	confupdtype char, confdeltype char, confmatchtype char, conislocal bool, coninhcount int4,
	connoinherit bool, conkey int2[], confkey int2[], conpfeqop oid[], conppeqop oid[],
	conffeqop oid[], confdelsetcols int2[], conexclop oid[], conbin pg_node_tree
) WITH (oid = 2606);

CREATE TABLE pg_catalog.pg_sequence (
	seqrelid oid, seqtypid oid, seqstart int8, seqincrement int8, seqmax int8, seqmin int8,
	seqcache int8, seqcycle bool
) WITH (oid = 2224);

CREATE TABLE pg_catalog.pg_description (
	objoid oid, classoid oid, objsubid int4, description text not null
) WITH (oid = 2609);

CREATE TABLE pg_catalog.pg_db_role_setting (
	setdatabase oid, setrole oid, setconfig text[]
) WITH (oid = 2964);

CREATE TABLE pg_catalog.pg_database (
	oid oid, datname name, datdba oid, encoding int4, datlocprovider char, datistemplate bool,
	datallowconn bool, datconnlimit int4, datfrozenxid xid, datminmxid xid, dattablespace oid,
	datcollate text not null, datctype text not null, daticulocale text, datcollversion text,
	datacl aclitem[]
) WITH (oid = 1262);

CREATE TABLE pg_catalog.pg_depend (
	classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, refobjsubid int4,
	deptype char
) WITH (oid = 2608);

CREATE TABLE pg_catalog.pg_rewrite (
	oid oid, rulename name, ev_class oid, ev_type char, ev_enabled char, is_instead bool,
	ev_qual pg_node_tree not null, ev_action pg_node_tree not null
) WITH (oid = 2618);

CREATE TABLE pg_catalog.pg_authid (
	oid oid, rolname name, rolsuper bool, rolinherit bool, rolcreaterole bool, rolcreatedb bool,
	rolcanlogin bool, rolreplication bool, rolbypassrls bool, rolconnlimit int4, rolpassword text,
	rolvaliduntil timestamptz
) WITH (oid = 1260);

CREATE TABLE pg_catalog.pg_extension (
	oid oid, extname name, extowner oid, extnamespace oid, extrelocatable bool,
	extversion text not null,
	extconfig oid[], extcondition text[]
) WITH (oid = 3079);

CREATE TABLE pg_catalog.pg_type (
	oid oid, typname name, typnamespace oid, typowner oid, typlen int2, typbyval bool,
	typtype char, typcategory char, typispreferred bool, typisdefined bool, typdelim char,
	typrelid oid, typsubscript regproc, typelem oid, typarray oid, typinput regproc,
	typoutput regproc, typreceive regproc, typsend regproc, typmodin regproc, typmodout regproc,
	typanalyze regproc, typalign char, typstorage char, typnotnull bool, typbasetype oid,
	typtypmod int4, typndims int4, typcollation oid, typdefaultbin pg_node_tree, typdefault text,
	typacl aclitem[]
) WITH (oid = 1247);

CREATE TABLE pg_catalog.pg_am (
	oid oid, amname name, amhandler regproc, amtype char
) WITH (oid = 2601);

CREATE TABLE pg_catalog.pg_collation (
	oid oid, collname name, collnamespace oid, collowner oid, collprovider char,
	collisdeterministic bool, collencoding int4, collcollate text, collctype text,
	colliculocale text, collversion text
) WITH (oid = 3456);

CREATE TABLE pg_catalog.pg_language (
	oid oid, lanname name, lanowner oid, lanispl bool, lanpltrusted bool, lanplcallfoid oid,
	laninline oid, lanvalidator oid, lanacl aclitem[]
) WITH (oid = 2612);

CREATE TABLE pg_catalog.pg_tablespace (
	oid oid, spcname name, spcowner oid, spcacl aclitem[], spcoptions text[]
) WITH (oid = 1213);

CREATE TABLE pg_catalog.pg_opclass (
	oid oid, opcmethod oid, opcname name, opcnamespace oid, opcowner oid, opcfamily oid,
	opcintype oid, opcdefault bool, opckeytype oid
) WITH (oid = 2616);

CREATE TABLE pg_catalog.pg_proc (
	oid oid, proname name, pronamespace oid, proowner oid, prolang oid, procost float4,
	prorows float4, provariadic oid, prosupport regproc, prokind char, prosecdef bool,
	proleakproof bool, proisstrict bool, proretset bool, provolatile char, proparallel char,
	pronargs int2, pronargdefaults int2, prorettype oid, proargtypes oidvector,
	proallargtypes oid[], proargmodes char[], proargnames text[], proargdefaults pg_node_tree,
	protrftypes oid[], prosrc text not null, probin text, prosqlbody pg_node_tree, proconfig text[],
	proacl aclitem[]
) WITH (oid = 1255);

CREATE TABLE pg_catalog.pg_aggregate (
	aggfnoid regproc, aggkind char, aggnumdirectargs int2, aggtransfn regproc, aggfinalfn regproc,
	aggcombinefn regproc, aggserialfn regproc, aggdeserialfn regproc, aggmtransfn regproc,
	aggminvtransfn regproc, aggmfinalfn regproc, aggfinalextra bool, aggmfinalextra bool,
	aggfinalmodify char, aggmfinalmodify char, aggsortop oid, aggtranstype oid, aggtransspace int4,
	aggmtranstype oid, aggmtransspace int4, agginitval text, aggminitval text
) WITH (oid = 2600);

CREATE TABLE pg_catalog.pg_amop (
	oid oid, amopfamily oid, amoplefttype oid, amoprighttype oid, amopstrategy int2,
	amoppurpose char, amopopr oid, amopmethod oid, amopsortfamily oid
) WITH (oid = 2602);

CREATE TABLE pg_catalog.pg_amproc (
	oid oid, amprocfamily oid, amproclefttype oid, amprocrighttype oid, amprocnum int2,
	amproc regproc
) WITH (oid = 2603);

CREATE TABLE pg_catalog.pg_auth_members (
	roleid oid, member oid, grantor oid, admin_option bool
) WITH (oid = 1261);

CREATE TABLE pg_catalog.pg_cast (
	oid oid, castsource oid, casttarget oid, castfunc oid, castcontext char, castmethod char
) WITH (oid = 2605);

CREATE TABLE pg_catalog.pg_conversion (
	oid oid, conname name, connamespace oid, conowner oid, conforencoding int4, contoencoding int4,
	conproc regproc, condefault bool
) WITH (oid = 2607);

CREATE TABLE pg_catalog.pg_default_acl (
	oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype char, defaclacl aclitem[] not null
) WITH (oid = 826);

CREATE TABLE pg_catalog.pg_enum (
	oid oid, enumtypid oid, enumsortorder float4, enumlabel name
) WITH (oid = 3501);

CREATE TABLE pg_catalog.pg_event_trigger (
	oid oid, evtname name, evtevent name, evtowner oid, evtfoid oid, evtenabled char,
	evttags text[]
) WITH (oid = 3466);

CREATE TABLE pg_catalog.pg_foreign_data_wrapper (
	oid oid, fdwname name, fdwowner oid, fdwhandler oid, fdwvalidator oid, fdwacl aclitem[],
	fdwoptions text[]
) WITH (oid = 2328);

CREATE TABLE pg_catalog.pg_foreign_server (
	oid oid, srvname name, srvowner oid, srvfdw oid, srvtype text, srvversion text,
	srvacl aclitem[], srvoptions text[]
) WITH (oid = 1417);

CREATE TABLE pg_catalog.pg_foreign_table (
	ftrelid oid, ftserver oid, ftoptions text[]
) WITH (oid = 3118);

CREATE TABLE pg_catalog.pg_inherits (
	inhrelid oid, inhparent oid, inhseqno int4, inhdetachpending bool
) WITH (oid = 2611);

CREATE TABLE pg_catalog.pg_init_privs (
	objoid oid, classoid oid, objsubid int4, privtype char, initprivs aclitem[] not null
) WITH (oid = 3394);

CREATE TABLE pg_catalog.pg_largeobject (
	loid oid, pageno int4, data bytea not null
) WITH (oid = 2613);

CREATE TABLE pg_catalog.pg_largeobject_metadata (
	oid oid, lomowner oid, lomacl aclitem[]
) WITH (oid = 2995);

CREATE TABLE pg_catalog.pg_operator (
	oid oid, oprname name, oprnamespace oid, oprowner oid, oprkind char, oprcanmerge bool,
	oprcanhash bool, oprleft oid, oprright oid, oprresult oid, oprcom oid, oprnegate oid,
	oprcode regproc, oprrest regproc, oprjoin regproc
) WITH (oid = 2617);

CREATE TABLE pg_catalog.pg_opfamily (
	oid oid, opfmethod oid, opfname name, opfnamespace oid, opfowner oid
) WITH (oid = 2753);

CREATE TABLE pg_catalog.pg_parameter_acl (
	oid oid, parname text not null, paracl aclitem[]
) WITH (oid = 6243);

CREATE TABLE pg_catalog.pg_partitioned_table (
	partrelid oid, partstrat char, partnatts int2, partdefid oid, partattrs int2vector,
	partclass oidvector, partcollation oidvector, partexprs pg_node_tree
) WITH (oid = 3350);

CREATE TABLE pg_catalog.pg_policy (
	oid oid, polname name, polrelid oid, polcmd char, polpermissive bool, polroles oid[] not null,
	polqual pg_node_tree, polwithcheck pg_node_tree
) WITH (oid = 3256);

CREATE TABLE pg_catalog.pg_publication (
	oid oid, pubname name, pubowner oid, puballtables bool, pubinsert bool, pubupdate bool,
	pubdelete bool, pubtruncate bool, pubviaroot bool
) WITH (oid = 6104);

CREATE TABLE pg_catalog.pg_publication_namespace (
	oid oid, pnpubid oid, pnnspid oid
) WITH (oid = 6237);

CREATE TABLE pg_catalog.pg_publication_rel (
	oid oid, prpubid oid, prrelid oid, prqual pg_node_tree, prattrs int2vector
) WITH (oid = 6106);

CREATE TABLE pg_catalog.pg_range (
	rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid, rngsubopc oid,
	rngcanonical regproc, rngsubdiff regproc
) WITH (oid = 3541);

CREATE TABLE pg_catalog.pg_replication_origin (roident oid, roname text not null) WITH (oid = 6000);

CREATE TABLE pg_catalog.pg_seclabel (
	objoid oid, classoid oid, objsubid int4, provider text not null, label text not null
) WITH (oid = 3596);

CREATE TABLE pg_catalog.pg_shdepend (
	dbid oid, classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, deptype char
) WITH (oid = 1214);

CREATE TABLE pg_catalog.pg_shdescription (
	objoid oid, classoid oid, description text not null
) WITH (oid = 2396);

CREATE TABLE pg_catalog.pg_shseclabel (
	objoid oid, classoid oid, provider text not null, label text not null
) WITH (oid = 3592);

CREATE TABLE pg_catalog.pg_statistic_ext (
	oid oid, stxrelid oid, stxname name, stxnamespace oid, stxowner oid, stxstattarget int4,
	stxkeys int2vector, stxkind char[] not null, stxexprs pg_node_tree
) WITH (oid = 3381);

CREATE TABLE pg_catalog.pg_subscription (
	oid oid, subdbid oid, subskiplsn pg_lsn, subname name, subowner oid, subenabled bool,
	subbinary bool, substream bool, subtwophasestate char, subdisableonerr bool,
	subconninfo text not null,
	subslotname name, subsynccommit text not null, subpublications text[] not null
) WITH (oid = 6100);

CREATE TABLE pg_catalog.pg_subscription_rel (
	srsubid oid, srrelid oid, srsubstate char, srsublsn pg_lsn null
) WITH (oid = 6102);

CREATE TABLE pg_catalog.pg_transform (
	oid oid, trftype oid, trflang oid, trffromsql regproc, trftosql regproc
) WITH (oid = 3576);

CREATE TABLE pg_catalog.pg_trigger (
	oid oid, tgrelid oid, tgparentid oid, tgname name, tgfoid oid, tgtype int2, tgenabled char,
	tgisinternal bool, tgconstrrelid oid, tgconstrindid oid, tgconstraint oid, tgdeferrable bool,
	tginitdeferred bool, tgnargs int2, tgattr int2vector, tgargs bytea not null, tgqual pg_node_tree,
	tgoldtable name, tgnewtable name
) WITH (oid = 2620);

CREATE TABLE pg_catalog.pg_ts_config (
	oid oid, cfgname name, cfgnamespace oid, cfgowner oid, cfgparser oid
) WITH (oid = 3602);

CREATE TABLE pg_catalog.pg_ts_config_map (
	mapcfg oid, maptokentype int4, mapseqno int4, mapdict oid
) WITH (oid = 3603);

CREATE TABLE pg_catalog.pg_ts_dict (
	oid oid, dictname name, dictnamespace oid, dictowner oid, dicttemplate oid, dictinitoption text
) WITH (oid = 3600);

CREATE TABLE pg_catalog.pg_ts_parser (
	oid oid, prsname name, prsnamespace oid, prsstart regproc, prstoken regproc, prsend regproc,
	prsheadline regproc, prslextype regproc
) WITH (oid = 3601);

CREATE TABLE pg_catalog.pg_ts_template (
	oid oid, tmplname name, tmplnamespace oid, tmplinit regproc, tmpllexize regproc
) WITH (oid = 3764);

CREATE TABLE pg_catalog.pg_user_mapping (
	oid oid, umuser oid, umserver oid, umoptions text[]
) WITH (oid = 1418);

CREATE VIEW pg_catalog.pg_settings (
	name text, setting text, unit text, category text, short_desc text, extra_desc text,
	context text, vartype text, source text, min_val text, max_val text, enumvals text[],
	boot_val text, reset_val text, sourcefile text, sourceline int4, pending_restart bool
);

CREATE VIEW pg_catalog.pg_stat_activity (
	datid oid, datname name, pid int4, leader_pid int4, usesysid oid, usename name,
	application_name text, client_addr inet, client_hostname text, client_port int4,
	backend_start timestamptz, xact_start timestamptz, query_start timestamptz,
	state_change timestamptz, wait_event_type text, wait_event text, state text, backend_xid xid,
	backend_xmin xid, query_id int8, query text, backend_type text
);

CREATE VIEW pg_catalog.pg_prepared_statements (
	name text, statement text, prepare_time timestamptz, parameter_types regtype[], from_sql bool,
	generic_plans int8, custom_plans int8
);

CREATE VIEW pg_catalog.pg_cursors (
	name text, statement text, is_holdable bool, is_binary bool, is_scrollable bool,
	creation_time timestamptz
);

CREATE VIEW pg_catalog.pg_timezone_names (
	name text, abbrev text, utc_offset interval, is_dst bool
);

CREATE VIEW pg_catalog.pg_timezone_abbrevs (
	abbrev text, utc_offset interval, is_dst bool
);

CREATE VIEW pg_catalog.pg_available_extensions (
	name name, default_version text, installed_version text collate "C", comment text
);

CREATE VIEW pg_catalog.pg_available_extension_versions (
	name name, version text, installed bool, superuser bool, trusted bool, relocatable bool,
	schema name, requires name[], comment text
);
