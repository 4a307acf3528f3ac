package types

// Family is what a value means. Storage and Order return how it is held and compared.
type Family uint8

// The families, in the order of the package's table.
const (
	Void Family = iota
	Bool
	Int
	Float
	Decimal
	String
	Bytes
	Date
	Time
	Timestamp
	Interval
	UUID
	JSON
	Array
	Record
	Bit
	TID
	Enum
	Inet
	MacAddr
	MacAddr8
	TimeTZ
	Money
	LSN
	Range
	MultiRange
	JSONPath
	Geometric
	CIText
	HStore
	XML
)

// OID is a PostgreSQL object identifier.
type OID uint32

// OIDs of the built-in types, PostgreSQL's own.
const (
	OIDBool         OID = 16
	OIDBytea        OID = 17
	OIDChar         OID = 18 // "char"
	OIDName         OID = 19
	OIDInt8         OID = 20
	OIDInt2         OID = 21
	OIDInt2Vector   OID = 22
	OIDInt4         OID = 23
	OIDRegProc      OID = 24
	OIDText         OID = 25
	OIDOid          OID = 26
	OIDOidVector    OID = 30
	OIDJSON         OID = 114
	OIDXML          OID = 142
	OIDPoint        OID = 600
	OIDLseg         OID = 601
	OIDPath         OID = 602
	OIDBox          OID = 603
	OIDPolygon      OID = 604
	OIDLine         OID = 628
	OIDCidr         OID = 650
	OIDFloat4       OID = 700
	OIDFloat8       OID = 701
	OIDUnknown      OID = 705
	OIDCircle       OID = 718
	OIDMacAddr8     OID = 774
	OIDMoney        OID = 790
	OIDMacAddr      OID = 829
	OIDInet         OID = 869
	OIDBPChar       OID = 1042
	OIDVarchar      OID = 1043
	OIDDate         OID = 1082
	OIDTime         OID = 1083
	OIDTimestamp    OID = 1114
	OIDTimestampTZ  OID = 1184
	OIDTimeTZ       OID = 1266
	OIDInterval     OID = 1186
	OIDBit          OID = 1560
	OIDVarbit       OID = 1562
	OIDNumeric      OID = 1700
	OIDRegClass     OID = 2205
	OIDRegType      OID = 2206
	OIDRecord       OID = 2249
	OIDVoid         OID = 2278
	OIDUUID         OID = 2950
	OIDRefCursor    OID = 1790
	OIDLSN          OID = 3220
	OIDJSONB        OID = 3802
	OIDRegNamespace OID = 4089
	OIDJSONPath     OID = 4072
	OIDCIText       OID = 14000 // of the extension citext
	OIDHStore       OID = 14200 // of the extension hstore
)

// NoMod is the modifier of a type without length, precision or scale.
const NoMod int32 = -1

// Type is a SQL type. Types are compared by Equal or by OID, never by pointer.
type Type struct {
	OID    OID
	Family Family
	Name   string // pg_type.typname: "int4", "_text"
	// PostgreSQL's atttypmod: varchar(n) is n+4, bit(n) is n, numeric(p,s) is (p<<16|s)+4,
	// timestamp(p) is p; NoMod
	Mod  int32
	Sub  *Type // what a range is of, and the range that a multirange is of
	Elem *Type // element of an Array, else nil
	Len  int16 // pg_type.typlen: bytes, or -1
	// Row has the fields of an anonymous record, as far as they are known; see RowOf.
	Row []Attribute
	Def *Definition // of a type that a user made, else nil
}

// The built-in types without modifiers. They are shared: never change one in place.
var (
	TVoid         = &Type{OID: OIDVoid, Family: Void, Name: "void", Mod: NoMod, Len: 4}
	TUnknown      = &Type{OID: OIDUnknown, Family: String, Name: "unknown", Mod: NoMod, Len: -2}
	TBool         = &Type{OID: OIDBool, Family: Bool, Name: "bool", Mod: NoMod, Len: 1}
	TInt2         = &Type{OID: OIDInt2, Family: Int, Name: "int2", Mod: NoMod, Len: 2}
	TInt4         = &Type{OID: OIDInt4, Family: Int, Name: "int4", Mod: NoMod, Len: 4}
	TInt8         = &Type{OID: OIDInt8, Family: Int, Name: "int8", Mod: NoMod, Len: 8}
	TOid          = &Type{OID: OIDOid, Family: Int, Name: "oid", Mod: NoMod, Len: 4}
	TRegClass     = &Type{OID: OIDRegClass, Family: Int, Name: "regclass", Mod: NoMod, Len: 4}
	TRegType      = &Type{OID: OIDRegType, Family: Int, Name: "regtype", Mod: NoMod, Len: 4}
	TRegProc      = &Type{OID: OIDRegProc, Family: Int, Name: "regproc", Mod: NoMod, Len: 4}
	TRegNamespace = &Type{OID: OIDRegNamespace, Family: Int, Name: "regnamespace", Mod: NoMod,
		Len: 4}
	TFloat4    = &Type{OID: OIDFloat4, Family: Float, Name: "float4", Mod: NoMod, Len: 4}
	TFloat8    = &Type{OID: OIDFloat8, Family: Float, Name: "float8", Mod: NoMod, Len: 8}
	TNumeric   = &Type{OID: OIDNumeric, Family: Decimal, Name: "numeric", Mod: NoMod, Len: -1}
	TText      = &Type{OID: OIDText, Family: String, Name: "text", Mod: NoMod, Len: -1}
	TVarchar   = &Type{OID: OIDVarchar, Family: String, Name: "varchar", Mod: NoMod, Len: -1}
	TBPChar    = &Type{OID: OIDBPChar, Family: String, Name: "bpchar", Mod: NoMod, Len: -1}
	TName      = &Type{OID: OIDName, Family: String, Name: "name", Mod: NoMod, Len: 64}
	TChar      = &Type{OID: OIDChar, Family: String, Name: "char", Mod: NoMod, Len: 1}
	TBytea     = &Type{OID: OIDBytea, Family: Bytes, Name: "bytea", Mod: NoMod, Len: -1}
	TDate      = &Type{OID: OIDDate, Family: Date, Name: "date", Mod: NoMod, Len: 4}
	TTime      = &Type{OID: OIDTime, Family: Time, Name: "time", Mod: NoMod, Len: 8}
	TTimestamp = &Type{OID: OIDTimestamp, Family: Timestamp, Name: "timestamp", Mod: NoMod,
		Len: 8}
	TTimestampTZ = &Type{OID: OIDTimestampTZ, Family: Timestamp, Name: "timestamptz", Mod: NoMod,
		Len: 8}
	TInterval = &Type{OID: OIDInterval, Family: Interval, Name: "interval", Mod: NoMod, Len: 16}
	TUUID     = &Type{OID: OIDUUID, Family: UUID, Name: "uuid", Mod: NoMod, Len: 16}
	TJSON     = &Type{OID: OIDJSON, Family: String, Name: "json", Mod: NoMod, Len: -1}
	TXML      = &Type{OID: OIDXML, Family: XML, Name: "xml", Mod: NoMod, Len: -1}
	TJSONPath = &Type{OID: OIDJSONPath, Family: JSONPath, Name: "jsonpath", Mod: NoMod, Len: -1}
	TJSONB    = &Type{OID: OIDJSONB, Family: JSON, Name: "jsonb", Mod: NoMod, Len: -1}
	TBit      = &Type{OID: OIDBit, Family: Bit, Name: "bit", Mod: NoMod, Len: -1}
	TVarbit   = &Type{OID: OIDVarbit, Family: Bit, Name: "varbit", Mod: NoMod, Len: -1}
	TInet     = &Type{OID: OIDInet, Family: Inet, Name: "inet", Mod: NoMod, Len: -1}
	TCidr     = &Type{OID: OIDCidr, Family: Inet, Name: "cidr", Mod: NoMod, Len: -1}
	TMacAddr  = &Type{OID: OIDMacAddr, Family: MacAddr, Name: "macaddr", Mod: NoMod, Len: 6}
	TMacAddr8 = &Type{OID: OIDMacAddr8, Family: MacAddr8, Name: "macaddr8", Mod: NoMod, Len: 8}
	TTimeTZ   = &Type{OID: OIDTimeTZ, Family: TimeTZ, Name: "timetz", Mod: NoMod, Len: 12}
	TMoney    = &Type{OID: OIDMoney, Family: Money, Name: "money", Mod: NoMod, Len: 8}
	TLSN      = &Type{OID: OIDLSN, Family: LSN, Name: "pg_lsn", Mod: NoMod, Len: 8}
	TPoint    = &Type{OID: OIDPoint, Family: Geometric, Name: "point", Mod: NoMod, Len: 16}
	TLseg     = &Type{OID: OIDLseg, Family: Geometric, Name: "lseg", Mod: NoMod, Len: 32}
	TPath     = &Type{OID: OIDPath, Family: Geometric, Name: "path", Mod: NoMod, Len: -1}
	TBox      = &Type{OID: OIDBox, Family: Geometric, Name: "box", Mod: NoMod, Len: 32}
	TPolygon  = &Type{OID: OIDPolygon, Family: Geometric, Name: "polygon", Mod: NoMod, Len: -1}
	TLine     = &Type{OID: OIDLine, Family: Geometric, Name: "line", Mod: NoMod, Len: 24}
	TCircle   = &Type{OID: OIDCircle, Family: Geometric, Name: "circle", Mod: NoMod, Len: 24}
	TCIText   = &Type{OID: OIDCIText, Family: CIText, Name: "citext", Mod: NoMod, Len: -1}
	THStore   = &Type{OID: OIDHStore, Family: HStore, Name: "hstore", Mod: NoMod, Len: -1}
	// TRefCursor is the name of a cursor.
	TRefCursor = &Type{OID: OIDRefCursor, Family: String, Name: "refcursor", Mod: NoMod, Len: -1}
	TRecord    = &Type{OID: OIDRecord, Family: Record, Name: "record", Mod: NoMod, Len: -1}
)

// Equal reports whether two types are the same, modifiers aside.
func (t *Type) Equal(o *Type) bool { return t.OID == o.OID }

// floatBits is the size of a float.
func (t *Type) floatBits() int {
	if t.OID == OIDFloat4 {
		return 32
	}
	return 64
}

// WithMod returns the type with a modifier.
func (t *Type) WithMod(mod int32) *Type {
	if t.Mod == mod {
		return t
	}
	c := *t
	c.Mod = mod
	return &c
}
