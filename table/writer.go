package table

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/minidb/minidb/kv"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn"
	"github.com/minidb/minidb/txn/tso"
)

// RowIDs gives row IDs to tables without a primary key.
type RowIDs interface {
	NextRowID(ctx context.Context, table ID) (int64, error)
}

// Writer writes rows of one table with all their index entries. It serves one statement of one
// transaction, on that transaction's goroutine.
//
// A violation comes back as *sqlerr.Error and may leave part of the row's writes in the
// transaction's buffer: the statement must then be undone to its savepoint.
type Writer struct {
	d       *Desc
	alloc   RowIDs
	rows    *layout
	all     []*entryMaker // of the descriptor's indexes, in their order
	indexes []*entryMaker // all without the one that is the rows themselves
	notNull []int
	rowID   int // ordinal of the hidden row ID, or -1
	err     error

	hook      RowHook
	keys      KeyHook
	validated *txn.Txn
	key, next []byte // row keys with prefix: of the row as it was, and as it becomes
	value     []byte
	old       []byte // value of the row as it was, for observers
	was, is   entryList
	// removed is when the row that had the row key before went, if that is after what the
	// transaction reads; else zero. Its entries went with it, and no other row has an entry with
	// its row key.
	removed tso.Timestamp
}

// RowHook receives each row that was written: old is nil when the row is new, and new when it is
// gone. Both are lent for the call.
type RowHook interface {
	RowChanged(ctx context.Context, d *Desc, old, new []types.Datum) error
}

// Hook passes every row that w writes from now on to h.
func (w *Writer) Hook(h RowHook) { w.hook = h }

func (w *Writer) callHook(ctx context.Context, old, new []types.Datum) error {
	if w.hook == nil {
		return nil
	}
	return w.hook.RowChanged(ctx, w.d, old, new)
}

// NewWriter prepares writing rows of d.
func NewWriter(d *Desc, alloc RowIDs) *Writer {
	w := &Writer{d: d, alloc: alloc, rowID: -1}
	p, err := d.layouts()
	if err != nil || p.rows == nil {
		w.err = err
		if err == nil {
			w.err = fmt.Errorf("relation %q has no rows of its own", d.Name)
		}
		return w
	}
	w.rows = p.rows
	makers, lists := make([]entryMaker, len(p.indexes)), make([]*entryMaker, 2*len(p.indexes))
	w.all, w.indexes = lists[:0:len(makers)], lists[len(makers):len(makers)]
	for i, l := range p.indexes {
		m := &makers[i]
		l.prepare(m)
		if w.all = append(w.all, m); l != p.rows {
			w.indexes = append(w.indexes, m)
		}
	}
	w.notNull = make([]int, 0, len(d.Columns))
	for i := range d.Columns {
		switch c := &d.Columns[i]; {
		case c.Hidden:
			w.rowID = i
		case c.NotNull:
			w.notNull = append(w.notNull, i)
		}
	}
	return w
}

// begin makes the transaction fail when the schema of the table changes before it commits: a row
// written by an old descriptor would lack entries of new indexes.
func (w *Writer) begin(ctx context.Context, tx *txn.Txn) error {
	if w.validated == tx || w.err != nil {
		return w.err
	}
	w.validated = tx
	since := w.d.readAt
	if since == 0 {
		since = tx.ReadTS()
	}
	tx.ValidateSince(PointSpan(WritersKey(w.d.ID)), since)
	return nil
}

// Insert writes a new row: one datum per column of the descriptor. A NULL in the hidden row ID
// column is replaced, in row itself, by a new ID.
func (w *Writer) Insert(ctx context.Context, tx *txn.Txn, row []types.Datum) error {
	if err := w.begin(ctx, tx); err != nil {
		return err
	}
	w.removed = 0
	fresh, err := w.encode(ctx, row)
	if err != nil {
		return err
	}
	// A new row ID is unique by the way it is drawn.
	if fresh {
		w.notifyNew(tx, w.key)
		err = tx.SetNew(w.key, w.value)
	} else {
		err = w.insertUnique(ctx, tx, w.rows, w.key, w.value, row)
	}
	if err != nil {
		return err
	}
	for _, m := range w.indexes {
		if err := m.entriesOf(ctx, &w.is, row, w.key[len(w.rows.prefix):]); err != nil {
			return w.withTable(m.layout, err)
		}
		for i := range w.is.all() {
			if err := w.putEntry(ctx, tx, m, &w.is.list[i], row); err != nil {
				return err
			}
		}
	}
	return w.callHook(ctx, nil, row)
}

// encode makes key and value of a new row. fresh reports whether it got a row ID, which is then set
// in row.
func (w *Writer) encode(ctx context.Context, row []types.Datum) (fresh bool, err error) {
	if w.rowID >= 0 && row[w.rowID].Null {
		id, err := w.alloc.NextRowID(ctx, w.d.ID)
		if err != nil {
			return false, err
		}
		row[w.rowID] = types.NewInt(id)
		fresh = true
	}
	if err := w.CheckNulls(row); err != nil {
		return false, err
	}
	if w.key, err = w.rows.rowKey(w.key[:0], row); err != nil {
		return false, err
	}
	w.value, err = w.rows.rowValue(w.value[:0], row)
	return fresh, err
}

// Encode calls emit with what Insert would write: first the row, in list zero, then the entries in
// each index that has entries of its own, in lists from one on. It is for bulk loads; the caller
// checks unique keys. The slices are valid only during the call of emit.
func (w *Writer) Encode(ctx context.Context, row []types.Datum,
	emit func(list int, key, value []byte)) error {
	if w.err != nil {
		return w.err
	}
	if _, err := w.encode(ctx, row); err != nil {
		return err
	}
	emit(0, w.key, w.value)
	for i, m := range w.indexes {
		if err := m.entriesOf(ctx, &w.is, row, w.key[len(w.rows.prefix):]); err != nil {
			return w.withTable(m.layout, err)
		}
		for _, e := range w.is.all() {
			emit(1+i, e.key, e.value)
		}
	}
	return nil
}

// insertUnique writes a key that no other row may have.
func (w *Writer) insertUnique(ctx context.Context, tx *txn.Txn, l *layout, key, value []byte,
	row []types.Datum) error {
	done, err := w.lockInsert(ctx, tx, l, key, value, row)
	if done || err != nil {
		return err
	}
	have, err := tx.Peek(ctx, key)
	if err != nil {
		return err
	}
	if have != nil {
		return duplicateOf(tx, w.d, l, key, 0, row)
	}
	if l == w.rows {
		w.notifyNew(tx, key)
	}
	// Insert makes a transaction that writes the same key meanwhile conflict with this one.
	return tx.Insert(key, value)
}

// putEntry writes an entry that the row did not have before: it holds the row key, so no other row
// had it.
func (w *Writer) putEntry(ctx context.Context, tx *txn.Txn, m *entryMaker, e *entry,
	row []types.Datum) error {
	l := m.layout
	if l.exclusion != nil {
		if err := w.exclude(ctx, tx, m, e, row); err != nil {
			return err
		}
	}
	switch {
	case e.unique && l.deferrable && w.keys != nil:
		return w.putDeferrable(ctx, tx, l, e)
	case e.unique:
		return w.insertUnique(ctx, tx, l, e.key, e.value, row)
	case w.removed != 0:
		return tx.InsertAfter(w.removed, e.key, e.value)
	}
	return tx.SetNew(e.key, e.value)
}

// Update replaces a row: old as it was read, in full, and new as it becomes. Only the index entries
// that differ are touched.
func (w *Writer) Update(ctx context.Context, tx *txn.Txn, old, new []types.Datum) error {
	if err := w.begin(ctx, tx); err != nil {
		return err
	}
	if err := w.CheckNulls(new); err != nil {
		return err
	}
	var err error
	if w.key, err = w.rows.rowKey(w.key[:0], old); err != nil {
		return err
	}
	if w.next, err = w.rows.rowKey(w.next[:0], new); err != nil {
		return err
	}
	if w.value, err = w.rows.rowValue(w.value[:0], new); err != nil {
		return err
	}
	w.removed = 0
	if err := w.lockUpdate(ctx, tx, old, new); err != nil {
		return err
	}
	if err := w.replaceRow(ctx, tx, old, new); err != nil {
		return err
	}
	for _, m := range w.indexes {
		if err := w.updateEntries(ctx, tx, m, old, new); err != nil {
			return err
		}
	}
	return w.callHook(ctx, old, new)
}

// replaceRow writes the row itself: w.value under the key w.next instead of w.key.
func (w *Writer) replaceRow(ctx context.Context, tx *txn.Txn, old, new []types.Datum) error {
	if bytes.Equal(w.key, w.next) {
		if err := w.notifyChanged(tx, old, new); err != nil {
			return err
		}
		return tx.Set(w.key, w.value)
	}
	if err := w.deleteRow(tx, old); err != nil {
		return err
	}
	return w.insertUnique(ctx, tx, w.rows, w.next, w.value, new)
}

// deleteRow removes the row itself, whose key is w.key.
func (w *Writer) deleteRow(tx *txn.Txn, old []types.Datum) error {
	if err := w.notifyGone(tx, old); err != nil {
		return err
	}
	return tx.Delete(w.key)
}

// updateEntries removes the entries that only the old row has, and writes those that the new one
// has otherwise or alone.
func (w *Writer) updateEntries(ctx context.Context, tx *txn.Txn, m *entryMaker, old,
	new []types.Datum) error {
	if m.gin != nil && m.sameKeys(old, new) && bytes.Equal(w.key, w.next) {
		return nil
	}
	n := len(w.rows.prefix)
	if err := w.oldEntries(ctx, tx, m, old, w.key[n:]); err != nil {
		return err
	}
	if err := m.entriesOf(ctx, &w.is, new, w.next[n:]); err != nil {
		return w.withTable(m.layout, err)
	}
	for _, e := range w.was.all() {
		if w.is.has(e.key) {
			continue
		}
		if err := tx.Delete(e.key); err != nil {
			return err
		}
	}
	was := w.was.all()
	for i := range w.is.all() {
		e := &w.is.list[i]
		for len(was) > 0 && bytes.Compare(was[0].key, e.key) < 0 {
			was = was[1:]
		}
		var err error
		switch {
		case len(was) == 0 || !bytes.Equal(was[0].key, e.key):
			err = w.putEntry(ctx, tx, m, e, new)
		case !bytes.Equal(was[0].value, e.value):
			err = tx.Set(e.key, e.value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Delete removes a row, given in full, with its index entries.
func (w *Writer) Delete(ctx context.Context, tx *txn.Txn, old []types.Datum) error {
	if err := w.begin(ctx, tx); err != nil {
		return err
	}
	var err error
	if w.key, err = w.rows.rowKey(w.key[:0], old); err != nil {
		return err
	}
	if err := w.lockDelete(ctx, tx, old); err != nil {
		return err
	}
	if err := w.deleteRow(tx, old); err != nil {
		return err
	}
	for _, m := range w.indexes {
		if err := w.oldEntries(ctx, tx, m, old, w.key[len(w.rows.prefix):]); err != nil {
			return err
		}
		for _, e := range w.was.all() {
			if err := tx.Delete(e.key); err != nil {
				return err
			}
		}
	}
	return w.callHook(ctx, old, nil)
}

// Conflict finds a row that has the same unique key as row, as ON CONFLICT asks: in the indexes
// named by arbiters, or with nil in any. existing is the whole row, ix the index that has the key.
func (w *Writer) Conflict(ctx context.Context, tx *txn.Txn, row []types.Datum,
	arbiters []IndexID) (existing []types.Datum, ix *Index, found bool, err error) {
	if w.err != nil {
		return nil, nil, false, w.err
	}
	for i, m := range w.all {
		ix := &w.d.Indexes[i]
		if !ix.Unique && !ix.Primary && !ix.Exclusion() ||
			arbiters != nil && !slices.Contains(arbiters, ix.ID) {
			continue
		}
		if ix.Deferrable {
			return nil, nil, false, deferredArbiter(w.d, ix)
		}
		find := w.holder
		if ix.Exclusion() {
			find = w.excludedBy
		}
		existing, found, err := find(ctx, tx, m, row)
		if found || err != nil {
			return existing, ix, found, err
		}
	}
	return nil, nil, false, nil
}

// holder reads the row that has row's key in an index.
func (w *Writer) holder(ctx context.Context, tx *txn.Txn, m *entryMaker,
	row []types.Datum) ([]types.Datum, bool, error) {
	l := m.layout
	key, single, err := m.uniqueKey(ctx, append(w.key[:0], l.prefix...), row)
	if w.key = key; err != nil || !single {
		return nil, false, err
	}
	value, err := tx.GetCurrent(ctx, key)
	if err != nil {
		return nil, false, err
	}
	if err := w.lockArbiter(ctx, tx, key, value != nil); err != nil || value == nil {
		return nil, false, err
	}
	if l != w.rows {
		rowKey, _, err := l.splitAfterKey(nil, value)
		if err != nil {
			return nil, false, err
		}
		w.key = append(append(w.key[:0], w.rows.prefix...), rowKey...)
		if value, err = tx.GetCurrent(ctx, w.key); err != nil {
			return nil, false, err
		}
		if value == nil {
			return nil, false, fmt.Errorf("index %q of table %q: entry without row: %w",
				l.index.Name, w.d.Name, kv.ErrCorruption)
		}
	}
	existing := make([]types.Datum, len(w.d.Columns))
	dec := wholeDecoder(w.rows)
	return existing, true, dec.row(w.key[len(w.rows.prefix):], value, existing)
}
