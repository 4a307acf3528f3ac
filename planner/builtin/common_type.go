package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/table/types"
)

// CommonTypeFor returns the common type of the branches of UNION, CASE, COALESCE, VALUES, ARRAY and
// the like, by PostgreSQL's chapter 10.5. context is the construct's name for the error ("CASE",
// "UNION", "COALESCE", "VALUES", "IN", "ARRAY", "GREATEST", "LEAST"). With an error, offender is
// the index of the type at whose expression PostgreSQL reports it. The result keeps a modifier that
// all types have.
func CommonTypeFor(context string, ts []*types.Type) (t *types.Type, offender int, err error) {
	var at int
	if !sameTypes(ts) {
		ts = bases(ts)
	}
	for i, next := range ts {
		if isUnknown(next) {
			continue
		}
		switch {
		case t == nil:
			t, at = next, i
		case t.OID == next.OID:
		case category(t) != category(next):
			if context == "" {
				return nil, i, sqlerr.New(sqlerr.DatatypeMismatch,
					"types %s and %s cannot be matched", displayName(t), displayName(next))
			}
			return nil, i, sqlerr.New(sqlerr.DatatypeMismatch,
				"%s types %s and %s cannot be matched", context, displayName(t), displayName(next))
		case !isPreferred(t) && CanCoerce(t, next) && !CanCoerce(next, t):
			t, at = next, i
		}
	}
	if t == nil {
		return types.TText, 0, nil
	}
	for i, next := range ts {
		if !CanCoerce(next, t) {
			return nil, i, sqlerr.New(sqlerr.CannotCoerce, "%s could not convert type %s to %s",
				context, displayName(next), displayName(t))
		}
		if i != at && (next.OID != t.OID || next.Mod != t.Mod) {
			t = t.WithMod(types.NoMod)
		}
	}
	return t, 0, nil
}

// sameTypes reports whether all types but unknown ones are the same: then a domain stays one.
func sameTypes(ts []*types.Type) bool {
	var first *types.Type
	for _, t := range ts {
		switch {
		case isUnknown(t):
		case first == nil:
			first = t
		case first.OID != t.OID:
			return false
		}
	}
	return true
}
