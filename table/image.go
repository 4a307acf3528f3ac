package table

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// Image appends what the store keeps of a row beside its row key. Rows of a relation whose row key
// is a hidden column look the same to every reader exactly if their images are equal.
func (w *Writer) Image(dst []byte, row []types.Datum) ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	return w.rows.rowValue(dst, row)
}

// UniqueKey appends the key of a row in the first unique index of columns that has all rows of the
// relation. unique is false where other rows may have the same: there is no such index, or the key
// has a NULL that equals nothing.
func (w *Writer) UniqueKey(dst []byte, row []types.Datum) (key []byte, unique bool, err error) {
	if w.err != nil {
		return nil, false, w.err
	}
	for _, m := range w.all {
		if !m.unique || m.computed || m.partial() {
			continue
		}
		key, null, err := m.appendKey(dst, row)
		return key, !null || m.nullsNotDistinct, err
	}
	return dst, false, nil
}

// SameUniqueKeys reports whether two rows have the same key in every unique index.
func (w *Writer) SameUniqueKeys(ctx context.Context, a, b []types.Datum) (same bool, err error) {
	if w.err != nil {
		return false, w.err
	}
	var keys [2][]byte
	var single [2]bool
	for _, m := range w.all {
		if !m.unique {
			continue
		}
		for i, row := range [...][]types.Datum{a, b} {
			if keys[i], single[i], err = m.uniqueKey(ctx, keys[i][:0], row); err != nil {
				return false, err
			}
		}
		if single[0] != single[1] || !bytes.Equal(keys[0], keys[1]) {
			return false, nil
		}
	}
	return true, nil
}

// Find reads the row that has the row key of a given one, in which NULLs equal NULLs. It fills row
// with all columns; false when there is none.
func (w *Writer) Find(ctx context.Context, tx *txn.Txn, key, row []types.Datum) (bool, error) {
	if w.err != nil {
		return false, w.err
	}
	var err error
	if w.key, err = w.rows.rowKey(w.key[:0], key); err != nil {
		return false, err
	}
	value, err := tx.Get(ctx, w.key)
	if err != nil || value == nil {
		return false, err
	}
	return true, wholeDecoder(w.rows).row(w.key[len(w.rows.prefix):], value, row)
}
