package txn

import (
	"context"

	"github.com/minidb/minidb/internal/planted"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// What planted bugs do that does not fit in the line that asks for them. Without the build tag
// "planted" nothing of this runs.

// plantedTimestamp spoils a calculated commit timestamp.
func plantedTimestamp(ts, startTS tso.Timestamp) tso.Timestamp {
	switch {
	case planted.Is(planted.SharedTimestamp):
		return ts + 1 // the next one that is drawn
	case planted.Is(planted.CommitBelowReaders):
		return startTS + 1
	case planted.Is(planted.CommitInFuture):
		return ts + 1_000
	}
	return ts
}

// plantedOnePhase commits a batch of a two-phase commit by itself.
func (c *committer) plantedOnePhase(ctx context.Context, b *batch) error {
	commitTS, err := c.s.source.Next(ctx)
	if err != nil {
		return err
	}
	return c.s.engine.Update(ctx, b.rows, func(_ kv.Reader, kb *kv.Batch) error {
		mvcc.WriteOnePhase(kb, c.startTS, commitTS, b.muts)
		return nil
	})
}
