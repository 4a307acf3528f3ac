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

// UniqueKey appends the key of a row in the first unique index of the relation. unique is false
// where other rows may have the same: there is no such index, or the key has a NULL that equals
// nothing.
func (w *Writer) UniqueKey(dst []byte, row []types.Datum) (key []byte, unique bool, err error) {
	if w.err != nil {
		return nil, false, w.err
	}
	for _, l := range w.all {
		if !l.unique {
			continue
		}
		key, null, err := l.appendKey(dst, row)
		return key, !null || l.nullsNotDistinct, err
	}
	return dst, false, nil
}

// SameUniqueKeys reports whether two rows have the same key in every unique index.
func (w *Writer) SameUniqueKeys(a, b []types.Datum) (same bool, err error) {
	if w.err != nil {
		return false, w.err
	}
	var of [2][]byte
	for _, l := range w.all {
		if !l.unique {
			continue
		}
		for i, row := range [...][]types.Datum{a, b} {
			if of[i], _, err = l.appendKey(of[i][:0], row); err != nil {
				return false, err
			}
		}
		if !bytes.Equal(of[0], of[1]) {
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
