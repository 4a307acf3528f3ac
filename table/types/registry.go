package types

import (
	"errors"
	"sync"

	"github.com/minidb/minidb/internal/sqlerr"
)

// Types that only the system catalogs have.
var (
	TXid          = &Type{OID: 28, Family: Int, Name: "xid", Mod: NoMod, Len: 4}
	TRegProcedure = &Type{OID: 2202, Family: Int, Name: "regprocedure", Mod: NoMod, Len: 4}
	TRegRole      = &Type{OID: 4096, Family: Int, Name: "regrole", Mod: NoMod, Len: 4}
	TRegCollation = &Type{OID: 4191, Family: Int, Name: "regcollation", Mod: NoMod, Len: 4}
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
	{TXid, 1011, 'U', false, ""},
	{TOidVector, 1013, 'A', false, ""},
	{TJSON, 199, 'U', false, ""},
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
	{TRegProcedure, 2207, 'N', false, ""},
	{TRegClass, 2210, 'N', false, ""},
	{TRegType, 2211, 'N', false, ""},
	{TRecord, 2287, 'P', false, ""},
	{TVoid, 0, 'P', false, ""},
	{TUUID, 2951, 'U', false, ""},
	{TJSONB, 3807, 'U', false, ""},
	{TRegNamespace, 4090, 'N', false, ""},
	{TRegRole, 4097, 'N', false, ""},
	{TRegCollation, 4192, 'N', false, ""},
}

type registry struct {
	byOID   map[OID]*Type
	byName  map[string]*Type
	arrays  map[OID]*Type // element OID → array type
	entries map[OID]*catalogueEntry
	all     []*Type
}

var types = sync.OnceValue(func() *registry {
	r := &registry{
		byOID: map[OID]*Type{}, byName: map[string]*Type{}, arrays: map[OID]*Type{},
		entries: map[OID]*catalogueEntry{},
	}
	add := func(t *Type) {
		r.byOID[t.OID], r.byName[t.Name] = t, t
		r.all = append(r.all, t)
	}
	for i := range catalogue {
		e := &catalogue[i]
		add(e.t)
		r.entries[e.t.OID] = e
		if e.array != 0 {
			a := &Type{OID: e.array, Family: Array, Name: "_" + e.t.Name, Mod: NoMod, Elem: e.t,
				Len: -1}
			add(a)
			r.arrays[e.t.OID] = a
		}
	}
	return r
})

// ByOID finds a built-in type.
func ByOID(oid OID) (*Type, bool) {
	t, ok := types().byOID[oid]
	return t, ok
}

// ByName finds a built-in type by pg_type.typname: "int4", "_text".
func ByName(name string) (*Type, bool) {
	t, ok := types().byName[name]
	return t, ok
}

// All lists the built-in types, arrays after their elements. The slice is shared.
func All() []*Type { return types().all }

// ArrayOf returns the array type of elem, with elem's modifier; nil when elem has none. The array
// of an array type is that type itself, as PostgreSQL's dimensions are not part of the type.
func ArrayOf(elem *Type) *Type {
	if elem.Nests() {
		return elem
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
	return t.Family == Array && t.Elem != nil && t.OID != OIDInt2Vector && t.OID != OIDOidVector
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
	if t.Family == Array && t.Elem != nil {
		return t.withElemMod(mod)
	}
	return t.WithMod(mod)
}

// ArrayOID returns the OID of the type's array type, or 0.
func (t *Type) ArrayOID() OID {
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
	switch {
	case t.Nests():
		if t.Elem.Align() == 'd' {
			return 'd'
		}
		return 'i'
	case t.OID == OIDUUID, t.OID == OIDName, t.OID == OIDUnknown, t.Len == 1:
		return 'c'
	case t.OID == OIDRecord || t.OID == OIDInterval || t.Len == 8:
		return 'd'
	case t.Len == 2:
		return 's'
	}
	return 'i'
}

// String is the type as PostgreSQL prints it, with its modifier.
func (t *Type) String() string { return FormatType(t.OID, t.Mod) }

func withDetail(err error, detail string) error {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		e.Detail = detail
	}
	return err
}
