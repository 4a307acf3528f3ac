package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// currentOf identifies the function that returns a part of a row's key (expr.Func.Same).
type currentOf struct {
	relation table.ID
	part     int
}

// CurrentOf returns the function of a cursor's name that returns part i of the key of the row of d
// at which the cursor is. The part has type t.
func CurrentOf(d *table.Desc, i int, t *types.Type) *expr.Func {
	of := expr.CursorKey{Relation: types.OID(d.ID), Name: d.Name, Part: i}
	return &expr.Func{Name: "current_of", Args: []*types.Type{types.TText}, Returns: t,
		Volatility: expr.Stable, Same: currentOf{d.ID, i},
		Scalar: asking(func(s expr.Cursors, _ *expr.Runtime, a []types.Datum) (types.Datum,
			error) {
			return s.CurrentOf(a[0].S, of)
		})}
}
