package logical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// ColID is the ID of a column, unique in the statement. 0 means no column.
type ColID = int

// Column is what is known of a column wherever it is used.
type Column struct {
	Name string
	Type *types.Type
	// Table and Attr identify the table column, for RowDescription; 0 when it is not a table's
	// column.
	Table table.ID
	Attr  int
	// Collation is that of a column of a table, "" for that of its type; From is what makes another
	// column, as far as its collation depends on that. Only the binder asks for them.
	Collation string
	From      expr.Expr
	// NotNull is set when the node that makes the column never makes a NULL. An outer join above it
	// may.
	NotNull bool
	// Level is the nesting depth of the query that the column belongs to: 0 for the outermost. An
	// aggregate belongs to the query of its innermost argument.
	Level int
}

// Meta is the part of a statement's plan that is not in its tree.
type Meta struct {
	Cols   []Column // by ColID; the first is unused
	CTEs   []*CTE
	Params []*types.Type
	Tables []opt.TableVersion
	// Needs are the privileges that the statement needs when it runs.
	Needs []*opt.Need
	// RowSecurity is set when the statement uses a table with row level security: its plan is for
	// one role, whether policies bind that role or not.
	RowSecurity bool
	// Scans lists the relations read, in the order of their columns' IDs.
	Scans []ScanColumns
	// Writes is set when the statement modifies rows or calls a function that changes something.
	Writes bool
	// Lasting is set when the statement calls a function whose effect remains when the transaction
	// is rolled back.
	Lasting bool
	// Positions are of the rows of a cursor's query, in the order of their columns.
	Positions []opt.Position
	// Joins, Subqueries and CTERefs count the nodes that the binder made. Rules check them first,
	// so that small statements do not pay for rules that cannot fire.
	Joins, Subqueries int
}

// ScanColumns are the columns that a scan makes: column i of Desc has the ID First+i.
type ScanColumns struct {
	Desc  *table.Desc
	First ColID
	Exprs []expr.Expr // as in Scan
}

// NewMeta returns an empty Meta.
func NewMeta() *Meta { return &Meta{Cols: make([]Column, 1, 16)} }

// Add adds a column and returns its ID.
func (m *Meta) Add(c Column) ColID {
	m.Cols = append(m.Cols, c)
	return len(m.Cols) - 1
}

// Col returns a reference to a column.
func (m *Meta) Col(id ColID) *expr.Col {
	c := &m.Cols[id]
	return &expr.Col{T: c.Type, Index: id, Name: c.Name}
}

// CTE is a WITH query.
type CTE struct {
	ID    int
	Name  string
	Query *Query // the non-recursive term, or a data-modifying statement
	// Recursive is the second term of a recursive query. It reads the rows of its last round
	// through a CTERef with WorkTable set.
	Recursive *Query
	UnionAll  bool
	Modifies  bool
	// Materialized is nil where the user did not specify it.
	Materialized *bool
	Refs         int
}

// Query is a tree and the list of its result columns.
type Query struct {
	Node Node
	Cols []Output
}

// Output is a result column and its name.
type Output struct {
	Name string
	ID   ColID
}

// IDs returns the columns of the result.
func (q *Query) IDs() []ColID {
	ids := make([]ColID, len(q.Cols))
	for i, c := range q.Cols {
		ids[i] = c.ID
	}
	return ids
}

// Statement is a bound statement.
type Statement struct {
	Query *Query
	Meta  *Meta
	// NoCache is set when the value of a literal depends on when it was read.
	NoCache bool
}
