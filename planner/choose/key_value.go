package choose

import (
	"github.com/minidb/minidb/planner/builtin"
	"github.com/minidb/minidb/planner/expr"
	"github.com/minidb/minidb/planner/logical"
	"github.com/minidb/minidb/table/types"
)

// keyColumn returns the column in one side of a comparison with a value of type v. It accepts the
// plain column, and the column under a cast that the comparison added and that keeps the order of
// values.
func keyColumn(s *logical.Scan, e expr.Expr, v *types.Type) (logical.ColID, bool) {
	cast, ok := e.(*expr.Cast)
	if !ok {
		return scanColumn(s, e)
	}
	col, ok := scanColumn(s, cast.Arg)
	if !ok || !widens(s.PartType(col), cast.T) {
		return 0, false
	}
	// An operator on two types compares numbers and texts by value. It compares dates and
	// timestamps by the time zone, so the type to which the column is cast makes a difference.
	same := cast.T.OID == v.OID || cast.T.Family == v.Family && cast.T.Family != types.Timestamp
	return col, same
}

// widens reports whether a cast keeps the order of values. It may make different values equal, as
// the cast of int8 to float8 does.
func widens(from, to *types.Type) bool {
	if to.Mod != types.NoMod {
		return false
	}
	if from.IsComposite() {
		return to.OID == types.OIDRecord
	}
	switch from.OID {
	case types.OIDVarchar, types.OIDName, types.OIDBPChar:
		return to.OID == types.OIDText
	case types.OIDInt2, types.OIDInt4, types.OIDInt8:
		return to.Family == types.Int && to.Len > from.Len || to.OID == types.OIDNumeric ||
			to.OID == types.OIDFloat8
	case types.OIDFloat4:
		return to.OID == types.OIDFloat8
	case types.OIDDate:
		return to.Family == types.Timestamp
	case types.OIDTimestamp:
		return to.OID == types.OIDTimestampTZ
	}
	return false
}

// keepsApart reports whether a cast that the binder added maps different values to different
// values.
func keepsApart(cast *expr.Cast) bool {
	from := cast.Arg.Type()
	if !widens(from, cast.T) {
		return false
	}
	_, apart := builtin.KeyBoundOf(from, "=", cast.T)
	return apart
}

// keyInterval returns the interval of a column's keys in which `column op value` is true; exact is
// that of restriction. ok is false when no interval expresses the condition.
func keyInterval(col *types.Type, op string, value expr.Expr) (iv interval, exact, ok bool) {
	if same, ok := asKey(col, value); ok {
		return section(op, same, op != "<" && op != ">"), true, true
	}
	if b, ok := builtin.KeyBoundOf(col, op, value.Type()); ok {
		return section(op, boundExpr(b, value), b.Inclusive), b.Exact, true
	}
	if op != "=" {
		return interval{}, false, false
	}
	low, ok := builtin.KeyBoundOf(col, ">=", value.Type())
	if !ok {
		return interval{}, false, false
	}
	high, ok := builtin.KeyBoundOf(col, "<=", value.Type())
	iv = interval{low: boundExpr(low, value), lowIncl: low.Inclusive, high: boundExpr(high, value),
		highIncl: high.Inclusive}
	return iv, low.Exact && high.Exact, ok
}

// section returns the interval on the side of a bound that an operator selects.
func section(op string, bound expr.Expr, inclusive bool) interval {
	switch op {
	case "=":
		return interval{eq: bound}
	case "<", "<=":
		return interval{high: bound, highIncl: inclusive}
	}
	return interval{low: bound, lowIncl: inclusive}
}

// asKey returns a value as one of the column's type: a value that has that type or had it before a
// cast to record, or a constant that equals exactly one key. ok is false for any other.
func asKey(col *types.Type, value expr.Expr) (expr.Expr, bool) {
	if value.Type().OID == col.OID {
		return value, true
	}
	if cast, ok := value.(*expr.Cast); ok && value.Type().OID == types.OIDRecord &&
		cast.Arg.Type().OID == col.OID {
		return cast.Arg, true // the operators of composite types are those of records
	}
	k, ok := value.(*expr.Const)
	if !ok {
		return nil, false
	}
	if k.Value.Null {
		return &expr.Const{T: col, Value: types.Null}, true
	}
	low, ok := keyConst(col, ">=", k)
	if !ok {
		return nil, false
	}
	high, ok := keyConst(col, "<=", k)
	if !ok || !types.Equal(col, low, high) {
		return nil, false
	}
	return &expr.Const{T: col, Value: low}, true
}

// keyConst computes the bound for a constant. ok is false when the bound depends on the session, is
// not exact, or there is no key on that side of it.
func keyConst(col *types.Type, op string, k *expr.Const) (types.Datum, bool) {
	b, ok := builtin.KeyBoundOf(col, op, k.T)
	if !ok || b.Func.Volatility != expr.Immutable || !b.Exact {
		return types.Null, false
	}
	d, err := b.Func.Scalar(nil, []types.Datum{k.Value})
	return d, err == nil && !d.Null
}

// boundExpr returns the expression that computes a bound when the statement runs, or the bound
// itself if it can be computed now.
func boundExpr(b builtin.KeyBound, value expr.Expr) expr.Expr {
	if k, ok := value.(*expr.Const); ok && b.Func.Volatility == expr.Immutable {
		if d, err := b.Func.Scalar(nil, []types.Datum{k.Value}); err == nil && !d.Null {
			return &expr.Const{T: b.Func.Returns, Value: d}
		}
	}
	return &expr.Call{T: b.Func.Returns, Func: b.Func, Args: []expr.Expr{value}}
}

// keyEqual returns the value of a column that equals value, as an expression that is NULL if there
// is none. ok is false where several values of the column may equal it.
func keyEqual(col *types.Type, value expr.Expr) (expr.Expr, bool) {
	iv, exact, ok := keyInterval(col, "=", value)
	return iv.eq, ok && exact && iv.eq != nil
}
