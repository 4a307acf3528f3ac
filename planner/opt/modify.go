package opt

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
)

// Check is a CHECK constraint bound over a table's row (its columns in order).
type Check struct {
	Name string
	Cond expr.Expr
}

// Assign sets column Column (ordinal of Table.Columns) to Expr.
type Assign struct {
	Column int
	Expr   expr.Expr
}

// TableVersion names the version of a descriptor, and says what the plan does with the relation.
type TableVersion struct {
	ID      table.ID
	Version uint64
	Use     Use
}

// Use is what a plan does with a relation. Each includes those before it.
type Use uint8

// The uses.
const (
	Reads     Use = iota
	LocksRows     // FOR UPDATE and its like
	Modifies
)
