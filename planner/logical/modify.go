package logical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// Insert writes the child's rows. ChildCols has the child's column for each column of Desc.
type Insert struct {
	Desc      *table.Desc
	Child     Node
	ChildCols []ColID
	// Row are IDs for the columns of the row as written: Checks and Returning speak of them.
	Row        ColID // the first of them, as Scan.First
	Checks     []opt.Check
	OnConflict *OnConflict
	Returning  []Item
	HasRows    bool // RETURNING was written
	cols       []ColID
}

// OnConflict is what to do instead of a row that exists: Set and Where speak of the existing row
// (columns from Existing on) and the one that was to be inserted (from Excluded on).
type OnConflict struct {
	Arbiters           []table.IndexID
	Update             bool
	Existing, Excluded ColID
	Set                []opt.Assign
	Where              expr.Expr
}

// Update changes the rows of a Scan of Desc inside of Child. Old is the Scan's First; Row the IDs
// of the new row's columns.
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

// Delete removes the rows of a Scan of Desc inside of Child; Old is the Scan's First.
type Delete struct {
	Desc      *table.Desc
	Child     Node
	Old       ColID
	Returning []Item
	HasRows   bool
	cols      []ColID
}

// LockRows locks the rows of Scans inside of Child.
type LockRows struct {
	Child  Node
	Tables []LockTarget
}

// LockTarget is one table to lock: First is its Scan's.
type LockTarget struct {
	Desc     *table.Desc
	First    ColID
	Strength string
	Wait     string
}

// Columns is part of Node.
func (n *Insert) Columns() []ColID {
	n.cols = itemIDs(n.cols[:0], n.Returning)
	return n.cols
}

// Columns is part of Node.
func (n *Update) Columns() []ColID {
	n.cols = itemIDs(n.cols[:0], n.Returning)
	return n.cols
}

// Columns is part of Node.
func (n *Delete) Columns() []ColID {
	n.cols = itemIDs(n.cols[:0], n.Returning)
	return n.cols
}

// Columns is part of Node.
func (n *LockRows) Columns() []ColID { return n.Child.Columns() }
