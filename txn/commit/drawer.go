package commit

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/tso"
)

// drawer is a source that can draw without touching the engine.
type drawer interface {
	TryNext() (tso.Timestamp, bool)
	Extend(ctx context.Context) error
}

// drawerOf returns what draws commit timestamps inside an update of the engine, or nil: they cannot
// be drawn there, or other processes draw some too.
func drawerOf(engine kv.Engine, source tso.Source) drawer {
	if !kv.IsExclusive(engine) {
		return nil
	}
	d, _ := source.(drawer)
	return d
}
