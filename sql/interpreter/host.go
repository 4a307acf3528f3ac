package interpreter

import (
	"context"

	"github.com/minidb/minidb/internal/sqlerr"
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/planner/eval"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/table/types"
)

// Statement is a query of a program as the host plans it.
type Statement struct {
	Text string
	Stmt ast.Statement
	// Variables are those of the program; nil for a text that EXECUTE runs. Types are the types of
	// the parameters then.
	Variables opt.Variables
	Types     []*types.Type
	// Program is set by Plan for a query that computes one value from its parameters alone, of type
	// Result.
	Program *eval.Program
	Result  *types.Type
	// Planned is what the host keeps with the statement.
	Planned any
}

// Rows is a statement that runs. It has run to its end when Next returns nil.
type Rows interface {
	// Columns are those of the rows; nil for a statement without rows.
	Columns() []physical.Column
	// Next returns the next rows, nil at the end. They are valid until the next call.
	Next(ctx context.Context) (*types.Batch, error)
	// Processed is the number of rows that a statement without rows has changed, once it has run.
	Processed() int64
	Close()
}

// Host is the session as the interpreter uses it.
type Host interface {
	Cursors
	// Plan plans a statement, or validates the plan that it has. anew drops that: the types of
	// variables are others.
	Plan(ctx context.Context, st *Statement, anew bool) error
	// Run begins to run a statement. If inPieces is set, other statements run before its rows are
	// taken. params has the values of the parameters: it must not change until Close.
	Run(ctx context.Context, st *Statement, params []types.Datum, inPieces bool) (Rows, error)
	// Runtime returns what expressions outside of statements have access to, by the present
	// settings.
	Runtime(ctx context.Context) *expr.Runtime
	// Begin begins a subtransaction and returns its depth. Release ends it, and RollBack undoes it:
	// both end those within it.
	Begin(ctx context.Context) (depth int, err error)
	Release(depth int)
	RollBack(depth int)
	Raise(n *Message)
	// Fault returns an error as the client sees it.
	Fault(ctx context.Context, err error) *sqlerr.Error
	// Setting returns a setting of the session; "" if there is none.
	Setting(name string) string
}

// Cursors are the session's cursors.
type Cursors interface {
	// OpenCursor opens a cursor for a query. An empty name is replaced by one that is free.
	OpenCursor(ctx context.Context, name string, st *Statement, params []types.Datum,
		scroll *bool) (string, error)
	// FetchCursor runs FETCH and MOVE.
	FetchCursor(ctx context.Context, fetch *ast.Fetch) (Rows, error)
	// CloseCursor closes a cursor.
	CloseCursor(name string) error
}

// Refused is the error of a statement that programs must not run: PostgreSQL reports it without the
// statement.
type Refused struct{ Err error }

// Error implements error.
func (r *Refused) Error() string { return r.Err.Error() }

// Unwrap returns the error.
func (r *Refused) Unwrap() error { return r.Err }

// Message is what RAISE sends to the client.
type Message struct {
	Level string // "NOTICE", "WARNING", …
	sqlerr.Error
}
