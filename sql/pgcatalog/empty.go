package pgcatalog

// emptyTables are catalogs of what minidb does not have: they are there, without rows.
var emptyTables = []relation{
	{schema: "pg_catalog", name: "pg_aggregate", oid: 2600,
		columns: "aggfnoid regproc, aggkind char, aggnumdirectargs int2, aggtransfn regproc, " +
			"aggfinalfn regproc, aggcombinefn regproc, aggserialfn regproc, aggdeserialfn " +
			"regproc, aggmtransfn regproc, aggminvtransfn regproc, aggmfinalfn regproc, " +
			"aggfinalextra bool, aggmfinalextra bool, aggfinalmodify char, aggmfinalmodify char, " +
			"aggsortop oid, aggtranstype oid, aggtransspace int4, aggmtranstype oid, " +
			"aggmtransspace int4, agginitval text, aggminitval text"},
	{schema: "pg_catalog", name: "pg_amop", oid: 2602,
		columns: "oid oid, amopfamily oid, amoplefttype oid, amoprighttype oid, amopstrategy " +
			"int2, amoppurpose char, amopopr oid, amopmethod oid, amopsortfamily oid"},
	{schema: "pg_catalog", name: "pg_amproc", oid: 2603,
		columns: "oid oid, amprocfamily oid, amproclefttype oid, amprocrighttype oid, amprocnum " +
			"int2, amproc regproc"},
	{schema: "pg_catalog", name: "pg_auth_members", oid: 1261,
		columns: "roleid oid, member oid, grantor oid, admin_option bool"},
	{schema: "pg_catalog", name: "pg_cast", oid: 2605,
		columns: "oid oid, castsource oid, casttarget oid, castfunc oid, castcontext char, " +
			"castmethod char"},
	{schema: "pg_catalog", name: "pg_conversion", oid: 2607,
		columns: "oid oid, conname name, connamespace oid, conowner oid, conforencoding int4, " +
			"contoencoding int4, conproc regproc, condefault bool"},
	{schema: "pg_catalog", name: "pg_default_acl", oid: 826,
		columns: "oid oid, defaclrole oid, defaclnamespace oid, defaclobjtype char, defaclacl " +
			"aclitem[]"},
	{schema: "pg_catalog", name: "pg_enum", oid: 3501,
		columns: "oid oid, enumtypid oid, enumsortorder float4, enumlabel name"},
	{schema: "pg_catalog", name: "pg_event_trigger", oid: 3466,
		columns: "oid oid, evtname name, evtevent name, evtowner oid, evtfoid oid, evtenabled " +
			"char, evttags text[]"},
	{schema: "pg_catalog", name: "pg_foreign_data_wrapper", oid: 2328,
		columns: "oid oid, fdwname name, fdwowner oid, fdwhandler oid, fdwvalidator oid, fdwacl " +
			"aclitem[], fdwoptions text[]"},
	{schema: "pg_catalog", name: "pg_foreign_server", oid: 1417,
		columns: "oid oid, srvname name, srvowner oid, srvfdw oid, srvtype text, srvversion text," +
			" srvacl aclitem[], srvoptions text[]"},
	{schema: "pg_catalog", name: "pg_foreign_table", oid: 3118,
		columns: "ftrelid oid, ftserver oid, ftoptions text[]"},
	{schema: "pg_catalog", name: "pg_inherits", oid: 2611,
		columns: "inhrelid oid, inhparent oid, inhseqno int4, inhdetachpending bool"},
	{schema: "pg_catalog", name: "pg_init_privs", oid: 3394,
		columns: "objoid oid, classoid oid, objsubid int4, privtype char, initprivs aclitem[]"},
	{schema: "pg_catalog", name: "pg_largeobject_metadata", oid: 2995,
		columns: "oid oid, lomowner oid, lomacl aclitem[]"},
	{schema: "pg_catalog", name: "pg_operator", oid: 2617,
		columns: "oid oid, oprname name, oprnamespace oid, oprowner oid, oprkind char, " +
			"oprcanmerge bool, oprcanhash bool, oprleft oid, oprright oid, oprresult oid, oprcom " +
			"oid, oprnegate oid, oprcode regproc, oprrest regproc, oprjoin regproc"},
	{schema: "pg_catalog", name: "pg_opfamily", oid: 2753,
		columns: "oid oid, opfmethod oid, opfname name, opfnamespace oid, opfowner oid"},
	{schema: "pg_catalog", name: "pg_parameter_acl", oid: 6243,
		columns: "oid oid, parname text, paracl aclitem[]"},
	{schema: "pg_catalog", name: "pg_partitioned_table", oid: 3350,
		columns: "partrelid oid, partstrat char, partnatts int2, partdefid oid, partattrs " +
			"int2vector, partclass oidvector, partcollation oidvector, partexprs pg_node_tree"},
	{schema: "pg_catalog", name: "pg_policy", oid: 3256,
		columns: "oid oid, polname name, polrelid oid, polcmd char, polpermissive bool, polroles " +
			"oid[], polqual pg_node_tree, polwithcheck pg_node_tree"},
	{schema: "pg_catalog", name: "pg_publication", oid: 6104,
		columns: "oid oid, pubname name, pubowner oid, puballtables bool, pubinsert bool, " +
			"pubupdate bool, pubdelete bool, pubtruncate bool, pubviaroot bool"},
	{schema: "pg_catalog", name: "pg_publication_namespace", oid: 6237,
		columns: "oid oid, pnpubid oid, pnnspid oid"},
	{schema: "pg_catalog", name: "pg_publication_rel", oid: 6106,
		columns: "oid oid, prpubid oid, prrelid oid, prqual pg_node_tree, prattrs int2vector"},
	{schema: "pg_catalog", name: "pg_range", oid: 3541,
		columns: "rngtypid oid, rngsubtype oid, rngmultitypid oid, rngcollation oid, rngsubopc " +
			"oid, rngcanonical regproc, rngsubdiff regproc"},
	{schema: "pg_catalog", name: "pg_replication_origin", oid: 6000,
		columns: "roident oid, roname text"},
	{schema: "pg_catalog", name: "pg_seclabel", oid: 3596,
		columns: "objoid oid, classoid oid, objsubid int4, provider text, label text"},
	{schema: "pg_catalog", name: "pg_shdepend", oid: 1214,
		columns: "dbid oid, classid oid, objid oid, objsubid int4, refclassid oid, refobjid oid, " +
			"deptype char"},
	{schema: "pg_catalog", name: "pg_shdescription", oid: 2396,
		columns: "objoid oid, classoid oid, description text"},
	{schema: "pg_catalog", name: "pg_shseclabel", oid: 3592,
		columns: "objoid oid, classoid oid, provider text, label text"},
	{schema: "pg_catalog", name: "pg_statistic_ext", oid: 3381,
		columns: "oid oid, stxrelid oid, stxname name, stxnamespace oid, stxowner oid, " +
			"stxstattarget int4, stxkeys int2vector, stxkind char[], stxexprs pg_node_tree"},
	{schema: "pg_catalog", name: "pg_subscription", oid: 6100,
		columns: "oid oid, subdbid oid, subskiplsn text, subname name, subowner oid, subenabled " +
			"bool, subbinary bool, substream bool, subtwophasestate char, subdisableonerr bool, " +
			"subconninfo text, subslotname name, subsynccommit text, subpublications text[]"},
	{schema: "pg_catalog", name: "pg_subscription_rel", oid: 6102,
		columns: "srsubid oid, srrelid oid, srsubstate char, srsublsn text"},
	{schema: "pg_catalog", name: "pg_transform", oid: 3576,
		columns: "oid oid, trftype oid, trflang oid, trffromsql regproc, trftosql regproc"},
	{schema: "pg_catalog", name: "pg_trigger", oid: 2620,
		columns: "oid oid, tgrelid oid, tgparentid oid, tgname name, tgfoid oid, tgtype int2, " +
			"tgenabled char, tgisinternal bool, tgconstrrelid oid, tgconstrindid oid, " +
			"tgconstraint oid, tgdeferrable bool, tginitdeferred bool, tgnargs int2, tgattr " +
			"int2vector, tgargs bytea, tgqual pg_node_tree, tgoldtable name, tgnewtable name"},
	{schema: "pg_catalog", name: "pg_ts_config", oid: 3602,
		columns: "oid oid, cfgname name, cfgnamespace oid, cfgowner oid, cfgparser oid"},
	{schema: "pg_catalog", name: "pg_ts_config_map", oid: 3603,
		columns: "mapcfg oid, maptokentype int4, mapseqno int4, mapdict oid"},
	{schema: "pg_catalog", name: "pg_ts_dict", oid: 3600,
		columns: "oid oid, dictname name, dictnamespace oid, dictowner oid, dicttemplate oid, " +
			"dictinitoption text"},
	{schema: "pg_catalog", name: "pg_ts_parser", oid: 3601,
		columns: "oid oid, prsname name, prsnamespace oid, prsstart regproc, prstoken regproc, " +
			"prsend regproc, prsheadline regproc, prslextype regproc"},
	{schema: "pg_catalog", name: "pg_ts_template", oid: 3764,
		columns: "oid oid, tmplname name, tmplnamespace oid, tmplinit regproc, tmpllexize regproc"},
	{schema: "pg_catalog", name: "pg_user_mapping", oid: 1418,
		columns: "oid oid, umuser oid, umserver oid, umoptions text[]"},
}
