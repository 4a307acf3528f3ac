package sql

import (
	"github.com/minidb/minidb/planner/physical"
	"github.com/minidb/minidb/sql/copyfmt"
	"github.com/minidb/minidb/table/types"
)

// ResultWriter takes the results of statements, in order. pgwire writes them to a buffer that goes
// to the client; the embedded handle keeps them.
type ResultWriter interface {
	// Describe announces the columns of the rows that follow. It is called once per statement that
	// has rows, by Session.Query only: in the extended protocol the client asked before.
	Describe(cols []physical.Column) error
	// Rows takes the rows from..to of b, numbers for Batch.Row. The batch is valid during the call.
	Rows(b *types.Batch, from, to int) error
	// Complete ends a statement; Empty ends a text without statement.
	Complete(tag string) error
	Empty() error
	Notice(n *Notice)
	// Mark and Rewind take back what was written since the mark, so that a transaction may be run
	// again. Rewind returns false once any of it has been sent to the client.
	Mark()
	Rewind() bool
}

// Notice is a message beside the result.
type Notice struct {
	Severity                                    string // "NOTICE", "WARNING", "INFO", …
	Code                                        string
	Message                                     string
	Detail                                      string
	Hint                                        string
	Context                                     string // where in a program it was raised
	Schema, Table, Column, DataType, Constraint string
}

// CopyWriter is a ResultWriter that can carry COPY's data.
type CopyWriter interface {
	ResultWriter
	// CopyIn asks the client for data, and returns the source of its pieces.
	CopyIn(columns int, binary bool) (copyfmt.Source, error)
	// CopyOut announces data, CopyData sends a piece, CopyDone ends it.
	CopyOut(columns int, binary bool) error
	CopyData(b []byte) error
	CopyDone() error
}
