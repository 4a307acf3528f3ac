package deparse

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table"
	"github.com/minidb/minidb/table/types"
)

// node is an expression with PostgreSQL's meaning: coercions are nodes, and there are no nodes for
// BETWEEN and IN.
type node interface {
	// typ returns the type of the value with its modifier, as far as PostgreSQL knows it.
	typ() *types.Type
}

// column is a column of an entry of FROM, or of row in an expression over one row, or a merged
// column of a join.
type column struct {
	t     *types.Type
	rel   *relation
	join  *joinExpr
	row   *table.Desc
	index int
	name  string
}

// wholeRow is a row of an entry of FROM, or of the table that the expression belongs to.
type wholeRow struct {
	rel  *relation
	desc *table.Desc
}

// constant is a value, kept as the text of its output. With type unknown it is a literal whose type
// nothing has determined. rel is the relation that a regclass refers to, user the type that a
// regtype refers to where the system has not made it.
//
// source is set for a literal that was written without a type and got its type from its context:
// read again in the same context, it gets the same type.
type constant struct {
	t      *types.Type
	text   string
	null   bool
	rel    *table.Desc
	user   *types.Type
	source *string
}

// operator is a binary operator, or if left is nil a prefix operator.
type operator struct {
	t           *types.Type
	op          string
	left, right node
}

// call is a function call. words is set where SQL has key words in place of commas.
type call struct {
	t        *types.Type
	schema   string // if it is not on every search path
	name     string
	args     []node
	argNames []string
	variadic bool
	words    bool
	star     bool
	distinct bool
	within   bool
	order    []sortKey
	filter   node
	over     *window
}

// castKind is how a coercion works, which decides where pretty printing omits parentheses.
type castKind uint8

const (
	byFunction castKind = iota
	byRelabel           // the value is not changed
	byText              // through the text of the value
)

// coercion converts a value to a type. An implicit coercion is shown only where PostgreSQL shows
// it.
type coercion struct {
	t        *types.Type
	arg      node
	implicit bool
	kind     castKind
}

// logic is AND or OR of two or more arguments, or NOT.
type logic struct {
	op   string
	args []node
}

// distinctTest is IS DISTINCT FROM.
type distinctTest struct{ left, right node }

// anyArray is left op ANY|ALL (array). If list is set, it was written as IN (…) or NOT IN (…).
type anyArray struct {
	op          string
	all, list   bool
	left, array node
}

// test is IS [NOT] NULL, or IS [NOT] TRUE, FALSE or UNKNOWN.
type test struct {
	arg    node
	what   string
	ofNull bool
}

// special is COALESCE, GREATEST, LEAST, NULLIF or GROUPING.
type special struct {
	t    *types.Type
	name string
	args []node
}

type when struct{ cond, result node }

type caseExpr struct {
	t       *types.Type
	operand node
	whens   []when
	other   node
}

type arrayExpr struct {
	t     *types.Type
	elems []node
}

type rowExpr struct{ elems []node }

// field is (arg).name.
type field struct {
	t    *types.Type
	arg  node
	name string
}

// rowCompare is an ordering of two rows; equality is an AND of operators.
type rowCompare struct {
	op          string
	left, right []node
}

// subKind is what a subquery in an expression returns.
type subKind uint8

const (
	scalarSub subKind = iota
	existsSub
	anySub
	allSub
	arraySub
)

type subquery struct {
	t     *types.Type
	kind  subKind
	op    string
	left  []node
	query *query
}

// subscript is arg[…][…].
type subscript struct {
	t     *types.Type
	arg   node
	parts []subscriptPart
}

// subscriptPart is [index], or [low:high] with either bound missing.
type subscriptPart struct {
	slice            bool
	index, low, high node
}

type collated struct {
	arg  node
	name string
}

// keyword is CURRENT_DATE and the like, with their precision.
type keyword struct {
	t    *types.Type
	text string
}

// plainName returns the name of a column that is none of an entry of FROM.
func (n *column) plainName() string {
	if n.join != nil {
		return n.join.using[n.index]
	}
	return n.name
}

func (n *column) typ() *types.Type     { return n.t }
func (n *constant) typ() *types.Type   { return n.t }
func (n *operator) typ() *types.Type   { return n.t }
func (n *call) typ() *types.Type       { return n.t }
func (n *coercion) typ() *types.Type   { return n.t }
func (*logic) typ() *types.Type        { return types.TBool }
func (*distinctTest) typ() *types.Type { return types.TBool }
func (*anyArray) typ() *types.Type     { return types.TBool }
func (*test) typ() *types.Type         { return types.TBool }
func (n *special) typ() *types.Type    { return n.t }
func (n *caseExpr) typ() *types.Type   { return n.t }
func (n *arrayExpr) typ() *types.Type  { return n.t }
func (*rowExpr) typ() *types.Type      { return types.TRecord }
func (n *field) typ() *types.Type      { return n.t }
func (*rowCompare) typ() *types.Type   { return types.TBool }
func (n *subquery) typ() *types.Type   { return n.t }
func (n *subscript) typ() *types.Type  { return n.t }
func (n *collated) typ() *types.Type   { return n.arg.typ() }
func (n *keyword) typ() *types.Type    { return n.t }

// typ returns the relation's row type; that of the rows of a subquery and the like has no name.
func (n *wholeRow) typ() *types.Type {
	desc := n.desc
	if n.rel != nil {
		desc = n.rel.desc
	}
	if desc != nil {
		if row := desc.Row(); row != nil {
			return row
		}
	}
	return types.TRecord
}

// sortKey is an item of ORDER BY. position is set where a number means a result column.
type sortKey struct {
	n          node
	position   int
	desc       bool
	nullsFirst bool
}

// window is an OVER clause or a definition; name is that of a definition.
type window struct {
	name, ref string
	partition []node
	order     []sortKey
	frame     *ast.Frame
	start     node
	end       node
}

// relation is an entry of FROM that has columns.
type relation struct {
	desc    *table.Desc // nil for a WITH query, subquery, function or join
	cte     string
	only    bool
	alias   string // as written, or ""
	columns []string
	real    []string // the relation's own names for its columns
	// kept are columns that a join merges by name: they keep it when the relation's gets another.
	kept    map[int]bool
	listed  bool // an alias list was written, or is necessary
	sub     *query
	rows    *values     // VALUES without a query around it
	calls   []tableCall // of functions; more than one are ROWS FROM
	ordinal bool
	lateral bool
	name    string // the name that the printer shows
}

// tableCall is a call of a function in FROM; defs is its column definition list.
type tableCall struct {
	node
	defs []types.Attribute
}

// joinExpr is a JOIN. left and right are *relation or *joinExpr. combines is set where a merged
// column is an expression over both sides, so that its name alone refers to it.
type joinExpr struct {
	kind        string
	left, right any
	on          node
	using       []string
	usingAlias  string
	combines    bool
	alias       *relation // nil without an alias
}

// query is a SELECT, VALUES or set operation with its WITH, ORDER BY, LIMIT and locking clauses.
type query struct {
	with      []withItem
	recursive bool
	body      any // *core, *setOp, *values or *query
	results   []string
	order     []sortKey
	limit     node
	ties      bool
	offset    node
	locks     []lock
}

type withItem struct {
	name         string
	columns      []string
	materialized *bool
	query        *query
	search       *ast.SearchClause
	cycle        *ast.CycleClause
	// mark and other are the values of the cycle clause, if it has any.
	mark, other node
}

type core struct {
	distinct bool
	on       []node
	targets  []target
	from     []any // *relation or *joinExpr
	where    node
	group    []groupItem
	having   node
	windows  []*window
}

type target struct {
	n    node
	name string
}

type groupItem struct {
	kind string
	sets [][]node
}

type setOp struct {
	op          string
	all         bool
	left, right *query
}

// values is VALUES; columns are its own names for its columns.
type values struct {
	rows    [][]node
	columns []string
}

type lock struct {
	strength, wait string
	rel            *relation
}
