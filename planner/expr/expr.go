// Package expr holds bound expressions: every name is resolved, every type known, every implicit
// cast written out. The planner makes them, planner/eval compiles and runs them.
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
	Pos   int // byte offset (from 1) in the statement, for errors of planning; 0: unknown
}

// Col is column Index of the input row. While the planner works on logical plans, Index is a
// logical column's ID; physical plans hold ordinals only.
type Col struct {
	T     *types.Type
	Index int
	Name  string // for EXPLAIN
	Pos   int    // byte offset (from 1) in the statement, for errors of planning; 0: unknown
}

// Param is $N, counted from 1.
type Param struct {
	T   *types.Type
	N   int
	Pos int // byte offset (from 1) in the statement; 0: unknown
}

// Var is a value that an outer row hands to a correlated subquery or to the right side of a lateral
// join: slot Slot of the statement's variables, set before the inner plan runs.
type Var struct {
	T    *types.Type
	Slot int
	Name string
}

// Call is a function or operator over evaluated arguments. Func carries the implementation
// (package builtin) and says whether NULL arguments give NULL.
type Call struct {
	T    *types.Type
	Func *Func
	Args []Expr
	Pos  int // byte offset (from 1) in the statement, for run-time errors; 0: unknown
}

// And and Or are n-ary; an argument is evaluated only for rows that the ones before did not decide.
type And struct{ Args []Expr }

// Or is the n-ary disjunction.
type Or struct {
	Args []Expr
	// Implied are conditions that follow from it and have been tested before: what they drop is not
	// dropped again where rows are estimated.
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

// Case is a searched CASE (a simple one is bound into comparisons with its operand, which the
// planner must evaluate once: it is held in Operand and seen by Whens as CaseOperand). Arms are
// evaluated only for rows that reach them. Else nil is NULL.
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

// Coalesce is the first argument that is not NULL, lazily.
type Coalesce struct {
	T    *types.Type
	Args []Expr
}

// InList is Arg IN (List), with three-valued logic. Eq is the equality of Arg's and the list's
// common type, to which all are cast already.
type InList struct {
	Arg  Expr
	List []Expr
	Eq   *Func
	Not  bool
}

// Cast converts Arg to T. Explicit tells CAST from an assignment or implicit cast: an explicit one
// truncates varchar(n), the others raise 22001.
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

// RowExpr is ROW(…). Comparisons of rows are bound into comparisons of fields and do not arrive
// here.
type RowExpr struct {
	Elems []Expr
	Names []string // of the fields, where a whole row of a relation is meant
}

// Quantified is Left op ANY|ALL (array). Op compares Left with an element.
type Quantified struct {
	Left, Array Expr
	Op          *Func
	All         bool
	Pos         int
}

// SubqueryKind says what a subquery's rows are turned into.
type SubqueryKind uint8

// Scalar: the one value of at most one row (21000 beyond), NULL if none. Exists: whether there is a
// row. Any/All: Op over Left and every row, three-valued. ArrayOf: an array of the column.
const (
	Scalar SubqueryKind = iota
	Exists
	Any
	All
	ArrayOf
)

// Subquery runs a plan. Args are evaluated over the outer row and put into the statement's
// variables at Slots before each run; without Args the plan runs once per statement and its result
// is kept (for Any with equality: as a hash set).
type Subquery struct {
	T    *types.Type
	Kind SubqueryKind
	// physical.Node (logical.Node during planning): any, so that no import goes in a circle
	Plan  any
	Slots []int
	Args  []Expr
	// Any and All: Left has one entry per column of Plan, and Ops as many comparisons.
	Left []Expr
	Ops  []*Func
	Pos  int
	// Class is the same for subqueries that are written alike in one scope; 0: that is not known.
	Class int
}

// Hashed reports whether an Any or All asks for membership among the rows of a subquery that runs
// once: the rows are looked up in a table of keys.
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
		if op.Name != want || !sameKeys(op, e.Left[i].Type()) {
			return false
		}
	}
	return len(e.Args) == 0
}

// sameKeys reports whether equal values of both sides of an operator have one form. Moments of
// different types are compared by the time zone.
func sameKeys(op *Func, left *types.Type) bool {
	l, r := op.Args[0], op.Args[1]
	switch left.Family {
	case types.Int, types.Float, types.String:
		return l.Family == r.Family
	}
	return l.OID == r.OID
}

// SetReturning calls of functions like generate_series are not expressions: the planner turns them
// into physical.FuncScan or physical.ProjectSet.

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
func (e *RowExpr) Type() *types.Type     { return types.TRecord }
func (e *Quantified) Type() *types.Type  { return types.TBool }
func (e *Subquery) Type() *types.Type    { return e.T }
