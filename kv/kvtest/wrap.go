package kvtest

import (
	"context"

	"github.com/minidb/minidb/kv"
)

// wrapped passes everything on to an engine, optional interfaces included.
type wrapped struct{ kv.Engine }

func (w wrapped) UpdateLazy(ctx context.Context, rows [][]byte, step kv.Step) error {
	return kv.UpdateLazy(ctx, w.Engine, rows, step)
}

func (w wrapped) Group(row []byte) uint64 { return kv.GroupOf(w.Engine, row) }

func (w wrapped) Exclusive() bool { return kv.IsExclusive(w.Engine) }

func (w wrapped) Syncs() uint64 {
	if c, ok := w.Engine.(kv.SyncCounter); ok {
		return c.Syncs()
	}
	return 0
}
