package table

import (
	"github.com/minidb/minidb/table/types"
)

// RowKey returns the whole key of the row of d with the values of a primary key, which are in its
// order and of the types of its columns.
func RowKey(d *Desc, key []types.Datum) ([]byte, error) {
	l, err := layoutOf(d, nil)
	if err != nil {
		return nil, err
	}
	row := make([]types.Datum, len(d.Columns))
	for i, c := range d.RowPrimaryKey().Columns {
		row[d.ColumnByID(c.ColumnID)] = key[i]
	}
	return l.rowKey(nil, row)
}

// KeyOf returns the key of the row of d with these values of d.RowKey, whole and without the prefix
// that all rows of the table have.
func KeyOf(d *Desc, values []types.Datum) (key, own []byte, err error) {
	l, err := layoutOf(d, nil)
	if err != nil {
		return nil, nil, err
	}
	row := make([]types.Datum, len(d.Columns))
	for i, c := range d.RowKey {
		row[d.ColumnByID(c.ColumnID)] = values[i]
	}
	if key, err = l.rowKey(nil, row); err != nil {
		return nil, nil, err
	}
	return key, key[len(l.prefix):], nil
}

// DecodeRowKey reads the primary key from the whole key of a row.
func DecodeRowKey(d *Desc, key []byte) (cols []Column, values []types.Datum, err error) {
	l, err := layoutOf(d, nil)
	if err != nil {
		return nil, nil, err
	}
	rest, err := l.restOf(key)
	for i := 0; i < len(l.key) && err == nil; i++ {
		var v types.Datum
		v, rest, err = l.key[i].read(rest)
		values = append(values, v)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, c := range d.RowPrimaryKey().Columns {
		cols = append(cols, d.Columns[d.ColumnByID(c.ColumnID)])
	}
	return cols, values, nil
}
