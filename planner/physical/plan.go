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
	// Table and Attr say which table column it is, for RowDescription; 0 when it is none.
	Table table.ID
	Attr  int // ordinal from 1
}

// Node is a physical operator.
type Node interface {
	Columns() []Column
	Children() []Node
	// Est is the planner's estimate, for EXPLAIN.
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

// Plan is a whole statement's plan.
type Plan struct {
	Root Node
	// Slots is the number of variables (expr.Var) that the statement uses.
	Slots int
	// ParamTypes are the types of $1…, as inferred or declared.
	ParamTypes []*types.Type
	// CTEs are the WITH queries that are materialised, in the order of their evaluation.
	CTEs []CTE
	// Tables lists every relation read or written, with the versions it was planned on: a cached
	// plan is good while all of them are current.
	Tables []opt.TableVersion
	// NoCache is set when planning used something that holds for this moment only, such as the
	// value of 'now'::timestamp: the plan serves one statement.
	NoCache bool
	// References says that it writes a table with foreign keys, of its own or to it.
	References bool
	// Lasting says that it calls a function whose effect stays when the transaction is rolled back,
	// such as a session's advisory lock: an attempt that fails cannot be made undone.
	Lasting  bool
	ReadOnly bool // writes nothing and calls no function that writes (nextval, setval)
}

// CTE is one materialised WITH query. A recursive one has Recursive set: Plan is the first term,
// Recursive the second, which reads the last round's rows through a CTEScan of the same ID with
// WorkTable set.
type CTE struct {
	ID        int
	Name      string
	Plan      Node
	Recursive Node
	UnionAll  bool
	Modifies  bool
}
