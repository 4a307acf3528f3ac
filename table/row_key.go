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
	for i, c := range d.PrimaryKey().Columns {
		row[d.ColumnByID(c.ColumnID)] = key[i]
	}
	return l.rowKey(nil, row)
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
	for _, c := range d.PrimaryKey().Columns {
		cols = append(cols, d.Columns[d.ColumnByID(c.ColumnID)])
	}
	return cols, values, nil
}
