package catalog

import (
	"fmt"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
	"github.com/minidb/minidb/txn/observer"
)

// RowChange is what a run of an observer sees of a row.
type RowChange struct {
	// Row is the row as it is, Before as it was at the last run; nil: there is, or was, none.
	Row, Before *RowImage
	// Key is the primary key, nil of a table without one.
	KeyColumns []table.Column
	Key        []types.Datum
	// Same: since the last run one transaction has written the row, and left the observed columns
	// as they were, or the row as little there. After several the function runs whatever they come
	// to: an earlier run, which did not commit, may have shown to others what was in between.
	Same bool
}

// Change decodes a change. The result shares nothing with it.
func (o Observed) Change(c *observer.Change) (out RowChange, err error) {
	if out.Row, err = newRowImage(o.Table, c.Key, c.Value); err != nil {
		return out, err
	}
	then, key, err := o.Former(c)
	if err != nil {
		return out, err
	}
	old, err := newRowImage(then, key, c.Old)
	if err != nil {
		return out, err
	}
	if !o.Observer.Backfill || c.Previous != 0 {
		out.Before = old
	}
	switch {
	case c.Several || (out.Before == nil) != (out.Row == nil):
	case out.Row == nil:
		out.Same = true
	default:
		out.Same = !o.Observer.ChangedSince(then, out.Before.whole(), o.Table, out.Row.whole())
	}
	for _, some := range []*RowImage{out.Row, old} {
		if some != nil && out.Key == nil {
			out.KeyColumns, out.Key = some.key()
		}
	}
	if out.Key == nil && then.RowPrimaryKey() != nil { // there is no row
		out.KeyColumns, out.Key, err = table.DecodeRowKey(then, key)
	}
	return out, err
}

// GenerationsMax bounds a chain of observers that leads back to itself.
const GenerationsMax = 100

// Endless is the error of a run that is given up because of its generation. It names the observers
// that ran before it, of all.
func (o Observed) Endless(c *observer.Change, all []Observed) error {
	names := map[uint32]string{}
	for _, x := range all {
		names[uint32(x.Observer.ID)] = x.Observer.Name
	}
	path := ""
	for _, id := range c.Path.Observers() {
		name, there := names[id]
		if !there {
			name = fmt.Sprintf("observer %d, which is dropped", id)
		}
		path += name + " → "
	}
	return fmt.Errorf("minidb: observer %q runs because of a change that %d runs of observers led "+
		"to, one after the other, at last … → %s%s: does one of them observe what it writes?",
		o.Observer.Name, c.Generation, path, o.Observer.Name)
}

// RowImage is a row by the descriptor that it was written by.
type RowImage struct {
	// Columns are the visible columns, in the order of the table.
	Columns []table.Column
	Values  []types.Datum // one for each of Columns

	desc     *table.Desc
	ordinals []int
}

// newRowImage decodes a row; nil for none, with a nil value.
func newRowImage(d *table.Desc, key, value []byte) (*RowImage, error) {
	if value == nil {
		return nil, nil
	}
	dec, err := table.NewRowDecoder(d)
	if err != nil {
		return nil, err
	}
	m := &RowImage{desc: d, ordinals: dec.Columns()}
	for _, at := range m.ordinals {
		m.Columns = append(m.Columns, d.Columns[at])
	}
	m.Values, err = dec.Decode(key, value)
	return m, err
}

// whole returns the row with a datum for each column of the descriptor.
func (m *RowImage) whole() []types.Datum {
	row := make([]types.Datum, len(m.desc.Columns))
	for k, at := range m.ordinals {
		row[at] = m.Values[k]
	}
	return row
}

// key returns the primary key; nil without one.
func (m *RowImage) key() (cols []table.Column, values []types.Datum) {
	pk := m.desc.RowPrimaryKey()
	if pk == nil {
		return nil, nil
	}
	row := m.whole()
	for _, c := range pk.Columns {
		at := m.desc.ColumnByID(c.ColumnID)
		cols, values = append(cols, m.desc.Columns[at]), append(values, row[at])
	}
	return cols, values
}
