package physical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table"
)

// Scan reads a table by its rows or by an index. Output columns are Out, ordinals of
// Table.Columns, in that order.
type Scan struct {
	Base
	Table *table.Desc
	Alias string
	// Index is nil for a scan of the rows themselves. With Covering the index entry has all Out
	// columns; otherwise the row of each entry is fetched.
	Index    *table.Index
	Covering bool
	Out      []int
	// Ranges are ranges of the key, nil for all of it. They may overlap, or turn out empty once
	// their expressions are evaluated: the operator sorts and merges them. Their expressions read
	// no columns.
	Ranges []Range
	// Reverse reads from the end. Ordered is set when a node above depends on the key order.
	Reverse bool
	Ordered bool
	// Filter is evaluated over the output columns; nil for none.
	Filter expr.Expr
	// Limit is the number of rows after which the node above stops reading, or 0: a hint for batch
	// sizes.
	Limit int64
	// Point is set when every range is an equality over a whole unique key: at most one row each.
	Point bool
	// Before reads the relation as it was before the delta that the statement applies.
	Before bool
}

// Range is a range of an index: rows whose first key columns equal Eq, and whose next key column is
// between Low and High. If Low or High is set, rows in which that column is NULL are outside. A
// NULL in Eq, Low or High makes the range empty, unless IsNull is set, for the test IS NULL.
// Expressions have the type of the key column. A value of another type is converted to a bound by a
// call above it (expr.Func.Bound).
type Range struct {
	Eq                []expr.Expr
	IsNull            []bool // parallel to Eq, or nil
	Low, High         expr.Expr
	LowIncl, HighIncl bool
}

// VirtualScan reads a table that the server computes (pg_catalog, information_schema).
type VirtualScan struct {
	Base
	Table  *table.Desc
	Alias  string
	Out    []int
	Filter expr.Expr
}

// DeltaScan reads the change of a relation that the statement applies. Table describes its rows:
// the visible columns of the relation, then the weight.
type DeltaScan struct {
	Base
	Table  *table.Desc
	Alias  string
	Out    []int
	Filter expr.Expr
}

// Values makes rows from expressions.
type Values struct {
	Base
	Rows [][]expr.Expr
}

// FuncScan is a set-returning function in FROM. With Ordinality an int8 column follows. Scalar
// functions give one row of one column.
type FuncScan struct {
	Base
	Func       *expr.Func // nil: Scalar is set
	Args       []expr.Expr
	Scalar     expr.Expr
	Ordinality bool
	Alias      string
}

// CTEScan reads a materialised WITH query, or in a recursive term the rows of the last round.
type CTEScan struct {
	Base
	ID        int
	Name      string
	WorkTable bool
}

func (*Scan) Children() []Node        { return nil }
func (*VirtualScan) Children() []Node { return nil }
func (*DeltaScan) Children() []Node   { return nil }
func (*Values) Children() []Node      { return nil }
func (*FuncScan) Children() []Node    { return nil }
func (*CTEScan) Children() []Node     { return nil }
