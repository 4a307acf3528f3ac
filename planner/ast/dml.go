package ast

// Insert is INSERT INTO …. Query is nil for DEFAULT VALUES; VALUES arrive as a Select over Values.
type Insert struct {
	Pos        Pos
	With       *With
	Table      Name
	Alias      string
	Columns    []Target
	Query      *Select
	Overriding string // "", "system" or "user"
	OnConflict *OnConflict
	Returning  []SelectItem
}

// OnConflict is ON CONFLICT [target] DO NOTHING | DO UPDATE SET … [WHERE …].
type OnConflict struct {
	Pos         Pos
	Target      []IndexElem // columns or expressions; empty: any conflict
	TargetWhere Expr
	Constraint  *Ident // ON CONSTRAINT name
	Update      bool
	Set         []Assignment
	Where       Expr
}

// Assignment is `col = expr` (one column) or `(a, b) = row/subquery` (several).
type Assignment struct {
	Pos     Pos
	Columns []Target
	Multi   bool // written with parentheses on the left
	Value   Expr
}

// Target is a column that INSERT or UPDATE writes to, or with a Path a part of its value.
type Target struct {
	Ident
	Path []PathStep
}

// PathStep leads from a value to a part of it: .Field, [Index], or [Low:High] with either bound
// missing.
type PathStep struct {
	Pos              Pos
	Field            string // "" for a subscript
	Slice            bool
	Index, Low, High Expr
}

// Update is UPDATE … SET … [FROM …] [WHERE …] [RETURNING …].
type Update struct {
	Pos       Pos
	With      *With
	Table     Name
	Only      bool
	Alias     string
	Set       []Assignment
	From      []TableExpr
	Where     Expr
	Returning []SelectItem
	CurrentOf string
}

// Delete is DELETE FROM … [USING …] [WHERE …] [RETURNING …].
type Delete struct {
	Pos       Pos
	With      *With
	Table     Name
	Only      bool
	Alias     string
	Using     []TableExpr
	Where     Expr
	Returning []SelectItem
	CurrentOf string
}

// Merge is MERGE INTO … USING … ON … WHEN …. Source is one entry of FROM.
type Merge struct {
	Pos    Pos
	With   *With
	Table  Name
	Only   bool
	Alias  string
	Source TableExpr
	On     Expr
	When   []MergeWhen
}

// MergeWhen is WHEN [NOT] MATCHED [AND condition] THEN action.
type MergeWhen struct {
	Pos     Pos
	Matched bool
	Cond    Expr
	Do      MergeAction
	Set     []Assignment // of UPDATE
	// Of INSERT. Values is nil for DEFAULT VALUES.
	Columns    []Target
	Overriding string // "", "system" or "user"
	Values     []Expr
}

// MergeAction is what a WHEN clause of MERGE does.
type MergeAction string

// The actions.
const (
	MergeNothing MergeAction = "DO NOTHING"
	MergeInsert  MergeAction = "INSERT"
	MergeUpdate  MergeAction = "UPDATE"
	MergeDelete  MergeAction = "DELETE"
)

// Truncate is TRUNCATE [TABLE] a, b [RESTART IDENTITY] [CASCADE].
type Truncate struct {
	Pos             Pos
	Tables          []Name
	RestartIdentity bool
	Cascade         bool
}

// Copy is COPY table [(cols)] | (query) FROM STDIN | TO STDOUT [options].
type Copy struct {
	Pos     Pos
	Table   *Name
	Columns []Ident
	Query   *Select
	From    bool
	File    string // "" for STDIN/STDOUT
	Program bool
	Options []Option
	Where   Expr
}

// Option is a name with an optional value, as in EXPLAIN (…), COPY … WITH (…) and storage options.
// List is set for parenthesised values (FORCE_QUOTE (a, b)).
type Option struct {
	Pos   Pos
	Name  string
	Value string
	List  []string
}

func (*Insert) statement()   {}
func (*Update) statement()   {}
func (*Delete) statement()   {}
func (*Merge) statement()    {}
func (*Truncate) statement() {}
func (*Copy) statement()     {}
