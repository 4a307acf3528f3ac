package table

import (
	"reflect"

	"github.com/minidb/minidb/txn/tso"
)

// ReadAt returns the descriptor as one that was read at ts, above the timestamp at which the
// transaction reads rows: a transaction that writes rows by it validates it since then.
func (d *Desc) ReadAt(ts tso.Timestamp) *Desc {
	c := *d
	c.readAt = ts
	if p := d.prepared; p != nil && p.owner == d { // the encodings are the same
		c.prepared = &prepared{owner: &c, row: p.row, rows: p.rows, indexes: p.indexes,
			program: p.program}
	}
	return &c
}

// Reconstrained reports whether next, a later descriptor of table d, also describes the rows and
// index entries that were written under d, and promises no more about them. The two then differ
// only in constraints on rows, policies, privileges, observers, comments, names of indexes, and
// columns that may be NULL by now. A column that is NOT NULL only in next may hold NULLs, and plans
// rely on that, so it makes the result false. So does another version of the same descriptor, for
// then all rows were rewritten.
func Reconstrained(d, next *Desc) bool {
	if !d.HasRows() || len(d.Columns) != len(next.Columns) ||
		len(d.Indexes) != len(next.Indexes) {
		return false
	}
	a, b := d.Clone(), next.Clone()
	if a.Version = b.Version; reflect.DeepEqual(a, b) {
		return false
	}
	for i := range a.Columns {
		x, y := &a.Columns[i], &b.Columns[i]
		if y.NotNull && !x.NotNull || !x.Type.Equal(y.Type) || x.Type.Mod != y.Type.Mod ||
			!x.Type.SameDefinition(y.Type) {
			return false
		}
		x.NotNull, x.Type, x.Comment = y.NotNull, y.Type, y.Comment
	}
	for i := range a.Indexes {
		x, y := &a.Indexes[i], &b.Indexes[i]
		x.Name, x.Comment = y.Name, y.Comment
	}
	a.Comment = b.Comment
	a.Checks, a.ForeignKeys, a.ReferencedBy = b.Checks, b.ForeignKeys, b.ReferencedBy
	a.Observers = b.Observers
	a.RowSecurity, a.ForceRowSecurity, a.Policies = b.RowSecurity, b.ForceRowSecurity, b.Policies
	a.Owner, a.ACL = b.Owner, b.ACL
	a.Types, a.Mentioned = b.Types, b.Mentioned
	return reflect.DeepEqual(a, b)
}
