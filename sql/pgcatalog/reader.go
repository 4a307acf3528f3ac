package pgcatalog

import (
	"context"
	"slices"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/types"
)

// reader reads the schema for one scan of a virtual table.
type reader struct {
	ctx    context.Context
	env    Env
	wanted map[string]int // has the columns that are read
}

// wants reports whether one of the columns is read.
func (r *reader) wants(columns ...string) bool {
	return slices.ContainsFunc(columns, func(c string) bool {
		_, ok := r.wanted[c]
		return ok
	})
}

func (r *reader) database() table.ID {
	id, _ := r.env.Database()
	return id
}

// relations lists tables, views and sequences of the database.
func (r *reader) relations() ([]*table.Desc, error) {
	return r.env.View().Relations(r.ctx, r.database())
}

// eachRelation calls f for the relations of the database, the virtual ones aside.
func (r *reader) eachRelation(f func(d *table.Desc) error) error {
	rels, err := r.relations()
	if err != nil {
		return err
	}
	for _, d := range rels {
		if err := f(d); err != nil {
			return err
		}
	}
	return nil
}

// eachIndex calls f for every index of the database's tables.
func (r *reader) eachIndex(f func(d *table.Desc, ix *table.Index) error) error {
	return r.eachRelation(func(d *table.Desc) error {
		for i := range d.Indexes {
			if err := f(d, &d.Indexes[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (r *reader) schemas() ([]catalog.Schema, error) {
	return r.env.View().Schemas(r.ctx, r.database())
}

// ownerID is the OID of the one role, as PostgreSQL's first.
const ownerID = 10

// Object IDs of what descriptors hold without an ID of its own: made from the table's and a number,
// in ranges far above those of the catalog.
const (
	checkBase   = 0x4000_0000
	defaultBase = 0xC000_0000
	perTable    = 1 << 8 // 256 of each kind have IDs of their own
	tablesTried = 16     // tables whose derived IDs are the same: 2^22 apart
)

func derivedID(base uint32, t table.ID, n int) table.ID {
	return table.ID(base + uint32(t)%(1<<22)*perTable + uint32(n)%perTable)
}

// tablesOfDerived lists the tables whose derived IDs may be id: only with millions of objects there
// is more than one.
func tablesOfDerived(base uint32, id table.ID) []table.ID {
	if uint32(id) < base || uint32(id)-base >= 1<<22*perTable {
		return nil
	}
	first := (uint32(id) - base) / perTable
	out := make([]table.ID, 0, tablesTried)
	for i := range uint32(tablesTried) {
		out = append(out, table.ID(first+i<<22))
	}
	return out
}

// attnum is the column's number in pg_attribute: its place among the visible columns.
func attnum(d *table.Desc, id table.ColumnID) int {
	n := 0
	for i := range d.Columns {
		if d.Columns[i].Hidden {
			continue
		}
		n++
		if d.Columns[i].ID == id {
			return n
		}
	}
	return 0
}

func attnums(d *table.Desc, ids []table.ColumnID) []int {
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = attnum(d, id)
	}
	return out
}

// visibleColumns are the columns that SQL sees; those of a sequence are its state.
func visibleColumns(d *table.Desc) []table.Column {
	if d.Kind == table.KindSequence {
		return sequenceColumns
	}
	out := make([]table.Column, 0, len(d.Columns))
	for _, c := range d.Columns {
		if !c.Hidden {
			out = append(out, c)
		}
	}
	return out
}

var sequenceColumns = []table.Column{
	{ID: 1, Name: "last_value", Type: types.TInt8, NotNull: true},
	{ID: 2, Name: "log_cnt", Type: types.TInt8, NotNull: true},
	{ID: 3, Name: "is_called", Type: types.TBool, NotNull: true},
}

// hasDefault reports whether pg_attrdef has the column.
func hasDefault(c *table.Column) bool {
	return c.Generated != "" || c.Identity == "" && c.DefaultText != ""
}

// indexColumnIDs are the key columns of an index, 0 for expressions.
func indexColumnIDs(ix *table.Index) []table.ColumnID {
	out := make([]table.ColumnID, len(ix.Columns))
	for i, c := range ix.Columns {
		out[i] = c.ColumnID
	}
	return out
}
