package types

import (
	"strings"
	"sync"
)

// regTypes are the types whose values are OIDs of objects, shown as names.
const regTypes = "regclass,regcollation,regconfig,regdictionary,regnamespace,regoper," +
	"regoperator,regproc,regprocedure,regrole,regtype"

// castTable is pg_cast for the built-in types and those of extensions: source, then
// "context:targets" for the contexts i (implicit), a (assignment) and e (explicit).
var castTable = map[string]string{
	"bool":   "a:bpchar,citext,text,varchar e:int4",
	"bit":    "i:varbit e:int4,int8",
	"box":    "a:polygon e:circle,lseg,point",
	"bpchar": "i:name,text,varchar a:char,citext",
	"citext": "i:text,varchar a:bpchar",
	"cidr":   "i:inet a:bpchar,text,varchar",
	"char":   "i:text a:bpchar,varchar e:int4",
	"circle": "e:box,point,polygon",
	"date":   "i:timestamp,timestamptz",
	"float4": "i:float8 a:int2,int4,int8,numeric",
	"float8": "a:float4,int2,int4,int8,numeric",
	"hstore": "e:json,jsonb",
	"inet":   "a:bpchar,cidr,citext,text,varchar",
	"int2":   "i:float4,float8,int4,int8,numeric,oid," + regTypes,
	"int4": "i:float4,float8,int8,numeric,oid," + regTypes +
		" a:int2,money e:bit,bool,char",
	"int8":          "i:float4,float8,numeric,oid," + regTypes + " a:int2,int4,money e:bit",
	"interval":      "a:time",
	"json":          "a:jsonb",
	"jsonb":         "a:json e:bool,float4,float8,int2,int4,int8,numeric",
	"lseg":          "e:point",
	"macaddr":       "i:macaddr8",
	"macaddr8":      "i:macaddr",
	"money":         "a:numeric",
	"name":          "i:text a:bpchar,varchar",
	"numeric":       "i:float4,float8 a:int2,int4,int8,money",
	"oid":           "i:" + regTypes + " a:int4,int8",
	"path":          "a:polygon",
	"pg_node_tree":  "i:text",
	"point":         "a:box",
	"polygon":       "a:path e:box,circle,point",
	"regclass":      "i:oid a:int4,int8",
	"regcollation":  "i:oid a:int4,int8",
	"regconfig":     "i:oid a:int4,int8",
	"regdictionary": "i:oid a:int4,int8",
	"regnamespace":  "i:oid a:int4,int8",
	"regoper":       "i:oid,regoperator a:int4,int8",
	"regoperator":   "i:oid,regoper a:int4,int8",
	"regproc":       "i:oid,regprocedure a:int4,int8",
	"regprocedure":  "i:oid,regproc a:int4,int8",
	"regrole":       "i:oid a:int4,int8",
	"regtype":       "i:oid a:int4,int8",
	"text":          "i:bpchar,name,regclass,varchar a:char,citext",
	"time":          "i:interval,timetz",
	"timestamp":     "i:timestamptz a:date,time",
	"timestamptz":   "a:date,time,timestamp,timetz",
	"timetz":        "a:time",
	"varbit":        "i:bit",
	"varchar":       "i:bpchar,name,regclass,text a:char,citext",
	"xml":           "a:bpchar,text,varchar",
	"xid8":          "e:xid",
	"_text":         "e:hstore",
}

var castContexts = sync.OnceValue(func() map[[2]OID]byte {
	m := make(map[[2]OID]byte, 256)
	for from, spec := range castTable {
		s, ok := named(from)
		if !ok {
			continue
		}
		for group := range strings.FieldsSeq(spec) {
			for to := range strings.SplitSeq(group[2:], ",") {
				if t, ok := named(to); ok {
					m[[2]OID{s.OID, t.OID}] = group[0]
				}
			}
		}
	}
	for _, r := range builtinRanges {
		m[[2]OID{r.oid, r.multi}] = 'e'
	}
	return m
})

// named finds a type by name, a built-in one or that of an extension.
func named(name string) (*Type, bool) {
	if t, ok := types().members[name]; ok {
		return t, true
	}
	return ByName(name)
}

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
	switch {
	case !ok1 || !ok2 || dst.Family == Void:
		return 0
	case src.Family == Void: // has an output function, as every type: C7
		if dst.Category() == 'S' {
			return 'a'
		}
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

// HasCast reports whether pg_cast has a row for two types. Other conversions go through text.
func HasCast(from, to OID) bool {
	_, ok := castContexts()[[2]OID{from, to}]
	return ok
}
