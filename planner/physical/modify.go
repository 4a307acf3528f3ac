package physical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// Insert writes the rows of Child, which has one column per column of Table, in order and of its
// type: Child computes defaults and casts. The operator makes a hidden rowid column (Child has NULL
// there). It verifies NOT NULL and Checks for each row. Output: Returning over the row.
type Insert struct {
	Base
	Table      *table.Desc
	Alias      string // of the statement, or ""
	Child      Node
	Checks     []opt.Check
	ViewChecks []opt.Check // tested once the row is written; NULL does not pass
	OnConflict *OnConflict
	Returning  []expr.Expr // nil: no output rows
}

// OnConflict is what happens to a row that violates a unique index.
type OnConflict struct {
	// Arbiters are the unique indexes whose violations are handled; nil: all.
	Arbiters []table.IndexID
	// Update is false for DO NOTHING. Set and Where read the existing row followed by the excluded
	// one.
	Update bool
	Set    []opt.Assign
	Where  expr.Expr
	// Generated reads the row that the existing one becomes, once Set has made it.
	Generated []opt.Assign
	// Targets are the policies' conditions on the existing row, Checks those on the changed one.
	Targets, Checks []opt.Check
}

// Update changes rows. Child's first columns are all columns of Table, hidden ones included, in
// order; more may follow (FROM). Set reads Child's row, and Checks read the new row. Returning
// reads the new row followed by Child's further columns. A row that appears twice is changed once.
type Update struct {
	Base
	Table *table.Desc
	Alias string // of the statement, or ""
	Child Node
	Set   []opt.Assign
	// Generated reads the new row, once Set has made it.
	Generated []opt.Assign
	Checks    []opt.Check
	// ViewChecks are as of Insert.
	ViewChecks []opt.Check
	Returning  []expr.Expr
}

// Delete removes rows. Child is as for Update; Returning reads Child's row.
type Delete struct {
	Base
	Table     *table.Desc
	Alias     string // of the statement, or ""
	Child     Node
	Returning []expr.Expr
}

// Merge inserts, changes and removes rows of Table. Child is as for Update, and the columns of
// Table are NULL in a row without a match. Of Actions, Cond and Set read Child's row, and Generated
// reads the new row, as Checks do. Output: none.
type Merge struct {
	Base
	Table   *table.Desc
	Alias   string
	Child   Node
	Actions []opt.MergeAction
	Checks  []opt.Check
}

// Refresh makes the rows of Table, a materialized view with a unique index, those of Child, and
// writes only those that differ. Child has one column per column of Table, in order and of its
// type, NULL for the hidden one; Old reads all columns of all rows of Table. Output: none. The
// session makes it for REFRESH … CONCURRENTLY; no statement is planned to it.
type Refresh struct {
	Base
	Table *table.Desc
	Child Node
	Old   *Scan
}

func (n *Insert) Children() []Node  { return []Node{n.Child} }
func (n *Update) Children() []Node  { return []Node{n.Child} }
func (n *Delete) Children() []Node  { return []Node{n.Child} }
func (n *Merge) Children() []Node   { return []Node{n.Child} }
func (n *Refresh) Children() []Node { return []Node{n.Child, n.Old} }
