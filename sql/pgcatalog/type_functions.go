// Code generated from pg_type and pg_proc of PostgreSQL 15. DO NOT EDIT.

package pgcatalog

import "github.com/minidb/minidb/table/types"

// typeFunctions are the object IDs of the functions that PostgreSQL has for a type's input and
// output.
type typeFunctions struct {
	input, output, receive, send, modIn, modOut, subscript, analyze, elem types.OID
}

// functionsOfType are those of the types that are here too.
var functionsOfType = map[types.OID]typeFunctions{
	16:   {1242, 1243, 2436, 2437, 0, 0, 0, 0, 0},              // bool
	17:   {1244, 31, 2412, 2413, 0, 0, 0, 0, 0},                // bytea
	18:   {1245, 33, 2434, 2435, 0, 0, 0, 0, 0},                // char
	19:   {34, 35, 2422, 2423, 0, 0, 6180, 0, 18},              // name
	20:   {460, 461, 2408, 2409, 0, 0, 0, 0, 0},                // int8
	21:   {38, 39, 2404, 2405, 0, 0, 0, 0, 0},                  // int2
	22:   {40, 41, 2410, 2411, 0, 0, 6179, 0, 21},              // int2vector
	23:   {42, 43, 2406, 2407, 0, 0, 0, 0, 0},                  // int4
	24:   {44, 45, 2444, 2445, 0, 0, 0, 0, 0},                  // regproc
	25:   {46, 47, 2414, 2415, 0, 0, 0, 0, 0},                  // text
	26:   {1798, 1799, 2418, 2419, 0, 0, 0, 0, 0},              // oid
	28:   {50, 51, 2440, 2441, 0, 0, 0, 0, 0},                  // xid
	30:   {54, 55, 2420, 2421, 0, 0, 6179, 0, 26},              // oidvector
	114:  {321, 322, 323, 324, 0, 0, 0, 0, 0},                  // json
	194:  {195, 196, 197, 198, 0, 0, 0, 0, 0},                  // pg_node_tree
	199:  {750, 751, 2400, 2401, 0, 0, 6179, 3816, 114},        // _json
	700:  {200, 201, 2424, 2425, 0, 0, 0, 0, 0},                // float4
	701:  {214, 215, 2426, 2427, 0, 0, 0, 0, 0},                // float8
	705:  {109, 110, 2416, 2417, 0, 0, 0, 0, 0},                // unknown
	1000: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 16},         // _bool
	1001: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 17},         // _bytea
	1002: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 18},         // _char
	1003: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 19},         // _name
	1005: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 21},         // _int2
	1006: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 22},         // _int2vector
	1007: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 23},         // _int4
	1008: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 24},         // _regproc
	1009: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 25},         // _text
	1011: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 28},         // _xid
	1013: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 30},         // _oidvector
	1014: {750, 751, 2400, 2401, 2913, 2914, 6179, 3816, 1042}, // _bpchar
	1015: {750, 751, 2400, 2401, 2915, 2916, 6179, 3816, 1043}, // _varchar
	1016: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 20},         // _int8
	1021: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 700},        // _float4
	1022: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 701},        // _float8
	1028: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 26},         // _oid
	1033: {1031, 1032, 0, 0, 0, 0, 0, 0, 0},                    // aclitem
	1034: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 1033},       // _aclitem
	1042: {1044, 1045, 2430, 2431, 2913, 2914, 0, 0, 0},        // bpchar
	1043: {1046, 1047, 2432, 2433, 2915, 2916, 0, 0, 0},        // varchar
	1082: {1084, 1085, 2468, 2469, 0, 0, 0, 0, 0},              // date
	1083: {1143, 1144, 2470, 2471, 2909, 2910, 0, 0, 0},        // time
	1114: {1312, 1313, 2474, 2475, 2905, 2906, 0, 0, 0},        // timestamp
	1115: {750, 751, 2400, 2401, 2905, 2906, 6179, 3816, 1114}, // _timestamp
	1182: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 1082},       // _date
	1183: {750, 751, 2400, 2401, 2909, 2910, 6179, 3816, 1083}, // _time
	1184: {1150, 1151, 2476, 2477, 2907, 2908, 0, 0, 0},        // timestamptz
	1185: {750, 751, 2400, 2401, 2907, 2908, 6179, 3816, 1184}, // _timestamptz
	1186: {1160, 1161, 2478, 2479, 2903, 2904, 0, 0, 0},        // interval
	1187: {750, 751, 2400, 2401, 2903, 2904, 6179, 3816, 1186}, // _interval
	1231: {750, 751, 2400, 2401, 2917, 2918, 6179, 3816, 1700}, // _numeric
	1700: {1701, 1702, 2460, 2461, 2917, 2918, 0, 0, 0},        // numeric
	2202: {2212, 2213, 2446, 2447, 0, 0, 0, 0, 0},              // regprocedure
	2205: {2218, 2219, 2452, 2453, 0, 0, 0, 0, 0},              // regclass
	2206: {2220, 2221, 2454, 2455, 0, 0, 0, 0, 0},              // regtype
	2207: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 2202},       // _regprocedure
	2210: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 2205},       // _regclass
	2211: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 2206},       // _regtype
	2249: {2290, 2291, 2402, 2403, 0, 0, 0, 0, 0},              // record
	2278: {2298, 2299, 3120, 3121, 0, 0, 0, 0, 0},              // void
	2287: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 2249},       // _record
	2950: {2952, 2953, 2961, 2962, 0, 0, 0, 0, 0},              // uuid
	2951: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 2950},       // _uuid
	3802: {3806, 3804, 3805, 3803, 0, 0, 6098, 0, 0},           // jsonb
	3807: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 3802},       // _jsonb
	4089: {4084, 4085, 4087, 4088, 0, 0, 0, 0, 0},              // regnamespace
	4090: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 4089},       // _regnamespace
	4096: {4098, 4092, 4094, 4095, 0, 0, 0, 0, 0},              // regrole
	4097: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 4096},       // _regrole
	4191: {4193, 4194, 4196, 4197, 0, 0, 0, 0, 0},              // regcollation
	4192: {750, 751, 2400, 2401, 0, 0, 6179, 3816, 4191},       // _regcollation
}

// function is a function of PostgreSQL's by its object ID: the name, and the types of its
// arguments.
type function struct {
	oid       types.OID
	name      string
	arguments string
}

// functions are those that functionsOfType names, in order of their IDs.
var functions = []function{
	{31, "byteaout", `bytea`},
	{33, "charout", `"char"`},
	{34, "namein", `cstring`},
	{35, "nameout", `name`},
	{38, "int2in", `cstring`},
	{39, "int2out", `smallint`},
	{40, "int2vectorin", `cstring`},
	{41, "int2vectorout", `int2vector`},
	{42, "int4in", `cstring`},
	{43, "int4out", `integer`},
	{44, "regprocin", `cstring`},
	{45, "regprocout", `regproc`},
	{46, "textin", `cstring`},
	{47, "textout", `text`},
	{50, "xidin", `cstring`},
	{51, "xidout", `xid`},
	{54, "oidvectorin", `cstring`},
	{55, "oidvectorout", `oidvector`},
	{109, "unknownin", `cstring`},
	{110, "unknownout", `unknown`},
	{195, "pg_node_tree_in", `cstring`},
	{196, "pg_node_tree_out", `pg_node_tree`},
	{197, "pg_node_tree_recv", `internal`},
	{198, "pg_node_tree_send", `pg_node_tree`},
	{200, "float4in", `cstring`},
	{201, "float4out", `real`},
	{214, "float8in", `cstring`},
	{215, "float8out", `double precision`},
	{321, "json_in", `cstring`},
	{322, "json_out", `json`},
	{323, "json_recv", `internal`},
	{324, "json_send", `json`},
	{460, "int8in", `cstring`},
	{461, "int8out", `bigint`},
	{750, "array_in", `cstring,oid,integer`},
	{751, "array_out", `anyarray`},
	{1031, "aclitemin", `cstring`},
	{1032, "aclitemout", `aclitem`},
	{1044, "bpcharin", `cstring,oid,integer`},
	{1045, "bpcharout", `character`},
	{1046, "varcharin", `cstring,oid,integer`},
	{1047, "varcharout", `character varying`},
	{1084, "date_in", `cstring`},
	{1085, "date_out", `date`},
	{1143, "time_in", `cstring,oid,integer`},
	{1144, "time_out", `time without time zone`},
	{1150, "timestamptz_in", `cstring,oid,integer`},
	{1151, "timestamptz_out", `timestamp with time zone`},
	{1160, "interval_in", `cstring,oid,integer`},
	{1161, "interval_out", `interval`},
	{1242, "boolin", `cstring`},
	{1243, "boolout", `boolean`},
	{1244, "byteain", `cstring`},
	{1245, "charin", `cstring`},
	{1312, "timestamp_in", `cstring,oid,integer`},
	{1313, "timestamp_out", `timestamp without time zone`},
	{1701, "numeric_in", `cstring,oid,integer`},
	{1702, "numeric_out", `numeric`},
	{1798, "oidin", `cstring`},
	{1799, "oidout", `oid`},
	{2212, "regprocedurein", `cstring`},
	{2213, "regprocedureout", `regprocedure`},
	{2218, "regclassin", `cstring`},
	{2219, "regclassout", `regclass`},
	{2220, "regtypein", `cstring`},
	{2221, "regtypeout", `regtype`},
	{2290, "record_in", `cstring,oid,integer`},
	{2291, "record_out", `record`},
	{2298, "void_in", `cstring`},
	{2299, "void_out", `void`},
	{2400, "array_recv", `internal,oid,integer`},
	{2401, "array_send", `anyarray`},
	{2402, "record_recv", `internal,oid,integer`},
	{2403, "record_send", `record`},
	{2404, "int2recv", `internal`},
	{2405, "int2send", `smallint`},
	{2406, "int4recv", `internal`},
	{2407, "int4send", `integer`},
	{2408, "int8recv", `internal`},
	{2409, "int8send", `bigint`},
	{2410, "int2vectorrecv", `internal`},
	{2411, "int2vectorsend", `int2vector`},
	{2412, "bytearecv", `internal`},
	{2413, "byteasend", `bytea`},
	{2414, "textrecv", `internal`},
	{2415, "textsend", `text`},
	{2416, "unknownrecv", `internal`},
	{2417, "unknownsend", `unknown`},
	{2418, "oidrecv", `internal`},
	{2419, "oidsend", `oid`},
	{2420, "oidvectorrecv", `internal`},
	{2421, "oidvectorsend", `oidvector`},
	{2422, "namerecv", `internal`},
	{2423, "namesend", `name`},
	{2424, "float4recv", `internal`},
	{2425, "float4send", `real`},
	{2426, "float8recv", `internal`},
	{2427, "float8send", `double precision`},
	{2430, "bpcharrecv", `internal,oid,integer`},
	{2431, "bpcharsend", `character`},
	{2432, "varcharrecv", `internal,oid,integer`},
	{2433, "varcharsend", `character varying`},
	{2434, "charrecv", `internal`},
	{2435, "charsend", `"char"`},
	{2436, "boolrecv", `internal`},
	{2437, "boolsend", `boolean`},
	{2440, "xidrecv", `internal`},
	{2441, "xidsend", `xid`},
	{2444, "regprocrecv", `internal`},
	{2445, "regprocsend", `regproc`},
	{2446, "regprocedurerecv", `internal`},
	{2447, "regproceduresend", `regprocedure`},
	{2452, "regclassrecv", `internal`},
	{2453, "regclasssend", `regclass`},
	{2454, "regtyperecv", `internal`},
	{2455, "regtypesend", `regtype`},
	{2460, "numeric_recv", `internal,oid,integer`},
	{2461, "numeric_send", `numeric`},
	{2468, "date_recv", `internal`},
	{2469, "date_send", `date`},
	{2470, "time_recv", `internal,oid,integer`},
	{2471, "time_send", `time without time zone`},
	{2474, "timestamp_recv", `internal,oid,integer`},
	{2475, "timestamp_send", `timestamp without time zone`},
	{2476, "timestamptz_recv", `internal,oid,integer`},
	{2477, "timestamptz_send", `timestamp with time zone`},
	{2478, "interval_recv", `internal,oid,integer`},
	{2479, "interval_send", `interval`},
	{2903, "intervaltypmodin", `cstring[]`},
	{2904, "intervaltypmodout", `integer`},
	{2905, "timestamptypmodin", `cstring[]`},
	{2906, "timestamptypmodout", `integer`},
	{2907, "timestamptztypmodin", `cstring[]`},
	{2908, "timestamptztypmodout", `integer`},
	{2909, "timetypmodin", `cstring[]`},
	{2910, "timetypmodout", `integer`},
	{2913, "bpchartypmodin", `cstring[]`},
	{2914, "bpchartypmodout", `integer`},
	{2915, "varchartypmodin", `cstring[]`},
	{2916, "varchartypmodout", `integer`},
	{2917, "numerictypmodin", `cstring[]`},
	{2918, "numerictypmodout", `integer`},
	{2952, "uuid_in", `cstring`},
	{2953, "uuid_out", `uuid`},
	{2961, "uuid_recv", `internal`},
	{2962, "uuid_send", `uuid`},
	{3120, "void_recv", `internal`},
	{3121, "void_send", `void`},
	{3803, "jsonb_send", `jsonb`},
	{3804, "jsonb_out", `jsonb`},
	{3805, "jsonb_recv", `internal`},
	{3806, "jsonb_in", `cstring`},
	{3816, "array_typanalyze", `internal`},
	{4084, "regnamespacein", `cstring`},
	{4085, "regnamespaceout", `regnamespace`},
	{4087, "regnamespacerecv", `internal`},
	{4088, "regnamespacesend", `regnamespace`},
	{4092, "regroleout", `regrole`},
	{4094, "regrolerecv", `internal`},
	{4095, "regrolesend", `regrole`},
	{4098, "regrolein", `cstring`},
	{4193, "regcollationin", `cstring`},
	{4194, "regcollationout", `regcollation`},
	{4196, "regcollationrecv", `internal`},
	{4197, "regcollationsend", `regcollation`},
	{6098, "jsonb_subscript_handler", `internal`},
	{6179, "array_subscript_handler", `internal`},
	{6180, "raw_array_subscript_handler", `internal`},
}
