package physical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
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
	// Keys is the condition whose rows are found by the entries of GIN indexes, Index among them;
	// nil if the scan reads a range. It may include rows for which the condition is not true, so
	// Filter has all conditions.
	Keys *KeyCond
	// Reverse reads from the end. Ordered is set when a node above depends on the key order.
	Reverse bool
	Ordered bool
	// RowOrder reads the rows that index entries name in the order of their own keys, as many at a
	// time as fit a batch. PostgreSQL's bitmap scan is for the same: neighbours are read together.
	RowOrder bool
	// Filter is evaluated over the output columns; nil for none.
	Filter expr.Expr
	// Recheck is the whole condition on a row, over the output columns, if the index has
	// expressions or a predicate: the columns do not show then whether a row is in the ranges.
	Recheck expr.Expr
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

// KeyCond is a condition that GIN indexes serve, or an AND or OR of such.
type KeyCond struct {
	// Args are the parts of an AND, with Any those of an OR; nil for a single condition.
	Args []*KeyCond
	Any  bool

	// A single condition is `column Operator Arg`, with column number Column of Index. Arg
	// reads no columns.
	Index    *table.Index
	Column   int
	Operator string
	Arg      expr.Expr
	Cond     expr.Expr // what the statement has, for EXPLAIN; nil for an AND
	Rows     float64   // estimate of those that the condition includes
}

// Each calls fn with each single condition.
func (k *KeyCond) Each(fn func(*KeyCond)) {
	if k == nil {
		return
	}
	if k.Index != nil {
		fn(k)
	}
	for _, a := range k.Args {
		a.Each(fn)
	}
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

// FuncScan gives the rows of functions in FROM side by side, the shorter ones filled with NULLs.
// With Ordinality an int8 column follows.
type FuncScan struct {
	Base
	Funcs      []opt.TableFunc
	Ordinality bool
	Alias      string
}

// CTEScan reads a materialised WITH query, or in a recursive term the rows of the last round.
type CTEScan struct {
	Base
	ID        int
	Name      string
	Alias     string
	WorkTable bool
}

// Recursion computes a recursive WITH query where it is read. A CTEScan of the same ID reads the
// rows of its last round.
type Recursion struct {
	Base
	CTE CTE
}

// Children implements Node.
func (n *Recursion) Children() []Node { return []Node{n.CTE.Plan, n.CTE.Recursive} }

func (*Scan) Children() []Node        { return nil }
func (*VirtualScan) Children() []Node { return nil }
func (*DeltaScan) Children() []Node   { return nil }
func (*Values) Children() []Node      { return nil }
func (*FuncScan) Children() []Node    { return nil }
func (*CTEScan) Children() []Node     { return nil }
