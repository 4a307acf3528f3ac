package exec

import (
	"context"
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// foretoldRows bounds the rows of an INSERT whose keys are foretold before it runs.
const foretoldRows = 16

// Foretold returns keys that a plan reads with these parameters whatever it finds, as far as that
// is seen at once: of rows that are read by their whole key, and of a few new rows of plain values.
func Foretold(ctx context.Context, plan *physical.Plan, params []types.Datum) [][]byte {
	return foretold(ctx, plan.Root, params)
}

func foretold(ctx context.Context, n physical.Node, params []types.Datum) (keys [][]byte) {
	switch n := n.(type) {
	case *physical.Scan:
		if !isPointScan(n) {
			return nil
		}
		key, known := plainRow(n.Ranges[0].Eq, params)
		if !known || slices.ContainsFunc(key, func(d types.Datum) bool { return d.Null }) {
			return nil
		}
		if k, _, err := table.KeyOf(n.Table, key); err == nil {
			keys = append(keys, k)
		}
		return keys
	case *physical.Insert:
		if v, ok := n.Child.(*physical.Values); ok && len(v.Rows) <= foretoldRows {
			return table.ForetoldKeys(ctx, n.Table, plainRows(v.Rows, params))
		}
	}
	for _, child := range n.Children() {
		keys = append(keys, foretold(ctx, child, params)...)
	}
	return keys
}

// InsertsOnly reports whether a plan inserts the rows that its statement lists, and refuses those
// that are there already.
func InsertsOnly(plan *physical.Plan) bool {
	n, ok := plan.Root.(*physical.Insert)
	if !ok || n.OnConflict != nil || plan.ChecksLater {
		return false
	}
	_, ok = n.Child.(*physical.Values)
	return ok
}

// plainRows are the rows that have only constants and parameters.
func plainRows(rows [][]expr.Expr, params []types.Datum) (out [][]types.Datum) {
	for _, es := range rows {
		if row, known := plainRow(es, params); known {
			out = append(out, row)
		}
	}
	return out
}

func plainRow(es []expr.Expr, params []types.Datum) ([]types.Datum, bool) {
	out := make([]types.Datum, len(es))
	for i, e := range es {
		switch e := e.(type) {
		case *expr.Const:
			out[i] = e.Value
		case *expr.Param:
			if e.N > len(params) {
				return nil, false
			}
			out[i] = params[e.N-1]
		default:
			return nil, false
		}
	}
	return out, true
}
