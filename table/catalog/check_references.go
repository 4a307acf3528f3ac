package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// foreignKeys verifies that both descriptors of a foreign key list it, and that every row refers to
// rows that exist, as far as its foreign keys have been validated.
func (ch *checker) foreignKeys(ctx context.Context) error {
	for _, d := range ch.order {
		for _, id := range d.ReferencedBy {
			child := ch.descs[id]
			if child == nil ||
				!slices.ContainsFunc(child.ForeignKeys,
					func(fk table.ForeignKey) bool { return fk.RefTable == d.ID }) {
				ch.report(Problem{Relation: ch.names[d.ID],
					What: fmt.Sprintf("table %d is said to refer to it and does not", id)})
			}
		}
		for i := range d.ForeignKeys {
			if err := ch.foreignKey(ctx, d, &d.ForeignKeys[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (ch *checker) foreignKey(ctx context.Context, d *table.Desc, fk *table.ForeignKey) error {
	p := Problem{Relation: ch.names[d.ID]}
	parent := ch.descs[fk.RefTable]
	if parent == nil || !slices.Contains(parent.ReferencedBy, d.ID) {
		p.What = fmt.Sprintf("foreign key %q: the table it refers to does not know of it", fk.Name)
		ch.report(p)
		return nil
	}
	ix := parent.ReferencedIndex(fk.RefColumns)
	if ix == nil {
		p.What = fmt.Sprintf("foreign key %q: no unique index serves it", fk.Name)
		ch.report(p)
		return nil
	}
	if fk.NotValid || byTimeZone(d, parent, fk) {
		return nil
	}
	key := referredKey(d, parent, fk, ix)
	r := &referred{tx: ch.tx}
	err := Rows(ctx, ch.tx, d, func(row []types.Datum) error {
		ch.passed(d)
		k, err := key(row)
		if err != nil || k == nil {
			return err
		}
		return r.add(ctx, k)
	})
	if err == nil {
		err = r.flush(ctx)
	}
	if err != nil || !r.missing {
		return err
	}
	// Only now is each row looked at by itself, to name those that refer to nothing.
	return Rows(ctx, ch.tx, d, func(row []types.Datum) error {
		k, err := key(row)
		if err != nil || k == nil {
			return err
		}
		found, err := table.HasKey(ctx, ch.tx, k)
		if err == nil && !found {
			p.What = fmt.Sprintf("row %s refers by %q to a row that does not exist",
				table.FormatRow(d, row), fk.Name)
			ch.report(p)
		}
		return err
	})
}

// referredKey returns what makes the key to which a row of d refers; nil for one that refers to
// nothing.
func referredKey(d, parent *table.Desc, fk *table.ForeignKey, ix *table.Index,
) func(row []types.Datum) ([]byte, error) {
	from, to := make([]int, len(fk.Columns)), make([]*types.Type, len(fk.Columns))
	for i, id := range fk.Columns {
		from[i] = d.ColumnByID(id)
		to[i] = parent.Columns[parent.ColumnByID(fk.RefColumns[i])].Type.WithMod(types.NoMod)
	}
	values := make([]types.Datum, len(from))
	return func(row []types.Datum) ([]byte, error) {
		for i, o := range from {
			if row[o].Null {
				return nil, nil
			}
			v, ok := table.ReferredValue(row[o], d.Columns[o].Type, to[i], nil)
			if !ok {
				return parent.IndexSpan(ix.ID).Start, nil // no row has that key
			}
			values[i] = v
		}
		return table.ReferencedKey(parent, ix, fk.RefColumns, values)
	}
}

// byTimeZone reports whether the time zones of the sessions that wrote the rows decided to which
// rows they refer.
func byTimeZone(d, parent *table.Desc, fk *table.ForeignKey) bool {
	for i, id := range fk.Columns {
		to := parent.Columns[parent.ColumnByID(fk.RefColumns[i])].Type
		if table.ByTimeZone(d.Columns[d.ColumnByID(id)].Type, to) {
			return true
		}
	}
	return false
}
