package txn

import (
	"bytes"
	"context"
	"errors"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// Validate makes Commit fail with *WriteConflictError if any other transaction has put or deleted a
// key of the span after start_ts: what was read there must still be true when the writes appear.
// A transaction without writes needs no validation, for its snapshot is one instant.
//
// Two transactions of which each writes what the other validates are told apart as long as one of
// the two spans is a point, [key, key+0x00): a point is validated under its row's latch, or after all
// locks are down. This is how a change of a table's schema (which writes the descriptor and
// validates the rows) and a change of its rows (which validates the descriptor) exclude each other.
func (t *Txn) Validate(span kv.Span) { t.ValidateSince(span, t.readTS) }

// ValidateSince is Validate of a span that was read at a timestamp of its own. Of several of one span the
// earliest counts.
func (t *Txn) ValidateSince(span kv.Span, since tso.Timestamp) {
	for i := range t.validated {
		v := &t.validated[i]
		if bytes.Equal(v.span.Start, span.Start) && bytes.Equal(v.span.End, span.End) {
			v.since = min(v.since, since)
			return
		}
	}
	v := validation{span: kv.Span{Start: bytes.Clone(span.Start), End: bytes.Clone(span.End)}, since: since}
	if isPoint(span) {
		v.row = mvcc.Row(span.Start)
	}
	t.validated = append(t.validated, v)
}

// isPoint says whether the span holds one key.
func isPoint(s kv.Span) bool {
	n := len(s.Start)
	return len(s.End) == n+1 && s.End[n] == 0 && bytes.Equal(s.End[:n], s.Start)
}

// validation is one validated span of a commit; row is set when it is a point.
type validation struct {
	span  kv.Span
	row   []byte
	since tso.Timestamp // at which it was read
	read  bool          // by a serializable transaction
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
	noLocks := c.s.lockers.none()
	for _, v := range c.validate {
		if v.row != nil && noLocks && c.s.recent.unchangedSince(v.row, v.since) {
			continue
		}
		if err := mvcc.Validate(ctx, r, c.startTS, v.since, v.span, noLocks); err != nil {
			return err
		}
	}
	return nil
}

// validateLocked checks all validated spans once every key is prewritten and before commit_ts is
// drawn. A lock in the way is settled or waited for like one that stops a prewrite, or, by who has prewritten
// nothing, like one that stops a commit in one phase.
func (c *committer) validateLocked(ctx context.Context) error {
	var bo backoff
	all := c.validate
	for _, span := range c.reads {
		all = append(all[:len(all):len(all)], validation{span: span, since: c.startTS, read: true})
	}
	for i := 0; i < len(all); {
		err := c.validateOne(ctx, all[i])
		var locked *LockedError
		switch {
		case err == nil:
			i++
		case !errors.As(err, &locked):
			return err
		default:
			if err := c.waitForLock(ctx, locked, &bo, c.prewriting); err != nil {
				return err
			}
			if !c.prewriting {
				continue
			}
			if err := c.heartbeat(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *committer) validateOne(ctx context.Context, v validation) error {
	snap, err := c.s.engine.Snapshot()
	if err != nil {
		return err
	}
	if err = c.s.checkSafepoint(ctx, snap, v.since); err == nil {
		err = mvcc.Validate(ctx, snap, c.startTS, v.since, v.span, false)
	}
	if v.read {
		err = readConflict(err)
	}
	return errors.Join(err, snap.Close())
}
