// Package expr holds bound expressions: every name is resolved, every type is known, and every
// implicit cast is explicit. The planner makes them; planner/eval compiles and runs them.
//
// Nodes are data: Type is the only method, phases are functions with a type switch (Walk and
// Rewrite visit children). Columns are ordinals of the input row of the plan node that owns the
// expression. Expressions are immutable once built and may be shared between plans.
package expr

import (
	"github.com/minidb/minidb/table/types"
)

// Expr is a bound expression.
type Expr interface {
	// Type is the type of the value; its Mod is known where PostgreSQL knows it.
	Type() *types.Type
}

// Const is a constant.
type Const struct {
	T     *types.Type
	Value types.Datum
	Pos   int // byte offset (from 1) in the statement, for errors during planning; 0: unknown
}

// Col is column Index of the input row. While the planner works on logical plans, Index is a
// logical column's ID; physical plans hold ordinals only.
type Col struct {
	T     *types.Type
	Index int
	Name  string // for EXPLAIN
	Pos   int    // byte offset (from 1) in the statement, for errors during planning; 0: unknown
}

// Param is $N, counted from 1.
type Param struct {
	T   *types.Type
	N   int
	Pos int // byte offset (from 1) in the statement; 0: unknown
}

// Var is a value that an outer row passes to a correlated subquery or to the right side of a
// lateral join: slot Slot of the statement's variables, set before the inner plan runs.
type Var struct {
	T    *types.Type
	Slot int
	Name string
}

// Call is a call of a function or operator with evaluated arguments. Func has the implementation
// (package builtin).
type Call struct {
	T    *types.Type
	Func *Func
	Args []Expr
	Pos  int // byte offset (from 1) in the statement, for run-time errors; 0: unknown
}

// And is the n-ary conjunction. An argument is evaluated only for rows that those before it did not
// decide.
type And struct{ Args []Expr }

// Or is the n-ary disjunction, evaluated like And.
type Or struct {
	Args []Expr
	// Implied are conditions that follow from the disjunction and are tested before it. Estimates
	// do not count the rows that they drop a second time.
	Implied []Expr
}

// Not is logical negation.
type Not struct{ Arg Expr }

// IsNull is IS NULL, or with Not IS NOT NULL. For records it is the field-wise test.
type IsNull struct {
	Arg Expr
	Not bool
}

// IsBool is IS [NOT] TRUE/FALSE: never NULL. (IS UNKNOWN is IsNull.)
type IsBool struct {
	Arg  Expr
	Want bool
	Not  bool
}

// Case is a searched CASE. A simple CASE is bound to comparisons with its operand: Operand, which
// is evaluated once, and which Whens refer to as CaseOperand. Arms are evaluated only for rows that
// reach them. A nil Else is NULL.
type Case struct {
	T       *types.Type
	Operand Expr
	Whens   []When
	Else    Expr
}

// When is an arm of Case.
type When struct{ Cond, Result Expr }

// CaseOperand is the value of the enclosing simple CASE's operand.
type CaseOperand struct{ T *types.Type }

// Coalesce is the first argument that is not NULL. Later arguments are not evaluated.
type Coalesce struct {
	T    *types.Type
	Args []Expr
}

// InList is Arg IN (List), with three-valued logic. Eq is the equality of the common type of Arg
// and List, to which all are cast already.
type InList struct {
	Arg  Expr
	List []Expr
	Eq   *Func
	Not  bool
}

// Cast converts Arg to T. Explicit is set for CAST, and not for an assignment or implicit cast: an
// explicit cast truncates varchar(n), the others raise 22001.
type Cast struct {
	T        *types.Type
	Arg      Expr
	Explicit bool
	Pos      int
}

// ArrayExpr is ARRAY[…] of one element type (nested arrays: elements are arrays).
type ArrayExpr struct {
	T     *types.Type
	Elems []Expr
}

// RowExpr is ROW(…). A comparison of rows is bound to comparisons of fields, and no RowExpr
// remains.
type RowExpr struct {
	T     *types.Type // a composite type, or one of RowOf
	Elems []Expr
	Names []string // of the fields, if it is a whole row of a relation
}

// Quantified is Left op ANY|ALL (array). Op compares Left with an element.
type Quantified struct {
	Left, Array Expr
	Op          *Func
	All         bool
	Pos         int
}

// SubqueryKind is what a subquery makes of its rows.
type SubqueryKind uint8

// Scalar: the value of the only row (21000 if there are more), NULL if there is none. Exists:
// whether there is a row. Any, All: Op between Left and every row, three-valued. ArrayOf: an array
// of the column.
const (
	Scalar SubqueryKind = iota
	Exists
	Any
	All
	ArrayOf
)

// Subquery runs a plan. Before each run Args are evaluated over the outer row and put into the
// statement's variables at Slots. Without Args the plan runs once per statement, and its result is
// kept (for Any with equality: as a hash set).
type Subquery struct {
	T    *types.Type
	Kind SubqueryKind
	// physical.Node (logical.Node during planning). The type is any to avoid an import cycle.
	Plan  any
	Slots []int
	Args  []Expr
	// For Any and All, Left has one entry and Ops one comparison per column of Plan.
	Left []Expr
	Ops  []*Func
	Pos  int
	// Class is equal for subqueries that are written alike in one scope; 0: unknown.
	Class int
}

// Hashed reports whether an Any or All tests membership among the rows of a subquery that runs
// once: the rows are then looked up in a hash table.
func (e *Subquery) Hashed() bool {
	want := "="
	switch e.Kind {
	case Any:
	case All:
		want = "<>"
	default:
		return false
	}
	for i, op := range e.Ops {
		if op.Comparison() != want || !sameKeys(op, e.Left[i].Type()) {
			return false
		}
	}
	return len(e.Args) == 0
}

// sameKeys reports whether equal values of both operands have one form as keys of a hash table.
// They do not for moments of different types, which are compared by the time zone.
func sameKeys(op *Func, left *types.Type) bool {
	l, r := op.Args[0], op.Args[1]
	switch left.Family {
	case types.Int, types.Float, types.String:
		return l.Family == r.Family
	}
	return l.OID == r.OID
}

// Calls of set-returning functions such as generate_series are not expressions: the planner turns
// them into physical.FuncScan or physical.ProjectSet.

func (e *Const) Type() *types.Type       { return e.T }
func (e *Col) Type() *types.Type         { return e.T }
func (e *Param) Type() *types.Type       { return e.T }
func (e *Var) Type() *types.Type         { return e.T }
func (e *Call) Type() *types.Type        { return e.T }
func (e *And) Type() *types.Type         { return types.TBool }
func (e *Or) Type() *types.Type          { return types.TBool }
func (e *Not) Type() *types.Type         { return types.TBool }
func (e *IsNull) Type() *types.Type      { return types.TBool }
func (e *IsBool) Type() *types.Type      { return types.TBool }
func (e *Case) Type() *types.Type        { return e.T }
func (e *CaseOperand) Type() *types.Type { return e.T }
func (e *Coalesce) Type() *types.Type    { return e.T }
func (e *InList) Type() *types.Type      { return types.TBool }
func (e *Cast) Type() *types.Type        { return e.T }
func (e *ArrayExpr) Type() *types.Type   { return e.T }
func (e *RowExpr) Type() *types.Type     { return e.T }
func (e *Quantified) Type() *types.Type  { return types.TBool }
func (e *Subquery) Type() *types.Type    { return e.T }
