package table

import (
	"context"

	"github.com/minidb/minidb/table/types"
)

// EntryBuilder makes the index entries of rows, for code that writes or verifies a whole index.
type EntryBuilder struct {
	rows  *layout
	index *entryMaker
	key   []byte
	made  entryList
	out   []Entry
}

// Entry is an index entry. Its slices are good until the next one is made.
type Entry struct {
	Key, Value []byte
	// Unique: no other row may have this key.
	Unique bool
}

// NewEntryBuilder prepares entries of ix, which need not be in d yet.
func NewEntryBuilder(d *Desc, ix *Index) (*EntryBuilder, error) {
	rows, err := layoutOf(d, nil)
	if err != nil {
		return nil, err
	}
	index, err := layoutOf(d, ix)
	if err != nil {
		return nil, err
	}
	return &EntryBuilder{rows: rows, index: index.maker()}, nil
}

// Entries makes the entries of a row given in full, in the order of their keys: none if the row is
// outside of a partial index. For the rows' own index it is the row. The result is valid until the
// next call.
func (b *EntryBuilder) Entries(ctx context.Context, row []types.Datum) ([]Entry, error) {
	var err error
	if b.key, err = b.rows.rowKey(b.key[:0], row); err != nil {
		return nil, err
	}
	b.out = b.out[:0]
	if b.index.index == nil {
		e := b.made.add()
		b.made.n = 0
		e.value, err = b.rows.rowValue(e.value[:0], row)
		return append(b.out, Entry{Key: b.key, Value: e.value, Unique: true}), err
	}
	if err := b.index.entriesOf(ctx, &b.made, row, b.key[len(b.rows.prefix):]); err != nil {
		return nil, err
	}
	for _, e := range b.made.all() {
		b.out = append(b.out, Entry{Key: e.key, Value: e.value, Unique: e.unique})
	}
	return b.out, nil
}

// RowKeyOf returns the whole key of the row that an entry of ix points to.
func RowKeyOf(d *Desc, ix *Index, key, value []byte) ([]byte, error) {
	l, err := layoutOf(d, ix)
	if err != nil {
		return nil, err
	}
	rowKey, _, err := l.splitEntry(key[len(l.prefix):], value)
	if err != nil {
		return nil, err
	}
	return append(d.indexPrefix(RowIndexID), rowKey...), nil
}

// DecodeRow reads a whole row from its key and value.
func DecodeRow(d *Desc, key, value []byte) ([]types.Datum, error) {
	l, err := layoutOf(d, nil)
	if err != nil {
		return nil, err
	}
	row := make([]types.Datum, len(d.Columns))
	return row, wholeDecoder(l).row(key[len(l.prefix):], value, row)
}
