package exec

import (
	"context"

	"github.com/minidb/minidb/txn"
)

// versions answers for system columns, such as xmin, which transaction wrote a row.
type versions struct{ tx *txn.Txn }

// Writer implements expr.Versions.
func (v versions) Writer(ctx context.Context, key []byte) (int64, error) {
	ts, err := v.tx.Writer(ctx, key)
	return int64(ts), err
}

// Own implements expr.Versions.
func (v versions) Own() int64 { return int64(v.tx.StartTS()) }
