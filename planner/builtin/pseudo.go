package builtin

import "github.com/minidb/minidb/table/types"

// Polymorphic pseudo-types, as used in declared argument types. No value has such a type:
// resolution replaces them.
var (
	Any                = types.TAny
	AnyElement         = types.TAnyElement
	AnyArray           = types.TAnyArray
	AnyNonArray        = types.TAnyNonArray
	AnyEnum            = types.TAnyEnum
	AnyCompatible      = types.TAnyComp
	AnyCompatibleArray = types.TAnyCompArray
	AnyRange           = types.TAnyRange
	AnyMultiRange      = types.TAnyMulti
)

func isPolymorphic(t *types.Type) bool {
	switch t.OID {
	case 2283, 2277, 2776, 3500, 5077, 5078, AnyRange.OID, AnyMultiRange.OID:
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
	case Any.OID, AnyElement.OID, AnyNonArray.OID, AnyEnum.OID, AnyCompatible.OID,
		AnyRange.OID, AnyMultiRange.OID:
		return 'P'
	}
	return t.Category()
}

func isPreferred(t *types.Type) bool { return !isPolymorphic(t) && !isAny(t) && t.Preferred() }

// isTypedRow reports whether values of type from are rows of a table of the composite type to.
func isTypedRow(from, to *types.Type) bool {
	return from.Def != nil && from.Def.Of != 0 && from.Def.Of == to.OID
}

// CanCoerce reports whether a value of type from is implicitly converted to type to: it has the
// same type, is a literal of unknown type, has an implicit cast, or is an array whose elements have
// one. A domain is converted as what it is over.
func CanCoerce(from, to *types.Type) bool {
	from, to = from.Base(), to.Base()
	switch {
	case from.OID == to.OID, isUnknown(from), isAny(to):
		return true
	case isTypedRow(from, to):
		return true
	case to.OID == types.OIDRecord || from.OID == types.OIDRecord:
		return from.Family == types.Record && to.Family == types.Record
	case from.Elem != nil && to.Elem != nil:
		return to.OID != types.OIDOidVector && to.OID != types.OIDInt2Vector &&
			!isTypedRow(from.Elem, to.Elem) && CanCoerce(from.Elem, to.Elem)
	}
	return types.CastContext(from.OID, to.OID) == 'i'
}
