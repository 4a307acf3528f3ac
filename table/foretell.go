package table

import (
	"bytes"
	"context"

	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
)

// foretoldEntries is for how many rows the entries are foretold too. Of more rows nothing would be
// remembered until they are written.
const foretoldEntries = 16

// Foretell says that rows will be inserted: what Insert reads of each, and its commit of their
// index entries, is then read together where that saves requests to the store.
func (w *Writer) Foretell(ctx context.Context, tx *txn.Txn, n int,
	row func(i int) []types.Datum) error {
	if w.err != nil || !tx.Foretold() {
		return nil
	}
	return tx.Foretell(ctx, w.foretold(ctx, n, row))
}

// foretold returns the keys of some of the rows, and of their index entries. A row that Insert will
// refuse has none here.
func (w *Writer) foretold(ctx context.Context, n int,
	row func(i int) []types.Datum) (keys [][]byte) {
	var made entryList
	for i := range n {
		row := row(i)
		if w.rowID >= 0 && row[w.rowID].Null || w.CheckNulls(row) != nil {
			continue // Insert reads nothing of it, or refuses it in its turn
		}
		key, err := w.rows.rowKey(nil, row)
		if err != nil {
			continue
		}
		keys = append(keys, key)
		if n > foretoldEntries {
			continue
		}
		for _, m := range w.indexes {
			if m.entriesOf(ctx, &made, row, key[len(w.rows.prefix):]) != nil {
				break
			}
			for _, e := range made.all() {
				keys = append(keys, bytes.Clone(e.key))
			}
		}
	}
	return keys
}

// ForetoldKeys returns the keys that an INSERT of rows reads and writes, as far as they are known
// before.
func ForetoldKeys(ctx context.Context, d *Desc, rows [][]types.Datum) [][]byte {
	w := NewWriter(d, nil)
	if w.err != nil {
		return nil
	}
	return w.foretold(ctx, len(rows), func(i int) []types.Datum { return rows[i] })
}
