package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/mvcc"
	"github.com/minidb/minidb/txn/rowlock"
)

// A deferrable key has entries like any other unique one:
//
//	't' 16384 2 {url}            → {id}         the row that has the key
//
// Where a row takes a key that another row has, or that another transaction has locked, its entry
// waits beside it, with the row key in its own key:
//
//	't' 16384 2 {url}{id}        →              a row that waits for the key
//
// The check of the constraint ([CheckKey]) moves the entry to the key once that is free, and fails
// otherwise. A transaction commits after all checks, so waiting entries are in its own writes alone
// and never committed (table: I5). Two transactions that commit one key write the same key in the
// store, as for every unique index.

// KeyHook is called with rows that wait for a key.
type KeyHook interface {
	// KeyAwaited is called with a row that took the key of a deferrable index, which is not free.
	// CheckKey is to be called for it before the transaction commits. The slices are lent for the
	// call.
	KeyAwaited(d *Desc, ix *Index, key, rowKey []byte)
	// AwaitsKeys reports whether KeyAwaited was called for the index in this transaction.
	AwaitsKeys(d *Desc, ix *Index) bool
}

// Defer makes w leave the check of deferrable keys to h. Without it they are checked at once.
func (w *Writer) Defer(h KeyHook) { w.keys = h }

// putDeferrable writes the entry of a row in a deferrable index: at its key if that is free,
// otherwise beside it.
func (w *Writer) putDeferrable(ctx context.Context, tx *txn.Txn, l *layout, e *entry) error {
	free := false
	insert := func(v mvcc.Version) (_ bool, err error) {
		free, err = insertFree(ctx, tx, e.key, e.value, v)
		return free, err
	}
	var err error
	if tx.LocksWrites() {
		_, err = tx.TryLock(ctx, e.key, rowlock.Update, insert)
	} else {
		_, err = insert(mvcc.Version{})
	}
	if free || err != nil {
		return err
	}
	rowKey, columns, err := l.splitAfterKey(nil, e.value)
	if err != nil {
		return err
	}
	w.keys.KeyAwaited(w.d, l.index, e.key, rowKey)
	return tx.SetNew(waitingKey(e.key, rowKey), columns)
}

// insertFree writes a unique key if no row has it. v is what others wrote to the key after the read
// timestamp.
func insertFree(ctx context.Context, tx *txn.Txn, key, value []byte, v mvcc.Version) (bool, error) {
	switch {
	case v.Live:
		return false, nil
	case v.CommitTS == 0:
		if have, err := tx.Peek(ctx, key); have != nil || err != nil {
			return false, err
		}
		return true, tx.Insert(key, value)
	case !tx.Rereads():
		// As in lockInsert: the snapshot must not show the row that had the key beside this one.
		switch seen, err := tx.Peek(ctx, key); {
		case err != nil:
			return false, err
		case seen != nil:
			return false, tx.Stale(key, v)
		}
	}
	return true, tx.InsertAfter(v.CommitTS, key, value)
}

func waitingKey(key, rowKey []byte) []byte { return append(bytes.Clone(key), rowKey...) }

// waiting returns the value of the entry with which a row waits for a key, nil if it does not wait.
func waiting(ctx context.Context, tx *txn.Txn, key []byte) ([]byte, error) {
	if wrote, err := tx.Wrote(ctx, key); err != nil || !wrote {
		return nil, err
	}
	return tx.GetCurrent(ctx, key)
}

// oldEntries fills w.was with the entries that a row has, whose row key without prefix is rowKey.
func (w *Writer) oldEntries(ctx context.Context, tx *txn.Txn, m *entryMaker, row []types.Datum,
	rowKey []byte) error {
	if err := m.entriesOf(ctx, &w.was, row, rowKey); err != nil || !m.deferrable {
		return err
	}
	for i := range w.was.all() {
		e := &w.was.list[i]
		if !e.unique {
			continue
		}
		key := waitingKey(e.key, rowKey)
		value, err := waiting(ctx, tx, key)
		if err != nil {
			return err
		}
		if value != nil {
			e.key, e.value, e.unique = key, append(e.value[:0], value...), false
		}
	}
	return nil
}

// CheckKey gives a key of a deferrable index to the row that waits for it. It is 23505 if another
// row has the key: one that the transaction sees, or after a wait for the transaction that has
// locked the key, one that was committed. For an EXCLUDE constraint it is 23P01 if another row
// excludes this one. Nothing is done for a row that does not wait any more.
func CheckKey(ctx context.Context, tx *txn.Txn, d *Desc, ix *Index, key, rowKey []byte) error {
	l, err := layoutOf(d, ix)
	if err != nil {
		return err
	}
	if l.exclusion != nil {
		return checkExclusion(ctx, tx, d, l, key, rowKey)
	}
	beside := waitingKey(key, rowKey)
	columns, err := waiting(ctx, tx, beside)
	if err != nil || columns == nil {
		return err
	}
	value := append(binary.AppendUvarint(nil, uint64(len(rowKey))), rowKey...)
	value = append(value, columns...)
	var v mvcc.Version
	if tx.LocksWrites() {
		if v, err = tx.LockKey(ctx, key, rowlock.Update, false); err != nil {
			return err
		}
	}
	free, err := insertFree(ctx, tx, key, value, v)
	if err != nil {
		return err
	}
	if free {
		return tx.Delete(beside)
	}
	row, err := rowOf(ctx, tx, d, rowKey)
	if err != nil {
		return err
	}
	return duplicateOf(tx, d, l, key, v.CommitTS, row)
}

// rowOf reads a row that the transaction has written, by its row key without prefix.
func rowOf(ctx context.Context, tx *txn.Txn, d *Desc, rowKey []byte) ([]types.Datum, error) {
	key := append(d.indexPrefix(RowIndexID), rowKey...)
	value, err := tx.GetCurrent(ctx, key)
	if err != nil {
		return nil, err
	}
	if value == nil {
		return nil, fmt.Errorf("table %q: entry without row: %w", d.Name, kv.ErrCorruption)
	}
	return DecodeRow(d, key, value)
}

// deferredArbiter is 55000 for a constraint that ON CONFLICT cannot rest on.
func deferredArbiter(d *Desc, ix *Index) error {
	e := sqlerr.New(sqlerr.ObjectNotInPrerequisiteState, "ON CONFLICT does not support "+
		"deferrable unique constraints/exclusion constraints as arbiters")
	e.Schema, e.Table, e.Constraint = d.Schema, d.Name, ix.Name
	return e
}
