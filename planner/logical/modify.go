package logical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// Insert writes the child's rows. ChildCols lists the child's column for each column of Desc.
type Insert struct {
	Desc      *table.Desc
	Child     Node
	ChildCols []ColID
	// Row is the first of the IDs of the columns of the written row, which Checks and Returning
	// read.
	Row        ColID // the first of them, as Scan.First
	Checks     []opt.Check
	OnConflict *OnConflict
	Returning  []Item
	HasRows    bool // RETURNING was written
	cols       []ColID
}

// OnConflict is what happens when a row exists already. Set and Where read the existing row
// (columns from Existing on) and the row that was to be inserted (from Excluded on).
type OnConflict struct {
	Arbiters           []table.IndexID
	Update             bool
	Existing, Excluded ColID
	Set                []opt.Assign
	Where              expr.Expr
}

// Update changes the rows of a Scan of Desc within Child. Old is the Scan's First; Row is the first
// of the IDs of the new row's columns.
type Update struct {
	Desc      *table.Desc
	Child     Node
	Old, Row  ColID
	Set       []opt.Assign
	Checks    []opt.Check
	Returning []Item
	HasRows   bool
	cols      []ColID
}

// Delete removes the rows of a Scan of Desc within Child; Old is the Scan's First.
type Delete struct {
	Desc      *table.Desc
	Child     Node
	Old       ColID
	Returning []Item
	HasRows   bool
	cols      []ColID
}

// LockRows locks the rows of Scans within Child.
type LockRows struct {
	Child  Node
	Tables []LockTarget
}

// LockTarget is one table to lock: First is that of its Scan.
type LockTarget struct {
	Desc     *table.Desc
	First    ColID
	Strength string
	Wait     string
}

// Columns implements Node.
func (n *Insert) Columns() []ColID {
	n.cols = itemIDs(n.cols[:0], n.Returning)
	return n.cols
}

// Columns implements Node.
func (n *Update) Columns() []ColID {
	n.cols = itemIDs(n.cols[:0], n.Returning)
	return n.cols
}

// Columns implements Node.
func (n *Delete) Columns() []ColID {
	n.cols = itemIDs(n.cols[:0], n.Returning)
	return n.cols
}

// Columns implements Node.
func (n *LockRows) Columns() []ColID { return n.Child.Columns() }
