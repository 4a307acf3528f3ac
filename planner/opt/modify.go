package opt

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
)

// Check is a CHECK constraint, bound over a table's row: columns are ordinals of the row.
type Check struct {
	Name string
	Cond expr.Expr
}

// Assign sets column Column (ordinal of Table.Columns) to Expr.
type Assign struct {
	Column int
	Expr   expr.Expr
}

// TableVersion names the version of a descriptor that a plan was made for, and how the plan uses
// the relation.
type TableVersion struct {
	ID      table.ID
	Version uint64
	Use     Use
}

// Use is how a plan uses a relation. Each use includes those before it.
type Use uint8

// The uses.
const (
	Reads     Use = iota
	LocksRows     // by FOR UPDATE and the like
	Modifies
)
