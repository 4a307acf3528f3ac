package physical

import (
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Column is an output column.
type Column struct {
	Name string
	Type *types.Type
	// Table and Attr identify the table column, for RowDescription; 0 when it is not a table's
	// column.
	Table table.ID
	Attr  int // ordinal from 1
}

// Node is a physical operator.
type Node interface {
	Columns() []Column
	Children() []Node
	// Est returns the planner's estimate, for EXPLAIN.
	Est() opt.Estimate
}

// Base is embedded in every node.
type Base struct {
	Cols     []Column
	Estimate opt.Estimate
}

// Columns returns the output columns.
func (b *Base) Columns() []Column { return b.Cols }

// SetColumns replaces the output columns: the planner names those of a whole statement last.
func (b *Base) SetColumns(cols []Column) { b.Cols = cols }

// Est returns the estimate.
func (b *Base) Est() opt.Estimate { return b.Estimate }

// Plan is the plan of a whole statement.
type Plan struct {
	Root Node
	// Slots is the number of variables (expr.Var) that the statement uses.
	Slots int
	// ParamTypes are the types of $1…, as inferred or declared.
	ParamTypes []*types.Type
	// CTEs are the WITH queries that are materialised, in the order of evaluation.
	CTEs []CTE
	// Tables lists all relations that are read or written, with the versions that the plan was made
	// for: a cached plan is valid while all of them are current.
	Tables []opt.TableVersion
	// Needs are the privileges that running the plan takes, to be checked at each run.
	Needs []*opt.Need
	// RowSecurity is set when a table of the plan has row level security: the plan is for the role
	// for which it was made, and no other.
	RowSecurity bool
	// NoCache is set when planning used a value that holds only for this moment, such as
	// 'now'::timestamp: the plan serves one statement.
	NoCache bool
	// ChecksLater is set when the plan writes a table of which rows may leave checks
	// (table.Desc.ChecksLater).
	ChecksLater bool
	// Lasting is set when the plan calls a function whose effect remains when the transaction is
	// rolled back, such as a session's advisory lock: a failed attempt cannot be undone.
	Lasting  bool
	ReadOnly bool // writes nothing and calls no function that writes (nextval, setval)
	// Positions are those of a cursor's rows.
	Positions []opt.Position
}

// Hidden returns how many columns of the result are there only for WHERE CURRENT OF. They are the
// last ones.
func (p *Plan) Hidden() int {
	n := 0
	for _, at := range p.Positions {
		n += at.Columns
	}
	return n
}

// CTE is a materialised WITH query. In a recursive query Plan is the first term. Recursive is the
// second term, which reads the rows of its last round through a CTEScan of the same ID with
// WorkTable set.
type CTE struct {
	ID        int
	Name      string
	Plan      Node
	Recursive Node
	UnionAll  bool
	Modifies  bool
}
