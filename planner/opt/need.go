package opt

import (
	"slices"

	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/acl"
)

// Need is what a statement does with a relation or function that it names: the privileges that it
// needs when it runs. Columns matter where the privilege on the whole relation is missing.
type Need struct {
	Relation table.ID
	// Routine is set in place of Relation where EXECUTE on a function or aggregate is needed.
	Routine table.ID
	// As is the owner of the view in whose text the relation is named; 0: the role that runs the
	// statement.
	As   acl.RoleID
	Want acl.Privileges
	// The columns that are read, inserted and updated.
	Selected, Inserted, Updated []table.ColumnID
}

// Select notes that a column is read.
func (n *Need) Select(c table.ColumnID) {
	n.Want |= acl.Select
	n.Selected = addColumn(n.Selected, c)
}

// Insert notes that a column gets a value in new rows.
func (n *Need) Insert(c table.ColumnID) {
	n.Want |= acl.Insert
	n.Inserted = addColumn(n.Inserted, c)
}

// Update notes that a column is changed.
func (n *Need) Update(c table.ColumnID) {
	n.Want |= acl.Update
	n.Updated = addColumn(n.Updated, c)
}

func addColumn(list []table.ColumnID, c table.ColumnID) []table.ColumnID {
	if slices.Contains(list, c) {
		return list
	}
	return append(list, c)
}
