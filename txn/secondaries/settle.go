package secondaries

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// commitBatches settles the locks of a decided transaction. What it cannot settle is left to the
// transactions that meet the locks.
func (c *Committer) commitBatches(ctx context.Context, w Work) {
	finish := w.isFew()
	for more := true; more && (finish || !c.closes()); {
		more = c.settleStep(ctx, &w)
	}
}

// settleStep settles the next batch of a transaction's locks, and reports whether there is more to
// do.
func (c *Committer) settleStep(ctx context.Context, w *Work) (more bool) {
	var err error
	switch {
	case w.Streamed.End != nil:
		more, err = c.settleStreamed(ctx, w)
	case len(w.Batches) > 0:
		more, err = c.settleBatch(ctx, w)
	default:
		c.opts.Memory.LockHolders.Leave(w.StartTS) // it was all primary
		return false
	}
	switch {
	case err != nil:
		c.opts.Logger.Warn("locks left to readers", "start_ts", w.StartTS, "err", err)
		return false
	case c.opts.AfterBatch() != nil:
		return false
	case !more:
		c.opts.Memory.LockHolders.Leave(w.StartTS)
	}
	return more
}

// settleBatch settles the first batch that is left.
func (c *Committer) settleBatch(ctx context.Context, w *Work) (more bool, err error) {
	b := &w.Batches[0]
	w.Batches = w.Batches[1:]
	if w.Undo {
		return len(w.Batches) > 0, c.UndoBatch(ctx, w, b)
	}
	c.opts.Memory.Recent.Resolving(w.StartTS, w.CommitTS, b.Rows)
	err = kv.UpdateLazy(ctx, c.opts.Engine, b.Rows,
		func(r kv.Reader, kb *kv.Batch) error { return w.commit(ctx, r, kb, b) })
	return len(w.Batches) > 0, err
}

// UndoBatch rolls back a batch of a transaction whose primary is rolled back, with records that
// stop a late prewrite.
func (c *Committer) UndoBatch(ctx context.Context, w *Work, b *Batch) error {
	c.opts.Memory.Recent.RollingBack(w.StartTS, b.Rows...)
	return kv.UpdateLazy(ctx, c.opts.Engine, b.Rows, func(r kv.Reader, kb *kv.Batch) error {
		return mvcc.Rollback(ctx, r, kb, w.StartTS, b.Rows, false)
	})
}

// settleStreamed settles the first locks in the span. Their keys are not in memory.
func (c *Committer) settleStreamed(ctx context.Context, w *Work) (more bool, err error) {
	rows, next, err := c.locksOf(ctx, w.Streamed, w.StartTS)
	for len(rows) > 0 && err == nil {
		n := 1
		group := kv.GroupOf(c.opts.Engine, rows[0])
		for n < len(rows) && kv.GroupOf(c.opts.Engine, rows[n]) == group {
			n++
		}
		some := rows[:n]
		rows = rows[n:]
		c.opts.Memory.Recent.Resolving(w.StartTS, w.CommitTS, some)
		err = kv.InParts(c.opts.Limits, some, func(part [][]byte) error {
			return kv.UpdateLazy(ctx, c.opts.Engine, part, func(r kv.Reader, b *kv.Batch) error {
				return mvcc.Resolve(ctx, r, b, w.StartTS, w.CommitTS, part)
			})
		})
	}
	if err != nil || next == nil {
		return false, err
	}
	w.Streamed.Start = next
	c.opts.Memory.LockHolders.Shrink(w.StartTS, w.Streamed)
	return true, nil
}

// locksOf returns the rows of the transaction's first locks in the span, and where to go on.
func (c *Committer) locksOf(ctx context.Context, span kv.Span,
	startTS tso.Timestamp) (rows [][]byte, next []byte, err error) {
	snap, err := kv.Latest(c.opts.Engine)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	return mvcc.LockedRows(ctx, snap, span, startTS, c.opts.Limits.Rows)
}

// closes reports whether the store has begun to close.
func (c *Committer) closes() bool {
	select {
	case <-c.opts.Closing:
		return true
	default:
		return false
	}
}
