package ast

import "slices"

// LiteralKind is how a literal was written; the planner derives its type as PostgreSQL does.
type LiteralKind uint8

const (
	LiteralNull   LiteralKind = iota
	LiteralBool               // Text is "t" or "f"
	LiteralInt                // [-]digits without point or exponent; int4, int8 or numeric by size
	LiteralNumber             // [-] with point or exponent: numeric
	LiteralString             // quoted: of unknown type until its context decides
	LiteralBits               // B'101' or X'1F': Text is the binary digits
)

// Literal is a constant. Text is its value without quotes and escapes.
type Literal struct {
	Pos  Pos
	Kind LiteralKind
	Text string
}

// Param is $N, counted from 1.
type Param struct {
	Pos Pos
	N   int
}

// ColumnRef is a, t.a, s.t.a or d.s.t.a: Qualifier holds the parts before the column's name.
type ColumnRef struct {
	Pos       Pos
	Qualifier []string
	Name      string
}

// Star is * or t.*. It may occur in select lists, RETURNING, count(*) and row(t.*).
type Star struct {
	Pos       Pos
	Qualifier []string
}

// Binary is `Left Op Right`. Op is PostgreSQL's spelling: + - * / % ^ = <> < <= > >= || & | # << >>
// ~ ~* !~ !~* -> ->> #> #>> @> <@ ? ?| ?& && and so on ("!=" is already "<>"), or "and", "or".
type Binary struct {
	Pos         Pos // of the operator
	Op          string
	Left, Right Expr
}

// Unary is a prefix operator: - + ~ @ |/ ||/ or "not".
type Unary struct {
	Pos     Pos
	Op      string
	Operand Expr
}

// IsTest is `x IS [NOT] …`, ISNULL or NOTNULL. Test is "null", "true", "false", "unknown" or
// "document".
type IsTest struct {
	Pos     Pos
	Operand Expr
	Test    string
	Not     bool
}

// IsDistinct is `Left IS [NOT] DISTINCT FROM Right`.
type IsDistinct struct {
	Pos         Pos
	Left, Right Expr
	Not         bool
}

// Like is LIKE, ILIKE or SIMILAR TO (Op "like", "ilike", "similar"); Escape may be nil.
type Like struct {
	Pos                      Pos
	Op                       string
	Not                      bool
	Operand, Pattern, Escape Expr
}

// Between is `Operand [NOT] BETWEEN [SYMMETRIC] Low AND High`.
type Between struct {
	Pos                Pos
	Operand, Low, High Expr
	Not, Symmetric     bool
}

// InList is `Operand [NOT] IN (List…)`.
type InList struct {
	Pos     Pos
	Operand Expr
	List    []Expr
	Not     bool
}

// InSubquery is `Operand [NOT] IN (query)`; Operand is a Row for several columns.
type InSubquery struct {
	Pos     Pos
	Operand Expr
	Query   *Select
	Not     bool
}

// Quantified is `Left Op ANY|ALL (…)`: exactly one of Query and Array is set. SOME is ANY.
type Quantified struct {
	Pos   Pos
	Op    string
	All   bool
	Left  Expr
	Query *Select
	Array Expr
}

// Exists is EXISTS (query); NOT EXISTS is a Unary "not" over it.
type Exists struct {
	Pos   Pos
	Query *Select
}

// Subquery is a scalar (or, compared with a Row, row-valued) subquery.
type Subquery struct {
	Pos   Pos
	Query *Select
}

// ArraySubquery is ARRAY(query).
type ArraySubquery struct {
	Pos   Pos
	Query *Select
}

// Array is ARRAY[…]; nested arrays are nested Array nodes.
type Array struct {
	Pos      Pos
	Elements []Expr
}

// Subscript is Operand[Index], or with Slice Operand[Low:High], where either bound may be nil.
// Continues is set when Operand is a subscript of the same chain, with one dimension less: a[1][2],
// as opposed to (a[1])[2].
type Subscript struct {
	Pos       Pos
	Operand   Expr
	Index     Expr
	Slice     bool
	Low, High Expr
	Continues bool
}

// AssignPart is the value Base with the part at Path replaced by Value: what PL/pgSQL assigns to a
// variable by v[1] := value. Name is that of the variable or field, for messages. Without a Path it
// is Value, as an assignment to the variable converts it if there is a cast for that.
type AssignPart struct {
	Pos   Pos
	Name  string
	Base  Expr
	Path  []PathStep
	Value Expr
}

// FieldSelect is (expr).field; Field "*" expands all fields.
type FieldSelect struct {
	Pos     Pos
	Operand Expr
	Field   string
}

// Row is ROW(…) or (a, b, …) with at least two elements.
type Row struct {
	Pos      Pos
	Elements []Expr
}

// Case is CASE [Operand] WHEN … THEN … ELSE … END; Operand and Else may be nil.
type Case struct {
	Pos     Pos
	Operand Expr
	Whens   []When
	Else    Expr
}

// When is one arm of a Case.
type When struct{ Cond, Result Expr }

// Cast is `Operand::Type`, CAST(Operand AS Type) or `type 'literal'`.
type Cast struct {
	Pos     Pos
	Operand Expr
	Type    TypeName
}

// Collate is `Operand COLLATE name`.
type Collate struct {
	Pos       Pos
	Operand   Expr
	Collation Name
}

// FuncCall is a call of a function or aggregate. What SQL spells with words arrives as a call too,
// with PostgreSQL's internal function name and schema "pg_catalog" left empty: EXTRACT(f FROM x) is
// extract('f', x); SUBSTRING(x FROM a FOR b) is substring(x, a, b); POSITION(a IN b) is
// position(b, a); TRIM is btrim/ltrim/rtrim; OVERLAY is overlay; `x AT TIME ZONE z` is
// timezone(z, x); COALESCE, NULLIF, GREATEST and LEAST keep their names; CURRENT_DATE,
// CURRENT_TIMESTAMP, CURRENT_USER and their like are calls without arguments and with Bare set.
type FuncCall struct {
	Pos         Pos
	Name        Name
	Args        []Expr
	ArgNames    []string // f(a => 1): parallel to Args, "" where positional; nil when none is named
	Star        bool     // count(*)
	Bare        bool     // written without parentheses
	Words       bool     // written with key words in place of commas: EXTRACT(f FROM x)
	Distinct    bool
	Variadic    bool
	OrderBy     []OrderItem // string_agg(x, ',' ORDER BY y)
	WithinGroup bool        // OrderBy came from WITHIN GROUP (…)
	Filter      Expr
	Over        *Window // window call; nil otherwise
}

// Window is an OVER clause or a WINDOW definition. Ref names another window.
type Window struct {
	Pos         Pos
	Name        string // of the definition in WINDOW w AS (…)
	Ref         string // OVER w, or with Copies the base window inside parentheses
	Copies      bool
	PartitionBy []Expr
	OrderBy     []OrderItem
	Frame       *Frame
}

// Frame is a window frame. Kinds: "unbounded preceding", "preceding", "current row", "following",
// "unbounded following". Exclude is "", "current row", "group", "ties" or "no others".
type Frame struct {
	Pos       Pos
	Mode      string // "rows", "range" or "groups"
	Between   bool   // both bounds were written
	StartKind string
	Start     Expr
	EndKind   string
	End       Expr
	Exclude   string
}

// Default is the keyword DEFAULT in VALUES and SET.
type Default struct{ Pos Pos }

func (e *Literal) At() Pos       { return e.Pos }
func (e *Param) At() Pos         { return e.Pos }
func (e *ColumnRef) At() Pos     { return e.Pos }
func (e *Star) At() Pos          { return e.Pos }
func (e *Binary) At() Pos        { return e.Pos }
func (e *Unary) At() Pos         { return e.Pos }
func (e *IsTest) At() Pos        { return e.Pos }
func (e *IsDistinct) At() Pos    { return e.Pos }
func (e *Like) At() Pos          { return e.Pos }
func (e *Between) At() Pos       { return e.Pos }
func (e *InList) At() Pos        { return e.Pos }
func (e *InSubquery) At() Pos    { return e.Pos }
func (e *Quantified) At() Pos    { return e.Pos }
func (e *Exists) At() Pos        { return e.Pos }
func (e *Subquery) At() Pos      { return e.Pos }
func (e *ArraySubquery) At() Pos { return e.Pos }
func (e *Array) At() Pos         { return e.Pos }
func (e *Subscript) At() Pos     { return e.Pos }
func (e *FieldSelect) At() Pos   { return e.Pos }
func (e *AssignPart) At() Pos    { return e.Pos }
func (e *Row) At() Pos           { return e.Pos }
func (e *Case) At() Pos          { return e.Pos }
func (e *Cast) At() Pos          { return e.Pos }
func (e *Collate) At() Pos       { return e.Pos }
func (e *FuncCall) At() Pos      { return e.Pos }
func (e *Default) At() Pos       { return e.Pos }

func (*Literal) expr()       {}
func (*Param) expr()         {}
func (*ColumnRef) expr()     {}
func (*Star) expr()          {}
func (*Binary) expr()        {}
func (*Unary) expr()         {}
func (*IsTest) expr()        {}
func (*IsDistinct) expr()    {}
func (*Like) expr()          {}
func (*Between) expr()       {}
func (*InList) expr()        {}
func (*InSubquery) expr()    {}
func (*Quantified) expr()    {}
func (*Exists) expr()        {}
func (*Subquery) expr()      {}
func (*ArraySubquery) expr() {}
func (*Array) expr()         {}
func (*Subscript) expr()     {}
func (*FieldSelect) expr()   {}
func (*AssignPart) expr()    {}
func (*Row) expr()           {}
func (*Case) expr()          {}
func (*Cast) expr()          {}
func (*Collate) expr()       {}
func (*FuncCall) expr()      {}
func (*Default) expr()       {}

// Chain returns the operands of a chain of one operator, such as a AND b AND c, from left to right.
// Parentheses around the left side make no difference. It does not recurse, as chains may be long.
func (e *Binary) Chain() []Expr {
	operands := []Expr{e.Right}
	left := e.Left
	for {
		l, ok := left.(*Binary)
		if !ok || l.Op != e.Op {
			break
		}
		operands = append(operands, l.Right)
		left = l.Left
	}
	operands = append(operands, left)
	slices.Reverse(operands)
	return operands
}

// Chain returns the operand of a chain of subscripts such as a[1][2], and the subscripts from last
// to first.
func (e *Subscript) Chain() (base Expr, chain []*Subscript) {
	base = e
	for {
		s, ok := base.(*Subscript)
		if !ok {
			return base, chain
		}
		chain, base = append(chain, s), s.Operand
		if !s.Continues {
			return base, chain
		}
	}
}
