package observer

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
	"github.com/minidb/minidb/txn/tso"
)

// Target is what an observer is to its workers.
type Target struct {
	ID    uint32
	Rows  kv.Span // the keys that it observes
	State []byte  // begins the keys of its own state

	backfillRows int // tests lower it; 0 means backfillRows
}

const (
	stateAck byte = iota + 1
	stateLetter
	stateBackfill
	stateGone
	statePlace // of a table-level change
	stateWalk
	stateLimbo // begins keys of rows that are gone with their place
	stateImage
	stateWeak
)

func (o *Target) stateKey(kind byte, rowKey []byte) []byte {
	key := make([]byte, 0, len(o.State)+1+len(rowKey))
	return append(append(append(key, o.State...), kind), rowKey...)
}

func (o *Target) stateSpan(kind byte) kv.Span {
	prefix := o.stateKey(kind, nil)
	return kv.Span{Start: prefix, End: kv.PrefixEnd(prefix)}
}

// Found is the result of Look.
type Found uint8

const (
	// Nothing: all changes are acknowledged, or given up.
	Nothing Found = iota
	// Pending: the observer is to run.
	Pending
	// Later: another transaction has a lock on the row, has changed it after the snapshot, or has
	// taken it.
	Later
	// Taken: as Later, on a store that several processes share: another one runs on the row (Claim,
	// Take).
	Taken
)

// Change is what an observer runs on: a row with all changes in (Previous, At].
type Change struct {
	Key   []byte
	Value []byte // as it is; nil: the row is gone
	// Old is the row as it was before the first of the changes. It is nil if there was none, and if
	// the observer has a backfill and has never run on the row.
	Old []byte
	// Former is how to read Old where the table was rewritten since; nil: as Value under Key.
	Former     *Former
	At         tso.Timestamp // snapshot timestamp of the run
	Previous   tso.Timestamp // of the last run that committed; zero: there was none
	Origin     tso.Timestamp // lowest commit_ts of the changes from outside that led here
	Generation uint32        // lowest number of runs in between
	Path       mvcc.Path     // the last observers that ran in between, as far as it is known

	// Several: the row may have had other states since Previous than Old and Value. A run that did
	// not commit may have seen one, and shown it to others.
	Several bool

	// Stale: there is something left of what is acknowledged, which CleanStale removes.
	Stale bool

	// Weak: a weak notification asks for the run. Unless there is a change too, Old is as Value.
	Weak bool

	weak   [][]byte // keys of weak notifications that ask for the run
	done   [][]byte // and of those that have asked for an earlier one
	only   bool     // there is no change
	letter bool     // there is a dead letter of the row
	moved  bool     // a table-level change has left an image of it
}

// Look finds out in the transaction of a run, which has snapshot isolation, whether the observer is
// to run on a row, which is given by a RunKey. Requires: the transaction has not written the row
// itself.
func (o *Target) Look(ctx context.Context, t *txn.Txn, key []byte) (c Change, found Found,
	err error) {
	key = o.RowKey(key)
	c = Change{Key: key, At: t.ReadTS()}
	// A transaction that has taken the row would keep this one waiting at its commit. What another
	// process has locked is settled there.
	if t.LocksBind() {
		taken, err := t.Contested(ctx, o.stateKey(stateAck, key), rowlock.Update)
		if err != nil || taken {
			return c, Later, err
		}
	}
	// The row first: then all commits that the snapshot shows have left their notifications.
	value, err := t.Get(ctx, key)
	if err != nil || !o.has(key) {
		return c, Nothing, err
	}
	c.Value = bytes.Clone(value)
	if awaited, err := o.awaited(ctx, t, key); err != nil || awaited {
		return c, Later, err
	}
	if c.Previous, err = o.acknowledged(ctx, t, key); err != nil {
		return c, Nothing, err
	}
	since := c.Previous
	letter, err := o.letter(ctx, t, key)
	if err != nil {
		return c, Nothing, err
	}
	if c.letter = letter != nil; c.letter {
		since = max(since, letter.At)
	}
	left, err := o.image(ctx, t, key)
	if err != nil {
		return c, Nothing, err
	}
	all, settled, err := t.NotificationsOf(ctx, key, o.ID)
	switch {
	case err != nil:
		return c, Nothing, err
	case !settled:
		return c, Later, nil
	}
	weak, err := o.weakly(ctx, t, &c, since)
	if err != nil {
		return c, Nothing, err
	}
	found = c.add(&weak, c.collapse(all, since, left))
	if found != Pending {
		c.Stale = c.Stale || c.forgotten() || len(c.done) > 0
		return c, found, nil
	}
	if left != nil {
		c.Former, err = o.former(ctx, t, key, left.place)
		return c, found, err
	}
	return c, found, o.hideOld(ctx, t, &c)
}

// has reports whether a key may be that of a row of the observer, and not of a place that the rows
// have left.
func (o *Target) has(key []byte) bool {
	_, limbo := o.Limbo(key)
	return limbo || o.Rows.Contains(key)
}

// hideOld takes the old value away that an observer with a backfill has not run on: until a first
// run the row is new to it, wherever the backfill is, and also when the row is gone before that
// comes to it.
func (o *Target) hideOld(ctx context.Context, t *txn.Txn, c *Change) error {
	if c.Previous != 0 || c.Old == nil {
		return nil
	}
	position, err := t.Get(ctx, o.stateKey(stateBackfill, nil))
	if position != nil || err != nil {
		c.Old = nil
		return err
	}
	fresh, err := o.renewed(ctx, t)
	if fresh {
		c.Old = nil
	}
	return err
}

// collapse makes one change of the notifications above the acknowledgement, and of what a
// table-level change has left, which is older. Up to since the observer has run, or was given up.
func (c *Change) collapse(all []txn.Notification, since tso.Timestamp, left *image) Found {
	var sum image
	var oldest, announced tso.Timestamp
	newer, fresh := false, false
	var last tso.Timestamp // the commit of a change
	if c.moved = left != nil; c.moved {
		sum, fresh, last = *left, !c.letter, left.origin
	}
	for i := range all {
		n := &all[i]
		if n.CommitTS > c.At {
			newer = true
			continue
		}
		idle := n.Announced() && !c.moved && (c.Previous != 0 || c.Value == nil)
		if n.CommitTS > c.Previous && (!n.Announced() || !c.moved) {
			c.Several = c.Several || last != 0 && (n.CommitTS != last || n.Origin != 0)
			last = n.CommitTS
		}
		if n.CommitTS <= c.Previous || idle {
			c.Stale = true
			continue
		}
		fresh = fresh || n.CommitTS > since
		if n.Announced() {
			announced = n.CommitTS
			continue
		}
		sum.include(n.From(), n.Generation, n.Path)
		if !c.moved && (oldest == 0 || n.CommitTS < oldest) {
			oldest = n.CommitTS
			sum.hasOld, sum.old = n.HasOld, n.Old
		}
	}
	if sum.origin == 0 { // nothing but that
		sum.origin = announced
	}
	c.Origin, c.Generation, c.Path = sum.origin, sum.generation, sum.path
	c.Old = nil
	if sum.hasOld {
		c.Old = append([]byte{}, sum.old...)
	}
	switch {
	case fresh:
		return Pending
	case newer:
		return Later
	}
	return Nothing
}

// Seen reports whether the observer has run on a change of a row, as the transaction sees
// it: one whose notification a hold keeps (txn.Hold). Of what is no change of a row it does not
// know.
func (o *Target) Seen(ctx context.Context, t *txn.Txn, key []byte,
	n *txn.Notification) (bool, error) {
	if !n.Stamped() || n.Announced() || !o.Rows.Contains(key) {
		return false, nil
	}
	at, err := o.acknowledged(ctx, t, key)
	return at >= n.CommitTS, err
}

// acknowledged returns the snapshot timestamp of the last run on a row, zero without one.
func (o *Target) acknowledged(ctx context.Context, t *txn.Txn, key []byte) (tso.Timestamp, error) {
	return timestampAt(ctx, t, o.stateKey(stateAck, key))
}

// timestampAt returns the timestamp that is the value of a key, zero without one.
func timestampAt(ctx context.Context, t *txn.Txn, key []byte) (tso.Timestamp, error) {
	value, err := t.Get(ctx, key)
	if err != nil || value == nil {
		return 0, err
	}
	return timestamp(value)
}

func timestamp(value []byte) (tso.Timestamp, error) {
	if len(value) != 8 {
		return 0, fmt.Errorf("observer: bad timestamp %x: %w", value, kv.ErrCorruption)
	}
	return tso.Timestamp(binary.BigEndian.Uint64(value)), nil
}
