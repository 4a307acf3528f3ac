package builtin

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// The timestamps of the store, as bigint. AS OF SYSTEM TIME accepts them and then reads at exactly
// this timestamp.

// lastCommitTimestamp is NULL in a session that has committed nothing.
func lastCommitTimestamp(t expr.Timestamps, _ *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	ts, ok := t.LastCommitTimestamp()
	if !ok {
		return types.Null, nil
	}
	return types.NewInt(ts), nil
}
