package txn

import (
	"context"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/tso"
)

// A statement of READ COMMITTED reads at a timestamp of its own (txn: I11). A write is checked
// against the timestamp at which what it replaces was read, which may be above start_ts; start_ts
// stays the transaction's name in locks and records.

// ReadTS returns the timestamp at which the transaction reads now. It is start_ts until Advance.
func (t *Txn) ReadTS() tso.Timestamp { return t.readTS }

// Advance draws a new read timestamp: a statement of READ COMMITTED sees what was committed before
// it. start_ts stays the transaction's name. A write is checked against the timestamp at which it
// was made, so what was read before the last Advance is not protected by that check.
func (t *Txn) Advance(ctx context.Context) error {
	if t.done {
		return ErrTxnDone
	}
	if t.past {
		return nil // a reader of the past stays where it is
	}
	ts, err := t.s.source.Next(ctx)
	if err != nil {
		return err
	}
	t.ReadAt(ts)
	if t.companion != nil {
		return t.companion.Advance(ctx)
	}
	return nil
}

// ReadAt makes the transaction read at a timestamp that ReadTS returned before, or at one between
// two such, and returns the present one. Cursors use it to keep the snapshot of the statement that
// opened them.
func (t *Txn) ReadAt(ts tso.Timestamp) (before tso.Timestamp) {
	before = t.readTS
	if ts > before {
		// The snapshot may lack commits below ts, and writers were pushed above the old one only.
		t.dropSnapshot()
		t.ignored = nil
	}
	t.readTS = ts
	t.buf.SetBase(ts)
	return before
}

// WrittenBetween reports whether others wrote a key after a timestamp at which the transaction may
// read and before a later write that it knows of, a StaleError's.
func (t *Txn) WrittenBetween(ctx context.Context, key []byte, after,
	later tso.Timestamp) (written bool, err error) {
	if t.aside(key) {
		return false, nil
	}
	err = kv.Repeat(ctx, t.s.engine, func(r kv.Reader) (err error) {
		if err = t.s.peers.CheckSafepoint(ctx, r, after); err == nil {
			written, err = mvcc.WrittenBetween(ctx, r, key, after, later-1)
		}
		return err
	})
	return written, err
}
