package types

import "github.com/minidb/minidb/internal/sqlerr"

// The pseudo-types: names in signatures of functions and in pg_type. No column has one. Only
// cstring, record and void have values.
var (
	TCString      = &Type{OID: 2275, Family: String, Name: "cstring", Mod: NoMod, Len: -2}
	TAny          = pseudo(2276, "any", 4)
	TAnyArray     = pseudo(2277, "anyarray", -1)
	TAnyElement   = pseudo(2283, "anyelement", 4)
	TAnyNonArray  = pseudo(2776, "anynonarray", 4)
	TAnyEnum      = pseudo(3500, "anyenum", 4)
	TAnyRange     = pseudo(3831, "anyrange", -1)
	TAnyMulti     = pseudo(4537, "anymultirange", -1)
	TAnyComp      = pseudo(5077, "anycompatible", 4)
	TAnyCompArray = pseudo(5078, "anycompatiblearray", -1)
	TAnyCompRange = pseudo(5080, "anycompatiblerange", -1)
	TAnyCompMulti = pseudo(4538, "anycompatiblemultirange", -1)
	TInternal     = pseudo(2281, "internal", 8)
)

func pseudo(oid OID, name string, length int16) *Type {
	return &Type{OID: oid, Family: Void, Name: name, Mod: NoMod, Len: length}
}

// pseudoTypes are in the catalogue by name and OID; All does not list them.
var pseudoTypes = []catalogueEntry{
	{TCString, 1263, 'P', false, ""},
	{TAny, 0, 'P', false, `"any"`},
	{TAnyArray, 0, 'P', false, ""},
	{TAnyElement, 0, 'P', false, ""},
	{TAnyNonArray, 0, 'P', false, ""},
	{TAnyEnum, 0, 'P', false, ""},
	{TAnyRange, 0, 'P', false, ""},
	{TAnyMulti, 0, 'P', false, ""},
	{TAnyComp, 0, 'P', false, ""},
	{TAnyCompArray, 0, 'P', false, ""},
	{pseudo(5079, "anycompatiblenonarray", 4), 0, 'P', false, ""},
	{TAnyCompRange, 0, 'P', false, ""},
	{TAnyCompMulti, 0, 'P', false, ""},
	{TInternal, 0, 'P', false, ""},
	{pseudo(2279, "trigger", 4), 0, 'P', false, ""},
	{pseudo(3838, "event_trigger", 4), 0, 'P', false, ""},
	{pseudo(2280, "language_handler", 4), 0, 'P', false, ""},
	{pseudo(3115, "fdw_handler", 4), 0, 'P', false, ""},
	{pseudo(325, "index_am_handler", 4), 0, 'P', false, ""},
	{pseudo(3310, "tsm_handler", 4), 0, 'P', false, ""},
	{pseudo(269, "table_am_handler", 4), 0, 'P', false, ""},
	{pseudo(32, "pg_ddl_command", 8), 0, 'P', false, ""},
}

// IsPseudo reports whether pg_type.typtype is 'p': nothing that is stored has such a type. It is
// false for the record type of a relation and for a user's composite type.
func (t *Type) IsPseudo() bool {
	switch t.OID {
	case OIDUnknown, OIDRecord, TCString.OID:
		return true
	}
	return t.Family == Void || t.Family == Array && t.Elem != nil && t.Elem.OID == OIDRecord
}

// errPseudoInput answers text for a type without values; void alone takes any.
func errPseudoInput(t *Type) error {
	if t.OID == OIDVoid {
		return nil
	}
	if text, ok := withoutInput[t.Name]; ok {
		return sqlerr.New(sqlerr.FeatureNotSupported, "%s", text)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "cannot accept a value of type %s",
		TypeName(t.OID))
}

// withoutInput are the messages of the types of keys of gist indexes.
var withoutInput = map[string]string{
	"gtrgm": "not implemented", "ghstore": "not implemented",
	"gbtreekey2": noKeyInput, "gbtreekey4": noKeyInput, "gbtreekey8": noKeyInput,
	"gbtreekey16": noKeyInput, "gbtreekey32": noKeyInput, "gbtreekey_var": noKeyInput,
}

const noKeyInput = "<datatype>key_in() not implemented"
