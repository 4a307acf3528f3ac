package opt

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
)

// JoinKind is the kind of a join.
type JoinKind uint8

// The kinds. Semi and Anti output left columns only. NullAnti is the NULL-aware anti join of NOT
// IN: a comparison with NULL is unknown, so that it drops the left row, as a match does.
const (
	Inner JoinKind = iota
	Left
	Right
	Full
	Semi
	Anti
	NullAnti
)

// String returns the name that EXPLAIN uses.
func (k JoinKind) String() string {
	return [...]string{"Inner", "Left", "Right", "Full", "Semi", "Anti", "Null-Aware Anti"}[k]
}

// Position lists which columns of a cursor's result are the key of a row of a table. WHERE CURRENT
// OF finds the row by it. These columns are behind those that the query names, and no client sees
// them.
type Position struct {
	Table   table.ID
	First   int // the first of the columns
	Columns int
	Locked  bool // the cursor locks the row: FOR UPDATE or FOR SHARE
}

// SortKey orders by an expression.
type SortKey struct {
	Expr       expr.Expr
	Desc       bool
	NullsFirst bool
}

// Agg is one aggregate call.
type Agg struct {
	Func     *expr.Aggregate
	Args     []expr.Expr
	Direct   []expr.Expr // direct arguments of WITHIN GROUP aggregates
	Distinct bool
	OrderBy  []SortKey
	Filter   expr.Expr
}

// WindowCall is one window call: an aggregate over the frame, or a window function by name.
type WindowCall struct {
	Agg   *expr.Aggregate
	Name  string
	Args  []expr.Expr
	Frame Frame
}

// Frame is a bound window frame; offsets are constant expressions.
type Frame struct {
	Mode               string
	StartKind, EndKind string
	Start, End         expr.Expr
	Exclude            string
}
