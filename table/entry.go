package table

import "github.com/minidb/minidb/table/types"

// EntryBuilder makes the index entries of rows, for code that writes or verifies a whole index.
type EntryBuilder struct {
	rows, index *layout
	key         []byte
	e           entry
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
	return &EntryBuilder{rows: rows, index: index}, nil
}

// Entry makes the entry of a row given in full. For the rows' own index it is the row.
func (b *EntryBuilder) Entry(row []types.Datum) (Entry, error) {
	var err error
	if b.key, err = b.rows.rowKey(b.key[:0], row); err != nil {
		return Entry{}, err
	}
	if b.index.index == nil {
		if b.e.value, err = b.rows.rowValue(b.e.value[:0], row); err != nil {
			return Entry{}, err
		}
		return Entry{Key: b.key, Value: b.e.value, Unique: true}, nil
	}
	if err := b.index.entry(&b.e, row, b.key[len(b.rows.prefix):]); err != nil {
		return Entry{}, err
	}
	return Entry{Key: b.e.key, Value: b.e.value, Unique: b.e.unique}, nil
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
