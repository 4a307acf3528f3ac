package logical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Node is a relational operator.
type Node interface {
	// Columns returns the columns that the node makes or passes on. Callers must not change the
	// slice.
	Columns() []ColID
}

// Scan reads a relation. Column i of Desc has the ID First+i; Out lists the columns that are
// needed.
type Scan struct {
	Desc  *table.Desc
	Alias string
	First ColID
	Out   []ColID
	// Partial has the predicate of each partial index. An index that is missing here cannot be
	// used.
	Partial map[table.IndexID][]expr.Expr
	// Exprs has the expressions of indexes, in the order of Desc.Exprs, nil where one cannot be
	// bound. Each has an ID as if it were a column behind those of Desc, but the scan does not make
	// it: conditions are matched with keys by it (ByIndex).
	Exprs []expr.Expr
	// Before reads the relation as it was before the delta that the statement applies.
	Before bool
}

// Values makes rows from expressions that read no columns.
type Values struct {
	Cols []ColID
	Rows [][]expr.Expr
}

// FuncScan gives the rows of functions in FROM side by side, as many as the longest has: the others
// are filled with NULLs. With Ordinality an int8 column follows, the number of the row.
type FuncScan struct {
	Funcs      []opt.TableFunc
	Ordinality bool
	Alias      string
	Cols       []ColID
}

// CTERef reads a WITH query. Cols are its own IDs for the columns of CTE.Query.
type CTERef struct {
	CTE       *CTE
	WorkTable bool
	Alias     string
	Cols      []ColID
}

// Recursion gives the rows of a recursive WITH query that refers to an outer query: unlike others,
// which run once for the statement, it runs where it is read, anew each time the columns of the
// outer query change. Its inputs are the two terms of CTE, which no other node reads.
type Recursion struct {
	CTE   *CTE
	Alias string
	Cols  []ColID
}

// Filter keeps the rows for which all Conds are true.
type Filter struct {
	Child Node
	Conds []expr.Expr
}

// Barrier passes its child's rows on, and hides the rows that its child drops from all that is
// above: a condition moves below it only if it is leakproof ([Leakproof]). It has no physical form,
// for then all conditions have their places.
type Barrier struct{ Child Node }

// Item is an expression and its ID. A column that is passed on keeps its ID.
type Item struct {
	ID   ColID
	Expr expr.Expr
}

// Project computes Items. It passes no other columns on.
type Project struct {
	Child Node
	Items []Item
	cols  []ColID
}

// SetItem is a set-returning call. With Row, a record type, its value is the whole row of the
// function's columns, else the only one.
type SetItem struct {
	ID   ColID
	Func *expr.Func
	Args []expr.Expr
	Row  *types.Type
}

// ProjectSet passes its child's columns on and adds the values of set-returning calls, side by
// side.
type ProjectSet struct {
	Child Node
	Items []SetItem
	cols  []ColID
}

// Join joins by On, whose conditions must all be true. With Lateral the right side refers to
// columns of the left side.
type Join struct {
	Kind        opt.JoinKind
	Left, Right Node
	On          []expr.Expr
	Lateral     bool
	cols        []ColID
	frozen      bool
}

// AggItem is an aggregate call and its ID.
type AggItem struct {
	ID ColID
	opt.Agg
}

// Aggregate groups by Keys. Without Keys there is exactly one group.
type Aggregate struct {
	Child Node
	Keys  []Item
	Aggs  []AggItem
	Sets  [][]int
	cols  []ColID
}

// Distinct removes duplicate rows: rows that are equal in all columns, or with On, rows after the
// first with the same values of these expressions.
type Distinct struct {
	Child Node
	On    []expr.Expr
}

// Sort orders rows.
type Sort struct {
	Child Node
	Keys  []opt.SortKey
}

// Limit skips Offset rows and passes on Count rows, and with Ties, by which the rows are sorted,
// those behind that are equal to the last one.
type Limit struct {
	Child         Node
	Count, Offset expr.Expr
	Ties          []opt.SortKey
}

// Append is UNION ALL: column i of the result is InCols[k][i] of input k.
type Append struct {
	Inputs []Node
	InCols [][]ColID
	Cols   []ColID
}

// SetOp is INTERSECT or EXCEPT.
type SetOp struct {
	Except, All         bool
	Left, Right         Node
	LeftCols, RightCols []ColID
	Cols                []ColID
}

// WindowItem is a window call and its ID.
type WindowItem struct {
	ID ColID
	opt.WindowCall
}

// Window passes its child's columns on and adds window calls over one partitioning and order.
type Window struct {
	Child       Node
	PartitionBy []expr.Expr
	OrderBy     []opt.SortKey
	Calls       []WindowItem
	cols        []ColID
}

// Columns implements Node.
func (n *Scan) Columns() []ColID { return n.Out }

// Columns implements Node.
func (n *Values) Columns() []ColID { return n.Cols }

// Columns implements Node.
func (n *FuncScan) Columns() []ColID { return n.Cols }

// Columns implements Node.
func (n *CTERef) Columns() []ColID { return n.Cols }

// Columns implements Node.
func (n *Recursion) Columns() []ColID { return n.Cols }

// Columns implements Node.
func (n *Filter) Columns() []ColID { return n.Child.Columns() }

// Columns implements Node.
func (n *Barrier) Columns() []ColID { return n.Child.Columns() }

// Columns implements Node.
func (n *Project) Columns() []ColID {
	if len(n.cols) != len(n.Items) {
		n.cols = itemIDs(make([]ColID, 0, len(n.Items)), n.Items)
	}
	return n.cols
}

// Columns implements Node.
func (n *ProjectSet) Columns() []ColID {
	cols := append(n.cols[:0:0], n.Child.Columns()...)
	for _, it := range n.Items {
		cols = append(cols, it.ID)
	}
	n.cols = cols
	return cols
}

// Columns implements Node.
func (n *Join) Columns() []ColID {
	if n.onlyLeft() {
		return n.Left.Columns()
	}
	if n.frozen {
		return n.cols
	}
	n.cols = appendColumns(appendColumns(nil, n.Left), n.Right)
	return n.cols
}

// appendColumns appends n's columns without allocating a list for each join within it.
func appendColumns(cols []ColID, n Node) []ColID {
	if j, ok := n.(*Join); ok && !j.frozen && !j.onlyLeft() {
		return appendColumns(appendColumns(cols, j.Left), j.Right)
	}
	return append(cols, n.Columns()...)
}

// onlyLeft reports whether the join passes on left columns only.
func (n *Join) onlyLeft() bool {
	switch n.Kind {
	case opt.Semi, opt.Anti, opt.NullAnti:
		return true
	}
	return false
}

// Columns implements Node.
func (n *Aggregate) Columns() []ColID {
	if len(n.cols) != len(n.Keys)+len(n.Aggs) {
		n.cols = itemIDs(nil, n.Keys)
		for _, a := range n.Aggs {
			n.cols = append(n.cols, a.ID)
		}
	}
	return n.cols
}

// Columns implements Node.
func (n *Distinct) Columns() []ColID { return n.Child.Columns() }

// Columns implements Node.
func (n *Sort) Columns() []ColID { return n.Child.Columns() }

// Columns implements Node.
func (n *Limit) Columns() []ColID { return n.Child.Columns() }

// Columns implements Node.
func (n *Append) Columns() []ColID { return n.Cols }

// Columns implements Node.
func (n *SetOp) Columns() []ColID { return n.Cols }

// Columns implements Node.
func (n *Window) Columns() []ColID {
	cols := append(n.cols[:0:0], n.Child.Columns()...)
	for _, c := range n.Calls {
		cols = append(cols, c.ID)
	}
	n.cols = cols
	return cols
}

func itemIDs(dst []ColID, items []Item) []ColID {
	for _, it := range items {
		dst = append(dst, it.ID)
	}
	return dst
}

// Ordinal returns the place of a scan's column in its descriptor.
func (n *Scan) Ordinal(id ColID) int { return id - n.First }

// Column returns the descriptor of one of a scan's columns.
func (n *Scan) Column(id ColID) *table.Column { return &n.Desc.Columns[id-n.First] }

// OwnsColumn reports whether the scan makes the column.
func (n *Scan) OwnsColumn(id ColID) bool {
	return id >= n.First && id < n.First+len(n.Desc.Columns)
}

// Freeze declares that no node below the join changes any more, so that its columns are cached: a
// tree of many joins reads them at every level.
func (n *Join) Freeze() {
	n.Columns()
	n.frozen = true
}

// SetItems replaces the projection's items.
func (n *Project) SetItems(items []Item) { n.Items, n.cols = items, nil }

// SetAggs replaces the aggregate calls.
func (n *Aggregate) SetAggs(aggs []AggItem) { n.Aggs, n.cols = aggs, nil }
