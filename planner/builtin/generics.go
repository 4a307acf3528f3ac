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
	ranges     *types.Type // anyrange, or the range of anymultirange; nil: unknown
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
			if a = a.Base(); a.Elem == nil {
				return g, false
			}
			a = a.Elem
		case AnyNonArray.OID:
			if a.Elem != nil {
				return g, false
			}
		case AnyEnum.OID:
			if a = a.Base(); a.Family != types.Enum {
				return g, false
			}
		case AnyRange.OID, AnyMultiRange.OID:
			if a = g.bindRange(d, a); a == nil {
				return g, false
			}
		}
		switch d.OID {
		case AnyElement.OID, AnyNonArray.OID, AnyEnum.OID, AnyArray.OID,
			AnyRange.OID, AnyMultiRange.OID:
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

// bindRange binds anyrange or anymultirange to the type of an argument, and returns the type of the
// ranges' values; nil if that is not such a type, or contradicts another argument.
func (g *generics) bindRange(decl, arg *types.Type) *types.Type {
	r := arg.Base()
	switch {
	case decl.OID == AnyRange.OID && r.Family == types.Range:
	case decl.OID == AnyMultiRange.OID && r.Family == types.MultiRange:
		r = r.Sub
	default:
		return nil
	}
	if g.ranges != nil && g.ranges.OID != r.OID {
		return nil
	}
	g.ranges = r
	return r.Sub
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
		case AnyElement.OID, AnyNonArray.OID, AnyEnum.OID, AnyArray.OID:
			if g.elem == nil {
				return nil, sqlerr.New(sqlerr.DatatypeMismatch,
					"could not determine polymorphic type because input has type unknown").
					At(sqlerr.Nowhere)
			}
			if out[i] = g.elem; d.OID == AnyArray.OID {
				out[i] = types.ArrayOf(g.elem)
			}
		case AnyRange.OID, AnyMultiRange.OID:
			if g.ranges == nil {
				return nil, sqlerr.New(sqlerr.DatatypeMismatch,
					"could not determine polymorphic type because input has type unknown").
					At(sqlerr.Nowhere)
			}
			if out[i] = g.ranges; d.OID == AnyMultiRange.OID {
				out[i] = types.MultiRangeOf(g.ranges)
			}
		default:
			out[i] = d
		}
		if out[i].OID == args[i].OID ||
			out[i].OID == types.OIDRecord && args[i].Family == types.Record {
			out[i] = args[i] // a composite value is a record as it is
		}
	}
	return out, nil
}
