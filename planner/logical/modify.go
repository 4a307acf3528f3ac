package logical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// Insert writes the child's rows. ChildCols lists the child's column for each column of Desc.
type Insert struct {
	Desc      *table.Desc
	Alias     string // of the statement, or ""
	Child     Node
	ChildCols []ColID
	// Row is the first of the IDs of the columns of the written row, which Checks and Returning
	// read.
	Row        ColID // the first of them, as Scan.First
	Checks     []opt.Check
	ViewChecks []opt.Check // of the views through which the row goes, by their names
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
	Generated          []opt.Assign // over the row that it becomes, once Set has made it
	Where              expr.Expr
	// Targets are the conditions of policies on the existing row, Checks those on the row that it
	// becomes, whose columns begin at Row. Checks of the Insert that are constraints hold for that
	// row too.
	Targets, Checks []opt.Check
	Row             ColID
}

// Update changes the rows of a Scan of Desc within Child. Old is the Scan's First; Row is the first
// of the IDs of the new row's columns.
type Update struct {
	Desc     *table.Desc
	Alias    string // of the statement, or ""
	Child    Node
	Old, Row ColID
	Set      []opt.Assign
	// Generated reads the new row, once Set has made it.
	Generated []opt.Assign
	Checks    []opt.Check
	// ViewChecks are those of the views through which the row goes, by their names.
	ViewChecks []opt.Check
	Returning  []Item
	HasRows    bool
	cols       []ColID
}

// Delete removes the rows of a Scan of Desc within Child; Old is the Scan's First.
type Delete struct {
	Desc      *table.Desc
	Alias     string // of the statement, or ""
	Child     Node
	Old       ColID
	Returning []Item
	HasRows   bool
	cols      []ColID
}

// Merge inserts, changes and removes rows of Desc. Child joins the source with a Scan of Desc,
// whose First is Old and whose columns are NULL where a row of the source has no match. Row is the
// first of the IDs of a written row's columns, which Checks and Generated of the actions read.
type Merge struct {
	Desc     *table.Desc
	Alias    string
	Child    Node
	Old, Row ColID
	Actions  []opt.MergeAction
	Checks   []opt.Check
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
func (n *Merge) Columns() []ColID { return nil }

// Columns implements Node.
func (n *LockRows) Columns() []ColID { return n.Child.Columns() }
