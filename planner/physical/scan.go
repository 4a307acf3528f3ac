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
	// Index is nil for the rows themselves. With Covering, the entry alone gives all Out columns;
	// otherwise each entry's row is fetched.
	Index    *table.Index
	Covering bool
	Out      []int
	// Ranges are sections of the key, or nil for all. They may overlap or be empty once their
	// expressions are known: the operator sorts and merges them. Their expressions see no columns.
	Ranges []Range
	// Reverse reads from the end. Ordered says that somebody above relies on the key order.
	Reverse bool
	Ordered bool
	// Filter is evaluated over the output columns; nil for none.
	Filter expr.Expr
	// Limit is the number of rows after which the reader above stops, or 0: a hint for batch sizes.
	Limit int64
	// Point says that every range is an equality over a whole unique key: at most one row each.
	Point bool
}

// Range is a section of an index: rows whose first key columns equal Eq, and whose next key column
// lies between Low and High. Where Low or High is set, NULLs of that column are outside. A NULL
// value in Eq, Low or High makes the range empty, unless IsNull says that the test is IS NULL.
// Expressions have the type of the key column; a value of another type stands below a call that
// turns it into a bound (expr.Func.Bound).
type Range struct {
	Eq                []expr.Expr
	IsNull            []bool // parallel to Eq, or nil
	Low, High         expr.Expr
	LowIncl, HighIncl bool
}

// VirtualScan reads a table that the server makes (pg_catalog, information_schema).
type VirtualScan struct {
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

// CTEScan reads a materialised WITH query, or in a recursive term the last round's rows.
type CTEScan struct {
	Base
	ID        int
	Name      string
	WorkTable bool
}

func (*Scan) Children() []Node        { return nil }
func (*VirtualScan) Children() []Node { return nil }
func (*Values) Children() []Node      { return nil }
func (*FuncScan) Children() []Node    { return nil }
func (*CTEScan) Children() []Node     { return nil }
