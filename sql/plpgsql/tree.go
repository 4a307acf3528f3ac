package plpgsql

import (
	"github.com/minidb/minidb/planner/ast"
	"github.com/minidb/minidb/table/types"
)

// Program is the body of a function or of DO.
type Program struct {
	// Name is the function's in the context of errors.
	Name      string
	Body      *Block
	Variables []*Variable // by Number
	Found     *Variable
	// Queries is the number of queries, which are numbered from 0.
	Queries int
}

// Variable is a variable of a program.
type Variable struct {
	Number int
	Name   string
	// Type is types.TRecord for a variable that takes the type of the row assigned to it.
	Type     *types.Type
	Constant bool
	NotNull  bool
	Default  *Query // nil: NULL
	Line     int
	Cursor   *Cursor // of a bound cursor variable
	Operand  bool    // it holds the operand of a CASE
	// Diagnostic is set for SQLSTATE and SQLERRM, whose value is that of the handled error.
	Diagnostic Diagnostic
}

// IsRow reports whether the variable holds a row, with fields.
func (v *Variable) IsRow() bool { return v.Type.Base().Family == types.Record }

// Varies reports whether the variable takes the type of what is assigned to it: a record, and the
// operand of a CASE.
func (v *Variable) Varies() bool { return v.Type == types.TRecord || v.Operand }

// Cursor is the query of a bound cursor variable.
type Cursor struct {
	Query     *Query
	Scroll    *bool // nil: neither SCROLL nor NO SCROLL was written
	Arguments []*Variable
}

// Mode is what a query is in the program.
type Mode uint8

// The modes of queries: they are named so in the context of errors.
const (
	Expression Mode = iota
	Assignment
	SQL
)

// Query is an expression or an SQL statement of a program.
type Query struct {
	Number    int
	Text      string // as written; that of an assignment begins with its target
	Statement ast.Statement
	Mode      Mode
	Scope     *Scope // the variables that it may use
	// Wanted is the type of the variable that the value is assigned to; nil: it is not known.
	Wanted *types.Type
	// A position in Statement is that in Text plus Shift.
	Shift int
}

// Target is what a value is assigned to: a variable, or a field of one that holds a row.
type Target struct {
	Variable *Variable
	Field    string // "": all of it
}

// Into is where the columns of a row go: either into a variable that holds a row, or each into a
// target of its own.
type Into struct {
	Row     *Variable
	Targets []*Target
	Strict  bool
}

// Place is where a statement is.
type Place struct{ Line int }

// At returns the line, counted from 1.
func (p Place) At() int { return p.Line }

// Statement is any statement of a program.
type Statement interface {
	At() int
	// Kind is the statement's name in the context of errors.
	Kind() string
}

// Block is DECLARE … BEGIN … EXCEPTION … END.
type Block struct {
	Place
	Label     string
	Variables []*Variable // to be initialised
	Body      []Statement
	// Handlers are nil for a block without EXCEPTION. Error has SQLSTATE and SQLERRM.
	Handlers []*Handler
	State    *Variable
	Message  *Variable
}

// Handler is WHEN conditions THEN statements.
type Handler struct {
	Conditions []Condition
	Body       []Statement
}

// Condition names errors: all of them, of a class, or with a code.
type Condition struct {
	Others bool
	Code   string // ending in 000 means a class
}

// Assign is target := value. The value of an assignment to an element or a part below a field is
// that of all of Target, with the part replaced (ast.AssignPart).
type Assign struct {
	Place
	Target *Target
	Value  *Query
}

// If is IF and its branches; Else may be nil.
type If struct {
	Place
	Branches []Branch
	Else     []Statement
}

// Branch is a condition and what runs if it holds.
type Branch struct {
	Line int
	Cond *Query
	Body []Statement
}

// Case is CASE of either form: the conditions of one with an operand compare Operand with their
// values.
type Case struct {
	Place
	Operand  *Query // nil: a searched CASE
	Variable *Variable
	Branches []Branch
	Else     []Statement
	HasElse  bool
}

// Loop is LOOP, and WHILE if Cond is not nil.
type Loop struct {
	Place
	Label string
	Cond  *Query
	Body  []Statement
}

// ForInteger is FOR i IN [REVERSE] low..high [BY step].
type ForInteger struct {
	Place
	Label     string
	Variable  *Variable
	Reverse   bool
	Low, High *Query
	Step      *Query // nil: 1
	Body      []Statement
}

// ForQuery is FOR target IN query. Dynamic is the text of EXECUTE, with Using; Cursor the variable
// of a bound cursor, with Arguments.
type ForQuery struct {
	Place
	Label     string
	Into      *Into
	Query     *Query
	Dynamic   *Query
	Using     []*Query
	Cursor    *Variable
	Arguments []*Query
	Body      []Statement
}

// ForEach is FOREACH target [SLICE n] IN ARRAY value.
type ForEach struct {
	Place
	Label string
	Into  *Into
	Slice int
	Array *Query
	Body  []Statement
}

// Exit is EXIT and CONTINUE. Label names the block or loop that it leaves or continues; "": the
// innermost loop.
type Exit struct {
	Place
	Continue bool
	Label    string
	Cond     *Query // nil: always
}

// Return is RETURN.
type Return struct{ Place }

// Null is NULL: it does nothing. It is not run, and so has no context.
type Null struct{ Place }

// Raise is RAISE. One without anything raises the handled error again.
type Raise struct {
	Place
	Level     string // "EXCEPTION" unless written
	Again     bool
	Condition string // the name or code that was written
	Code      string // its SQLSTATE; "" without one
	Format    string
	HasFormat bool
	Arguments []*Query
	Options   []RaiseOption
}

// RaiseOption is name = value after USING.
type RaiseOption struct {
	Name  string // "MESSAGE", "DETAIL", …
	Value *Query
}

// Assert is ASSERT.
type Assert struct {
	Place
	Cond, Message *Query
}

// Execute is an SQL statement, and PERFORM.
type Execute struct {
	Place
	Query   *Query
	Perform bool
	Into    *Into // nil: no INTO
}

// Dynamic is EXECUTE.
type Dynamic struct {
	Place
	Text  *Query
	Into  *Into
	Using []*Query
}

// Diagnostics is GET [STACKED] DIAGNOSTICS.
type Diagnostics struct {
	Place
	Stacked bool
	Items   []DiagnosticItem
}

// DiagnosticItem is target = item.
type DiagnosticItem struct {
	Target *Target
	Item   Diagnostic
}

// Diagnostic is a fact about the last statement, or about the handled error.
type Diagnostic string

// The diagnostics. RowCount and Context are of the statement, all others of the error.
const (
	RowCount         Diagnostic = "row_count"
	Context          Diagnostic = "pg_context"
	ReturnedSQLState Diagnostic = "returned_sqlstate"
	MessageText      Diagnostic = "message_text"
	ExceptionDetail  Diagnostic = "pg_exception_detail"
	ExceptionHint    Diagnostic = "pg_exception_hint"
	ExceptionContext Diagnostic = "pg_exception_context"
	ColumnName       Diagnostic = "column_name"
	ConstraintName   Diagnostic = "constraint_name"
	DatatypeName     Diagnostic = "pg_datatype_name"
	TableName        Diagnostic = "table_name"
	SchemaName       Diagnostic = "schema_name"
)

// Open is OPEN: of a bound cursor with Arguments, or of an unbound one for a query.
type Open struct {
	Place
	Cursor    *Variable
	Scroll    *bool
	Query     *Query
	Dynamic   *Query
	Using     []*Query
	Arguments []*Query
}

// Fetch is FETCH and MOVE.
type Fetch struct {
	Place
	Move      bool
	Cursor    *Variable
	Direction ast.FetchDirection
	Count     int64
	All       bool
	CountOf   *Query // not nil: the value of Count
	Into      *Into
}

// Close is CLOSE.
type Close struct {
	Place
	Cursor *Variable
}

// Kind implements Statement.
func (*Block) Kind() string { return "statement block" }

// Kind implements Statement.
func (*Assign) Kind() string { return "assignment" }

// Kind implements Statement.
func (*If) Kind() string { return "IF" }

// Kind implements Statement.
func (*Case) Kind() string { return "CASE" }

// Kind implements Statement.
func (s *Loop) Kind() string {
	if s.Cond != nil {
		return "WHILE"
	}
	return "LOOP"
}

// Kind implements Statement.
func (*ForInteger) Kind() string { return "FOR with integer loop variable" }

// Kind implements Statement.
func (s *ForQuery) Kind() string {
	switch {
	case s.Dynamic != nil:
		return "FOR over EXECUTE statement"
	case s.Cursor != nil:
		return "FOR over cursor"
	}
	return "FOR over SELECT rows"
}

// Kind implements Statement.
func (*ForEach) Kind() string { return "FOREACH over array" }

// Kind implements Statement.
func (s *Exit) Kind() string {
	if s.Continue {
		return "CONTINUE"
	}
	return "EXIT"
}

// Kind implements Statement.
func (*Return) Kind() string { return "RETURN" }

// Kind implements Statement.
func (*Null) Kind() string { return "NULL" }

// Kind implements Statement.
func (*Raise) Kind() string { return "RAISE" }

// Kind implements Statement.
func (*Assert) Kind() string { return "ASSERT" }

// Kind implements Statement.
func (s *Execute) Kind() string {
	if s.Perform {
		return "PERFORM"
	}
	return "SQL statement"
}

// Kind implements Statement.
func (*Dynamic) Kind() string { return "EXECUTE" }

// Kind implements Statement.
func (s *Diagnostics) Kind() string {
	if s.Stacked {
		return "GET STACKED DIAGNOSTICS"
	}
	return "GET DIAGNOSTICS"
}

// Kind implements Statement.
func (*Open) Kind() string { return "OPEN" }

// Kind implements Statement.
func (s *Fetch) Kind() string {
	if s.Move {
		return "MOVE"
	}
	return "FETCH"
}

// Kind implements Statement.
func (*Close) Kind() string { return "CLOSE" }
