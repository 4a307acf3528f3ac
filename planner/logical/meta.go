package logical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// ColID is the ID of a column, unique in the statement. 0 is none.
type ColID = int

// Column is what is known of a column wherever it appears.
type Column struct {
	Name string
	Type *types.Type
	// Table and Attr are the table column that it is, for RowDescription; 0 when it is none.
	Table table.ID
	Attr  int
	// NotNull says that the node which makes it never makes a NULL. An outer join above may.
	NotNull bool
	// Level is the nesting depth of the query that owns it: 0 for the outermost. Aggregates belong
	// to the query of their innermost argument.
	Level int
}

// Meta is what a statement's plan has beside its tree.
type Meta struct {
	Cols   []Column // by ColID; the first is unused
	CTEs   []*CTE
	Params []*types.Type
	Tables []opt.TableVersion
	// Scans are the relations read, in the order of their columns' IDs.
	Scans []ScanColumns
	// Writes is set when a function that changes something is called, or the statement modifies.
	Writes bool
	// Lasting is set when a function is called whose effect stays when the transaction is rolled
	// back.
	Lasting bool
	// Joins, Subqueries and CTERefs count nodes made by the binder: rules look at them first, so
	// that small statements pay nothing for rules that cannot fire.
	Joins, Subqueries int
}

// ScanColumns says which columns a scan makes: column i of Desc has the ID First+i.
type ScanColumns struct {
	Desc  *table.Desc
	First ColID
}

// NewMeta returns an empty Meta.
func NewMeta() *Meta { return &Meta{Cols: make([]Column, 1, 16)} }

// Add makes a new column.
func (m *Meta) Add(c Column) ColID {
	m.Cols = append(m.Cols, c)
	return len(m.Cols) - 1
}

// Col makes a reference to a column.
func (m *Meta) Col(id ColID) *expr.Col {
	c := &m.Cols[id]
	return &expr.Col{T: c.Type, Index: id, Name: c.Name}
}

// CTE is a WITH query.
type CTE struct {
	ID    int
	Name  string
	Query *Query // the non-recursive term, or a data-modifying statement
	// Recursive is the second term of a recursive query; it reads its last round through a CTERef
	// with WorkTable.
	Recursive *Query
	UnionAll  bool
	Modifies  bool
	// Materialized is nil where the user left the choice.
	Materialized *bool
	Refs         int
}

// Query is a tree with the exact list of its result columns.
type Query struct {
	Node Node
	Cols []Output
}

// Output is a result column and the name under which it is seen.
type Output struct {
	Name string
	ID   ColID
}

// IDs lists the columns of the result.
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
	// NoCache is set when a literal depended on when it was read.
	NoCache bool
}
