package physical

import (
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/opt"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// Filter keeps rows for which Cond is true.
type Filter struct {
	Base
	Child Node
	Cond  expr.Expr
}

// Project computes one expression per output column.
type Project struct {
	Base
	Child Node
	Exprs []expr.Expr
}

// ProjectSet is a Project with set-returning expressions. For each input row it makes as many rows
// as the longest set has, and pads shorter sets with NULL (PostgreSQL's rule since 10).
type ProjectSet struct {
	Base
	Child Node
	Items []SetItem
}

// SetItem is a plain expression, or a set-returning call over expressions. With Row, a record type,
// the value is the whole row of the function's columns, else the only one.
type SetItem struct {
	Expr expr.Expr // nil for a set-returning call
	Func *expr.Func
	Args []expr.Expr
	Row  *types.Type
}

// HashJoin joins by equality of LeftKeys (over the left row) and RightKeys (over the right row).
// The right rows are put into the hash table. Cond is the rest of the condition, over both rows.
// Ordered: a node above depends on the order of the left rows.
type HashJoin struct {
	Base
	Kind                opt.JoinKind
	Left, Right         Node
	LeftKeys, RightKeys []expr.Expr
	Cond                expr.Expr
	Ordered             bool
}

// NestLoop joins by evaluating Cond over every pair; the right side is kept in memory. Kinds: all.
type NestLoop struct {
	Base
	Kind        opt.JoinKind
	Left, Right Node
	Cond        expr.Expr
}

// IndexJoin looks up, for each left row, the rows of a table whose index columns equal Keys (over
// the left row, with the types of the key columns). Inner columns are Inner.Out; Inner.Filter reads
// these; Inner.Ranges is unused. Cond reads the left row followed by the inner columns. Kinds:
// Inner, Left, Semi, Anti.
type IndexJoin struct {
	Base
	Kind  opt.JoinKind
	Left  Node
	Inner *Scan
	Keys  []expr.Expr
	Cond  expr.Expr
}

// Apply runs Right once per left row, with Args (over the left row) in Slots. It is for LATERAL and
// for subqueries that cannot become joins. Kinds: Inner, Left, Semi, Anti.
type Apply struct {
	Base
	Kind        opt.JoinKind
	Left, Right Node
	Slots       []int
	Args        []expr.Expr
	Cond        expr.Expr
}

// Sort orders its input.
type Sort struct {
	Base
	Child Node
	Keys  []opt.SortKey
	// Top is the number of rows that the node above reads, evaluated once; nil: all. Sort keeps
	// only these rows in memory (top-N).
	Top expr.Expr
}

// Limit skips Offset rows and passes Count rows; nil means none and all. Both are int8.
type Limit struct {
	Base
	Child         Node
	Count, Offset expr.Expr
	Ties          []expr.Expr // rows equal in these to the last one follow it
}

// Distinct removes duplicate rows. With On it keeps the first row, in input order, for each value
// of these expressions: DISTINCT ON over sorted input. Sorted: equal rows are neighbours.
type Distinct struct {
	Base
	Child  Node
	On     []expr.Expr
	Sorted bool
}

// Aggregate groups by GroupBy and computes Aggs. Output: the group keys, then the aggregates.
// Without GroupBy there is exactly one group, even for no input. Sets, when not nil, lists the
// grouping sets as indexes into GroupBy; a key outside of the set is NULL. Groups come in the order
// of their first rows; Sorted: these are in order of the keys.
type Aggregate struct {
	Base
	Child   Node
	GroupBy []expr.Expr
	Aggs    []opt.Agg
	Sets    [][]int
	Sorted  bool
}

// Append is UNION ALL.
type Append struct {
	Base
	Inputs []Node
}

// SetOp is INTERSECT or EXCEPT [ALL]; UNION is Distinct over Append.
type SetOp struct {
	Base
	Except      bool // else intersect
	All         bool
	Left, Right Node
	Sorted      bool // the rows of Left
}

// Window computes window functions. Their columns follow those of the child.
type Window struct {
	Base
	Child       Node
	PartitionBy []expr.Expr
	OrderBy     []opt.SortKey
	Calls       []opt.WindowCall
}

// LockRows locks the rows that pass through it, for SELECT … FOR UPDATE. Tables lists the tables to
// lock.
type LockRows struct {
	Base
	Child  Node
	Tables []LockTarget
}

// LockTarget is a table of LockRows: Key lists the child's columns with the table's row key.
type LockTarget struct {
	Table    *table.Desc
	Key      []int
	Strength string
	Wait     string
}

func (n *Filter) Children() []Node     { return []Node{n.Child} }
func (n *Project) Children() []Node    { return []Node{n.Child} }
func (n *ProjectSet) Children() []Node { return []Node{n.Child} }
func (n *HashJoin) Children() []Node   { return []Node{n.Left, n.Right} }
func (n *NestLoop) Children() []Node   { return []Node{n.Left, n.Right} }
func (n *IndexJoin) Children() []Node  { return []Node{n.Left, n.Inner} }
func (n *Apply) Children() []Node      { return []Node{n.Left, n.Right} }
func (n *Sort) Children() []Node       { return []Node{n.Child} }
func (n *Limit) Children() []Node      { return []Node{n.Child} }
func (n *Distinct) Children() []Node   { return []Node{n.Child} }
func (n *Aggregate) Children() []Node  { return []Node{n.Child} }
func (n *Append) Children() []Node     { return n.Inputs }
func (n *SetOp) Children() []Node      { return []Node{n.Left, n.Right} }
func (n *Window) Children() []Node     { return []Node{n.Child} }
func (n *LockRows) Children() []Node   { return []Node{n.Child} }
