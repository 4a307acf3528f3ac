package types

import (
	"strings"
	"sync"
)

// castTable is pg_cast for the built-in types: source, then "context:targets" for the contexts
// i (implicit), a (assignment) and e (explicit).
var castTable = map[string]string{
	"bool":   "a:bpchar,text,varchar e:int4",
	"bpchar": "i:name,text,varchar a:char",
	"char":   "i:text a:bpchar,varchar e:int4",
	"date":   "i:timestamp,timestamptz",
	"float4": "i:float8 a:int2,int4,int8,numeric",
	"float8": "a:float4,int2,int4,int8,numeric",
	"int2": "i:float4,float8,int4,int8,numeric,oid,regclass,regcollation,regnamespace," +
		"regproc,regprocedure,regrole,regtype",
	"int4": "i:float4,float8,int8,numeric,oid,regclass,regcollation,regnamespace,regproc," +
		"regprocedure,regrole,regtype a:int2 e:bool,char",
	"int8": "i:float4,float8,numeric,oid,regclass,regcollation,regnamespace,regproc," +
		"regprocedure,regrole,regtype a:int2,int4",
	"interval": "a:time",
	"json":     "a:jsonb",
	"jsonb":    "a:json e:bool,float4,float8,int2,int4,int8,numeric",
	"name":     "i:text a:bpchar,varchar",
	"numeric":  "i:float4,float8 a:int2,int4,int8",
	"oid": "i:regclass,regcollation,regnamespace,regproc,regprocedure,regrole,regtype " +
		"a:int4,int8",
	"pg_node_tree": "i:text",
	"regclass":     "i:oid a:int4,int8",
	"regcollation": "i:oid a:int4,int8",
	"regnamespace": "i:oid a:int4,int8",
	"regproc":      "i:oid,regprocedure a:int4,int8",
	"regprocedure": "i:oid,regproc a:int4,int8",
	"regrole":      "i:oid a:int4,int8",
	"regtype":      "i:oid a:int4,int8",
	"text":         "i:bpchar,name,regclass,varchar a:char",
	"time":         "i:interval",
	"timestamp":    "i:timestamptz a:date,time",
	"timestamptz":  "a:date,time,timestamp",
	"varchar":      "i:bpchar,name,regclass,text a:char",
}

var castContexts = sync.OnceValue(func() map[[2]OID]byte {
	m := make(map[[2]OID]byte, 256)
	for from, spec := range castTable {
		s, ok := ByName(from)
		if !ok {
			continue
		}
		for group := range strings.FieldsSeq(spec) {
			for to := range strings.SplitSeq(group[2:], ",") {
				if t, ok := ByName(to); ok {
					m[[2]OID{s.OID, t.OID}] = group[0]
				}
			}
		}
	}
	return m
})

// CastContext returns in which context a cast is allowed: 'i' anywhere, 'a' in assignments and
// explicitly, 'e' explicitly, 0 never. It covers pg_cast, the conversions through text (anything to
// a string type in assignments, a string type to anything explicitly), and arrays by their
// elements.
func CastContext(from, to OID) byte {
	if from == to || from == OIDUnknown {
		return 'i'
	}
	if c, ok := castContexts()[[2]OID{from, to}]; ok {
		return c
	}
	src, ok1 := ByOID(from)
	dst, ok2 := ByOID(to)
	if !ok1 || !ok2 || dst.Family == Void || src.Family == Void {
		return 0
	}
	if src.Family == Array && dst.Family == Array {
		if to == OIDInt2Vector || to == OIDOidVector {
			return 0
		}
		return CastContext(src.Elem.OID, dst.Elem.OID)
	}
	if dst.Category() == 'S' {
		return 'a'
	}
	if src.Category() == 'S' && dst.OID != OIDUnknown {
		return 'e'
	}
	return 0
}
