package opt

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
)

// Check is a condition on the rows that a statement writes, bound over a table's row: columns are
// ordinals of the row.
type Check struct {
	Kind CheckKind
	// Name is that of the constraint or of the restrictive policy; "" for the permissive policies,
	// one of which must hold.
	Name string
	Cond expr.Expr
}

// CheckKind is what a check comes from.
type CheckKind uint8

// The kinds of checks. NULL passes a constraint, and does not pass a policy.
const (
	Constraint CheckKind = iota
	NewRow               // policies for new rows
	TargetRow            // policies for the row that ON CONFLICT DO UPDATE changes
	MergedRow            // policies for the row that MERGE changes
)

// Assign sets column Column (ordinal of Table.Columns) to Expr.
type Assign struct {
	Column int
	Expr   expr.Expr
}

// MergeAction is a WHEN clause of MERGE: what happens to a row of the join of source and target,
// with or without a match, for which Cond (nil: always) is true. The first clause that fits takes
// the row.
type MergeAction struct {
	Matched bool
	Cond    expr.Expr
	Do      MergeKind
	// Set are the new values of an UPDATE; an INSERT has one for each column, in order. They read
	// the row of the join, and Generated the new row.
	Set, Generated []Assign
	// Targets are the conditions of policies on the row that is changed, Checks those on the row
	// that is written. Constraints on that are those of the whole statement.
	Targets, Checks []Check
}

// MergeKind is what a WHEN clause does with a row.
type MergeKind uint8

// The kinds.
const (
	MergeNothing MergeKind = iota
	MergeInsert
	MergeUpdate
	MergeDelete
)

// EachExpr calls fn with a pointer to each expression of the action.
func (a *MergeAction) EachExpr(fn func(*expr.Expr)) {
	if a.Cond != nil {
		fn(&a.Cond)
	}
	for i := range a.Set {
		fn(&a.Set[i].Expr)
	}
	for i := range a.Generated {
		fn(&a.Generated[i].Expr)
	}
	for _, list := range [][]Check{a.Targets, a.Checks} {
		for i := range list {
			fn(&list[i].Cond)
		}
	}
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
