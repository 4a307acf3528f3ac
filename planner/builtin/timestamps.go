package builtin

import (
	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// The timestamps of the store, as bigint. AS OF SYSTEM TIME accepts them and then reads at exactly
// this timestamp.

func timestamps(rt *expr.Runtime) (expr.Timestamps, error) {
	if t, ok := rt.Session.(expr.Timestamps); ok {
		return t, nil
	}
	return nil, sqlerr.New(sqlerr.FeatureNotSupported,
		"timestamps of transactions are not supported here")
}

// timestamp makes a function from a timestamp that the session always has.
func timestamp(of func(expr.Timestamps) (int64, error)) scalar {
	return func(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
		t, err := timestamps(rt)
		if err != nil {
			return types.Null, err
		}
		ts, err := of(t)
		return types.NewInt(ts), err
	}
}

// lastCommitTimestamp is NULL in a session that has committed nothing.
func lastCommitTimestamp(rt *expr.Runtime, _ []types.Datum) (types.Datum, error) {
	t, err := timestamps(rt)
	if err != nil {
		return types.Null, err
	}
	ts, ok := t.LastCommitTimestamp()
	if !ok {
		return types.Null, nil
	}
	return types.NewInt(ts), nil
}
