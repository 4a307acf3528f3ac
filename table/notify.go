package table

import (
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// A Writer notes the change of a row for each observer of its descriptor that observes it, right
// before the write of the row itself, so that the two commit together or not at all. With the note
// goes the row's value before, nil when there was no row:
//
//	INSERT                          nil
//	DELETE                          the row
//	UPDATE of an observed column    the row as it was
//	UPDATE of other columns         no note
//	UPDATE of the primary key       the row as it was at the old key, nil at the new one
//
// Of several writes of a key in one transaction, the first one's note counts (txn.Txn.Notify).

// notifyNew notes a new row.
func (w *Writer) notifyNew(tx *txn.Txn, key []byte) {
	for i := range w.d.Observers {
		tx.Notify(key, uint32(w.d.Observers[i].ID), nil)
	}
}

// notifyGone notes that the row with the key w.key goes.
func (w *Writer) notifyGone(tx *txn.Txn, old []types.Datum) error {
	if len(w.d.Observers) == 0 {
		return nil
	}
	value, err := w.oldValue(old)
	if err != nil {
		return err
	}
	for i := range w.d.Observers {
		tx.Notify(w.key, uint32(w.d.Observers[i].ID), value)
	}
	return nil
}

// notifyChanged notes that the row with the key w.key changes from old to new, for the observers
// that observe what is different.
func (w *Writer) notifyChanged(tx *txn.Txn, old, new []types.Datum) error {
	var value []byte
	for i := range w.d.Observers {
		o := &w.d.Observers[i]
		if !o.Changed(w.d, old, new) {
			continue
		}
		if value == nil {
			var err error
			if value, err = w.oldValue(old); err != nil {
				return err
			}
		}
		tx.Notify(w.key, uint32(o.ID), value)
	}
	return nil
}

// oldValue is the value of a row before a change. It is never nil: a row that its key holds in full
// has an empty value.
func (w *Writer) oldValue(old []types.Datum) (value []byte, err error) {
	if w.old == nil {
		w.old = make([]byte, 0, 64)
	}
	w.old, err = w.rows.rowValue(w.old[:0], old)
	return w.old, err
}
