package pgcatalog

import (
	"context"
	"iter"
	"slices"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/catalog"
	"github.com/minidb/minidb/table/stats"
	"github.com/minidb/minidb/table/types"
)

// reader reads the schema for one scan of a virtual table. It keeps the first error, and reads
// nothing more after it.
type reader struct {
	ctx    context.Context
	env    Env
	wanted map[string]int // has the columns that are read
	err    error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
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

// relations yields tables, views and sequences of the database.
func (r *reader) relations() iter.Seq[*table.Desc] {
	return func(yield func(*table.Desc) bool) {
		all, err := r.env.View().Relations(r.ctx, r.database())
		r.fail(err)
		for _, d := range all {
			if r.err != nil || !yield(d) {
				return
			}
		}
	}
}

// indexes yields every index of the database's tables, with its table.
func (r *reader) indexes() iter.Seq2[*table.Desc, *table.Index] {
	return func(yield func(*table.Desc, *table.Index) bool) {
		for d := range r.relations() {
			for i := range d.Indexes {
				if !yield(d, &d.Indexes[i]) {
					return
				}
			}
		}
	}
}

// relation returns the relation with the ID; nil: there is none.
func (r *reader) relation(id table.ID) *table.Desc {
	d, err := r.env.View().RelationByID(r.ctx, id)
	r.fail(err)
	return d
}

func (r *reader) schemas() []catalog.Schema {
	all, err := r.env.View().Schemas(r.ctx, r.database())
	r.fail(err)
	return all
}

func (r *reader) databases() []catalog.Database {
	all, err := r.env.View().Databases(r.ctx)
	r.fail(err)
	return all
}

// databaseName is the name of a database by its ID.
func (r *reader) databaseName(id table.ID) (string, bool) {
	for _, db := range r.databases() {
		if db.ID == id {
			return db.Name, true
		}
	}
	return "", false
}

// statistics are what ANALYZE found of a table; nil: it has not run.
func (r *reader) statistics(d *table.Desc) *stats.Table {
	t, err := r.env.TableStatistics(r.ctx, d)
	r.fail(err)
	return t
}

func (r *reader) counters(d *table.Desc) stats.Counters {
	c, err := r.env.TableCounters(r.ctx, d)
	r.fail(err)
	return c
}

// ownerID is the OID of the bootstrap superuser.
const ownerID = 10

// Object IDs of what descriptors hold without an ID of its own: made from the table's and a number,
// in ranges far above those of the catalog.
const (
	checkBase   = 0x4000_0000
	defaultBase = 0xC000_0000
	perTable    = 1 << 8 // 256 of each kind have IDs of their own
	tablesTried = 16     // tables whose derived IDs are the same: 2^22 apart
)

// temporaryBase is how far above the base the derived IDs of temporary tables begin, whose own IDs
// are counted from table.FirstTemporaryID.
const temporaryBase = 1 << 30

func derivedID(base uint32, t table.ID, n int) table.ID {
	if t >= table.FirstTemporaryID {
		base += temporaryBase
	}
	return table.ID(base + uint32(t)%(1<<22)*perTable + uint32(n)%perTable)
}

// tablesOfDerived lists the tables whose derived IDs may be id: more than one only with millions of
// objects.
func tablesOfDerived(base uint32, id table.ID) []table.ID {
	least := table.ID(0)
	if uint32(id)-base >= temporaryBase { // also when it is below the base
		base, least = base+temporaryBase, table.FirstTemporaryID
	}
	if uint32(id)-base >= 1<<22*perTable {
		return nil
	}
	first := least + table.ID((uint32(id)-base)/perTable)
	out := make([]table.ID, 0, tablesTried)
	for i := range uint32(tablesTried) {
		out = append(out, first+table.ID(i<<22))
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
