package logical

import (
	"slices"

	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/table/types"
)

// Leakproof reports whether nothing but the value of an expression depends on the columns that it
// reads: no function that it calls with them may fail, or show them in another way. Only such a
// condition may be evaluated for rows that a [Barrier] hides.
func Leakproof(e expr.Expr) bool {
	ok := true
	expr.Walk(e, func(x expr.Expr) bool {
		ok = ok && (leakproofNode(x) || !readsColumn(x))
		return ok
	})
	return ok
}

// leakproofNode reports whether a node itself, without those below it, is leakproof.
func leakproofNode(x expr.Expr) bool {
	switch x := x.(type) {
	case *expr.Const, *expr.Col, *expr.Param, *expr.And, *expr.Or, *expr.Not, *expr.IsNull,
		*expr.IsBool, *expr.Case, *expr.CaseOperand, *expr.Coalesce, *expr.ArrayExpr,
		*expr.RowExpr:
		return true
	case *expr.Call:
		return x.Func.Leakproof
	case *expr.InList:
		return x.Eq.Leakproof
	case *expr.Quantified:
		return x.Op.Leakproof
	case *expr.Cast:
		return leakproofCast(x.Arg.Type(), x.T)
	}
	return false
}

// readsColumn reports whether an expression reads a column or has a subquery, which may.
func readsColumn(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		switch x.(type) {
		case *expr.Col, *expr.CaseOperand, *expr.Subquery:
			found = true
		}
		return !found
	})
	return found
}

// widening lists types of numbers, each of whose values those behind it can hold.
var widening = []types.OID{types.OIDInt2, types.OIDInt4, types.OIDInt8, types.OIDFloat4,
	types.OIDFloat8}

// leakproofCast reports whether a conversion of values is leakproof, as those without an error are.
func leakproofCast(from, to *types.Type) bool {
	from, to = from.Base(), to.Base()
	if a := slices.Index(widening, from.OID); a >= 0 {
		if b := slices.Index(widening, to.OID); b >= 0 {
			return a <= b
		}
		return to.OID == types.OIDNumeric && to.Mod < 0 && from.OID != types.OIDFloat4 &&
			from.OID != types.OIDFloat8 || from.OID == types.OIDInt4 && to.OID == types.OIDBool
	}
	switch from.OID {
	case types.OIDText, types.OIDVarchar, types.OIDName:
		return to.Mod < 0 && (to.OID == types.OIDText || to.OID == types.OIDVarchar ||
			to.OID == types.OIDName)
	case types.OIDBool:
		return to.OID == types.OIDInt4
	}
	return false
}
