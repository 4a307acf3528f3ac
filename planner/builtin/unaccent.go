package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/unaccent"
	"github.com/minidb/minidb/table/types"
)

// unaccentFunctions are those of the extension unaccent.
var unaccentFunctions = []def{
	f("unaccent(text) text", func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
		return withoutAccents(rt, a[0].S)
	}).stable(),
	f("unaccent(regdictionary,text) text",
		func(rt *expr.Runtime, a []types.Datum) (types.Datum, error) {
			if a[0].I != unaccentDictionary {
				return types.Null, sqlerr.New(sqlerr.FeatureNotSupported,
					"unaccent with text search dictionary \"%s\" is not supported",
					textOf(rt, types.TRegDict, a[0])).
					WithHint("The only dictionary that is supported is unaccent.")
			}
			return withoutAccents(rt, a[1].S)
		}).stable(),
}

// unaccentDictionary is the object ID of the text search dictionary unaccent.
const unaccentDictionary = 14905

func withoutAccents(rt *expr.Runtime, text string) (types.Datum, error) {
	if err := rt.Grow(int64(len(text))); err != nil {
		return types.Null, err
	}
	out, err := unaccent.Remove(text, rt.Tick)
	return types.NewString(out), err
}
