package builtin

import "github.com/minidb/minidb/table/types"

// Polymorphic pseudo-types, as used in declared argument types. No value has such a type:
// resolution replaces them.
var (
	Any                = &types.Type{OID: 2276, Name: "any", Mod: types.NoMod, Len: 4}
	AnyElement         = &types.Type{OID: 2283, Name: "anyelement", Mod: types.NoMod, Len: 4}
	AnyArray           = &types.Type{OID: 2277, Name: "anyarray", Mod: types.NoMod, Len: -1}
	AnyNonArray        = &types.Type{OID: 2776, Name: "anynonarray", Mod: types.NoMod, Len: 4}
	AnyCompatible      = &types.Type{OID: 5077, Name: "anycompatible", Mod: types.NoMod, Len: 4}
	AnyCompatibleArray = &types.Type{OID: 5078, Name: "anycompatiblearray", Mod: types.NoMod,
		Len: -1}
)

func isPolymorphic(t *types.Type) bool {
	switch t.OID {
	case 2283, 2277, 2776, 5077, 5078:
		return true
	}
	return false
}

func isAny(t *types.Type) bool { return t.OID == 2276 }

func isUnknown(t *types.Type) bool { return t.OID == types.OIDUnknown }

// category returns pg_type.typcategory, which affects the choice among overloads.
func category(t *types.Type) byte {
	switch t.OID {
	case AnyArray.OID, AnyCompatibleArray.OID:
		return 'A'
	case Any.OID, AnyElement.OID, AnyNonArray.OID, AnyCompatible.OID:
		return 'P'
	}
	return t.Category()
}

func isPreferred(t *types.Type) bool { return !isPolymorphic(t) && !isAny(t) && t.Preferred() }

// CanCoerce reports whether a value of type from is implicitly converted to type to: it has the
// same type, is a literal of unknown type, has an implicit cast, or is an array whose elements have
// one.
func CanCoerce(from, to *types.Type) bool {
	switch {
	case from.OID == to.OID, isUnknown(from), isAny(to):
		return true
	case from.Elem != nil && to.Elem != nil:
		return to.OID != types.OIDOidVector && to.OID != types.OIDInt2Vector &&
			CanCoerce(from.Elem, to.Elem)
	}
	return types.CastContext(from.OID, to.OID) == 'i'
}
