package logical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
)

// Node is a relational operator.
type Node interface {
	// Columns lists the columns that the node makes or passes on. Callers must not change it.
	Columns() []ColID
}

// Scan reads a relation. Column i of Desc has the ID First+i; Out lists the ones that are needed.
type Scan struct {
	Desc  *table.Desc
	Alias string
	First ColID
	Out   []ColID
	// Partial has the conditions under which a partial index has an entry for a row. An index that
	// is missing here cannot be used.
	Partial map[table.IndexID][]expr.Expr
}

// Values makes rows from expressions without columns.
type Values struct {
	Cols []ColID
	Rows [][]expr.Expr
}

// FuncScan is a function in FROM. Func nil: Scalar gives one row of one column.
type FuncScan struct {
	Func       *expr.Func
	Args       []expr.Expr
	Scalar     expr.Expr
	Ordinality bool
	Alias      string
	Cols       []ColID
}

// CTERef reads a WITH query: Cols are its own IDs for CTE.Query's columns.
type CTERef struct {
	CTE       *CTE
	WorkTable bool
	Alias     string
	Cols      []ColID
}

// Filter keeps rows for which all Conds are true.
type Filter struct {
	Child Node
	Conds []expr.Expr
}

// Item is an expression under an ID. A column that is passed on is its own expression.
type Item struct {
	ID   ColID
	Expr expr.Expr
}

// Project computes Items; nothing else is passed on.
type Project struct {
	Child Node
	Items []Item
	cols  []ColID
}

// SetItem is a set-returning call; Column says which of the function's columns is taken.
type SetItem struct {
	ID     ColID
	Func   *expr.Func
	Args   []expr.Expr
	Column int
}

// ProjectSet passes its child's columns on and adds the values of set-returning calls, side by
// side.
type ProjectSet struct {
	Child Node
	Items []SetItem
	cols  []ColID
}

// Join joins by On (all must be true). With Lateral the right side refers to columns of the left.
type Join struct {
	Kind        opt.JoinKind
	Left, Right Node
	On          []expr.Expr
	Lateral     bool
	cols        []ColID
	frozen      bool
}

// AggItem is an aggregate call under an ID.
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

// Distinct drops repeated rows: by all columns, or with On by these expressions, keeping the first.
type Distinct struct {
	Child Node
	On    []expr.Expr
}

// Sort orders rows.
type Sort struct {
	Child Node
	Keys  []opt.SortKey
}

// Limit skips and counts rows.
type Limit struct {
	Child         Node
	Count, Offset expr.Expr
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

// WindowItem is a window call under an ID.
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

// Columns is part of Node.
func (n *Scan) Columns() []ColID { return n.Out }

// Columns is part of Node.
func (n *Values) Columns() []ColID { return n.Cols }

// Columns is part of Node.
func (n *FuncScan) Columns() []ColID { return n.Cols }

// Columns is part of Node.
func (n *CTERef) Columns() []ColID { return n.Cols }

// Columns is part of Node.
func (n *Filter) Columns() []ColID { return n.Child.Columns() }

// Columns is part of Node.
func (n *Project) Columns() []ColID {
	if len(n.cols) != len(n.Items) {
		n.cols = itemIDs(make([]ColID, 0, len(n.Items)), n.Items)
	}
	return n.cols
}

// Columns is part of Node.
func (n *ProjectSet) Columns() []ColID {
	cols := append(n.cols[:0:0], n.Child.Columns()...)
	for _, it := range n.Items {
		cols = append(cols, it.ID)
	}
	n.cols = cols
	return cols
}

// Columns is part of Node.
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

// appendColumns appends n's columns, without a list for each of the joins in it.
func appendColumns(cols []ColID, n Node) []ColID {
	if j, ok := n.(*Join); ok && !j.frozen && !j.onlyLeft() {
		return appendColumns(appendColumns(cols, j.Left), j.Right)
	}
	return append(cols, n.Columns()...)
}

// onlyLeft reports whether the join gives no columns of its right side.
func (n *Join) onlyLeft() bool {
	switch n.Kind {
	case opt.Semi, opt.Anti, opt.NullAnti:
		return true
	}
	return false
}

// Columns is part of Node.
func (n *Aggregate) Columns() []ColID {
	if len(n.cols) != len(n.Keys)+len(n.Aggs) {
		n.cols = itemIDs(nil, n.Keys)
		for _, a := range n.Aggs {
			n.cols = append(n.cols, a.ID)
		}
	}
	return n.cols
}

// Columns is part of Node.
func (n *Distinct) Columns() []ColID { return n.Child.Columns() }

// Columns is part of Node.
func (n *Sort) Columns() []ColID { return n.Child.Columns() }

// Columns is part of Node.
func (n *Limit) Columns() []ColID { return n.Child.Columns() }

// Columns is part of Node.
func (n *Append) Columns() []ColID { return n.Cols }

// Columns is part of Node.
func (n *SetOp) Columns() []ColID { return n.Cols }

// Columns is part of Node.
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

// Ordinal is the place of a scan's column in its descriptor.
func (n *Scan) Ordinal(id ColID) int { return id - n.First }

// Column is the descriptor's column of one of a scan's columns.
func (n *Scan) Column(id ColID) *table.Column { return &n.Desc.Columns[id-n.First] }

// OwnsColumn says whether the scan makes the column.
func (n *Scan) OwnsColumn(id ColID) bool {
	return id >= n.First && id < n.First+len(n.Desc.Columns)
}

// Freeze says that nothing below the join changes any more, so that its columns are kept: a tree of
// many joins asks for them at every level.
func (n *Join) Freeze() {
	n.Columns()
	n.frozen = true
}

// SetItems replaces the projection's items.
func (n *Project) SetItems(items []Item) { n.Items, n.cols = items, nil }

// SetAggs replaces the aggregate calls.
func (n *Aggregate) SetAggs(aggs []AggItem) { n.Aggs, n.cols = aggs, nil }
