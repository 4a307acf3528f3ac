package ast

// Select is a whole query expression: WITH, a body, ORDER BY, LIMIT, locking.
type Select struct {
	Pos     Pos
	With    *With
	Body    QueryBody
	OrderBy []OrderItem
	Limit   Expr // nil: none (LIMIT ALL too)
	Ties    bool // FETCH FIRST … WITH TIES
	Offset  Expr
	Locking []Locking
	// AsOf is the moment at which the statement reads. Only the outermost query has it, wherever it
	// was written.
	AsOf *AsOf
	// Positioned is set for the query of a cursor: WHERE CURRENT OF may name its rows.
	Positioned bool
}

// QueryBody is a *SelectCore, a *SetOp, a *Values or a parenthesised *Select.
type QueryBody interface{ queryBody() }

// With is WITH [RECURSIVE] ….
type With struct {
	Pos       Pos
	Recursive bool
	CTEs      []CTE
}

// CTE is one named query. Statement is a *Select, or an *Insert, *Update or *Delete.
type CTE struct {
	Pos          Pos
	Name         string
	Columns      []string
	Statement    Statement
	Materialized *bool // nil: not written
	Search       *SearchClause
	Cycle        *CycleClause
}

// SearchClause is SEARCH {DEPTH | BREADTH} FIRST BY columns SET sequence.
type SearchClause struct {
	Pos      Pos
	Breadth  bool
	Columns  []string
	Sequence string
}

// CycleClause is CYCLE columns SET mark [TO value DEFAULT default] USING path. Value and Default
// are nil if they are not written.
type CycleClause struct {
	Pos            Pos
	Columns        []string
	Mark           string
	Value, Default Expr
	Path           string
}

// SelectCore is SELECT … FROM … WHERE … GROUP BY … HAVING …. `TABLE t` is SELECT * FROM t.
type SelectCore struct {
	Pos        Pos
	Distinct   bool
	DistinctOn []Expr
	Items      []SelectItem // may be empty: SELECT FROM t
	Into       *Into        // SELECT INTO
	From       []TableExpr  // comma list
	Where      Expr
	GroupBy    []GroupItem
	Having     Expr
	Windows    []Window
}

// Into is the table that SELECT INTO makes.
type Into struct {
	Name     Name
	Temp     bool
	Unlogged bool
	Global   bool // GLOBAL TEMP, which PostgreSQL warns of
}

// SelectItem is one entry of a select list; Alias is "" when none was written.
type SelectItem struct {
	Expr  Expr
	Alias string
}

// GroupItem is a plain expression, or (Kind "rollup", "cube", "sets") grouping sets of expressions.
type GroupItem struct {
	Pos  Pos
	Kind string // "": Expr
	Expr Expr
	Sets [][]Expr
}

// SetOp combines two bodies; Op is "union", "intersect" or "except".
type SetOp struct {
	Pos         Pos
	Op          string
	All         bool
	Left, Right QueryBody
}

// Values is VALUES (…), (…).
type Values struct {
	Pos  Pos
	Rows [][]Expr
}

func (*SelectCore) queryBody() {}
func (*SetOp) queryBody()      {}
func (*Values) queryBody()     {}
func (*Select) queryBody()     {}

// OrderItem is one ORDER BY key. NullsFirst is nil if the user did not specify it.
type OrderItem struct {
	Expr       Expr
	Desc       bool
	NullsFirst *bool
}

// Locking is FOR UPDATE | NO KEY UPDATE | SHARE | KEY SHARE [OF …] [NOWAIT | SKIP LOCKED].
type Locking struct {
	Pos      Pos
	Strength string // "update", "no key update", "share", "key share"
	Of       []Name
	Wait     string // "", "nowait" or "skip locked"
}

// TableExpr is an entry of FROM.
type TableExpr interface{ tableExpr() }

// TableRef is a named relation: table, view, CTE or system catalog.
type TableRef struct {
	Name    Name
	Only    bool
	Alias   string
	Columns []Ident // alias column list
	Sample  *Sample
}

// Sample is TABLESAMPLE method (args) [REPEATABLE (seed)].
type Sample struct {
	Pos        Pos
	Method     string
	Args       []Expr
	Repeatable Expr
}

// SubqueryRef is (query) AS alias in FROM.
type SubqueryRef struct {
	Pos     Pos
	Lateral bool
	Query   *Select
	Alias   string
	Columns []Ident
}

// FromFunc is a function of FROM. ColumnDefs is `AS (a int, b text)` within ROWS FROM.
type FromFunc struct {
	Call       *FuncCall
	ColumnDefs []ColumnType
}

// FuncRef is a function in FROM, or with RowsFrom set, ROWS FROM (f(), g()): the rows of several
// functions side by side. ColumnDefs is `AS x(a int, b text)`.
type FuncRef struct {
	Pos        Pos
	Lateral    bool
	Funcs      []FromFunc // at least one
	RowsFrom   bool
	Ordinality bool
	Alias      string
	Columns    []Ident
	ColumnDefs []ColumnType
}

// ColumnType is a name with its type.
type ColumnType struct {
	Name      Ident
	Type      TypeName
	Collation *Name // nil without COLLATE, where its Pos is
}

// Join is Left <kind> JOIN Right. Kind is "inner", "left", "right", "full" or "cross".
type Join struct {
	Pos         Pos
	Kind        string
	Natural     bool
	Left, Right TableExpr
	On          Expr
	Using       []Ident
	UsingAlias  string
	Alias       string // (a join b) AS x
	Columns     []Ident
}

func (*TableRef) tableExpr()    {}
func (*SubqueryRef) tableExpr() {}
func (*FuncRef) tableExpr()     {}
func (*Join) tableExpr()        {}

func (*Select) statement() {}
