package commit

import (
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/gc"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// validatedRows appends the rows of the points, which an update that validates them must name.
func (c *committer) validatedRows(rows [][]byte) [][]byte {
	for _, v := range c.validate {
		if v.Row != nil {
			rows = append(rows, v.Row)
		}
	}
	return rows
}

// validateIn checks all validated spans inside the update of a one-phase commit.
func (c *committer) validateIn(ctx context.Context, r kv.Reader) error {
	for _, v := range c.validate {
		noLocks := c.o.Memory.LockHolders.NoneSince(v.Span, v.Since)
		if v.Row != nil && noLocks && c.o.Memory.Recent.UnchangedSince(v.Row, v.Since) {
			continue
		}
		if err := mvcc.Validate(ctx, r, c.startTS, v.Since, v.Span, noLocks, nil); err != nil {
			return err
		}
	}
	return nil
}

// validateLocked checks all validated spans once every key is prewritten and before commit_ts is
// drawn; what a serializable transaction has read is checked after that (decide). A lock in the way
// is settled or waited for: like one that stops a prewrite, or, when nothing was prewritten, like
// one that stops a commit in one phase. One snapshot shows all spans, unless there was such a wait
// or the engine gave it up.
func (c *committer) validateLocked(ctx context.Context, bo *lockwait.Backoff) error {
	all := append(make([]Validation, 0, len(c.validate)+len(c.reads)), c.validate...)
	for _, span := range c.reads {
		all = append(all, Validation{Span: span, Since: c.startTS, read: true})
	}
	oldest := tso.Max
	for _, v := range all {
		oldest = min(oldest, v.Since)
	}
	for len(all) > 0 {
		done, err := c.validateSome(ctx, all, oldest)
		all = all[done:]
		var locked *mvcc.LockedError
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &locked):
			return err
		}
		deciding := c.deciding
		// Or readers would wait for as long as this commit.
		if err := c.decides(ctx, false); err != nil {
			return err
		}
		if err := c.waitForLock(ctx, locked, bo, c.prewriting); err != nil {
			return err
		}
		if c.prewriting {
			if err := c.heartbeat(ctx); err != nil {
				return err
			}
		}
		if deciding {
			return errRedraw
		}
	}
	return nil
}

// latest returns a reader of what there is once every key is prewritten: the first time, what the
// answer to the prewrite has shown.
func (c *committer) latest() (kv.Snapshot, error) {
	s := c.after
	if s == nil {
		return kv.Latest(c.o.Engine)
	}
	c.after = nil
	return kv.LatestFrom(c.o.Engine, s), nil
}

// dropAfter closes what the answer to a prewrite has shown.
func (c *committer) dropAfter() {
	if c.after != nil {
		_ = c.after.Close() // nothing was lost that was asked for
		c.after = nil
	}
}

// validateSome validates spans, and returns how many of them passed. When all did, it checks that
// no version above the oldest read was collected before.
func (c *committer) validateSome(ctx context.Context, all []Validation,
	oldest tso.Timestamp) (done int, err error) {
	r, err := c.latest()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	alive := func() error { return nil }
	if c.prewriting {
		alive = func() error { return c.beat(ctx) }
	}
	for i, v := range all {
		err := ctx.Err()
		if err == nil {
			err = mvcc.Validate(ctx, r, c.startTS, v.Since, v.Span, false, alive)
		}
		if v.read {
			err = readConflict(err)
		}
		if err == nil {
			err = alive()
		}
		if err != nil {
			return i, err
		}
	}
	safepoint, err := c.o.Peers.SafepointIn(ctx, r)
	if err == nil && oldest < safepoint {
		err = &gc.SafepointError{StartTS: oldest, Safepoint: safepoint}
	}
	return len(all), err
}
