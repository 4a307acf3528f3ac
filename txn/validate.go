package txn

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/lockwait"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Validate makes Commit fail with *WriteConflictError if any other transaction has put or deleted a
// key of the span after start_ts: what was read there must still be true when the writes appear.
// A transaction without writes needs no validation, for its snapshot is one instant.
//
// Of two transactions of which each writes what the other validates, one fails as long as one of
// the two spans is a point, [key, key+0x00): a point is validated under its row's latch, or after
// all locks are there. This is how a change of a table's schema (which writes the descriptor and
// validates the rows) and a change of its rows (which validates the descriptor) exclude each other.
func (t *Txn) Validate(span kv.Span) { t.ValidateSince(span, t.readTS) }

// ValidateSince is Validate of a span that was read at a timestamp of its own. Of several of one
// span the earliest counts.
func (t *Txn) ValidateSince(span kv.Span, since tso.Timestamp) {
	id := spanID(span)
	if i, known := t.validatedAt[id]; known {
		v := &t.validated[i]
		v.since = min(v.since, since)
		return
	}
	v := validation{span: kv.Span{Start: bytes.Clone(span.Start), End: bytes.Clone(span.End)},
		since: since}
	if span.IsPoint() {
		v.row = mvcc.Row(span.Start)
	}
	if t.validatedAt == nil {
		t.validatedAt = map[string]int{}
	}
	t.validatedAt[id] = len(t.validated)
	t.validated = append(t.validated, v)
}

// validatedRows appends the rows of the points, which an update that validates them must name.
func (c *committer) validatedRows(rows [][]byte) [][]byte {
	for _, v := range c.validate {
		if v.row != nil {
			rows = append(rows, v.row)
		}
	}
	return rows
}

// validateIn checks all validated spans inside the update of a one-phase commit.
func (c *committer) validateIn(ctx context.Context, r kv.Reader) error {
	for _, v := range c.validate {
		noLocks := c.s.memory.LockHolders.NoneBut(nil, v.span.Overlaps)
		if v.row != nil && noLocks && c.s.memory.Recent.UnchangedSince(v.row, v.since) {
			continue
		}
		if err := mvcc.Validate(ctx, r, c.startTS, v.since, v.span, noLocks, nil); err != nil {
			return err
		}
	}
	return nil
}

// errRedraw ends a validation that had to wait: commit_ts is to be drawn anew.
var errRedraw = errors.New("commit_ts is drawn anew")

// validateLocked checks all validated spans once every key is prewritten and before commit_ts is
// drawn; what a serializable transaction has read is checked after that (decide). A lock in the way
// is settled or waited for: like one that stops a prewrite, or, when nothing was prewritten, like
// one that stops a commit in one phase. All spans are checked in one snapshot, unless there was
// such a wait.
func (c *committer) validateLocked(ctx context.Context, bo *lockwait.Backoff) error {
	all := append(make([]validation, 0, len(c.validate)+len(c.reads)), c.validate...)
	for _, span := range c.reads {
		all = append(all, validation{span: span, since: c.startTS, read: true})
	}
	for len(all) > 0 {
		done, err := c.validateSome(ctx, all)
		all = all[done:]
		var locked *LockedError
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

// validateSome validates spans in one snapshot, and returns how many of them passed.
func (c *committer) validateSome(ctx context.Context, all []validation) (done int, err error) {
	snap, err := c.s.engine.Snapshot()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, snap.Close()) }()
	safepoint, err := c.s.peers.SafepointIn(ctx, snap)
	if err != nil {
		return 0, err
	}
	alive := func() error { return nil }
	if c.prewriting {
		alive = func() error { return c.beat(ctx) }
	}
	for i, v := range all {
		err := ctx.Err()
		if err == nil && v.since < safepoint {
			err = &SafepointError{StartTS: v.since, Safepoint: safepoint}
		}
		if err == nil {
			err = mvcc.Validate(ctx, snap, c.startTS, v.since, v.span, false, alive)
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
	return len(all), nil
}
