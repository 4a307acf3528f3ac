package table

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/rowlock"
)

// A transaction that locks what it writes (txn.Locking.Writes) takes, before the first write of a
// row, the lock of its row key, and the locks of the unique keys that the row gives up or gets.
// Another transaction that wants one of these keys then waits until this one ends. Entries of other
// indexes hold the row key and need no lock of their own.

// lockUpdate locks a row that changes from old to new: weakly, so that FOR KEY SHARE goes on,
// unless a unique key changes. Requires: w.key and w.next are the two row keys.
func (w *Writer) lockUpdate(ctx context.Context, tx *txn.Txn, old, new []types.Datum) error {
	if !tx.LocksWrites() {
		return nil
	}
	mode := rowlock.NoKeyUpdate
	if !bytes.Equal(w.key, w.next) {
		mode = rowlock.Update
	}
	n := len(w.rows.prefix)
	var given [][]byte // unique keys that the row gives up
	for _, m := range w.indexes {
		if !m.unique && m.exclusion == nil {
			continue
		}
		if err := w.oldEntries(ctx, tx, m, old, w.key[n:]); err != nil {
			return err
		}
		if err := m.entriesOf(ctx, &w.is, new, w.next[n:]); err != nil {
			return w.withTable(m.layout, err)
		}
		if w.was.n != w.is.n {
			mode = rowlock.Update
		}
		for _, e := range w.was.all() {
			if w.is.has(e.key) {
				continue
			}
			mode = rowlock.Update
			if e.unique {
				given = append(given, bytes.Clone(e.key))
			}
		}
	}
	if err := tx.LockCurrent(ctx, w.key, mode, false); err != nil {
		return err
	}
	for _, key := range given {
		if _, err := tx.LockKey(ctx, key, rowlock.Update, false); err != nil {
			return err
		}
	}
	return nil
}

// lockDelete locks a row that goes, with its unique keys. Requires: w.key is its row key.
func (w *Writer) lockDelete(ctx context.Context, tx *txn.Txn, old []types.Datum) error {
	if !tx.LocksWrites() {
		return nil
	}
	if err := tx.LockCurrent(ctx, w.key, rowlock.Update, false); err != nil {
		return err
	}
	for _, m := range w.indexes {
		if !m.unique {
			continue
		}
		if err := w.oldEntries(ctx, tx, m, old, w.key[len(w.rows.prefix):]); err != nil {
			return err
		}
		for _, e := range w.was.all() {
			if !e.unique {
				continue
			}
			if _, err := tx.LockKey(ctx, e.key, rowlock.Update, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockInsert locks a unique key that a new row wants to have. done reports that the row has been
// written: the key was given up by another transaction since the snapshot.
func (w *Writer) lockInsert(ctx context.Context, tx *txn.Txn, l *layout, key, value []byte,
	row []types.Datum) (done bool, err error) {
	if !tx.LocksWrites() {
		return false, nil
	}
	v, err := tx.LockKey(ctx, key, rowlock.Update, false)
	switch {
	case err != nil || v.CommitTS == 0:
		return false, err
	case !v.Live:
		// In the snapshot the key may still lead to the row that had it. Beside a new one the two
		// would not agree: an index would find the new row by the old one's values. With a snapshot
		// for each statement the next one sees the new row alone, and this one may go on.
		if !tx.Rereads() {
			switch seen, err := tx.Peek(ctx, key); {
			case err != nil:
				return false, err
			case seen != nil:
				return false, tx.Stale(key, v)
			}
		}
		if l == w.rows {
			w.removed = v.CommitTS
			w.notifyNew(tx, key)
		}
		return true, tx.InsertAfter(v.CommitTS, key, value)
	}
	return false, duplicateOf(tx, w.d, l, key, v.CommitTS, row)
}

// LockRow locks a row as it was read, in full, before anything is decided by it: if it was changed
// since, the error is *txn.StaleError or *txn.WriteConflictError, as for a write.
func (w *Writer) LockRow(ctx context.Context, tx *txn.Txn, row []types.Datum,
	mode rowlock.Mode) error {
	key, err := w.rows.rowKey(w.key[:0], row)
	if err != nil {
		return err
	}
	w.key = key
	return tx.LockCurrent(ctx, key, mode, false)
}

// lockArbiter makes what ON CONFLICT has found about a unique key stay so: it waits for the
// transaction that is about to take the key, or to give it up. An optimistic transaction that
// inserts the key learns of its taker at Commit; but if it has found the key taken it may write
// nothing.
func (w *Writer) lockArbiter(ctx context.Context, tx *txn.Txn, key []byte, found bool) error {
	if !found && !tx.LocksWrites() {
		return nil
	}
	if found {
		if contested, err := tx.Contested(ctx, key, rowlock.KeyShare); err != nil || !contested {
			return err
		}
	}
	v, err := tx.LockKey(ctx, key, rowlock.Update, false)
	if err != nil || v.CommitTS == 0 {
		return err
	}
	return tx.Stale(key, v)
}
