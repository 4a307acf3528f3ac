package logical

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// Equal reports whether two expressions are the same computation. Two subqueries are if they are
// written alike in one scope (expr.Subquery.Class). Positions in the statement are ignored.
func Equal(a, b expr.Expr) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil {
		return false
	}
	if c, isCol := a.(*expr.Col); isCol { // of any type: that of a domain, or what it is over
		o, ok := b.(*expr.Col)
		return ok && c.Index == o.Index
	}
	if !sameType(a.Type(), b.Type()) {
		return false
	}
	switch a := a.(type) {
	case *expr.Const:
		o, ok := b.(*expr.Const)
		return ok && EqualDatum(a.T, a.Value, o.Value)
	case *expr.Param:
		o, ok := b.(*expr.Param)
		return ok && a.N == o.N
	case *expr.Var:
		o, ok := b.(*expr.Var)
		return ok && a.Slot == o.Slot
	case *expr.CaseOperand:
		_, ok := b.(*expr.CaseOperand)
		return ok
	case *expr.Call:
		o, ok := b.(*expr.Call)
		return ok && sameFunc(a.Func, o.Func) && EqualAll(a.Args, o.Args)
	case *expr.Cast:
		o, ok := b.(*expr.Cast)
		return ok && a.T.Mod == o.T.Mod && a.Explicit == o.Explicit && Equal(a.Arg, o.Arg)
	}
	return equalLogic(a, b)
}

func equalLogic(a, b expr.Expr) bool {
	switch a := a.(type) {
	case *expr.And:
		o, ok := b.(*expr.And)
		return ok && EqualAll(a.Args, o.Args)
	case *expr.Or:
		o, ok := b.(*expr.Or)
		return ok && EqualAll(a.Args, o.Args)
	case *expr.Not:
		o, ok := b.(*expr.Not)
		return ok && Equal(a.Arg, o.Arg)
	case *expr.IsNull:
		o, ok := b.(*expr.IsNull)
		return ok && a.Not == o.Not && Equal(a.Arg, o.Arg)
	case *expr.IsBool:
		o, ok := b.(*expr.IsBool)
		return ok && a.Want == o.Want && a.Not == o.Not && Equal(a.Arg, o.Arg)
	case *expr.Coalesce:
		o, ok := b.(*expr.Coalesce)
		return ok && EqualAll(a.Args, o.Args)
	case *expr.InList:
		o, ok := b.(*expr.InList)
		return ok && a.Not == o.Not && a.Eq == o.Eq && Equal(a.Arg, o.Arg) &&
			EqualAll(a.List, o.List)
	case *expr.ArrayExpr:
		o, ok := b.(*expr.ArrayExpr)
		return ok && EqualAll(a.Elems, o.Elems)
	case *expr.RowExpr:
		o, ok := b.(*expr.RowExpr)
		return ok && EqualAll(a.Elems, o.Elems)
	case *expr.Quantified:
		o, ok := b.(*expr.Quantified)
		return ok && a.All == o.All && a.Op == o.Op && Equal(a.Left, o.Left) &&
			Equal(a.Array, o.Array)
	case *expr.Case:
		o, ok := b.(*expr.Case)
		return ok && equalCase(a, o)
	case *expr.Subquery:
		o, ok := b.(*expr.Subquery)
		return ok && a.Class != 0 && a.Class == o.Class && a.Kind == o.Kind &&
			slices.Equal(a.Ops, o.Ops) && EqualAll(a.Left, o.Left)
	}
	return false
}

func sameFunc(a, b *expr.Func) bool { return a == b || a.Same != nil && a.Same == b.Same }

func equalCase(a, b *expr.Case) bool {
	if len(a.Whens) != len(b.Whens) || !equalOptional(a.Operand, b.Operand) ||
		!equalOptional(a.Else, b.Else) {
		return false
	}
	for i := range a.Whens {
		if !Equal(a.Whens[i].Cond, b.Whens[i].Cond) ||
			!Equal(a.Whens[i].Result, b.Whens[i].Result) {
			return false
		}
	}
	return true
}

func equalOptional(a, b expr.Expr) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return Equal(a, b)
}

// EqualAll is Equal for lists.
func EqualAll(a, b []expr.Expr) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameType(a, b *types.Type) bool {
	return a == b || a != nil && b != nil && a.OID == b.OID
}

// EqualDatum reports whether two constants of one type are identical (not only equal: 1.0 and 1.00
// are not).
func EqualDatum(t *types.Type, a, b types.Datum) bool {
	if a.Null || b.Null {
		return a.Null && b.Null
	}
	switch t.Family.Storage() {
	case types.Dec:
		return a.Dec.Cmp(b.Dec) == 0 && a.Dec.Exponent == b.Dec.Exponent
	case types.Iv:
		return a.Iv == b.Iv
	case types.F64:
		return a.F == b.F
	case types.Arr:
		return a.Arr == b.Arr || t.Family == types.Array && equalArrays(t, a.Arr, b.Arr)
	}
	return a.I == b.I && a.S == b.S
}

func equalArrays(t *types.Type, a, b *types.ArrayValue) bool {
	if len(a.Elems) != len(b.Elems) || len(a.Dims) != len(b.Dims) {
		return false
	}
	for i := range a.Dims {
		if a.Dims[i] != b.Dims[i] || a.Lower[i] != b.Lower[i] {
			return false
		}
	}
	for i := range a.Elems {
		if !EqualDatum(t.Elem, a.Elems[i], b.Elems[i]) {
			return false
		}
	}
	return true
}
