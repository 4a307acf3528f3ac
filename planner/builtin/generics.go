package builtin

import (
	"slices"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// generics are the types that replace the polymorphic pseudo-types in one call.
type generics struct {
	elem       *types.Type // anyelement, or the element of anyarray; nil: unknown
	compatible *types.Type // anycompatible, in the same way
}

// bindGenerics finds the types of the pseudo-types. It returns false if the arguments contradict
// each other.
func bindGenerics(decl, args []*types.Type) (generics, bool) {
	var g generics
	var compat []*types.Type
	for i, d := range decl {
		if i >= len(args) || isUnknown(args[i]) {
			continue
		}
		a := args[i]
		switch d.OID {
		case AnyArray.OID, AnyCompatibleArray.OID:
			if a.Elem == nil {
				return g, false
			}
			a = a.Elem
		case AnyNonArray.OID:
			if a.Elem != nil {
				return g, false
			}
		}
		switch d.OID {
		case AnyElement.OID, AnyNonArray.OID, AnyArray.OID:
			if g.elem != nil && g.elem.OID != a.OID {
				return g, false
			}
			if g.elem == nil {
				g.elem = a
			}
		case AnyCompatible.OID, AnyCompatibleArray.OID:
			compat = append(compat, a)
		}
	}
	if len(compat) == 0 {
		return g, true
	}
	t, _, err := CommonTypeFor("", compat) // it also fails if one cannot be coerced
	g.compatible = t
	return g, err == nil
}

// concrete replaces the pseudo-types of the chosen overload by the types of the call.
func concrete(decl, args []*types.Type) ([]*types.Type, error) {
	out := make([]*types.Type, len(decl))
	var g generics
	if slices.ContainsFunc(decl, isPolymorphic) {
		g, _ = bindGenerics(decl, args)
	}
	if g.compatible == nil {
		g.compatible = types.TText
	}
	for i, d := range decl {
		switch d.OID {
		case Any.OID:
			out[i] = args[i]
			if isUnknown(args[i]) {
				out[i] = types.TText
			}
			continue
		case AnyCompatible.OID:
			out[i] = g.compatible
		case AnyCompatibleArray.OID:
			out[i] = types.ArrayOf(g.compatible)
		case AnyElement.OID, AnyNonArray.OID, AnyArray.OID:
			if g.elem == nil {
				return nil, sqlerr.New(sqlerr.DatatypeMismatch,
					"could not determine polymorphic type because input has type unknown")
			}
			if out[i] = g.elem; d.OID == AnyArray.OID {
				out[i] = types.ArrayOf(g.elem)
			}
		default:
			out[i] = d
		}
		if out[i].OID == args[i].OID {
			out[i] = args[i]
		}
	}
	return out, nil
}
