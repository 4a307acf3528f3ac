package sql

import (
	"context"

	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// class is what a statement needs before it runs (Session.open).
type class uint8

const (
	// transactionControl begins or ends the transaction and needs nothing.
	transactionControl class = iota
	// sessionCommand needs a transaction, but no snapshot.
	sessionCommand
	// onData reads or writes tables or the schema, and needs a snapshot.
	onData
)

// unlocked is when a statement of an implicit transaction may leave its writes unlocked
// (transactor.optimistic).
type unlocked uint8

const (
	unlockedAlways unlocked = iota // the locks of tables exclude others, or it writes nothing
	unlockedNever
	// unlockedIfSingle: if it is all of its message. A lock for each row would double what a load
	// costs (copyConflict).
	unlockedIfSingle
	// unlockedIfCountOnly: if it is all of its transaction, and returns no rows before the commit.
	unlockedIfCountOnly
)

// kind is all that a session decides by the type of a statement. The functions of kinds.go are the
// one table of kinds: a new statement is a new case.
type kind struct {
	class class
	// name is the statement's in messages: "cannot execute NAME in a read-only transaction".
	name string
	// tag is the command tag of a statement that is planned, before its number of rows.
	tag string
	// endsBlock: a failed block accepts the statement.
	endsBlock bool
	// alone: the statement must be a transaction of its own.
	alone    bool
	unlocked unlocked
	// planned is the statement that the planner plans: the statement itself, or the one inside
	// EXPLAIN, DECLARE or COPY; nil if there is none. Its parameters are those of the whole
	// statement.
	planned ast.Statement
	// returnsRows: a planned statement has result rows, be they of no column.
	returnsRows bool
	asOf        *ast.AsOf // nil: it reads the present
	// describe returns the columns of a statement that is not planned; nil: it has no rows.
	describe func(utility, ast.Statement) (cols []physical.Column, hasRows bool, err error)
	// open starts the statement: one without rows has run when open returns. The functions
	// capture nothing, so that a kind costs no allocation.
	open func(utility, context.Context, call) (source, error)
}

// countsOnly reports whether the client receives only the number of rows that the statement
// changed.
func (k *kind) countsOnly() bool { return k.unlocked == unlockedIfCountOnly && !k.returnsRows }

// call is a statement to run, with the values of its parameters.
type call struct {
	ps      *Prepared
	params  []types.Datum
	results ResultWriter
	// options are for a SELECT.
	options runOptions
}

// completed is the source of a statement that has run.
func completed(tag string, err error) (source, error) { return tagSource(tag), err }
