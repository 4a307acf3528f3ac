package types

import (
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/extension"
)

// Types that only the system catalogs have.
var (
	TXid          = &Type{OID: 28, Family: Int, Name: "xid", Mod: NoMod, Len: 4}
	TXid8         = &Type{OID: 5069, Family: Int, Name: "xid8", Mod: NoMod, Len: 8}
	TCid          = &Type{OID: 29, Family: Int, Name: "cid", Mod: NoMod, Len: 4}
	TTid          = &Type{OID: 27, Family: TID, Name: "tid", Mod: NoMod, Len: 6}
	TPgSnapshot   = &Type{OID: 5038, Family: String, Name: "pg_snapshot", Mod: NoMod, Len: -1}
	TTxidSnapshot = &Type{OID: 2970, Family: String, Name: "txid_snapshot", Mod: NoMod, Len: -1}
	TRegProcedure = &Type{OID: 2202, Family: Int, Name: "regprocedure", Mod: NoMod, Len: 4}
	TRegRole      = &Type{OID: 4096, Family: Int, Name: "regrole", Mod: NoMod, Len: 4}
	TRegCollation = &Type{OID: 4191, Family: Int, Name: "regcollation", Mod: NoMod, Len: 4}
	TRegOper      = &Type{OID: 2203, Family: Int, Name: "regoper", Mod: NoMod, Len: 4}
	TRegOperator  = &Type{OID: 2204, Family: Int, Name: "regoperator", Mod: NoMod, Len: 4}
	TRegConfig    = &Type{OID: 3734, Family: Int, Name: "regconfig", Mod: NoMod, Len: 4}
	TRegDict      = &Type{OID: 3769, Family: Int, Name: "regdictionary", Mod: NoMod, Len: 4}
	TNodeTree     = &Type{OID: 194, Family: String, Name: "pg_node_tree", Mod: NoMod, Len: -1}
	TACLItem      = &Type{OID: 1033, Family: String, Name: "aclitem", Mod: NoMod, Len: 12}
	TInt2Vector   = &Type{OID: OIDInt2Vector, Family: Array, Name: "int2vector", Mod: NoMod,
		Elem: TInt2, Len: -1}
	TOidVector = &Type{OID: OIDOidVector, Family: Array, Name: "oidvector", Mod: NoMod,
		Elem: TOid, Len: -1}
)

// catalogueEntry is a type with the columns of pg_type that Type does not have.
type catalogueEntry struct {
	t         *Type
	array     OID  // OID of its array type, or 0
	category  byte // pg_type.typcategory
	preferred bool
	display   string // format_type's name, when it is not the type's own
}

var catalogue = []catalogueEntry{
	{TBool, 1000, 'B', true, "boolean"},
	{TBytea, 1001, 'U', false, ""},
	{TChar, 1002, 'Z', false, "\"char\""},
	{TName, 1003, 'S', false, ""},
	{TInt8, 1016, 'N', false, "bigint"},
	{TInt2, 1005, 'N', false, "smallint"},
	{TInt2Vector, 1006, 'A', false, ""},
	{TInt4, 1007, 'N', false, "integer"},
	{TRegProc, 1008, 'N', false, ""},
	{TText, 1009, 'S', true, ""},
	{TOid, 1028, 'N', true, ""},
	{TTid, 1010, 'U', false, ""},
	{TXid, 1011, 'U', false, ""},
	{TCid, 1012, 'U', false, ""},
	{TXid8, 271, 'U', false, ""},
	{TPgSnapshot, 5039, 'U', false, ""},
	{TTxidSnapshot, 2949, 'U', false, ""},
	{TOidVector, 1013, 'A', false, ""},
	{TJSON, 199, 'U', false, ""},
	{TXML, 143, 'U', false, ""},
	{TNodeTree, 0, 'Z', false, ""},
	{TFloat4, 1021, 'N', false, "real"},
	{TFloat8, 1022, 'N', true, "double precision"},
	{TUnknown, 0, 'X', false, ""},
	{TACLItem, 1034, 'U', false, ""},
	{TBPChar, 1014, 'S', false, "character"},
	{TVarchar, 1015, 'S', false, "character varying"},
	{TDate, 1182, 'D', false, ""},
	{TTime, 1183, 'D', false, "time without time zone"},
	{TTimestamp, 1115, 'D', false, "timestamp without time zone"},
	{TTimestampTZ, 1185, 'D', true, "timestamp with time zone"},
	{TInterval, 1187, 'T', true, ""},
	{TNumeric, 1231, 'N', false, ""},
	{TBit, 1561, 'V', false, ""},
	{TVarbit, 1563, 'V', true, "bit varying"},
	{TPoint, 1017, 'G', false, ""},
	{TLseg, 1018, 'G', false, ""},
	{TPath, 1019, 'G', false, ""},
	{TBox, 1020, 'G', false, ""},
	{TPolygon, 1027, 'G', false, ""},
	{TLine, 629, 'G', false, ""},
	{TCircle, 719, 'G', false, ""},
	{TInet, 1041, 'I', true, ""},
	{TCidr, 651, 'I', false, ""},
	{TMacAddr, 1040, 'U', false, ""},
	{TMacAddr8, 775, 'U', false, ""},
	{TTimeTZ, 1270, 'D', false, "time with time zone"},
	{TMoney, 791, 'N', false, ""},
	{TLSN, 3221, 'U', false, ""},
	{TRegProcedure, 2207, 'N', false, ""},
	{TRegClass, 2210, 'N', false, ""},
	{TRegType, 2211, 'N', false, ""},
	{TRecord, 2287, 'P', false, ""},
	{TVoid, 0, 'P', false, ""},
	{TUUID, 2951, 'U', false, ""},
	{TJSONB, 3807, 'U', false, ""},
	{TRefCursor, 2201, 'U', false, ""},
	{TJSONPath, 4073, 'U', false, ""},
	{TRegNamespace, 4090, 'N', false, ""},
	{TRegRole, 4097, 'N', false, ""},
	{TRegCollation, 4192, 'N', false, ""},
	{TRegOper, 2208, 'N', false, ""},
	{TRegOperator, 2209, 'N', false, ""},
	{TRegConfig, 3735, 'N', false, ""},
	{TRegDict, 3770, 'N', false, ""},
}

// extended are the types of extensions. Those of the keys of gist indexes have no values: there is
// no such index.
var extended = []catalogueEntry{
	{TCIText, 14001, 'S', false, ""},
	{THStore, 14201, 'U', false, ""},
	{pseudo(14202, "ghstore", -1), 14203, 'U', false, ""},
	{pseudo(14600, "gtrgm", -1), 14601, 'U', false, ""},
	{pseudo(15000, "gbtreekey4", 4), 15001, 'U', false, ""},
	{pseudo(15002, "gbtreekey8", 8), 15003, 'U', false, ""},
	{pseudo(15004, "gbtreekey16", 16), 15005, 'U', false, ""},
	{pseudo(15006, "gbtreekey32", 32), 15007, 'U', false, ""},
	{pseudo(15008, "gbtreekey_var", -1), 15009, 'U', false, ""},
	{pseudo(15010, "gbtreekey2", 2), 15011, 'U', false, ""},
}

type registry struct {
	byOID   map[OID]*Type
	byName  map[string]*Type
	arrays  map[OID]*Type // element OID → array type
	entries map[OID]*catalogueEntry
	all     []*Type
	members map[string]*Type // types of extensions, by pg_type.typname
}

var types = sync.OnceValue(func() *registry {
	r := &registry{
		byOID: map[OID]*Type{}, byName: map[string]*Type{}, arrays: map[OID]*Type{},
		entries: map[OID]*catalogueEntry{}, members: map[string]*Type{},
	}
	list := func(t *Type) {
		r.byOID[t.OID], r.byName[t.Name] = t, t
		r.all = append(r.all, t)
	}
	add := func(e *catalogueEntry) {
		list(e.t)
		r.entries[e.t.OID] = e
		if e.array != 0 {
			a := &Type{OID: e.array, Family: Array, Name: "_" + e.t.Name, Mod: NoMod, Elem: e.t,
				Len: -1}
			list(a)
			r.arrays[e.t.OID] = a
		}
	}
	for i := range pseudoTypes {
		add(&pseudoTypes[i])
	}
	r.all = nil
	for i := range catalogue {
		add(&catalogue[i])
	}
	for _, e := range rangeEntries() {
		add(&e)
	}
	for _, t := range systemDomains {
		a := t.Def.array
		r.byOID[t.OID], r.byOID[a.OID] = t, a
	}
	builtIn := len(r.all)
	for i := range extended {
		add(&extended[i])
	}
	for _, t := range r.all[builtIn:] {
		r.members[t.Name] = t
		delete(r.byName, t.Name)
	}
	r.all = r.all[:builtIn:builtIn]
	return r
})

// ByOID finds a built-in type, or one of an extension.
func ByOID(oid OID) (*Type, bool) {
	t, ok := types().byOID[oid]
	return t, ok
}

// ByName finds a built-in type by pg_type.typname: "int4", "_text".
func ByName(name string) (*Type, bool) {
	t, ok := types().byName[name]
	return t, ok
}

// ExtensionOf returns the extension whose member a type is, "" for any other type.
func ExtensionOf(t *Type) string {
	if e := extension.Of(uint32(t.OID)); e != nil && t.Def == nil {
		return e.Name
	}
	return ""
}

// ByNameIn finds a type of an extension, or with extension "" a built-in type, by pg_type.typname.
func ByNameIn(of, name string) (*Type, bool) {
	if of == extension.Core {
		return ByName(name)
	}
	t := Member(name)
	if t == nil || ExtensionOf(t) != of {
		return nil, false
	}
	return t, true
}

// Member finds a type of any extension by pg_type.typname; nil when there is none.
func Member(name string) *Type { return types().members[name] }

// Extended lists the types of extensions, and those of arrays of them.
func Extended() []*Type { return slices.Collect(maps.Values(types().members)) }

// All lists the built-in types, arrays after their elements, without most pseudo-types. The slice
// is shared.
func All() []*Type { return types().all }

// ArrayOf returns the array type of elem, with elem's modifier; nil when elem has none. The array
// of an array type is that type itself, as PostgreSQL's dimensions are not part of the type.
func ArrayOf(elem *Type) *Type {
	if elem.Nests() {
		return elem
	}
	if elem.Def != nil {
		return elem.Def.array
	}
	a, ok := types().arrays[elem.OID]
	if !ok {
		return nil
	}
	return a.withElemMod(elem.Mod)
}

// Nests reports whether t is an array type such that an array of its values has one dimension more.
// The vectors of pg_catalog are not: they are elements of their arrays.
func (t *Type) Nests() bool {
	return t.Family == Array && t.Elem != nil && t.Def == nil && t.OID != OIDInt2Vector &&
		t.OID != OIDOidVector
}

func (t *Type) withElemMod(mod int32) *Type {
	if t.Mod == mod {
		return t
	}
	c := *t
	c.Mod, c.Elem = mod, t.Elem.WithMod(mod)
	return &c
}

// Apply returns t with the modifier; for arrays the element has it too.
func (t *Type) Apply(mod int32) *Type {
	if t.Nests() {
		return t.withElemMod(mod)
	}
	return t.WithMod(mod)
}

// ArrayOID returns the OID of the type's array type, or 0.
func (t *Type) ArrayOID() OID {
	if t.Def != nil {
		return t.Def.ArrayOID
	}
	if e, ok := types().entries[t.OID]; ok {
		return e.array
	}
	return 0
}

// Category is pg_type.typcategory: 'N' numeric, 'S' string, 'D' date and time, 'A' array, …
func (t *Type) Category() byte {
	if e, ok := types().entries[t.OID]; ok {
		return e.category
	}
	switch {
	case t.Def != nil && t.Def.Kind == KindEnum:
		return 'E'
	case t.Def != nil && t.Def.Kind == KindComposite:
		return 'C'
	case t.Def != nil:
		return t.Base().Category()
	case t.Elem != nil && t.Elem.OID == OIDRecord:
		return 'P'
	case t.Family == Array:
		return 'A'
	}
	return 'U'
}

// Preferred is pg_type.typispreferred.
func (t *Type) Preferred() bool {
	e, ok := types().entries[t.OID]
	return ok && e.preferred
}

// Align is pg_type.typalign.
func (t *Type) Align() byte {
	switch t = t.Base(); {
	case t.Def != nil && t.Def.Kind == KindComposite:
		return 'd'
	case t.Nests():
		if t.Elem.Align() == 'd' {
			return 'd'
		}
		return 'i'
	case t.OID == OIDUUID, t.OID == OIDName, t.Len == -2, t.Len == 1:
		return 'c'
	case t.Family == MacAddr || t.Family == MacAddr8:
		return 'i'
	case t.Sub != nil:
		if t.rangeSub().Align() == 'd' {
			return 'd'
		}
		return 'i'
	case t.OID == OIDRecord || t.OID == OIDInterval || t.OID == OIDTimeTZ || t.Len == 8,
		t.Family == Geometric:
		return 'd'
	case t.Len == 2, t.Family == TID:
		return 's'
	}
	return 'i'
}

// Delimiter is pg_type.typdelim: what separates the elements of an array of the type.
func (t *Type) Delimiter() byte {
	if t.Base().OID == OIDBox {
		return ';'
	}
	return ','
}

func withDetail(err error, detail string) error {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		e.Detail = detail
	}
	return err
}
