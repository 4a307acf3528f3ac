package table

import "github.com/minidb/minidb/txn"

// HoldStorage makes Commit fail if the place of the table's rows, or of the entries of one of its
// indexes, has been dropped since the descriptor was read: by a rewrite, TRUNCATE or REINDEX. It is
// for transactions that rely on rows, or on locks of rows, that they do not write: other
// transactions would find neither in the new place.
func HoldStorage(tx *txn.Txn, d *Desc) {
	since := d.readAt
	if since == 0 {
		since = tx.ReadTS()
	}
	tx.ValidateKept(d.Span(), since)
	for i := range d.Indexes {
		if id := d.Indexes[i].ID; id != RowIndexID {
			tx.ValidateKept(d.IndexSpan(id), since)
		}
	}
}
